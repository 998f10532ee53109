"""The GPU lane from the session's side: whatever the worker process does, the result is a report."""

from __future__ import annotations

from gpuguide.exercises.report import FAILED, NOT_AT_HAND, LaneReport
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.worker_process import Ended

__all__ = ["LIMIT_S", "read_ending"]

LIMIT_S = {"simulator": 60.0, "compile": 60.0, "gpu": 20.0}
"""Seconds that a worker of each lane may take; for the GPU, this limit ends kernels that never end."""

_OUT_OF_MEMORY = ("CUDA_ERROR_OUT_OF_MEMORY", "cudaErrorMemoryAllocation", "OutOfMemoryError")
# No kernel sends this signal: the system does if the host runs out of memory, or somebody does.
_KILLED = -9
_KILLED_FROM_OUTSIDE = (
    "The worker process was killed from outside (signal 9), as happens where the computer runs out of memory."
)


def read_ending(lane: str, ended: Ended) -> LaneReport:
    """Turn the end of a worker process into a report.

    Parameters
    ----------
    lane : str
        The lane that it ran.
    ended : Ended
        How it ended.

    Returns
    -------
    LaneReport
        The worker's own report; a finding if it died or hung during a launch; else not at hand, with the
        reason.

    Examples
    --------
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
