"""Shapes of launch, the map of them, and grids that do nothing."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from page_cells import open_cells

from compile_lane import needs_compilers, numba_facts
from fake_clock import FakeGpu, FakeHost
from fake_cupy import make_cupy
from gpuguide.errors import ArgumentError, MismatchError, NoGpuError
from gpuguide.machine import launch
from gpuguide.machine.device import EXAMPLE_DEVICE
from gpuguide.machine.memory import HOST
from gpuguide.measure.plan import Variant
from gpuguide.measure.session import Machine, recording_session
from gpuguide.measure.study import Study
from gpuguide.measure.turns import measure_map
from gpuguide.results.ceilings import Ceilings
from gpuguide.topics.launch_sizes import kernels
from gpuguide.topics.launch_sizes import study as launch_sizes

# Shapes -----------------------------------------------------------------------------------------------------


def test_every_point_of_the_charts_has_a_variant() -> None:
    names = [variant.name for variant in launch_sizes.map_study().variants]
    assert len(set(names)) == len(names)
    for items in (1, 2, 4):
        for threads in (32, 64, 128, 256, 512, 1024):
            assert launch_sizes.shape_name(threads, items) in names
    for items in (1, 4):
        for threads in (64, 256, 1024):
            for blocks in (1, 2, 4, 8, 16, 32):
                drawn = 128 <= threads * blocks <= 2048
                assert (launch_sizes.shape_name(threads, items, blocks) in names) == drawn


def test_what_the_text_compares_differs_in_one_thing() -> None:
    """Blocks that cover, or stay; more threads, or more elements; and so on."""
    shape = {variant.name: variant.call.keywords for variant in launch_sizes.shapes_study().variants}
    assert shape["blocks_that_stay"] == shape["blocks_of_1024"] | {"blocks_per_sm": 2}
    # 33 threads are two warps, like 64, so that as many blocks fit.
    assert shape["a_lane_more"] == shape["full_warps"] | {"threads_per_block": 33}
    assert shape["sixteen_blocks"] == shape["four_blocks"] | {"blocks_per_sm": 16}
    threads = {name: each["threads_per_block"] * each.get("blocks_per_sm", 0) for name, each in shape.items()}
    assert threads["half_the_threads"] == threads["blocks_that_stay"] / 2 == 1024


# The map ----------------------------------------------------------------------------------------------------


def fake_map(*names: str, wrong_after: int | None = None) -> tuple[FakeGpu, Study, Machine]:
    """Variants on a fake GPU that take 100, 200, ... microseconds; the last one may go wrong at some call."""
    gpu = FakeGpu(FakeHost())
    calls = dict.fromkeys(names, 0)

    def variant(name: str, microseconds: int) -> Variant:
        kernel = gpu.kernel(1000 * microseconds, name=name)

        def call(x: np.ndarray, out: np.ndarray) -> None:
            calls[name] += 1
            kernel()
            late = wrong_after is not None and name == names[-1] and calls[name] > wrong_after
            np.add(x, 2 if late else 1, out=out)

        return Variant(name, call, note="fake")

    study = Study(
        name="fake",
        title="Fake",
        variants=tuple(variant(name, 100 * (i + 1)) for i, name in enumerate(names)),
        sizes=(16,),
        inputs=lambda n, dtype, rng, exact: (np.arange(n, dtype=dtype),),
        reference=lambda x: x + 1,
    )
    spaces = {"host": HOST, "device": HOST}
    return gpu, study, Machine(gpu, EXAMPLE_DEVICE, spaces, lambda: None, gpu.host)


def test_the_map_times_every_variant_once_a_round() -> None:
    gpu, study, machine = fake_map("a", "b", "c")
    with recording_session(given_machine=machine, ceilings=Ceilings()):
        seconds = measure_map(study, 16, n_rounds=4)
    assert seconds == {
        name: pytest.approx([(100 * i + 1) * 1e-6] * 4, rel=0.02) for i, name in enumerate("abc", 1)
    }
    timed = [word for word in gpu.log if word in "abc"]
    rounds = [tuple(timed[at : at + 3]) for at in range(len(timed) - 15, len(timed) - 3, 3)]
    assert all(sorted(each) == ["a", "b", "c"] for each in rounds)
    assert len(set(rounds)) > 1, "the order is shuffled anew"


@pytest.mark.parametrize("wrong_after", [0, 1, 6])
def test_the_map_shows_nothing_that_is_wrong(wrong_after: int) -> None:
    """Wrong on whole numbers, on random ones, or only after the clock was on it for a while."""
    _, study, machine = fake_map("a", "b", wrong_after=wrong_after)
    recording = recording_session(given_machine=machine, ceilings=Ceilings())
    with recording, pytest.raises(MismatchError, match="'b'"):
        measure_map(study, 16, n_rounds=3)


def test_a_map_without_a_gpu_says_so() -> None:
    with recording_session(given_machine=Machine(), ceilings=Ceilings()), pytest.raises(NoGpuError):
        measure_map(launch_sizes.map_study(), 16)


# Grids that do nothing --------------------------------------------------------------------------------------


def test_a_grid_of_another_size_is_rejected() -> None:
    """A launcher that quietly launches fewer blocks would be timed as a fast one."""
    from dataclasses import replace

    from spoiled import host_variant

    def one_block_less(n: int, out: np.ndarray) -> None:
        out[:] = launch_sizes.empty_reference(n - 1)

    study = replace(launch_sizes.empty_study(), variants=(host_variant(one_block_less),))
    with pytest.raises(MismatchError, match="expected 256, got 255"):
        study.check_all([257])


def test_an_empty_grid_says_what_it_takes() -> None:
    with pytest.raises(ArgumentError, match="at least one block; got 0"):
        launch_sizes.empty_grid(0, np.zeros(2, np.int64))


@needs_compilers()
def test_the_empty_kernel_has_next_to_nothing_to_do() -> None:
    from numba import int64

    facts = numba_facts(kernels.empty, (int64[::1],))
    assert facts.count("ld.global") == facts.spills == 0
    assert facts.count("st.global") == 2
    assert facts.registers <= 16


def test_from_one_block_to_the_number_of_the_rule_of_thumb_and_far_beyond() -> None:
    sizes = launch_sizes.empty_study().sizes
    assert (sizes[0], sizes[-1]) == (1, 2**24)
    assert len(sizes) >= 6
    assert 2**28 // 128 in sizes, "as many blocks as CuPy launches for 2**28 elements"


def test_the_occupancy_that_the_page_computes_is_that_of_the_calculator() -> None:
    """Blocks of 32 threads fill half a multiprocessor, which holds 32 blocks; registers come by eights."""
    (cell,) = (cell.content for cell in open_cells("launch_sizes") if "def occupancy" in cell.content)
    names = {"cp": make_cupy(), "math": math}
    exec(cell[: cell.index("for kernel")], names)
    for registers in (16, 33, 64, 128):
        kernel = SimpleNamespace(get_regs_per_thread=lambda registers=registers: {"a signature": registers})
        for threads in (32, 128, 256, 512):
            expected = launch.occupancy(threads, registers, 0, EXAMPLE_DEVICE).share
            assert names["occupancy"](kernel, threads) == expected, (registers, threads)


@pytest.mark.gpu
def test_the_map_on_the_gpu_has_a_time_for_every_shape() -> None:
    study = launch_sizes.map_study()
    seconds = measure_map(study, 2**20, n_rounds=1)
    assert set(seconds) == set(study.names)
    assert all(sample > 1e-6 for (sample,) in seconds.values())
