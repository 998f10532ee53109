"""The CPU's side of the ufunc studies: how many threads it has, and how a variant on them is described."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

from gpuguide.measure.plan import Variant

ALL_THREADS = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]  # made at run time
"""As many as Numba's parallel ufuncs and loops take."""


def cpu_variant(name: str, call: Callable[..., Any], label: str, threads: int = 1) -> Variant:
    """Describe a variant on the CPU, timed by the host's clock.

    Parameters
    ----------
    name : str
        What results and the text call it.
    call : callable
        ``call(*inputs, out)`` fills ``out``.
    label : str
        For charts.
    threads : int
        How many threads it runs on.

    Returns
    -------
    Variant
        On host arrays.

    Examples
    --------
    >>> cpu_variant("cpu", max, "CPU").threads
    1
    """
    return Variant(name, call, label=label, device="cpu", clock="host", threads=threads)
