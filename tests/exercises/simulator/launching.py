"""Launches a kernel's source in the tracing simulator on NumPy's arrays, in both orders at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from gpuguide.exercises.constants import evaluate
from gpuguide.exercises.numpy_views import as_constant, as_launched, put_back
from gpuguide.exercises.simulator import scheduler, source
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.simulator.source import Kernel
from gpuguide.exercises.simulator.trace import Trace

NAN = np.float32(np.nan)


def poisoned(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """An output that holds nothing yet."""
    return np.full(shape, np.nan if np.dtype(dtype).kind == "f" else np.iinfo(dtype).min, dtype)


def is_poisoned(value: Any) -> bool:
    """Whether an argument holds nothing yet: only NaN, or only the smallest integer of a signed type."""
    if not isinstance(value, np.ndarray) or not value.size or value.dtype.kind not in "fi":
        return False
    unset = np.isnan(value) if value.dtype.kind == "f" else value == np.iinfo(value.dtype).min
    return bool(unset.all())


def ramp(n: int, dtype: Any = np.float32) -> np.ndarray:
    """0, 1, 2 and so on."""
    return np.arange(n).astype(dtype)


def prepare(text: str, name: str = "", constants: Mapping[str, Any] | None = None) -> Kernel:
    """Prepare a kernel with constants of NumPy."""
    known = {key: as_constant(value) for key, value in (constants or {}).items()}
    constant = lambda node, others: as_constant(evaluate(node, others))  # noqa: E731
    return source.prepare(text, name, known, constant, usual_imports=True)


def run(
    kernel: Kernel,
    grid: Any,
    block: Any,
    arguments: Mapping[str, Any],
    outputs: Collection[str] | None = None,
    **options: Any,
) -> Trace:
    """Launch a kernel on arrays, which are changed; outputs are those named, or those that are poisoned."""
    unset = [name for name, value in arguments.items() if is_poisoned(value)] if outputs is None else outputs
    launched = as_launched(arguments, unset)
    trace = scheduler.run(kernel, grid, block, launched, **options)
    put_back(arguments, launched)
    return trace


def launch(text: str, grid: Any, block: Any, order: str = "forward", **arguments: Any) -> Trace:
    """Run a kernel once; its arguments are changed in place."""
    options = {
        name: arguments.pop(name) for name in ("shared_bytes", "step_limit", "outputs") if name in arguments
    }
    return run(prepare(text), grid, block, arguments, order=order, **options)


def findings(text: str, grid: Any, block: Any, **arguments: Any) -> tuple[Finding, ...]:
    """Run a kernel in both orders, on copies; both must find the same."""
    found = [
        launch(
            text, grid, block, order, **{name: _copied(value) for name, value in arguments.items()}
        ).findings
        for order in ("forward", "reverse")
    ]
    assert found[0] == found[1]
    return found[0]


def kinds(text: str, grid: Any, block: Any, **arguments: Any) -> list[str]:
    """The kinds of what is found, in order."""
    return [finding.kind for finding in findings(text, grid, block, **arguments)]


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value
