"""Arithmetic on measured times: rates, intensity, roofline, speed-up; intervals and units are re-exported."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpuguide.errors import ArgumentError
from gpuguide.intervals import Ratio, bootstrap_ratio, iqr, is_bimodal, median, median_interval, quantile
from gpuguide.units import SI, format_quantity, format_size

__all__ = [
    "SI",
    "Ratio",
    "arithmetic_intensity",
    "bandwidth",
    "bootstrap_ratio",
    "flop_rate",
    "format_quantity",
    "format_size",
    "iqr",
    "is_bimodal",
    "median",
    "median_interval",
    "quantile",
    "roofline_bound",
    "seconds",
    "speedup",
]


def bandwidth(n_bytes: float, time_s: float) -> float:
    """Return the bytes moved a second.

    Parameters
    ----------
    n_bytes : float
        Unique bytes read and written.
    time_s : float
        Seconds that they took.

    Returns
    -------
    float
        Bytes a second.

    Raises
    ------
    ArgumentError
        If the time is not positive, or the bytes are negative.

    Examples
    --------
    >>> bandwidth(12e9, 3e-3)
    4000000000000.0
    """
    return _not_negative("n_bytes", n_bytes) / _positive("time_s", time_s)


def flop_rate(flops: float, time_s: float) -> float:
    """Return the floating-point operations a second.

    Parameters
    ----------
    flops : float
        Operations executed; a fused multiply-add counts two.
    time_s : float
        Seconds that they took.

    Returns
    -------
    float
        FLOP/s.

    Raises
    ------
    ArgumentError
        If the time is not positive, or the count is negative.

    Examples
    --------
    >>> flop_rate(1e9, 2e-3)
    500000000000.0
    """
    return _not_negative("flops", flops) / _positive("time_s", time_s)


def arithmetic_intensity(flops: float, n_bytes: float) -> float:
    """Return the operations for each byte of memory traffic.

    Parameters
    ----------
    flops, n_bytes : float
        Operations executed and unique bytes moved.

    Returns
    -------
    float
        FLOP/byte.

    Raises
    ------
    ArgumentError
        If no byte is moved, or a count is negative.

    Examples
    --------
    >>> arithmetic_intensity(2e9, 8e9)
    0.25
    """
    return _not_negative("flops", flops) / _positive("n_bytes", n_bytes)


def roofline_bound(intensity: float, peak_bandwidth: float, peak_flops: float) -> float:
    """Return the highest rate that memory and arithmetic units together allow.

    The roofline of Williams, Waterman and Patterson, Communications of the ACM 52(4), 2009.

    Parameters
    ----------
    intensity : float
        FLOP/byte.
    peak_bandwidth : float
        Bytes a second.
    peak_flops : float
        FLOP/s.

    Returns
    -------
    float
        FLOP/s.

    Raises
    ------
    ArgumentError
        If a peak is not positive, or the intensity is negative.

    Examples
    --------
    >>> roofline_bound(0.25, 4e12, 5e13), roofline_bound(100, 4e12, 5e13)
    (1000000000000.0, 50000000000000.0)
    """
    memory = _not_negative("intensity", intensity) * _positive("peak_bandwidth", peak_bandwidth)
    return min(memory, _positive("peak_flops", peak_flops))


def speedup(baseline_s: float, candidate_s: float) -> float:
    """Return how many times as fast the candidate is as the baseline.

    Parameters
    ----------
    baseline_s, candidate_s : float
        Their times in seconds, of the same region.

    Returns
    -------
    float
        ``baseline_s / candidate_s``; below 1 the candidate is slower.

    Raises
    ------
    ArgumentError
        If a time is not positive.

    Examples
    --------
    >>> speedup(baseline_s=0.08, candidate_s=0.02)
    4.0
    """
    return _positive("baseline_s", baseline_s) / _positive("candidate_s", candidate_s)


def seconds(samples_ns: Sequence[int], n_calls: int = 1) -> NDArray[np.float64]:
    """Return the seconds of one call from the nanoseconds of batches.

    Parameters
    ----------
    samples_ns : sequence of int
        Nanoseconds of each batch.
    n_calls : int
        Calls in one batch.

    Returns
    -------
    numpy.ndarray
        Of float64, one value for each sample.

    Raises
    ------
    ArgumentError
        If there is not at least one call in a batch.

    Examples
    --------
    >>> [float(value) for value in seconds([3000, 5000], n_calls=2)]
    [1.5e-06, 2.5e-06]
    """
    # One division, so that the nearest float64 to each exact quotient comes out.
    return np.asarray(samples_ns, dtype=np.float64) / (1e9 * _positive("n_calls", n_calls))


def _positive(name: str, value: float) -> float:
    if not (value > 0 and math.isfinite(value)):
        raise ArgumentError(f"{name} must be positive and finite; got {value!r}.")
    return value


def _not_negative(name: str, value: float) -> float:
    if not (value >= 0 and math.isfinite(value)):
        raise ArgumentError(f"{name} must be finite and at least 0; got {value!r}.")
    return value
