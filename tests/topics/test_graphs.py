"""Jacobi steps: the reference in pieces, the solution, and kernels that do the same in both languages."""

from collections.abc import Callable

import numpy as np
import pytest

from compile_lane import needs_compilers, numba_facts, raw_facts
from gpuguide.topics.graphs import kernels
from gpuguide.topics.graphs import study as graphs


@pytest.mark.parametrize("n", [0, 1, 2, 3, graphs.PIECE, 2 * graphs.PIECE + 5])
def test_the_reference_in_pieces_does_the_steps_of_numpy(n: int) -> None:
    (noisy,) = graphs.noisy_signal(n, np.dtype("float32"), np.random.default_rng(1), False)
    out = noisy.copy()
    graphs.between_two(graphs.four_calls, noisy, noisy.copy(), out, steps=8)
    assert (graphs.smooth_reference(noisy, 8) == out).all()


def test_the_solution_solves_the_equations_and_the_steps_approach_it() -> None:
    (noisy,) = graphs.noisy_signal(2000, np.dtype("float32"), np.random.default_rng(1), False)
    x = graphs.eliminate(noisy.astype(np.float64))
    assert np.allclose(33 * x[1:-1] - 16 * (x[:-2] + x[2:]), noisy[1:-1])
    assert (x[[0, -1]] == noisy[[0, -1]]).all()
    check = graphs.SolutionCheck()
    off, tolerance = check.compare(graphs.smooth_reference(noisy, 350), x)
    assert off < tolerance
    assert check.compare(graphs.smooth_reference(noisy, 100), x)[0] > tolerance


def test_kernels_do_the_steps_in_the_simulator(simulator_python: Callable[..., str]) -> None:
    """With `all_steps` in one block, as blocks of the simulator do not wait for one another."""
    snippet = """
import numpy as np
from gpuguide.topics.graphs import kernels, study
(noisy,) = study.noisy_signal(70, np.dtype("float32"), np.random.default_rng(1), False)
spare, out, at_once = (np.empty_like(noisy) for _ in range(3))
study.between_two(study.launch_numba, noisy, spare, out, steps=6)
kernels.all_steps[1, 32](noisy, spare, at_once, 6)
right = study.smooth_reference(noisy, 6)
print((out == right).all(), (at_once == right).all())
"""
    assert simulator_python(snippet, timeout=120) == "True True\n"


@needs_compilers()
def test_both_languages_read_four_numbers_and_write_one() -> None:
    from numba import float32

    facts = numba_facts(kernels.jacobi_step, (float32[::1],) * 3)
    for compiled in (facts, raw_facts(kernels.jacobi_source, "jacobi_step")):
        assert compiled.spills == 0
        # The ends are an own branch, with a load and a store.
        assert (compiled.count("ld.global"), compiled.count("st.global")) == (4, 2)


@needs_compilers()
def test_four_numbers_per_thread_take_two_wide_loads_and_a_wide_store() -> None:
    facts = raw_facts(kernels.jacobi_four_source, "jacobi_four")
    assert facts.spills == 0
    assert (facts.count("ld.global.v4"), facts.count("st.global.v4")) == (2, 1)
