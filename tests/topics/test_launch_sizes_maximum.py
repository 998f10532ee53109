"""The larger of two numbers on the GPU: kernels against the reference, NaN, odd launches, the compiler."""

from collections.abc import Callable

import numpy as np
import pytest

from compile_lane import needs_compilers, numba_facts
from gpuguide.errors import ArgumentError
from gpuguide.topics.launch_sizes import kernels, maximum

ITEMS = {"one_element": 1, "two_elements": 2, "four_elements": 4}
LAUNCHERS = (maximum.maximum, maximum.maximum_grid_stride)


ODD_LAUNCHES = """
import numpy as np
from gpuguide.topics.launch_sizes.maximum import (
    maximum, maximum_grid_stride, maximum_inputs, maximum_reference
)
launches = [
    (maximum, dict(items_per_thread=i, threads_per_block=t)) for i in (1, 2, 4) for t in (1, 32, 33)
]
launches += [
    (maximum_grid_stride, dict(items_per_thread=i, threads_per_block=t, blocks_per_sm=b))
    for i in (1, 4) for t in (1, 32, 33) for b in (1, 3)
]
for n in (1, 7, 127, 128, 129, 400):
    a, b = maximum_inputs(n, np.dtype("float32"), np.random.default_rng(n), False)
    expected = maximum_reference(a, b)
    for launch, shape in launches:
        out = np.full(n + 1, -1, np.float32)
        launch(a, b, out[:n], **shape)
        assert np.array_equal(out[:n], expected, equal_nan=True), (n, launch.__name__, shape)
        assert out[n] == -1, "it writes beyond the end"
print(len(launches))
"""


def test_any_number_of_threads_and_blocks_gives_the_same(simulator_python: Callable[..., str]) -> None:
    """Full and partial blocks, blocks that are no multiple of a warp, more blocks than there is work."""
    assert simulator_python(ODD_LAUNCHES, timeout=300) == "21\n"


def test_a_variant_that_drops_nan_is_rejected() -> None:
    """The rule is the same for all: what is not a number wins. np.fmax has the other one."""
    from dataclasses import replace

    from spoiled import host_variant

    from gpuguide.errors import MismatchError

    dropping = host_variant(lambda a, b, out: np.fmax(a, b, out=out))
    study = replace(maximum.study(), variants=(dropping,), baseline="")
    with pytest.raises(MismatchError, match="expected nan"):
        study.check_all([257])


def test_the_reference_and_numpy_agree_on_nan() -> None:
    values = np.array([np.nan, 1, -1, 0, np.inf, -np.inf], np.float32)
    a, b = (x.ravel() for x in np.meshgrid(values, values))
    assert np.array_equal(maximum.maximum_reference(a, b), np.maximum(a, b), equal_nan=True)


@pytest.mark.parametrize("exact", [True, False])
def test_the_inputs_hold_nan_in_either_and_in_both(exact: bool) -> None:
    a, b = maximum.study().make_inputs(2**14, exact=exact)
    assert a.dtype == b.dtype == np.float32
    kinds = np.isnan(a) + 2 * np.isnan(b)
    assert [int((kinds == kind).sum()) for kind in (1, 2, 3)] == [17, 17, 17]
    assert bool((a > b).any() and (b > a).any())


@pytest.mark.parametrize("launcher", LAUNCHERS, ids=lambda launcher: launcher.__name__)
def test_launchers_say_how_many_elements_a_thread_takes(launcher: Callable[..., None]) -> None:
    x = np.zeros(8, np.float32)
    with pytest.raises(ArgumentError, match=r"items_per_thread must be .*; got 3"):
        launcher(x, x, x, items_per_thread=3)


@needs_compilers()
@pytest.mark.parametrize("name", [*ITEMS, "grid_stride", "four_grid_stride"])
def test_kernels_compile(name: str) -> None:
    """All loads of a thread stand before its first store, and the device function is inlined."""
    from numba import float32

    facts = numba_facts(getattr(kernels, name), (float32[::1],) * 3)
    assert facts.spills == facts.stack_bytes == 0
    assert facts.count("call") == facts.count("cvt.rn.f64") == 0
    assert facts.registers <= 40
    assert facts.count("ld.global") == 2 * facts.count("st.global")
    body = facts.ptx[facts.ptx.index(".entry") :]
    loads = body[: body.index("st.global")].count("ld.global")
    assert loads == 2 * {**ITEMS, "grid_stride": 1, "four_grid_stride": 4}[name]


@needs_compilers()
def test_one_element_a_thread_needs_no_division() -> None:
    """A loop over the elements costs each thread the count of its turns."""
    from numba import float32

    compared = (kernels.one_element, kernels.grid_stride)
    plain, loop = (numba_facts(kernel, (float32[::1],) * 3) for kernel in compared)
    assert plain.count("div") == 0
    assert loop.count("div") > 0


def test_the_traffic_is_two_reads_for_one_write() -> None:
    traffic = maximum.maximum_traffic(1000, np.dtype("float32"))
    assert (traffic.bytes_read, traffic.bytes_written, traffic.flops) == (8000, 4000, 0)


def test_the_sources_largest_size_and_dtype_are_among_those_measured() -> None:
    study = maximum.study()
    assert 256**3 in study.sizes
    assert study.dtype == "float32"
    assert study.sizes[-1] >= 1000 * study.sizes[0]


def test_larger_blocks_are_half_as_many() -> None:
    small, large = (maximum.blocks_covering(2**28, 1, threads) for threads in (128, 256))
    assert (small, large) == (2**21, 2**20)
    assert maximum.blocks_covering(2**28 + 1, 4, 256) == 2**18 + 1
