"""Stars on a photo: the sums of each star in one kernel."""

from collections.abc import Callable

from compile_lane import needs_compilers, numba_facts
from gpuguide.topics.image import kernels


def test_one_kernel_makes_the_sums_of_four_calls(fresh_python: Callable[..., str]) -> None:
    printed = fresh_python(
        "import numpy as np\n"
        "from scipy import ndimage\n"
        "from gpuguide.topics.image import kernels, photo, study\n"
        "image = photo.night_sky(45, 70, np.random.default_rng(0))\n"
        "labels, n = ndimage.label(study.bright_by_scipy(image))\n"
        "table = np.zeros((n, 4))\n"
        "kernels.add_up[study.pixels(image.shape)](image, labels, table)\n"
        "print(n > 2 and np.array_equal(table, photo.measure(image, labels, n, np)))\n",
        NUMBA_ENABLE_CUDASIM="1",
    )
    assert printed.strip() == "True"


@needs_compilers()
def test_the_sums_compile_without_a_spill() -> None:
    from numba import float64, int32, uint8

    signature = (uint8[:, ::1], int32[:, ::1], float64[:, ::1])
    facts = numba_facts(kernels.add_up, signature)
    assert facts.spills == 0
