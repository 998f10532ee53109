"""Jacobi steps: the reference in pieces, the solution, kernels that do the same, and which start early."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from compile_lane import needs_compilers, numba_facts, raw_facts
from gpuguide.topics.graphs import kernels
from gpuguide.topics.graphs import study as graphs
from kernel_emulator import as_ctypes, build, needs_host_compiler


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
def test_a_kernel_that_starts_early_touches_only_its_own_noisy_number_before_it_waits() -> None:
    facts = raw_facts(kernels.early_source, "early_step")
    assert facts.spills == 0
    assert facts.count("ld.global.nc") == 0  # may give what stood there when the kernel started
    before, after = facts.ptx.split("griddepcontrol.wait;")
    assert "griddepcontrol.launch_dependents;" in before
    assert (before.count("ld.global"), before.count("st.global")) == (1, 0)
    assert (after.count("ld.global"), after.count("st.global")) == (2, 2)


@needs_host_compiler()
@pytest.mark.parametrize("n", [1, 2, 3, 70])
def test_a_kernel_that_starts_early_does_a_step(n: int, tmp_path: Path) -> None:
    source = "\n".join(line for line in kernels.early_source.splitlines() if "asm" not in line)
    library = build(source, {"early_step": "float* noisy, float* now, float* then, int n"}, tmp_path)
    noisy, now = np.random.default_rng(n).random((2, n), np.float32)
    out, right = np.empty_like(noisy), noisy.copy()
    graphs.four_calls(noisy, now, right)
    library.run_early_step(3, 32, *(as_ctypes(x) for x in (noisy, now, out, np.int32(n))))
    assert (out == right).all()


@pytest.mark.parametrize(
    ("capability", "config", "reason"),
    [
        ((9, 0), SimpleNamespace(programmatic_stream_serialization=False), ""),
        ((12, 0), SimpleNamespace(programmatic_stream_serialization=False), ""),
        ((8, 9), SimpleNamespace(programmatic_stream_serialization=False), "9.0 or newer; this one has 8.9"),
        ((9, 0), SimpleNamespace(), "1.2 and newer"),
    ],
)
def test_why_no_kernel_can_start_early(
    capability: tuple[int, int], config: object, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cuda.core", SimpleNamespace(LaunchConfig=config))
    monkeypatch.setattr(graphs, "core_version", lambda: "1.1.0")
    monkeypatch.setattr(graphs, "require_gpu", lambda: SimpleNamespace(compute_capability=capability))
    assert (reason in graphs.why_not_early()) if reason else graphs.why_not_early() == ""


def test_a_kernel_starts_early_only_where_the_launch_allows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    core, launches = pytest.importorskip("cuda.core"), []
    package = SimpleNamespace(
        LaunchConfig=core.LaunchConfig,
        Stream=SimpleNamespace(from_handle=lambda handle: handle),
        launch=lambda stream, config, kernel, *arguments: launches.append((config, arguments)),
    )
    monkeypatch.setattr(graphs, "core", lambda source, name: (package, name))
    stream = SimpleNamespace(ptr=0)
    monkeypatch.setattr(
        graphs, "cp", SimpleNamespace(cuda=SimpleNamespace(get_current_stream=lambda: stream))
    )
    noisy, now, then = (SimpleNamespace(data=SimpleNamespace(ptr=ptr), size=2000) for ptr in (1, 2, 3))
    for name in ("early", "early_as_usual", "early_256"):
        (variant,) = (variant for variant in graphs.chain.variants if variant.name == name)
        assert variant.missing is graphs.why_not_early
        variant.call.args[0](noisy, now, then)
    assert [config.programmatic_stream_serialization for config, _ in launches] == [True, False, True]
    shapes = [(config.grid[0], config.block[0]) for config, _ in launches]
    assert shapes == [(2, 1024), (2, 1024), (8, 256)]
    assert {arguments for _, arguments in launches} == {(1, 2, 3, 2000)}
