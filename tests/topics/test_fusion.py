"""Fusion: the expressions by a stand-in for CuPy, and how a sum is judged."""

from types import SimpleNamespace

import numpy as np
import pytest

from gpuguide.catalogue import studies
from gpuguide.errors import MismatchError
from gpuguide.topics.fusion import study as fusion


@pytest.fixture(autouse=True)
def with_fake_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusion, "cp", SimpleNamespace(fuse=lambda function: function, sum=np.sum))
    fusion.fuse.cache_clear()


@pytest.mark.parametrize("n", [0, 1, 33, 1009])
def test_expressions_are_those_of_the_reference(n: int) -> None:
    for study in studies("fusion").values():
        x, y = study.make_inputs(n, exact=True)
        right = study.reference(x, y)
        for variant in study.variants:
            if variant.allocates:
                result = variant.call(x, y)
                assert np.array_equal(result, right), variant.name
                assert result.dtype == study.dtype


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
