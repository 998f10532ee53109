"""Scalar products and random numbers: what their checks accept and reject, and all threads of the host."""

from typing import Any

import numpy as np
import pytest

from gpuguide.errors import MismatchError
from gpuguide.topics.data_where_it_is import random_numbers, study


@pytest.mark.parametrize("n", [0, 1, 6, 7, 1009])
def test_no_thread_leaves_a_pair_out(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    monkeypatch.setattr(study, "THREADS", 7)
    monkeypatch.setattr(study, "LEAST_PART", 1)
    a, b = study.dot.make_inputs(n, exact=True)
    assert study.numpy_threads(a, b) == (a * b).sum()


@pytest.mark.parametrize("exact", [True, False])
def test_wrong_products_are_rejected(exact: bool) -> None:
    """A single number cannot be shifted; one pair that is left out shows where sums are exact."""
    check = study.DotCheck()
    a, b = study.dot.make_inputs(20_000, exact=exact)
    right, tolerance = prepared = check.prepare((a, b))
    assert tolerance == (0.0 if exact else 0.002 * right)
    off = check.compare(np.dot(a, b), prepared)[0]
    assert off <= tolerance
    wrongs = [right - 1, right + 1] if exact else [1.0045 * right, right / 2, 0]
    for wrong in map(np.float32, (*wrongs, np.nan)):
        assert not check.compare(wrong, prepared)[0] <= tolerance
    with pytest.raises(MismatchError, match=r"should be a single number; it has shape \(1,\)"):
        check.compare(np.ones(1, np.float32), prepared)


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 10_000])
def test_numbers_drawn_on_all_threads_reach_every_place(n: int) -> None:
    out = np.full(n, np.nan, np.float32)
    random_numbers.check_uniform(random_numbers.random_numpy_threads(n, out), n)
    assert n < 100 or len(np.unique(out)) > 0.99 * n


@pytest.mark.parametrize(
    "spoil",
    [
        lambda x: x[:-1],
        lambda x: x.astype(np.float64),
        lambda x: 2 * x,
        lambda x: x - 1,
        lambda x: x * np.float32(0.9),
        lambda x: np.full_like(x, 0.5),
        lambda x: np.repeat(x[::2], 2),
        lambda x: np.where(np.arange(x.size) == 7, np.float32(np.nan), x),
    ],
)
def test_numbers_that_are_not_uniform_are_rejected(spoil: Any) -> None:
    x = np.random.default_rng(1).random(10_000, dtype=np.float32)
    random_numbers.check_uniform(x, x.size)
    with pytest.raises(MismatchError):
        random_numbers.check_uniform(spoil(x), x.size)
