"""Precision: where a single total stops, and that no compiler takes Kahan's method away."""

import numpy as np

from compile_lane import needs_compilers, numba_facts
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


@needs_compilers()
def test_what_an_addition_loses_is_worked_out():
    """Three subtractions for each of the sixteen loads: algebra would say that they come to zero."""
    from numba import float32

    assert numba_facts(kernels.by_kahan, (float32[::1], float32[::1])).count("sub") >= 3 * 16
