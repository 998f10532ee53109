"""The centre of mass of a row of weights, on whichever side the weights are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.array_cases import compare_values, unchanged
from gpuguide.exercises.stand_ins.fake_cupy import FakeCupy
from gpuguide.exercises.stand_ins.judging import attempt, count, lines_text
from gpuguide.exercises.stand_ins.lines import source_of
from gpuguide.exercises.stand_ins.virtual_gpu import VirtualGpu
from gpuguide.machine.backends import cupy

# The last so long that its places need more digits than half precision has.
CASES = ((5, np.float32), (1, np.float32), (4, np.float64), (1000, np.float32), (2100, np.float64))


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Call it with weights on the host and on the device, and watch that nothing is copied."""
    for n, dtype in CASES:
        for on_gpu in (False, True):
            if found := _findings(function, n, dtype, on_gpu):
                yield from found
                return


def judge_on_gpu(function: Callable[..., Any]) -> Iterator[Finding]:
    """Call it with the real CuPy."""
    cp = cupy()
    for n, dtype in CASES:
        mass, expected = _weights(n, dtype)
        case = f"With {count(n, 'weight')} of {np.dtype(dtype)} on the GPU"
        result, finding = attempt(function, case, np, cp, cp.asarray(mass))
        if finding is None and not isinstance(result, cp.ndarray):
            finding = _wrong_side(case, result)
        if finding is None:
            finding = compare_values(case, result.get(), expected, _tolerance(expected))
        if finding is not None:
            yield finding
            return


def _findings(function: Callable[..., Any], n: int, dtype: type, on_gpu: bool) -> list[Finding]:
    cp = FakeCupy(VirtualGpu(source=source_of(function)))
    mass, expected = _weights(n, dtype)
    copy = mass.copy()
    case = f"With {count(n, 'weight')} of {np.dtype(dtype)} on the {'GPU' if on_gpu else 'CPU'}"
    argument = cp.asarray(mass) if on_gpu else mass
    cp.gpu.log.clear()
    result, finding = attempt(function, case, np, cp, argument)
    if finding is not None:
        return [finding]
    if found := list(_crossings(cp, case, on_gpu)):
        return found
    if type(result) in (int, float):
        message = f"{case} the result is a number of Python: float() and item() make one, which has no dtype"
        return [Finding("wrong", f"{message} and is on the CPU. Return what the division gives.")]
    if isinstance(result, cp.ndarray) != on_gpu:
        return [_wrong_side(case, result)]
    value = result.get() if on_gpu else result
    finding = compare_values(case, value, expected, _tolerance(expected))
    return [found for found in (finding, unchanged(case, "mass", mass, copy)) if found]


def _weights(n: int, dtype: type) -> tuple[Any, Any]:
    # In eighths, and as large as they may be for all sums to be exact: a narrower type holds few of them.
    most = 2 ** (np.finfo(dtype).nmant + 1) // n**2
    mass: Any = np.random.default_rng(n).integers(1, most + 1, n).astype(dtype) / dtype(8)
    exact = (np.arange(n) * mass.astype(np.float64)).sum() / mass.sum(dtype=np.float64)
    return mass, np.asarray(exact, dtype)


def _tolerance(expected: Any) -> float:
    """Return the bound for two sums, in any order, and a division."""
    return float(32 * np.finfo(expected.dtype).eps * max(float(expected), 1))


def _crossings(cp: FakeCupy, case: str, on_gpu: bool) -> Iterator[Finding]:
    copies = cp.gpu.events("to_device", "to_host")
    if copies:
        lines = lines_text(event.line for event in copies)
        there = "the GPU" if copies[0].kind == "to_device" else "the host"
        yield Finding(
            "limit",
            f"{case} data crossed over {count(len(copies), 'time')}{lines}, first to {there}. "
            "All of the work can be done where the weights are.",
            line=copies[0].line,
        )
    elif not on_gpu and (work := cp.gpu.events("launch", "memset")):
        yield Finding(
            "limit",
            f"{case} the GPU was used, with {count(len(work), 'launch', 'launches')}"
            f"{lines_text(event.line for event in work)}: the weights are on the CPU, and so is the work.",
            line=work[0].line,
        )


def _wrong_side(case: str, result: Any) -> Finding:
    kind = f"{type(result).__module__}.{type(result).__name__}"
    return Finding("wrong", f"{case} the result must be on the same side; its type is {kind}.")


EXERCISE = Exercise(
    name="cpu_or_gpu",
    title="On either side",
    level="beginner",
    minutes=10,
    teaches="Get the module from the array, and the same lines run wherever the data are.",
    task=FunctionTask(judge=judge, parameters=("np", "cp", "mass"), on_gpu=judge_on_gpu),
    lanes=("simulator", "gpu"),
    pages=("numpy_to_cupy", "agnostic"),
    tags=("CuPy", "NumPy", "copies"),
)
