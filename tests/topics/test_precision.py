"""Precision: where a single total stops, and that no compiler takes Kahan's method away."""

import math
import re

import numpy as np

from gpuguide.topics.precision import kernels, totals


def test_a_single_total_stops_and_the_exact_sums_go_on(monkeypatch):
    """Of ones, which is the same with fewer numbers: they stop where 1 is half the distance."""
    monkeypatch.setattr(totals, "MARKS", 2)
    x = np.ones(2**24 + 2**10, np.float32)
    assert totals.running_totals(x, 2)[-1] == 2**24
    assert totals.exact_sums(x)[-1] == x.size


def test_each_mark_has_the_sum_up_to_there():
    x = np.random.default_rng(1).random(20_000, dtype=np.float32)
    right = np.cumsum(x, dtype=float).reshape(totals.MARKS, -1)[:, -1]
    assert np.allclose(totals.exact_sums(x), right, rtol=1e-12)
    assert np.allclose(totals.running_totals(x, totals.MARKS), right, rtol=1e-4)


def test_kahan_goes_on_where_a_single_total_stops():
    """No compiler has taken its correction away; with fastmath one would."""
    out = np.empty(1, np.float32)
    ones = np.ones(2**24 + 2**10, np.float32)
    kernels.by_kahan(ones, out)
    assert out[0] == ones.size
    x = np.random.default_rng(2).random(10**6, dtype=np.float32)
    kernels.by_kahan(x, out)
    assert abs(float(out[0]) - math.fsum(x)) <= np.spacing(out[0])
    assert subtractions(kernels.by_kahan) > 0
    careless = totals.without_correction()
    careless(x, out)
    assert subtractions(careless) == 0


def subtractions(function):
    (code,) = function.inspect_llvm().values()
    return len(re.findall(r"\bfsub\b", code))
