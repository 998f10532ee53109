"""Launches a kernel's source in the tracing simulator, in both orders at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.exercises.trace import Finding, Trace, prepare, run

NAN = np.float32(np.nan)


def poisoned(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """An output that holds nothing yet."""
    return np.full(shape, np.nan if np.dtype(dtype).kind == "f" else np.iinfo(dtype).min, dtype)


def ramp(n: int, dtype: Any = np.float32) -> np.ndarray:
    """0, 1, 2 and so on."""
    return np.arange(n).astype(dtype)


def launch(source: str, grid: Any, block: Any, order: str = "forward", **arguments: Any) -> Trace:
    """Run a kernel once; its arguments are changed in place."""
    options = {
        name: arguments.pop(name) for name in ("shared_bytes", "step_limit", "outputs") if name in arguments
    }
    return run(prepare(source), grid, block, arguments, order=order, **options)


def findings(source: str, grid: Any, block: Any, **arguments: Any) -> tuple[Finding, ...]:
    """Run a kernel in both orders, on copies; both must find the same."""
    found = [
        launch(
            source, grid, block, order, **{name: _copied(value) for name, value in arguments.items()}
        ).findings
        for order in ("forward", "reverse")
    ]
    assert found[0] == found[1]
    return found[0]


def kinds(source: str, grid: Any, block: Any, **arguments: Any) -> list[str]:
    """The kinds of what is found, in order."""
    return [finding.kind for finding in findings(source, grid, block, **arguments)]


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value
