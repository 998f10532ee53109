"""Fusion: the reference of a large sum."""

import pytest

from gpuguide.topics.fusion import study as fusion


def test_large_sums_are_exact_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusion, "PART", 100)
    x, y = fusion.total.make_inputs(1009, exact=True)
    assert int(fusion.sum_reference(x, y)) == int(((x - y) ** 2).sum())
