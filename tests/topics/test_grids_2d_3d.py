"""Grids in two and three dimensions: kernels against the reference, and the sectors that a warp touches."""

import inspect

import numpy as np
import pytest

from compile_lane import needs_compilers, numba_facts
from gpuguide import tracer
from gpuguide.topics.grids_2d_3d import boxes_3d, kernels
from gpuguide.topics.grids_2d_3d.study import sectors_per_request

SLOW_AXES = {2: (0, 1), 3: (0, 1, 2)}
FAST_AXES = {2: (1, 0), 3: (2, 1, 0)}


def test_the_reference_gives_the_second_where_one_is_nan() -> None:
    nan, one = np.float32("nan"), np.float32(1)
    a, b = np.array([nan, one, nan, 2]), np.array([one, nan, nan, one])
    assert boxes_3d.maximum_reference(a, b).tolist()[::3] == [1.0, 2.0]
    assert np.isnan(boxes_3d.maximum_reference(a, b)[1:3]).all()


@needs_compilers()
def test_kernels_touch_an_element_once_and_in_its_type() -> None:
    from numba import float32, float64

    for name in ("fast_axis", "slow_axis", "blocks_along_rows"):
        facts = numba_facts(getattr(kernels, name), (float64[:, ::1],))
        assert (facts.count("ld.global"), facts.count("st.global")) == (1, 1)
    for name in ("maximum_fast_kernel", "maximum_slow_kernel"):
        facts = numba_facts(getattr(kernels, name), (float32[:, :, ::1],) * 3)
        assert (facts.count("ld.global"), facts.count("st.global"), facts.count("cvt.f64")) == (2, 1, 0)


def strides_of(shape: tuple[int, ...], axes: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Bytes from one thread to the next along x, y and z, each of which walks along an axis of the array."""
    return tuple(int(np.prod(shape[axis + 1 :])) * itemsize for axis in axes)


@pytest.mark.parametrize(
    ("name", "axes"),
    [
        ("fast_axis", FAST_AXES),
        ("slow_axis", SLOW_AXES),
        ("blocks_along_rows", SLOW_AXES),
        ("maximum_fast_kernel", FAST_AXES),
        ("maximum_slow_kernel", SLOW_AXES),
    ],
)
def test_the_tracer_counts_the_same_sectors(name: str, axes: dict[int, tuple[int, ...]]) -> None:
    """The rule, and the accesses of the kernels themselves, counted thread by thread."""
    kernel = getattr(kernels, name).py_func
    parameters = list(inspect.signature(kernel).parameters)
    is_matrix = parameters == ["x"]
    shape, dtype = ((64, 64), np.dtype("float64")) if is_matrix else ((32, 8, 32), np.dtype("float32"))
    for block in ((16, 16), (32, 8)) if is_matrix else ((8, 8, 8), (32, 8, 1)):
        order = axes[len(shape)]
        grid = [-(-shape[of] // threads) for of, threads in zip(order, block, strict=True)]
        if name == "blocks_along_rows":
            grid = grid[::-1]  # its blocks are counted the other way round
        ones = [1.0] * int(np.prod(shape))
        arrays = {parameter: tracer.array(ones, dtype.name, shape) for parameter in parameters}
        trace = tracer.launch(kernel, grid, block, arrays)
        assert trace.passed
        by_the_rule = sectors_per_request(block, strides_of(shape, order, dtype.itemsize))
        assert trace.counts.sectors_per_request == pytest.approx(by_the_rule)
