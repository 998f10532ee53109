"""The chart of what ran when."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from gpuguide.charts.style import alt_text
from gpuguide.charts.timeline import plot_timeline
from gpuguide.errors import ArgumentError

SERIAL = [[[5.0, 6.0], [6.0, 7.0]], [[7.0, 8.0], [8.0, 9.0]]]
OVERLAPPED = [[[0.0, 1.0], [1.0, 2.0]], [[1.0, 2.0], [2.0, 3.0]]]


def test_every_run_begins_at_zero_and_keeps_its_length() -> None:
    ax = plot_timeline({"one": SERIAL, "two": OVERLAPPED}, ("copy", "work"))
    bars = [(bar.get_x(), bar.get_width()) for bar in ax.patches]
    assert bars[:4] == [(0.0, 1.0), (2.0, 1.0), (1.0, 1.0), (3.0, 1.0)]
    assert max(left + width for left, width in bars[4:]) == 3.0
    assert [label.get_text() for label in ax.get_yticklabels()] == ["copy", "work"] * 2
    text = alt_text(ax.figure)
    assert "one: 2 bars in each lane in 4.0 s; two: 2 bars in each lane in 3.0 s." in text
    plt.close(ax.figure)


def test_bars_are_numbered_where_there_is_room() -> None:
    spans = np.array([[[0.0, 10.0]], [[10.0, 10.1]]])
    ax = plot_timeline({"run": spans}, ("work",))
    assert [text.get_text() for text in ax.texts] == ["run", "1"]
    plt.close(ax.figure)


@pytest.mark.parametrize("runs", [{}, {"one": [[0.0, 1.0]]}, {"one": SERIAL, "two": [[[0.0, 1.0]]]}])
def test_runs_of_another_shape_are_refused(runs: dict[str, list]) -> None:
    with pytest.raises(ArgumentError, match=r"expected runs of the shape \(pieces, 2, 2\)"):
        plot_timeline(runs, ("copy", "work"))
