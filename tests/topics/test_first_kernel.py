"""Adding one in place: kernels against the reference in the simulator, the compiler and on the GPU."""

import json
from collections.abc import Mapping

import pytest

from compile_lane import needs_compilers, numba_facts
from gpuguide.topics.first_kernel import first_call_parts, kernels
from gpuguide.topics.first_kernel.study import increment

KERNELS = ("one_thread", "one_block", "by_hand", "grid", "grid_stride")


@needs_compilers()
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_compile_and_load_as_often_as_they_store(name: str) -> None:
    from numba import float64

    facts = numba_facts(getattr(kernels, name), (float64[::1],))
    assert facts.spills == 0
    assert facts.registers <= 40
    assert facts.count("ld.global") == facts.count("st.global") >= 1


@needs_compilers()
def test_cuda_grid_compiles_to_the_same_instructions_as_the_index_by_hand() -> None:
    from numba import float64

    by_hand, grid = (numba_facts(getattr(kernels, name), (float64[::1],)) for name in ("by_hand", "grid"))
    assert (by_hand.registers, by_hand.instructions) == (grid.registers, grid.instructions)


def test_turns_are_those_of_the_thread_that_makes_most() -> None:
    turns = increment.variant("one_block").work["turns"]
    assert [turns(n) for n in (0, 1, 256, 257, 2**20)] == [0, 1, 1, 2, 4096]


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
@pytest.mark.slow
def test_the_parts_explain_the_first_call() -> None:
    first = first_call_parts.measure_first_call(n_processes=1)
    parts = sum(first[part][0] for part in first_call_parts.PARTS)
    assert 0.9 <= parts / first["whole"][0] <= 1.1
