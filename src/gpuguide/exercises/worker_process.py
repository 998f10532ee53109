"""One process for all lanes that may crash or never end; whatever it does, each lane gets a report."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from gpuguide.exercises.constants import encode
from gpuguide.exercises.model import Exercise
from gpuguide.exercises.reading import Answer
from gpuguide.exercises.report import FAILED, NOT_AT_HAND, LaneReport
from gpuguide.exercises.simulator.findings import Finding

__all__ = ["LIMIT_S", "Ended", "WorkerProcess", "describe", "read_ending"]

LIMIT_S = {"simulator": 60.0, "compile": 60.0, "gpu": 20.0}
"""Seconds that a worker of each lane may take; for the GPU, this limit ends kernels that never end."""

_OUT_OF_MEMORY = ("CUDA_ERROR_OUT_OF_MEMORY", "cudaErrorMemoryAllocation", "OutOfMemoryError")
# No kernel sends this signal: the system does if the host runs out of memory, or somebody does.
_KILLED = -9
_KILLED_FROM_OUTSIDE = (
    "The worker process was killed from outside (signal 9), as happens where the computer runs out of memory."
)

_SECONDS_TO_DIE = 5.0
_KEPT = 4000


@dataclass(frozen=True)
class Ended:
    """How a lane ended in the worker.

    Attributes
    ----------
    code : int or None
        Exit status of the process, negative for a signal; None if it was killed at its time limit; 0 if it
        goes on.
    messages : tuple of dict
        The JSON objects that it wrote to standard output, one per line.
    printed : str
        The end of what it wrote to standard error, where the prints of the reader's code go, too.
    """

    code: int | None
    messages: tuple[dict[str, Any], ...] = ()
    printed: str = ""

    def last(self, key: str) -> Any:
        """Return the value of the last message that has a key; None if there is none."""
        return next((message[key] for message in reversed(self.messages) if key in message), None)


def describe(exercise: Exercise, answer: Answer) -> dict[str, Any]:
    """Write a job for a worker.

    >>> from gpuguide.exercises.pool import get
    >>> describe(get("guard"), Answer("def k(): pass", "k"))["exercise"]
    'guard'
    """
    constants = {name: encode(value) for name, value in answer.constants.items()}
    return {
        "exercise": exercise.name,
        "source": answer.source,
        "name": answer.name,
        "constants": constants,
        "place": answer.place,
        "folder": answer.folder,
    }


class WorkerProcess:
    """A process that starts at once, so that its imports run while the simulator judges."""

    def __init__(self, lanes: Sequence[str], command: Sequence[str] | None = None) -> None:
        # -P keeps the reader's folder off the path: a file numba.py there must not be taken for Numba.
        command = command or [sys.executable, "-P", "-m", "gpuguide.exercises.worker", *lanes]
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(os.environ),
            start_new_session=True,  # so that it can be ended with everything that it started
        )
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._printed: list[bytes] = []
        self._readers = [
            threading.Thread(target=self._read_lines, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._read_prints, args=(self._process.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        self._has_job, self._lanes = False, lanes

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def judge(self, lane: str, job: Mapping[str, Any], limit_s: float) -> Ended:
        """Ask for a lane's report, and wait for it."""
        deadline = time.monotonic() + limit_s
        asked = [*([] if self._has_job else [job]), {"lane": lane}]
        # A process that reads nothing must not hold this one up.
        threading.Thread(target=self._send, args=(asked,), daemon=True).start()
        self._has_job = True
        messages: list[dict[str, Any]] = []
        while not messages or not {"report", "refused"} & messages[-1].keys():
            try:
                line = self._lines.get(timeout=max(deadline - time.monotonic(), 0))
            except queue.Empty:
                self.close()
                return Ended(None, tuple(messages), self._said())
            if line is None:  # it has ended, also for any further lane
                self._lines.put(None)
                return Ended(self._ended(), tuple(messages), self._said())
            messages += _message(line)
        # What the last lane made the reader's code print may still be under way.
        code = self._ended() if lane == self._lanes[-1] else 0
        return Ended(code, tuple(messages), self._said())

    def close(self) -> None:
        """End the process, if it still runs, and release its pipes."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if hasattr(os, "killpg"):
                    os.killpg(self._process.pid, signal.SIGKILL)
                else:
                    self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_SECONDS_TO_DIE)  # one that the driver does not let go is abandoned
        for reader in self._readers:
            reader.join(_SECONDS_TO_DIE)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _send(self, messages: Sequence[Mapping[str, Any]]) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # it may be dead already, which its end will tell
            for message in messages:
                self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def _ended(self) -> int:
        """Let the process end by itself, and return its status."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            code = self._process.wait(_SECONDS_TO_DIE)
        except subprocess.TimeoutExpired:
            self.close()
            return 0  # it has said what it had to say
        for reader in self._readers:
            reader.join(_SECONDS_TO_DIE)
        return code

    def _said(self) -> str:
        """Return the end of what was printed since the last lane."""
        printed = b"".join(self._printed).decode(errors="replace")
        self._printed.clear()
        return printed[-_KEPT:].strip()

    def _read_lines(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            for line in pipe:
                self._lines.put(line)
        self._lines.put(None)

    def _read_prints(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            for line in pipe:
                self._printed.append(line)


def _message(line: bytes) -> list[dict[str, Any]]:
    """Return the message that a line holds, if it is one."""
    with contextlib.suppress(ValueError):
        message = json.loads(line.decode(errors="replace"))
        if isinstance(message, dict):
            return [message]
    return []


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without Numba's simulator, with this package on the path."""
    kept = {name: value for name, value in variables.items() if name != "NUMBA_ENABLE_CUDASIM"}
    paths = [str(Path(__file__).parents[2]), variables.get("PYTHONPATH", "")]
    return {**kept, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}


# --- From an ending to a report ----------------------------------------------------------------------


def read_ending(lane: str, ended: Ended) -> LaneReport:
    """Turn the end of a worker process into a report.

    >>> print(read_ending("gpu", Ended(1, (), "ImportError: no such library")).reason)
    The worker process gave no verdict (exit status 1): ImportError: no such library
    """
    report = _reported(lane, ended)
    if report is not None:
        return report
    if lane == "gpu" and any(sign in ended.printed for sign in _OUT_OF_MEMORY):
        return LaneReport(lane, NOT_AT_HAND, "The GPU has too little free memory at the moment.")
    if ended.code == _KILLED:
        return LaneReport(lane, NOT_AT_HAND, _KILLED_FROM_OUTSIDE)
    call = ended.last("at")
    if lane == "simulator" and call is not None:
        return LaneReport(lane, FAILED, findings=(_left(ended.code),))
    if isinstance(call, str) and (ended.code is None or ended.code < 0):
        return LaneReport(lane, FAILED, findings=(_died(ended.code),), call=call)
    return LaneReport(lane, NOT_AT_HAND, _no_verdict(lane, ended))


def _reported(lane: str, ended: Ended) -> LaneReport | None:
    data = ended.messages[-1].get("report") if ended.messages else None
    if data is None or ended.code is None:
        return None
    try:
        report = LaneReport.from_json({**data, "printed": ended.printed})
    except (KeyError, TypeError, ValueError, LookupError):
        return None
    return report if report.lane == lane else None


def _died(code: int | None) -> Finding:
    if code is None:
        message = f"The kernel had not ended after {LIMIT_S['gpu']:.0f} s, and was stopped."
        return Finding("endless", message)
    return Finding("gpu", f"The process that launched the kernel died in the launch (signal {-code}).")


def _left(code: int | None) -> Finding:
    if code is None:
        return Finding("endless", f"The function had not ended after {LIMIT_S['simulator']:.0f} s.")
    status = f"signal {-code}" if code < 0 else f"exit status {code}"
    return Finding("exception", f"The code ended the process ({status}) before there was a result.")


def _no_verdict(lane: str, ended: Ended) -> str:
    if ended.code is None:
        return f"The worker process took more than {LIMIT_S[lane]:.0f} s to start, and was stopped."
    last = next((line.strip() for line in reversed(ended.printed.splitlines()) if line.strip()), "")
    status = f"signal {-ended.code}" if ended.code < 0 else f"exit status {ended.code}"
    return f"The worker process gave no verdict ({status})" + (f": {last}" if last else ".")
