"""The process that a page is recorded in: what it is told, how it is started, watched and ended.

Both sides load this module, the recorder and the process itself, so that it counts in the measuring key.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gpuguide_docs.record.memory_watch import MemoryWatch

__all__ = ["Outcome", "arguments", "run_process"]


@dataclass(frozen=True)
class Outcome:
    """How recording one page ended.

    Parameters
    ----------
    page : str
        Name.
    ok : bool
        Whether a new recording was written.
    message : str
        Why not; empty when all went well.
    seconds : float
        Duration.
    warnings : tuple of str
        What the recording warns of.
    """

    page: str
    ok: bool
    message: str = ""
    seconds: float = 0.0
    warnings: tuple[str, ...] = field(default=())


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read what the recorder told this process."""
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
    return parser.parse_args(argv)


def run_process(what: str, options: Sequence[str], *, outcome: Path, peak: Path, timeout_s: float) -> Outcome:
    """Run `gpuguide_docs.record.page_run` until it ends, or end it.

    Parameters
    ----------
    what : str
        The page, or what else is measured.
    options : sequence of str
        Of its command line, those of `outcome` excepted.
    outcome : pathlib.Path
        Where it says how it ended.
    peak : pathlib.Path
        For the watch over the GPU's memory.
    timeout_s : float
        Seconds after which it is killed.

    Returns
    -------
    Outcome
        A crash or a hang is one, too.
    """
    command = [sys.executable, "-m", "gpuguide_docs.record.page_run", *options, "--outcome", str(outcome)]
    watch = MemoryWatch(peak)
    start = time.monotonic()
    # A session of its own, so that a hanging page is ended with all that it started.
    child = subprocess.Popen(command, start_new_session=True)
    ended = _wait(child, watch, start + timeout_s)
    seconds = time.monotonic() - start
    if not ended:
        return Outcome(what, False, f"no end after {timeout_s:.0f} s: killed", seconds)
    if not outcome.is_file():
        return Outcome(what, False, f"crashed ({_status(child.returncode)})", seconds)
    said = json.loads(outcome.read_text(encoding="utf-8"))
    return Outcome(what, said["ok"], said["message"], seconds, tuple(said["warnings"]))


def _wait(child: subprocess.Popen[bytes], watch: MemoryWatch, deadline: float) -> bool:
    while child.poll() is None:
        if time.monotonic() > deadline:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            return False
        watch.look()
        time.sleep(0.1)
    return True


def _status(code: int | None) -> str:
    if code is not None and code < 0:
        return signal.Signals(-code).name
    return f"exit status {code}"
