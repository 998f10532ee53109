"""The CPU side of a comparison: model, threads, linear algebra library, time that the host took away."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["CpuInfo", "cpu_info"]

UNKNOWN = "unknown"


@dataclass(frozen=True)
class CpuInfo:
    """What the CPU side of a comparison ran on.

    Parameters
    ----------
    model : str
        The processor's name, or ``"unknown"``.
    n_cpus : int
        Virtual CPUs that this process may use. They are not cores.
    threads : int
        Threads that the linear algebra library uses.
    blas : str
        That library and its version.
    steal_s : float
        Seconds of CPU time that the host took away since the machine started, all CPUs together.
    """

    model: str
    n_cpus: int
    threads: int
    blas: str
    steal_s: float


def cpu_info() -> CpuInfo:
    """Describe this machine's CPU side.

    Returns
    -------
    CpuInfo
        Model, virtual CPUs, threads and library of linear algebra, stolen time.

    Examples
    --------
    >>> cpu_info().n_cpus >= 1
    True
    """
    n_cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = (os.environ.get(f"{name}_NUM_THREADS", "") for name in ("OPENBLAS", "MKL", "OMP"))
    threads = next((int(text) for text in asked if text.isdigit() and int(text) > 0), n_cpus)
    return CpuInfo(_cpu_model(), n_cpus, threads, _blas(), _steal_s())


def _cpu_model() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor() or platform.machine() or UNKNOWN
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else platform.processor() or platform.machine() or UNKNOWN


def _blas() -> str:
    import numpy as np

    try:
        blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return f"{blas['name']} {blas['version']}"
    except (KeyError, TypeError):  # a NumPy built without these entries
        return UNKNOWN


def _steal_s() -> float:
    try:
        fields = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()
        return int(fields[8]) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return 0.0
