"""How sums of the same numbers come out, and how a single float32 total grows until it stops."""

import numpy as np
from numba import njit

from gpuguide.measure import cp
from gpuguide.topics.precision import kernels
from gpuguide.topics.precision.study import LENGTH, sum_float32, sum_float64

MARKS = 200


def the_numbers():
    """Return random numbers from 0 to 1, each a multiple of 2**-24."""
    return np.random.default_rng(0).random(LENGTH, dtype=np.float32)


def exact_sums(x):
    """Add up whole multiples of 2**-24, up to each mark: nothing is rounded."""
    parts = np.split(x, MARKS)
    whole = [int((part * np.float32(2**24)).astype(np.int64).sum()) for part in parts]
    return np.cumsum(whole) / 2**24


@njit
def running_totals(x, marks):
    """Return a single float32 total at each mark."""
    found = np.empty(marks, np.float32)
    total, part = np.float32(0), x.size // marks
    for mark in range(marks):
        for i in range(mark * part, (mark + 1) * part):
            total += x[i]
        found[mark] = total
    return found


def results(x):
    """Return the same sum by each way."""
    x_device = cp.asarray(x)
    values = {
        "numpy_sum": x.sum(),
        "cupy_sum": cp.sum(x_device),
        "cupy_float64": cp.sum(x_device, dtype=np.float64),
    }
    for name, add, dtype in (
        ("one_after_another", kernels.one_after_another, np.float32),
        ("by_kahan", kernels.by_kahan, np.float32),
        ("kahan_fastmath", without_correction(), np.float32),
        ("in_one_float64", kernels.in_one_float64, np.float64),
    ):
        out = np.empty(1, dtype)
        add(x, out)
        values[name] = out[0]
    for name, add, dtype in (
        ("sum_float32", sum_float32, np.float32),
        ("sum_float64", sum_float64, np.float64),
    ):
        out = cp.empty(1, dtype)
        add(x_device, out)
        values[name] = out[0]
    return {name: float(value) for name, value in values.items()}


def without_correction():
    """Compile Kahan's sum so that algebra may be applied to it, which takes its correction away."""
    return njit(fastmath=True)(kernels.by_kahan.py_func)


def shown(value):
    """Write a sum with spaces between thousands, as facts are; 0 if there is nothing at all."""
    return f"{value:,.1f}".replace(",", "\u2009") if value else "0"
