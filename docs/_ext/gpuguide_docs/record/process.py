"""The process that a page is recorded in: its options, and how it is started, watched and ended.

Both sides load this module, the recorder and the process itself.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gpuguide_docs.record.memory_watch import MemoryWatch

__all__ = ["START", "Outcome", "arguments", "run_process", "stop_without"]

START = "start and imports"
"""What a page's process does before its first cell."""

_PR_SET_PDEATHSIG = 1  # from linux/prctl.h


@dataclass(frozen=True)
class Outcome:
    """How recording one page ended."""

    page: str
    ok: bool
    message: str = ""
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    machine: str = ""
    n_runs: int = 0
    n_starts: int = 0
    phases: Mapping[str, float] = field(default_factory=dict)


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the options that the recorder gave this process."""
    parser = argparse.ArgumentParser(
        prog="python -m gpuguide_docs.record.page_run", description="Record one page in this process."
    )
    parser.add_argument("--page", default="")
    parser.add_argument("--measure-ceilings", type=Path)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--outcome", type=Path, required=True)
    parser.add_argument("--machine", default="")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--budget", type=float)
    parser.add_argument("--ceilings", type=Path)
    parser.add_argument("--peak", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--into", type=Path)
    parser.add_argument("--start", default="")
    parser.add_argument("--recorder", type=int)
    return parser.parse_args(argv)


def stop_without(recorder: int | None) -> None:
    """Let this process end when its recorder does, and end it now if that has happened already.

    A recorder that is interrupted ends its pages itself; one that is killed cannot. What is left over would
    write its recording beside those of the next recorder.
    """
    if recorder is None:
        return
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # Elsewhere, and where it died before that call, there is no other sign than the new parent.
    if os.getppid() != recorder:
        os._exit(1)


def run_process(what: str, options: Sequence[str], *, outcome: Path, peak: Path, timeout_s: float) -> Outcome:
    """Run `gpuguide_docs.record.page_run` until it ends, or end it."""
    command = [sys.executable, "-m", "gpuguide_docs.record.page_run", *options, "--outcome", str(outcome)]
    watch = MemoryWatch(peak)
    start = time.monotonic()
    # A session of its own, so that a hanging page is ended with all that it started.
    child = subprocess.Popen([*command, "--recorder", str(os.getpid())], start_new_session=True)
    try:
        ended = _wait(child, watch, start + timeout_s)
    finally:  # reached by an interruption too: nothing may go on that could write later
        _end(child)
    seconds = time.monotonic() - start
    if not ended:
        return Outcome(what, False, f"no end after {timeout_s:.0f} s: killed", seconds)
    if not outcome.is_file():
        return Outcome(what, False, f"crashed ({_status(child.returncode)})", seconds)
    said = json.loads(outcome.read_text(encoding="utf-8"))
    phases = said["phases"]
    # What the child could not time: how it was started, and how it ended.
    rest = max(0.0, seconds - sum(phases.values()))
    return Outcome(
        what,
        said["ok"],
        said["message"],
        seconds,
        tuple(said["warnings"]),
        said["machine"],
        said["runs"],
        said["starts"],
        {**phases, START: phases.get(START, 0.0) + rest},
    )


def _wait(child: subprocess.Popen[bytes], watch: MemoryWatch, deadline: float) -> bool:
    while child.poll() is None:
        if time.monotonic() > deadline:
            return False
        watch.look()
        time.sleep(0.1)
    return True


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill what is left of a page, with all that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _status(code: int | None) -> str:
    if code is not None and code < 0:
        return signal.Signals(-code).name
    return f"exit status {code}"
