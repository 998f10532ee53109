"""Ufuncs on both processors: NaN, Kepler's equation, and kernels that stay in float32."""

import ast
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compile_lane import needs_compilers, numba_facts
from gpuguide.topics.ufuncs import functions, kepler, kernels, kernels_cpu
from gpuguide.topics.ufuncs import study as ufuncs


def test_the_nan_rule_is_that_of_the_reference() -> None:
    """A ufunc of Numba's max would give the first of the two on a CPU."""
    nan, one = np.float32("nan"), np.float32(1)
    a, b = np.array([nan, one, nan, 2], np.float32), np.array([one, nan, nan, one], np.float32)
    assert ufuncs.maximum.reference is not None
    expected = ufuncs.maximum.reference(a, b)
    for call in (kernels_cpu.maximum_cpu, kernels_cpu.maximum_cpu_loop):
        out = np.empty_like(a)
        with np.errstate(invalid="ignore"):  # comparing with NaN sets a flag that NumPy reports
            call(a, b, out)
        assert np.array_equal(out, expected, equal_nan=True)
    assert np.array_equal(expected, [1, nan, nan, 2], equal_nan=True)


@pytest.mark.parametrize("eccentricity", [0.0, kepler.MOST_ECCENTRIC])
@pytest.mark.parametrize(
    "solve",
    [
        kernels_cpu.anomaly_cpu_loop,
        kernels_cpu.anomaly_numpy_threads,
        kernels_cpu.anomaly_numpy,
        np.vectorize(functions.anomaly),
        np.vectorize(functions.anomaly_in_four),
    ],
)
def test_four_steps_solve_keplers_equation_as_eight_do(
    solve: Callable[..., Any], eccentricity: float
) -> None:
    mean = np.linspace(0, np.pi, 2001).astype(np.float32)
    orbit = np.full_like(mean, eccentricity)
    out = np.empty_like(mean)
    if solve in (kernels_cpu.anomaly_cpu_loop, kernels_cpu.anomaly_numpy_threads):
        solve(mean, orbit, out)
    else:
        out[:] = solve(mean, orbit)
    largest, tolerance = kepler.KeplerCheck().compare(out, (mean, orbit))
    assert largest <= tolerance / 2
    assert np.abs(out - kepler.anomaly_reference(mean, orbit)).max() <= tolerance / 2


def stager(core: Callable[..., Any]) -> Callable[..., Any]:
    """Write the kernel that numba-cuda's @vectorize writes around a function of two numbers."""
    from numba import cuda
    from numba.cuda import vectorizers

    elements = {"args": "a0, a1", "argitems": "a0[__tid__], a1[__tid__]"}
    source = vectorizers.vectorizer_stager_source.format(name="core", **elements)
    names: dict[str, Any] = {"__cuda__": cuda, "__core__": cuda.jit(core, device=True)}
    exec(source, names)
    kernel: Callable[..., Any] = names["__vectorized_core"]
    return kernel


@needs_compilers()
@pytest.mark.parametrize(
    ("core", "divisions"),
    [(functions.larger, 0), (functions.anomaly, 8), (functions.anomaly_in_four, 4), (kernels.sincos, 8)],
    ids=["larger", "anomaly", "anomaly_in_four", "sincos"],
)
def test_the_kernel_of_a_ufunc_computes_in_float32(core: Callable[..., Any], divisions: int) -> None:
    """A literal 1.0 in Kepler's equation would have turned its divisions into float64."""
    from numba import float32

    facts = numba_facts(stager(core), (float32[::1],) * 3)
    assert facts.spills == 0
    assert (facts.count("ld.global.f32"), facts.count("st.global")) == (2, 1)
    assert (facts.count("div.rn.f32"), facts.count("div.rn.f64")) == (divisions, 0)
    assert facts.count("cvt.f64.f32") == 0
    assert facts.count("call") == 0, "the function is inlined"


@needs_compilers()
@pytest.mark.parametrize(("kernel", "axes"), [(kernels.own_kernel, 1), (kernels.distance_kernel, 2)])
def test_kernels_compile_to_float32(kernel: Any, axes: int) -> None:
    from numba import float32

    points = float32[::1] if axes == 1 else float32[:, ::1]
    facts = numba_facts(kernel, (points, points, float32[::1]))
    assert facts.count("st.global") == 1
    assert not [opcode for opcode in facts.instructions if opcode.endswith(".f64")]


@needs_compilers()
def test_fastmath_leaves_one_instruction_of_a_sine_a_cosine_and_a_quotient() -> None:
    from numba import float32

    facts = numba_facts(kernels.fastmath, (float32[::1],) * 3)
    assert [facts.count(f"{name}.approx.ftz.f32") for name in ("sin", "cos", "div")] == [8, 8, 8]


def test_the_quick_sine_of_a_gpu_keeps_within_the_tolerance() -> None:
    """Off by 2**-20.5 at every step, as NVIDIA's reference of PTX allows."""
    mean, orbit = kepler.quick.make_inputs(10_000, exact=False)
    angle = mean + orbit
    for _ in range(8):
        sine = (np.sin(angle, dtype=float) + 2**-20.5).astype(np.float32)
        angle = angle - (angle - orbit * sine - mean) / (1 - orbit * np.cos(angle))
    largest, tolerance = kepler.QuickCheck().compare(angle, (mean, orbit))
    assert tolerance / 8 < largest < tolerance / 2


def test_the_page_shows_the_functions_that_are_measured() -> None:
    """Without their docstrings, and with the number of steps written out."""
    script = Path(__file__).parents[2] / "examples" / "first_kernels" / "ufuncs.py"
    defined = {
        node.name: node
        for node in ast.walk(ast.parse(script.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    }
    for function in (functions.larger, functions.anomaly, functions.squared_distance):
        (tested,) = ast.parse(inspect.getsource(function)).body
        assert isinstance(tested, ast.FunctionDef)
        code = "\n".join(ast.unparse(line) for line in tested.body[1:])
        code = code.replace("STEPS", str(functions.STEPS)).replace("ZERO", "np.float32(0)")
        assert "\n".join(ast.unparse(line) for line in defined[function.__name__].body) == code
