"""The same chart for a phone: legend on top, nothing cut off, the same bytes each time."""

from itertools import pairwise

import matplotlib.pyplot as plt
import pytest

from gpuguide.charts import lines, marks
from gpuguide.charts.narrow import WIDTH, narrow_svg
from gpuguide.charts.style import RANGES_SAID, save_svg, style
from gpuguide.errors import ArgumentError
from gpuguide.results.sample import sample_results
from gpuguide.results.starts import Quantity


@pytest.fixture(autouse=True)
def guide_style():
    plt.switch_backend("agg")
    with style():
        yield
    plt.close("all")


def names(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_names_at_the_ends_of_lines_become_a_legend_on_top():
    ax = lines.plot_time(sample_results())
    shown = {text.get_text(): text.get_color() for text in ax.texts}
    svg = narrow_svg(ax.figure)
    assert set(names(ax.figure)) == set(shown)
    assert not [text for text in ax.texts if text.get_visible() and text.get_text() in names(ax.figure)]
    (legend,) = ax.figure.legends
    assert {handle.get_color() for handle in legend.legend_handles} == set(shown.values())
    assert {handle.get_marker() for handle in legend.legend_handles} == {
        line.get_marker() for line in ax.get_lines()
    } - {"None"}
    assert legend.get_window_extent().y0 >= ax.get_window_extent().y1
    assert f'width="{72 * WIDTH:g}pt"' in svg.decode()


def test_a_legend_of_the_charts_own_moves_on_top():
    figure, ax = plt.subplots()
    ax.barh(["a", "b"], [1, 2], label="work")
    ax.legend()
    assert narrow_svg(figure)
    assert names(figure) == ["work"]
    assert ax.get_legend() is None


def test_the_bytes_are_the_same_each_time():
    first = narrow_svg(lines.plot_time(sample_results()).figure)
    assert first
    assert first == narrow_svg(lines.plot_time(sample_results()).figure)


def test_the_wide_chart_is_drawn_as_before(monkeypatch):
    """What tells the names apart leaves no mark in the picture."""
    labelled = save_svg(lines.plot_time(sample_results()).figure)
    monkeypatch.setattr(marks, "END_OF_A_LINE", "")
    assert save_svg(lines.plot_time(sample_results()).figure) == labelled


def test_labels_that_would_touch_are_left_out():
    figure, ax = plt.subplots()
    ax.plot(range(12), range(12))
    ax.set_xticks(range(12), [f"10 000 {i}" for i in range(12)])
    assert narrow_svg(figure)
    boxes = [
        tick.label1.get_window_extent() for tick in ax.xaxis.get_major_ticks() if tick.label1.get_visible()
    ]
    assert 1 < len(boxes) < 12
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def long_names(ax):
    ax.barh(["a name that takes the place of the whole chart"], [1])


def long_title(ax):
    ax.set_title("a name that is as long as the whole chart is wide, and cut off on a phone")


def outside(ax):
    ax.annotate(
        "a name outside", (1, 1), (1.5, 1), xycoords="axes fraction", annotation_clip=False
    ).set_in_layout(False)


@pytest.mark.parametrize("spoil", [long_names, long_title, outside])
def test_what_would_be_cut_off_is_named(spoil):
    figure, ax = plt.subplots()
    spoil(ax)
    with pytest.raises(ArgumentError, match=r"'a name .*' does not fit .* shorten it"):
        narrow_svg(figure)


def test_several_axes_are_not_drawn_narrow():
    figure, _ = plt.subplots(1, 2)
    before = save_svg(figure)
    assert narrow_svg(figure) is None
    assert save_svg(figure) == before


@pytest.mark.parametrize("plot", [lines.plot_time, lines.plot_rate, lines.plot_share_of_ceiling])
def test_charts_of_the_guide_fit(plot):
    ax = plot(sample_results())
    assert narrow_svg(ax.figure)


def test_the_note_on_ranges_fits_under_an_axis_with_long_names_beside_it():
    figure, ax = plt.subplots()
    ax.plot([2.0, 8.0], ["ElementwiseKernel", "cupy.maximum"], "o")
    ax.set_xlabel("host time of a call")
    over = Quantity(4.0, 2.0, 8.0, "s", 9, n_starts=3, n_runs=3)
    assert marks.draw_ranges(ax, [(0, over, "#0060b9")], along="x")
    assert narrow_svg(figure)
    (note,) = (text for text in ax.texts if text.get_text() == RANGES_SAID)
    box = note.get_window_extent()
    assert (box.x0 + box.x1) / 2 == pytest.approx(figure.bbox.width / 2, abs=1)
