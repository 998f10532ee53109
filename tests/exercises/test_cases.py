"""The launches of an exercise cover awkward sizes, and are few."""

from collections import Counter
from math import prod
from typing import Any

import numpy as np
import pytest

from gpuguide.errors import ArgumentError
from gpuguide.exercises import cases
from gpuguide.exercises.model import Call


def add_one(n: Any, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    x = rng.integers(-9, 9, n).astype(np.float32)
    return {"x": x, "out": cases.poisoned(n)}, {"out": x + 1}


def has_gaps(call: Call) -> bool:
    return not call.arguments["x"].flags.c_contiguous


@pytest.mark.parametrize(("grids", "n_kinds"), [("cover", 2), ("any", 3)])
def test_each_length_comes_once_with_each_kind_of_grid(grids: str, n_kinds: int) -> None:
    calls = [call for call in cases.launches_1d(add_one, grids=grids) if not call.gpu_only]
    counted = Counter(call.arguments["x"].size for call in calls)
    assert {n: counted[n] for n in cases.lengths()} == dict.fromkeys(cases.lengths(), n_kinds)
    assert counted.total() - n_kinds * len(cases.lengths()) <= 1, "one more for whole warps, if need be"
    blocks = {n: [call.block for call in calls if call.arguments["x"].size == n] for n in cases.lengths()}
    assert all(len(set(of_n)) == n_kinds for of_n in blocks.values()), "another block with each kind of grid"


@pytest.mark.parametrize("lengths", [(521,), (31, 257), (1, 2, 3, 4), cases.lengths()])
def test_each_block_comes_at_least_twice(lengths: tuple[int, ...]) -> None:
    counted = Counter(call.block for call in cases.launches_1d(add_one, lengths=lengths))
    assert set(counted) == {(threads,) for threads in cases.BLOCKS}
    assert min(counted.values()) >= 2


def test_covering_grids_have_a_thread_for_each_element_and_some_more() -> None:
    spare = [
        prod(call.grid) * prod(call.block) - call.arguments["x"].size for call in cases.launches_1d(add_one)
    ]
    assert min(spare) >= 0
    assert max(spare) > 256
    assert 0 in spare


@pytest.mark.parametrize("blocks", [cases.BLOCKS, (1, 32, 64, 256), (128,), (1, 96), (256, 64)])
@pytest.mark.parametrize("grids", ["cover", "any"])
def test_one_launch_has_whole_warps_and_an_element_for_each_thread(
    blocks: tuple[int, ...], grids: str
) -> None:
    def is_full(call: Call) -> bool:
        return call.block[0] % 32 == 0 and call.grid[0] * call.block[0] == call.arguments["x"].size > 32

    calls = cases.launches_1d(add_one, blocks=blocks, grids=grids, views=True)
    assert any(is_full(call) and not has_gaps(call) for call in calls)
    matrices = cases.launches_2d(add_one, views=False)
    assert any(prod(call.grid) * prod(call.block) == call.arguments["x"].size > 32 for call in matrices)


def test_any_grid_has_too_few_threads_too() -> None:
    calls = cases.launches_1d(add_one, grids="any")
    few = [call for call in calls if prod(call.grid) * prod(call.block) < call.arguments["x"].size]
    assert len(few) >= 4
    with pytest.raises(ArgumentError, match="grids must be one of 'cover', 'any'; got 'some'"):
        cases.launches_1d(add_one, grids="some")


def test_cheap_launches_come_first_and_empty_arrays_last() -> None:
    calls = cases.launches_1d(add_one)
    threads = [prod(call.grid) * prod(call.block) for call in calls if call.arguments["x"].size]
    assert threads == sorted(threads)
    assert [call.arguments["x"].size for call in calls[-2:]] == [0, 0]


def test_a_check_has_few_threads() -> None:
    """A traced thread takes tens of microseconds: this bounds the time of a whole check."""
    for calls in (cases.launches_1d(add_one, grids="any"), cases.launches_2d(add_one)):
        assert sum(prod(call.grid) * prod(call.block) for call in calls if not call.gpu_only) < 14_000


@pytest.mark.parametrize(("grids", "n_threads"), [("cover", 70_144), ("any", 35_072)])
def test_one_launch_for_a_gpu_alone_is_longer_than_16_bits_count(grids: str, n_threads: int) -> None:
    (far,) = [call for call in cases.launches_1d(add_one, grids=grids) if call.gpu_only]
    assert far.arguments["x"].size == cases.FAR > 2**16
    assert prod(far.grid) * prod(far.block) == n_threads
    assert not any(call.gpu_only for call in cases.launches_1d(add_one, grids=grids, far=0))
    (far,) = [call for call in cases.launches_2d(add_one, grids=grids) if call.gpu_only]
    assert far.arguments["x"].shape == cases.FAR_2D
    assert prod(cases.FAR_2D) > 2**16
    assert max(cases.FAR_2D) > 1024


def test_long_arrays_do_not_come_in_blocks_of_one_thread() -> None:
    for grids in ("cover", "any"):
        calls = cases.launches_1d(add_one, grids=grids)
        assert max(prod(call.grid) for call in calls if prod(call.block) == 1) <= 258


def test_inputs_are_the_same_each_time_and_arrays_new() -> None:
    first, second = cases.launches_1d(add_one), cases.launches_1d(add_one)
    for one, other in zip(first, second, strict=True):
        assert np.array_equal(one.arguments["x"], other.arguments["x"])
        assert not np.shares_memory(one.arguments["out"], other.arguments["out"])
        assert np.isnan(one.arguments["out"]).all()


def test_views_have_gaps_and_hold_the_same_values() -> None:
    calls = cases.launches_1d(add_one, views=True)
    strided = [call for call in calls if call.label.endswith(", every second element")]
    assert len({call.arguments["x"].size for call in strided}) >= 5
    for call in strided:
        assert call.arguments["x"].size == 1 or has_gaps(call) or not call.arguments["x"].size
        assert np.array_equal(call.arguments["x"] + 1, call.expected["out"])
        assert np.isnan(call.arguments["out"]).all()


def test_matrices_have_awkward_shapes_and_x_along_the_columns() -> None:
    calls = [call for call in cases.launches_2d(add_one, views=True) if not call.gpu_only]
    assert Counter(call.arguments["x"].shape for call in calls) == dict.fromkeys(cases.SHAPES, 2)
    for call in calls:
        rows, columns = call.arguments["x"].shape
        assert call.grid[0] * call.block[0] >= columns
        assert call.grid[1] * call.block[1] >= rows
    assert any(call.label.endswith("in Fortran order") and has_gaps(call) for call in calls)
    assert "1 row, 33 columns" in " ".join(call.label for call in calls)


def test_a_builder_may_ask_for_the_launch_and_shared_memory_depends_on_the_block() -> None:
    def sums(n: int, rng: np.random.Generator, grid: int, threads: int) -> Any:
        x = rng.integers(-9, 9, n).astype(np.float32)
        return {"x": x, "out": cases.poisoned(grid)}, {"out": np.zeros(grid, np.float32)}

    for call in cases.launches_1d(sums, with_launch=True, shared_bytes=lambda threads: 4 * threads):
        assert call.arguments["out"].shape == call.grid
        assert call.shared_bytes == 4 * call.block[0]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint16", "int64", "complex64"])
def test_poison_is_no_common_result(dtype: str) -> None:
    array = cases.poisoned((3, 2), dtype)
    assert array.shape == (3, 2)
    assert not np.isin(array, [0, 1, -1]).any()
