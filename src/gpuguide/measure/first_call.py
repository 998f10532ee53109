"""Times the first call of a function: each sample is a fresh process with empty kernel caches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from gpuguide.errors import ArgumentError, GpuGuideError
from gpuguide.measure.timing import Samples

__all__ = ["CACHES", "FirstCallError", "time_first_call"]

CACHES = ("NUMBA_CACHE_DIR", "CUPY_CACHE_DIR", "CUDA_CACHE_PATH")
"""Variables that name where compiled kernels are kept."""

# Its last line of output is the answer. The import comes before the clock: what is timed is the call.
_CHILD = """
import importlib, json, sys, time
module, name = sys.argv[1].split(":")
call = getattr(importlib.import_module(module), name)
start = time.perf_counter_ns()
call()
print(json.dumps({"ns": time.perf_counter_ns() - start}))
"""

RunCommand = Callable[[list[str], Mapping[str, str], float], str]


class FirstCallError(GpuGuideError):
    """A process that should have made a first call failed; the message ends with what it printed."""


def time_first_call(
    target: str,
    *,
    n_processes: int = 1,
    n_discarded: int = 1,
    timeout_s: float = 120.0,
    run: RunCommand | None = None,
) -> Samples:
    """Return the time of the first call of `target` in fresh processes.

    One process is enough: the time varies from one start of the machine to the next, and a recording holds
    several. One more process runs first and is not counted: it brings files into memory.
    """
    module, colon, name = target.partition(":")
    if not (module and colon and name.isidentifier()):
        raise ArgumentError(f"expected 'module:function', got {target!r}")
    if n_processes < 1:
        raise ArgumentError(f"expected at least one process, got n_processes={n_processes}")
    if n_discarded < 0:
        raise ArgumentError(f"expected no fewer than 0 processes to discard, got n_discarded={n_discarded}")
    ns = [_first_call(target, timeout_s, run or _run) for _ in range(n_discarded + n_processes)]
    return Samples(tuple(ns[n_discarded:]), method="process")


def _first_call(target: str, timeout_s: float, run: RunCommand) -> int:
    """Return the nanoseconds of one first call."""
    with tempfile.TemporaryDirectory(prefix="gpuguide-first-call-") as folder:
        printed = run([sys.executable, "-c", _CHILD, target], _environment(Path(folder)), timeout_s)
    try:
        # The last line, because the call itself may print.
        return int(json.loads(printed.splitlines()[-1])["ns"])
    except (IndexError, KeyError, TypeError, ValueError):
        raise FirstCallError(f"{target}: expected a time on the last line, got {printed[-300:]!r}") from None


def _environment(folder: Path) -> dict[str, str]:
    """Return the environment with all kernel caches in an empty folder, and the driver's switched off."""
    caches = {name: str(folder / name.lower()) for name in CACHES}
    return {**os.environ, **caches, "CUDA_CACHE_DISABLE": "1"}


def _run(command: list[str], environment: Mapping[str, str], timeout_s: float) -> str:
    try:
        done = subprocess.run(
            command, env=dict(environment), capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired:
        raise FirstCallError(f"{command[-1]}: the first call took over {timeout_s:g} s") from None
    if done.returncode:
        # The end of the output, where a traceback says what went wrong.
        raise FirstCallError(f"{command[-1]}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout
