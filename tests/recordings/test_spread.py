"""How far starts of a machine lie apart is pooled over its pages, and widens the ranges of what is loaded."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from test_store import MACHINE, PAGE, added, run

from gpuguide.recordings import spread
from gpuguide.recordings import store as recordings


def test_the_spread_is_pooled_by_clock_and_kept_beside_the_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spread, "_LEAST_CELLS", 1)
    added(tmp_path, *(run(n, factor) for n, factor in enumerate((1.0, 1.5, 0.8))))
    before = recordings.load(PAGE, MACHINE, tmp_path).studies["sample"]
    recordings.renew_spread(MACHINE, tmp_path)
    made = spread.read_spread(tmp_path / MACHINE)
    assert made is not None
    assert (made.n_starts, made.days) == (3, ("2026-11-01", "2026-11-02", "2026-11-03"))
    assert "device" not in made.deviations, "what the host does not decide keeps its own"
    expected = math.sqrt(sum((math.log(f) - math.log(1.2) / 3) ** 2 for f in (1.0, 1.5, 0.8)) / 2)
    assert made.deviations["host"] == pytest.approx(expected, abs=1e-3)
    assert "host/host" not in made.deviations, "ratios inside a run agree here"
    after = recordings.load(PAGE, MACHINE, tmp_path).studies["sample"]
    assert after.deviations == tuple(made.deviations.items())
    assert before.deviations == ()


def test_without_three_starts_nothing_is_pooled(tmp_path: Path) -> None:
    added(tmp_path, run(0), run(1, 2.0))
    recordings.renew_spread(MACHINE, tmp_path)
    assert spread.read_spread(tmp_path / MACHINE) is None
