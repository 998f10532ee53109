"""Shapes of launch, grids that do nothing, and what blocks' clock stamps add up to."""

import numpy as np
import pytest

from compile_lane import needs_compilers, numba_facts, raw_facts
from fake_clock import FakeGpu, FakeHost
from gpuguide.errors import ArgumentError, MismatchError, NoGpuError
from gpuguide.machine.device import EXAMPLE_DEVICE
from gpuguide.machine.memory import HOST
from gpuguide.measure.plan import Variant
from gpuguide.measure.session import Machine, recording_session
from gpuguide.measure.study import Study
from gpuguide.measure.turns import measure_map
from gpuguide.results.ceilings import Ceilings
from gpuguide.topics.launch_sizes import kernels, residency
from gpuguide.topics.launch_sizes import study as launch_sizes

# Shapes -----------------------------------------------------------------------------------------------------


def test_every_shape_has_a_variant_of_its_own() -> None:
    names = [variant.name for variant in launch_sizes.shapes_study().variants]
    assert len(set(names)) == len(names) == 1 + 7 * 4 + 2 * 6 * 7
    for threads in (32, 1024):
        for items in (1, 4):
            for blocks in (1, 64, None):
                assert launch_sizes.shape_name(threads, items, blocks) in names


def test_the_rules_are_about_shapes_of_the_map() -> None:
    """The same launches, so that a number of one can be looked up in the other."""
    shapes = launch_sizes.shapes_study()
    for name, shape in (("threads_33", "t33_i1_all"), ("blocks_16", "t128_i1_b16")):
        rule, cell = launch_sizes.rules_study().variant(name), shapes.variant(shape)
        assert rule.call.keywords == cell.call.keywords
        assert rule.call.func is cell.call.func


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
        measure_map(launch_sizes.shapes_study(), 16)


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

    facts = numba_facts(kernels.empty_kernel, (int64[::1],))
    assert facts.count("ld.global") == facts.spills == 0
    assert facts.count("st.global") == 2
    assert facts.registers <= 16


def test_from_one_block_to_the_number_of_the_rule_of_thumb_and_far_beyond() -> None:
    sizes = launch_sizes.empty_study().sizes
    assert (sizes[0], sizes[-1]) == (1, 2**24)
    assert len(sizes) >= 6
    assert 2**28 // 128 in sizes, "as many blocks as CuPy launches for 2**28 elements"


# Residency --------------------------------------------------------------------------------------------------


def stamps(*rows: tuple[int, int, int, int]) -> np.ndarray:
    return np.array(rows, dtype=np.int64)


def test_blocks_one_after_the_other_are_one_at_a_time() -> None:
    found = residency.residency(stamps((3, 0, 8, 10), (3, 10, 18, 20), (3, 20, 28, 30)), 100)
    assert found.blocks_per_sm == pytest.approx(1)
    assert found.bytes_in_flight == pytest.approx(80)
    assert (found.wait_cycles, found.life_cycles) == (8, 10)


def test_gaps_between_blocks_count_as_nobody_there() -> None:
    found = residency.residency(stamps((3, 0, 5, 10), (3, 30, 35, 40)), 100)
    assert found.blocks_per_sm == pytest.approx(0.5)
    assert found.bytes_in_flight == pytest.approx(25)


def test_each_multiprocessor_has_a_clock_of_its_own() -> None:
    here, there = [(0, 0, 6, 10), (0, 5, 11, 15)], [(9, 10**12, 10**12 + 6, 10**12 + 10)]
    both = residency.residency(stamps(*here, *there), 1)
    alone = [residency.residency(stamps(*rows), 1).blocks_per_sm for rows in (here, there)]
    assert both.blocks_per_sm == pytest.approx(np.mean(alone))


@pytest.mark.parametrize("row", [(0, 0, 0, 0), (0, 5, 4, 6), (0, 5, 7, 6)])
def test_stamps_that_nobody_wrote_are_noticed(row: tuple[int, int, int, int]) -> None:
    with pytest.raises(MismatchError, match="ran backwards"):
        residency.residency(stamps((0, 1, 2, 3), row), 1)


def test_measuring_wants_whole_blocks_of_work() -> None:
    x = np.zeros(1000, np.float32)
    with pytest.raises(ArgumentError, match="multiple of 512 elements"):
        residency.measure_residency(x, x, x, 4, 128)
    with pytest.raises(ArgumentError, match="1, 2, 4 or 8; got 3"):
        kernels.stamped_kernel(3)


@needs_compilers()
@pytest.mark.parametrize("items", kernels.ITEMS)
def test_the_stamped_kernel_compiles(items: int) -> None:
    """The clock is read at the start, once all loads have arrived at the barrier, and at the end."""
    kernel = kernels.stamped_kernel(items)
    facts = raw_facts(kernel.source, kernel.name)
    assert facts.spills == facts.stack_bytes == 0
    assert facts.count("ld.global") == 2 * items
    assert facts.count("st.global.f32") == items
    assert facts.registers <= 40, "as many blocks fit as of the kernel without stamps"
    body = facts.ptx[facts.ptx.index(".entry") :]
    marks = [body.index("%clock64"), body.rindex("ld.global"), body.index("bar.red")]
    marks += [body.index("%clock64", marks[-1]), body.index("st.global"), body.rindex("%clock64")]
    assert marks == sorted(marks)


@needs_compilers()
@pytest.mark.parametrize(("items", "threads"), [(1, 128), (4, 256)])
def test_stamps_leave_the_occupancy_as_it_is(items: int, threads: int) -> None:
    from numba import float32

    from gpuguide.machine.launch import occupancy
    from gpuguide.topics.launch_sizes.kernels import KERNELS

    stamped = kernels.stamped_kernel(items)
    registers = (
        raw_facts(stamped.source, stamped.name).registers,
        numba_facts(KERNELS[items], (float32[::1],) * 3).registers,
    )
    fits = [occupancy(threads, each, 0, EXAMPLE_DEVICE).blocks_per_sm for each in registers]
    assert fits[0] == fits[1] == 2048 // threads


@pytest.mark.gpu
def test_the_map_on_the_gpu_has_a_time_for_every_shape() -> None:
    study = launch_sizes.shapes_study()
    seconds = measure_map(study, 2**20, n_rounds=1)
    assert set(seconds) == set(study.names)
    assert all(sample > 1e-6 for (sample,) in seconds.values())


@pytest.mark.gpu
def test_no_more_blocks_are_resident_than_fit() -> None:
    import cupy as cp

    a, b = cp.random.random((2, 2**24), dtype=cp.float32)
    found = residency.measure_residency(a, b, cp.empty_like(a), 1, 128)
    assert 1 < found.blocks_per_sm <= 16
    assert 0 < found.wait_cycles < found.life_cycles
