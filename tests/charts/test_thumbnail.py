"""Thumbnails: for 200 pixels, with words that can be read there."""

from __future__ import annotations

import re

import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_hex

from gpuguide.charts import thumbnail
from gpuguide.charts.style import CUPY, KERNEL, MUTED, NUMPY, save_svg
from gpuguide.errors import ArgumentError
from gpuguide.results.records import Fact
from gpuguide.results.sample import sample_results

THUMBNAILS = {
    "bars": lambda: thumbnail.bars(
        dict.fromkeys(("NumPy", "CuPy, pinned copies", "one", "four each"), 3.0), "time"
    ),
    "lines": lambda: thumbnail.lines({"NumPy": ([1, 9], [1, 9]), "GPU": ([1, 9], [2, 3])}, "time"),
    "picture": lambda: thumbnail.picture([[0, 1], [1, 0]], "a board"),
}


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("name", THUMBNAILS)
def test_a_thumbnail_is_200_pixels_wide_and_its_words_have_11(name):
    figure = THUMBNAILS[name]().figure
    svg = save_svg(figure).decode()
    assert re.search(r'width="150pt" height="105pt"', svg)
    assert svg == save_svg(THUMBNAILS[name]().figure).decode()
    figure.draw_without_rendering()
    for text in figure.axes[0].texts:
        assert text.get_fontsize() * 96 / 72 >= 11
        box = text.get_window_extent()
        assert box.x1 <= figure.bbox.x1, text.get_text()
        assert 0 <= box.y0 < box.y1 <= figure.bbox.y1, text.get_text()


def test_bars_have_the_colours_of_things_and_the_advice_that_of_a_kernel():
    bars = THUMBNAILS["bars"]().patches
    colours = [bar.get_edgecolor() if bar.get_hatch() else bar.get_facecolor() for bar in bars]
    assert [to_hex(colour) for colour in colours] == [NUMPY, CUPY, MUTED, KERNEL]
    assert [bool(bar.get_hatch()) for bar in bars] == [False, True, False, False]


def test_a_number_of_a_recording_is_written_as_on_the_page():
    results = sample_results()
    time = results.time("numba", 2**20)
    size = Fact("size", 3e9, "B")
    ax = thumbnail.bars({"NumPy": size, "GPU": time}, "time")
    assert {str(time), size.shown} <= {text.get_text() for text in ax.texts}


def test_too_many_bars_are_refused():
    with pytest.raises(ArgumentError, match="2 to 4 bars; got 5"):
        thumbnail.bars(dict.fromkeys("abcde", 1.0), "time")
