"""Shapes of launch in the simulator, and what the compiler makes of their kernels."""

from collections.abc import Callable

import numpy as np
import pytest

from compile_lane import needs_compilers, numba_facts
from gpuguide.topics.launch_sizes import kernels
from gpuguide.topics.launch_sizes.maximum import maximum_reference

ODD_LAUNCHES = """
import numpy as np
from gpuguide.topics.launch_sizes.maximum import maximum_inputs, maximum_reference
from gpuguide.topics.launch_sizes.study import covering, looping
shapes = [covering(threads, items) for items in (1, 2, 4) for threads in (1, 32, 33)]
shapes += [looping(threads, items, b) for items in (1, 4) for threads in (1, 32, 33) for b in (1, 3)]
for n in (1, 7, 127, 128, 129, 400):
    a, b = maximum_inputs(n, np.dtype("float32"), np.random.default_rng(n), False)
    expected = maximum_reference(a, b)
    for shape in shapes:
        out = np.full(n + 1, -1, np.float32)
        shape.on(n, (a, b, out[:n]))()
        assert np.array_equal(out[:n], expected, equal_nan=True), (n, shape.name)
        assert out[n] == -1, "it writes beyond the end"
print(len(shapes))
"""


def test_any_number_of_threads_and_blocks_gives_the_same(simulator_python: Callable[..., str]) -> None:
    """Full and partial blocks, blocks that are no multiple of a warp, more blocks than there is work."""
    assert simulator_python(ODD_LAUNCHES, timeout=300) == "21\n"


def test_the_reference_and_numpy_agree_on_nan() -> None:
    values = np.array([np.nan, 1, -1, 0, np.inf, -np.inf], np.float32)
    a, b = (x.ravel() for x in np.meshgrid(values, values))
    assert np.array_equal(maximum_reference(a, b), np.maximum(a, b), equal_nan=True)


ITEMS = {
    "one_element": 1,
    "two_elements": 2,
    "four_elements": 4,
    "grid_stride": 1,
    "four_grid_stride": 4,
}


@needs_compilers()
@pytest.mark.parametrize("name", ITEMS)
def test_all_loads_of_a_thread_stand_before_its_first_store(name: str) -> None:
    from numba import float32

    facts = numba_facts(getattr(kernels, name), (float32[::1],) * 3)
    assert facts.count("cvt.rn.f64") == 0
    assert facts.count("ld.global") == 2 * facts.count("st.global")
    body = facts.ptx[facts.ptx.index(".entry") :]
    assert body[: body.index("st.global")].count("ld.global") == 2 * ITEMS[name]


@needs_compilers()
def test_one_element_a_thread_needs_no_division() -> None:
    """A loop over the elements costs each thread the count of its turns."""
    from numba import float32

    compared = (kernels.one_element, kernels.grid_stride)
    plain, loop = (numba_facts(kernel, (float32[::1],) * 3) for kernel in compared)
    assert plain.count("div") == 0
    assert loop.count("div") > 0


@needs_compilers()
def test_the_empty_kernel_has_next_to_nothing_to_do() -> None:
    from numba import int64

    facts = numba_facts(kernels.empty, (int64[::1],))
    assert (facts.count("ld.global"), facts.count("st.global")) == (0, 2)
    assert facts.registers <= 16
