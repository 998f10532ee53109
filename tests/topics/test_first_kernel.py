"""Adding one in place: kernels against the reference in the simulator, the compiler and on the GPU."""

import json
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from spoiled import assert_rejects
from topic_sizes import SIZES, in_simulator

from compile_lane import needs_compilers, numba_facts
from gpuguide.errors import ArgumentError
from gpuguide.topics.first_kernel import first_call_parts
from gpuguide.topics.first_kernel import study as first_kernel

KERNELS = ("by_hand", "grid", "grid_stride", "four_per_thread")
LAUNCHERS = [getattr(first_kernel, f"increment_{name}") for name in KERNELS]


def test_kernels_equal_the_reference_in_the_simulator(fresh_python: Callable[..., str]) -> None:
    count, names = in_simulator(fresh_python, "first_kernel.study", SIZES)
    assert names == sorted([*KERNELS, "numpy", "python_loop"])
    assert count == len(SIZES) * 2 * len(names)


def test_four_per_thread_covers_full_and_partial_blocks(fresh_python: Callable[..., str]) -> None:
    sizes = (1023, 1024, 1025, 2300)
    count, _ = in_simulator(fresh_python, "first_kernel.study", sizes, variants=("four_per_thread",))
    assert count == len(sizes) * 2


def test_the_study_rejects_wrong_variants() -> None:
    assert_rejects(first_kernel.study(), first_kernel.increment_reference, 257)


@pytest.mark.parametrize("launcher", LAUNCHERS, ids=KERNELS)
@pytest.mark.parametrize(
    ("array", "cure"),
    [(np.ones((2, 3)), "ravel"), (np.ones(4, np.float32), "astype"), (np.ones(()), "ravel")],
)
def test_launchers_say_what_they_take(launcher: Callable[..., None], array: np.ndarray, cure: str) -> None:
    with pytest.raises(ArgumentError, match=rf"one-dimensional float64.*{cure}"):
        launcher(array)


@pytest.mark.parametrize("launcher", LAUNCHERS, ids=KERNELS)
def test_launchers_do_nothing_for_an_empty_vector(launcher: Callable[..., None]) -> None:
    launcher(np.empty(0))


@needs_compilers()
@pytest.mark.parametrize(
    ("name", "loads"), [("by_hand", 1), ("grid", 1), ("grid_stride", 1), ("four_per_thread", 5)]
)
def test_kernels_compile(name: str, loads: int) -> None:
    """Four a thread has four loads in its straight path and at least one in the loop at the end."""
    from numba import float64

    facts = numba_facts(getattr(first_kernel, f"increment_{name}_kernel"), (float64[::1],))
    assert facts.spills == 0
    assert facts.registers <= 40
    assert facts.count("ld.global") >= loads
    assert facts.count("ld.global") == facts.count("st.global")


def test_the_traffic_is_one_read_and_one_write_an_element() -> None:
    traffic = first_kernel.increment_traffic(1000, np.dtype("float64"))
    assert (traffic.bytes_read, traffic.bytes_written, traffic.flops) == (8000, 8000, 1000)


def test_the_source_size_and_dtype_are_among_those_measured() -> None:
    study = first_kernel.study()
    assert study.dtype == "float64"
    assert {2**10, 65_536, 2**28} <= set(study.sizes)
    assert len(study.sizes) >= 6


def test_the_parts_of_the_first_call_are_those_of_the_processes_that_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first process is discarded with its parts."""
    printed = iter(
        json.dumps([k * 10, k * 5, k, k]) + "\n" + json.dumps({"ns": 17 * k}) + "\n" for k in (1000, 1, 2, 3)
    )

    class Done:
        stdout = ""

    def run(command: list[str], env: Mapping[str, str], **options: object) -> Done:
        assert command[-1] == "gpuguide.topics.first_kernel.first_call_parts:first_call"
        assert "NUMBA_CACHE_DIR" in env
        done = Done()
        done.stdout = next(printed)
        return done

    monkeypatch.setattr(first_call_parts.subprocess, "run", run)
    first = first_call_parts.measure_first_call(n_processes=3)
    assert first["whole"] == pytest.approx((17e-9, 34e-9, 51e-9))
    assert first["compile"] == pytest.approx((5e-9, 10e-9, 15e-9))
    assert tuple(first) == ("whole", *first_call_parts.PARTS)


@pytest.mark.gpu
def test_all_variants_equal_the_reference_on_the_gpu() -> None:
    report = first_kernel.study().check_all((*SIZES, 65_536, 10**6 + 3))
    assert not report.skipped


@pytest.mark.gpu
@pytest.mark.parametrize("launcher", LAUNCHERS, ids=KERNELS)
def test_launchers_take_cupy_arrays_on_the_current_stream(launcher: Callable[..., None]) -> None:
    import cupy as cp

    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        x = cp.ones(1009)
        launcher(x)
        assert bool((x == 2).all())


@pytest.mark.gpu
@pytest.mark.slow
def test_the_parts_explain_the_first_call() -> None:
    first = first_call_parts.measure_first_call(n_processes=1)
    parts = sum(first[part][0] for part in first_call_parts.PARTS)
    assert 0.9 <= parts / first["whole"][0] <= 1.1
