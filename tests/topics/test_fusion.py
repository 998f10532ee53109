"""Fusion: the expressions by a stand-in for CuPy, and how a sum is judged."""

import numpy as np
import pytest

from gpuguide.errors import MismatchError
from gpuguide.topics.fusion import study as fusion


def test_large_sums_are_exact_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusion, "PART", 100)
    x, y = fusion.total.make_inputs(1009, exact=True)
    assert int(fusion.sum_reference(x, y)) == int(((x - y) ** 2).sum())


def test_a_wrong_sum_is_rejected() -> None:
    """A single number cannot be shifted."""
    judge = fusion.total.judge
    assert judge is not None
    x, y = fusion.total.make_inputs(1009, exact=True)
    prepared = judge.prepare((x, y))
    right = np.asarray(((x - y) ** 2).sum())
    assert judge.compare(right, prepared) == (0.0, 0.0)
    for wrong in (right + 1, right - 1, 0 * right):
        with pytest.raises(MismatchError, match="is wrong"):
            judge.compare(np.asarray(wrong), prepared)
