"""New memory of NumPy never holds the right result of a former call."""

from __future__ import annotations

import numpy as np
import pytest

from gpuguide.exercises import check
from gpuguide.exercises.stand_ins.host_memory import never_by_chance, never_set


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16", "i1", "u2", "i4", "u8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_numbers_are_filled(dtype: str, order: str) -> None:
    with never_by_chance():
        assert never_set(np.empty((2, 3), dtype, order=order))
        assert never_set(np.empty_like(np.ones((4, 6), dtype, order=order)[::2, ::3]))


@pytest.mark.parametrize("dtype", [object, bool, "U3", "f8,i4", np.longdouble, np.clongdouble])
def test_whatever_else_is_left_as_it_is(dtype: object) -> None:
    with never_by_chance():
        assert np.empty(2, dtype).shape == (2,)


def test_it_ends_with_the_check() -> None:
    before = np.empty, np.empty_like
    with pytest.raises(ZeroDivisionError), never_by_chance():
        raise ZeroDivisionError
    assert before == (np.empty, np.empty_like)


def test_a_result_that_is_not_written_is_refused_each_time() -> None:
    def loudness(cp, x, limit):
        out = np.empty_like(x)
        n = limit // (4 * x.itemsize)
        for start in range(0, len(x) - 1, n):
            chunk = cp.asarray(x[start : start + n])
            out[start : start + n] = cp.asnumpy(cp.log(1 + chunk * chunk))
        return out

    for _ in range(3):
        verdict = check("within_the_limit", loudness)
        assert not verdict.passed
