"""The CPU of this machine: what it is, and work on big NumPy arrays in several of its threads.

Threads pay because NumPy lets go of the interpreter's lock inside its loops.
"""

from __future__ import annotations

import functools
import os
import platform
import re
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

__all__ = ["CpuInfo", "assign", "cpu_info", "in_threads", "thread_pool"]


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
    n_cpus = _cpus()
    asked = (os.environ.get(f"{name}_NUM_THREADS", "") for name in ("OPENBLAS", "MKL", "OMP"))
    threads = next((int(text) for text in asked if text.isdigit() and int(text) > 0), n_cpus)
    return CpuInfo(_cpu_model(), n_cpus, threads, _blas(), _steal_s())


def _cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpu_model() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor() or platform.machine() or UNKNOWN
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else platform.processor() or platform.machine() or UNKNOWN


def _blas() -> str:
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


T = TypeVar("T")

_MAX_THREADS = 16

# Below this many bytes a thread costs more than it saves.
_WORTHWHILE = 1 << 23

_PART_BYTES = 1 << 22


def in_threads(work: Callable[[T], Any], parts: Iterable[T], n_bytes: int) -> list[Any]:
    """Call a function for each part of something big, in threads when that pays.

    Parameters
    ----------
    work : callable
        Takes a part; it must touch no other part's data.
    parts : iterable
        For example slices.
    n_bytes : int
        Bytes of all parts: with less than 8 MiB there is one thread.

    Returns
    -------
    list
        What `work` returned, in the order of the parts: the same whatever the number of threads.

    Examples
    --------
    >>> in_threads(abs, [-1, 2, -3], n_bytes=1 << 30)
    [1, 2, 3]
    """
    n_threads = min(_MAX_THREADS, _cpus())
    if n_bytes < _WORTHWHILE or n_threads < 2:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, parts))


@functools.cache
def thread_pool() -> ThreadPoolExecutor:
    """Return threads, one for each CPU that this process may use, that stay for later calls."""
    return ThreadPoolExecutor(_cpus())


def assign(target: np.ndarray[Any, Any], source: Any) -> None:
    """Do ``target[...] = source``, in threads when that pays.

    Parameters
    ----------
    target : numpy.ndarray
        Written to; in threads when it and the source are C-contiguous and of one shape.
    source : numpy.ndarray or scalar
        An array or number as NumPy's own assignment takes it.

    Examples
    --------
    >>> x = np.zeros(3)
    >>> assign(x, np.arange(3, dtype="i4"))
    >>> x
    array([0., 1., 2.])
    """
    is_array = isinstance(source, np.ndarray)
    flat = not is_array or (source.shape == target.shape and source.flags.c_contiguous)
    flat &= target.flags.c_contiguous
    if target.nbytes < _WORTHWHILE or not flat:
        target[...] = source
        return
    to, of = target.reshape(-1), source.reshape(-1) if is_array else source
    step = max(1, _PART_BYTES // target.itemsize)

    def one(start: int) -> None:
        part = slice(start, start + step)
        with np.errstate(over="ignore"):
            to[part] = of[part] if is_array else of

    in_threads(one, range(0, to.size, step), target.nbytes)
