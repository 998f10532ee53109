"""Shapes of launch, the map of them, and grids that do nothing."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from spoiled import host_variant

from compile_lane import needs_compilers, numba_facts
from fake_clock import FakeGpu, FakeHost
from gpuguide.errors import MismatchError, NoGpuError
from gpuguide.machine.device import EXAMPLE_DEVICE
from gpuguide.machine.memory import HOST
from gpuguide.measure.plan import Variant
from gpuguide.measure.session import Machine, recording_session
from gpuguide.measure.study import Study
from gpuguide.measure.turns import measure_map
from gpuguide.results.ceilings import Ceilings
from gpuguide.topics.launch_sizes import kernels
from gpuguide.topics.launch_sizes import study as launch_sizes
from gpuguide.topics.launch_sizes.maximum import maximum_reference

# Shapes -----------------------------------------------------------------------------------------------------


def test_every_point_of_the_charts_has_a_variant() -> None:
    names = launch_sizes.shape_map.names
    for items in (1, 2, 4):
        for threads in (32, 64, 128, 256, 512, 1024):
            assert f"t{threads}_i{items}_all" in names
    for items in (1, 4):
        for threads in (64, 256, 1024):
            for blocks in (1, 2, 4, 8, 16, 32):
                drawn = 128 <= threads * blocks <= 2048
                assert (f"t{threads}_i{items}_b{blocks}" in names) == drawn


def test_blocks_cover_the_vectors_or_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_sizes, "multiprocessors", lambda: 132)
    grids = {v.name: v.grid(2**26) for v in launch_sizes.shapes.variants if v.grid}
    assert grids["blocks_of_1024"] == (2**16, 1024)
    assert grids["blocks_that_stay"] == (2 * 132, 1024)
    # 33 threads are two warps, like 64, so that as many blocks fit.
    assert (grids["full_warps"], grids["a_lane_more"]) == ((32 * 132, 64), (32 * 132, 33))
    assert grids["half_the_threads"] == (4 * 132, 256)
    fours = launch_sizes.maximum.variant("four_elements").grid
    assert fours is not None
    assert (fours(2**28), fours(2**28 + 1)) == ((2**18, 256), (2**18 + 1, 256))


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


def test_a_variant_that_drops_nan_is_rejected() -> None:
    """The rule is the same for all: what is not a number wins. np.fmax has the other one."""
    dropping = host_variant(lambda a, b, out: np.fmax(a, b, out=out))
    study = replace(launch_sizes.maximum, variants=(dropping,), baseline="")
    with pytest.raises(MismatchError, match="expected nan"):
        study.check_all([257])


def test_the_reference_and_numpy_agree_on_nan() -> None:
    values = np.array([np.nan, 1, -1, 0, np.inf, -np.inf], np.float32)
    a, b = (x.ravel() for x in np.meshgrid(values, values))
    assert np.array_equal(maximum_reference(a, b), np.maximum(a, b), equal_nan=True)


@pytest.mark.parametrize("exact", [True, False])
def test_the_inputs_hold_nan_in_either_and_in_both(exact: bool) -> None:
    a, b = launch_sizes.maximum.make_inputs(2**14, exact=exact)
    kinds = np.isnan(a) + 2 * np.isnan(b)
    assert [int((kinds == kind).sum()) for kind in (1, 2, 3)] == [17, 17, 17]
    assert bool((a > b).any() and (b > a).any())


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
    """And the device function is inlined."""
    from numba import float32

    facts = numba_facts(getattr(kernels, name), (float32[::1],) * 3)
    assert facts.spills == facts.stack_bytes == 0
    assert facts.count("call") == facts.count("cvt.rn.f64") == 0
    assert facts.registers <= 40
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
        measure_map(launch_sizes.shape_map, 16)


# Grids that do nothing --------------------------------------------------------------------------------------


def test_a_grid_of_another_size_is_rejected() -> None:
    """A launch that quietly has fewer blocks would be timed as a fast one."""

    def one_block_less(n: int, out: np.ndarray) -> None:
        out[:] = launch_sizes.empty_reference(n - 1)

    study = replace(launch_sizes.empty, variants=(host_variant(one_block_less),))
    with pytest.raises(MismatchError, match="expected 256, got 255"):
        study.check_all([257])


@needs_compilers()
def test_the_empty_kernel_has_next_to_nothing_to_do() -> None:
    from numba import int64

    facts = numba_facts(kernels.empty, (int64[::1],))
    assert facts.count("ld.global") == facts.spills == 0
    assert facts.count("st.global") == 2
    assert facts.registers <= 16


# On the GPU -------------------------------------------------------------------------------------------------


@pytest.mark.gpu
def test_the_driver_counts_the_blocks_that_fit() -> None:
    """Of 256 threads, at most 2048 threads on a multiprocessor; blocks of 32 fill half of that at most."""
    import cupy as cp
    from numba import float32

    x = cp.ones(2**12, cp.float32)
    kernels.four_elements[4, 256](x, x, cp.empty_like(x))
    compiled = kernels.four_elements.overloads[(float32[::1],) * 3]
    held = {width: compiled.max_cooperative_grid_blocks(width) for width in (32, 256)}
    attributes = cp.cuda.Device().attributes
    most = attributes["MultiProcessorCount"] * attributes["MaxThreadsPerMultiProcessor"]
    assert 0 < 32 * held[32] <= most
    assert 0 < 256 * held[256] <= most


@pytest.mark.gpu
def test_the_map_on_the_gpu_has_a_time_for_every_shape() -> None:
    seconds = measure_map(launch_sizes.shape_map, 2**20, n_rounds=1)
    assert set(seconds) == set(launch_sizes.shape_map.names)
    assert all(sample > 1e-6 for (sample,) in seconds.values())
