"""A separate process for code that may crash or never end: started early, given a job, always ended."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from gpuguide.exercises.constants import encode
from gpuguide.exercises.model import Exercise
from gpuguide.exercises.reading import Answer

__all__ = ["Ended", "WorkerProcess", "describe"]

_SECONDS_TO_DIE = 5.0
_KEPT = 4000


@dataclass(frozen=True)
class Ended:
    """How a worker ended.

    Attributes
    ----------
    code : int or None
        Exit status, negative for a signal; None if it was killed at its time limit.
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


def describe(exercise: Exercise, answer: Answer, lane: str) -> dict[str, Any]:
    """Write a job for a worker.

    Parameters
    ----------
    exercise : Exercise
        One of the pool.
    answer : Answer
        The reader's kernel.
    lane : str
        ``"compile"`` or ``"gpu"``.

    Returns
    -------
    dict
        Data that JSON can hold.

    Examples
    --------
    >>> from gpuguide.exercises.pool import get
    >>> describe(get("guard"), Answer("def k(): pass", "k"), "gpu")["exercise"]
    'guard'
    """
    constants = {name: encode(value) for name, value in answer.constants.items()}
    return {
        "lane": lane,
        "exercise": exercise.name,
        "source": answer.source,
        "name": answer.name,
        "constants": constants,
        "place": answer.place,
        "folder": answer.folder,
    }


class WorkerProcess:
    """A worker that starts at once, so that its imports run while other lanes judge.

    Parameters
    ----------
    lane : str
        The lane that it will judge.
    command : sequence of str, optional
        What to run; for tests.

    Examples
    --------
    >>> with WorkerProcess("compile", [sys.executable, "-c", "print([], dict())"]) as worker:
    ...     worker.finish({}, limit_s=60).code
    0
    """

    def __init__(self, lane: str, command: Sequence[str] | None = None) -> None:
        # -P keeps the reader's folder off the path: a file numba.py there must not be taken for Numba.
        command = command or [sys.executable, "-P", "-m", "gpuguide.exercises.worker", lane]
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(os.environ),
            start_new_session=True,  # so that it can be ended with everything that it started
        )

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def finish(self, job: Mapping[str, Any], limit_s: float) -> Ended:
        """Hand over the job and wait.

        Parameters
        ----------
        job : mapping
            Data that JSON can hold.
        limit_s : float
            Seconds until the process is killed.

        Returns
        -------
        Ended
            Whatever happened; no failure of the process is an exception here.
        """
        timed_out = False
        try:
            out, err = self._process.communicate(json.dumps(job).encode(), timeout=limit_s)
        except subprocess.TimeoutExpired:
            timed_out = True
            self._kill()
            out, err = self._rest()
        code = None if timed_out else self._process.returncode
        return Ended(code, _messages(out), err.decode(errors="replace")[-_KEPT:].strip())

    def close(self) -> None:
        """End the process, if it still runs, and release its pipes."""
        if self._process.poll() is None:
            self._kill()
            self._rest()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def _rest(self) -> tuple[bytes, bytes]:
        """Return what it still wrote; a process that the driver does not let go is abandoned."""
        try:
            out, err = self._process.communicate(timeout=_SECONDS_TO_DIE)
        except (subprocess.TimeoutExpired, ValueError, OSError):
            return b"", b""
        return out or b"", err or b""


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without Numba's simulator, with this package on the path."""
    kept = {name: value for name, value in variables.items() if name != "NUMBA_ENABLE_CUDASIM"}
    paths = [str(Path(__file__).parents[2]), variables.get("PYTHONPATH", "")]
    return {**kept, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}


def _messages(out: bytes) -> tuple[dict[str, Any], ...]:
    found = []
    for line in out.decode(errors="replace").splitlines():
        with contextlib.suppress(ValueError):
            message = json.loads(line)
            if isinstance(message, dict):
                found.append(message)
    return tuple(found)
