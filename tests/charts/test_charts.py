"""Charts: what is drawn, how it is labelled, that it is deterministic and has a dark twin."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

from gpuguide.charts import lines, shapes
from gpuguide.charts.marks import colour_of, label_ends
from gpuguide.charts.style import CPU_SERIES, PALETTE, SERIES, alt_text, save_svg, style, to_dark
from gpuguide.errors import ArgumentError, UnknownNameError
from gpuguide.results.sample import sample_results

RESULTS = sample_results()
CHARTS = {
    "time": lambda: lines.plot_time(RESULTS, crossover=("numpy", "numba")),
    "rate": lambda: lines.plot_rate(RESULTS),
    "share": lambda: lines.plot_share_of_ceiling(RESULTS),
    "speedup": lambda: lines.plot_speedup(RESULTS, "numpy"),
    "samples": lambda: shapes.plot_samples(RESULTS, 2**20),
    "decomposition": lambda: shapes.plot_decomposition({"first": {"compile": 0.3, "work": 0.2}}),
    "heatmap": lambda: shapes.plot_heatmap(
        [[1, 2], [3, np.nan]], rows=[32, 64], columns=[1, 4], row_name="a", column_name="b", value_name="c"
    ),
}


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(params=CHARTS)
def chart(request):
    return CHARTS[request.param]


def _texts(ax):
    return [text.get_text() for text in ax.texts]


def test_the_same_chart_is_the_same_file(chart):
    assert save_svg(chart().figure) == save_svg(chart().figure)


def test_a_cpu_is_grey_beside_a_gpu_and_coloured_among_its_like():
    assert colour_of(RESULTS, "numpy") in CPU_SERIES
    assert colour_of(RESULTS, "numba") in SERIES
    alone = replace(RESULTS, variants=tuple(replace(info, device="cpu") for info in RESULTS.variants))
    assert [colour_of(alone, info.name) for info in alone.variants] == list(SERIES[:2])


@pytest.mark.parametrize("name", [name for name in CHARTS if name != "heatmap"])
def test_every_colour_but_those_of_a_colour_map_has_a_dark_twin(name):
    svg = save_svg(CHARTS[name]().figure).decode()
    ET.fromstring(svg)
    colours = set(re.findall(r"#[0-9a-f]{6}\b", svg))
    assert colours <= set(PALETTE) | {"#ffffff", "#000000"}, "a colour outside the palette"
    assert not set(re.findall(r"#[0-9a-f]{6}\b", to_dark(svg))) & set(PALETTE)


def test_light_and_dark_colours_are_one_to_one():
    assert len(set(PALETTE.values())) == len(PALETTE)
    assert not set(PALETTE) & set(PALETTE.values())


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_contrast_with_the_page(theme):
    page = {"light": "#ffffff", "dark": "#121212"}[theme]

    def luminance(colour):
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for light, dark in list(PALETTE.items()):
        colour = light if theme == "light" else dark
        if light == "#d8dce2":
            continue  # the grid is meant to be faint
        bright, dim = sorted((luminance(colour), luminance(page)), reverse=True)
        assert (bright + 0.05) / (dim + 0.05) >= 3, f"{colour} on {page}"


def test_alternative_text_names_the_axes_and_two_numbers(chart):
    words = alt_text(chart().figure)
    assert len(re.findall(r"\d+", words)) >= 2
    assert words.endswith(".")


def test_time_is_drawn_against_size_with_names_at_the_line_ends():
    ax = CHARTS["time"]()
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert _texts(ax)[1:] == ["NumPy", "Numba"] or set(_texts(ax)) >= {"NumPy", "Numba"}
    assert ax.get_ylabel() == "time (kernel only, warm cache)"


def test_a_crossover_is_a_labelled_bracket_of_two_measured_sizes():
    ax = CHARTS["time"]()
    assert any("Numba overtakes\nNumPy\nfrom 2¹⁰ to 2²⁰" in text for text in _texts(ax))


def test_names_at_line_ends_do_not_touch():
    with style():
        _, ax = plt.subplots()
        ax.plot([0, 1], [0, 1])
        label_ends(ax, [(1, 0.50, "a", "k"), (1, 0.501, "b", "k"), (1, 0.502, "c", "k")])
    offsets = [text.xyann[1] for text in ax.texts]
    assert np.diff(offsets) == pytest.approx([14, 14], abs=0.5)


def test_host_bound_cells_are_hollow():
    import dataclasses

    cells = tuple(dataclasses.replace(m, host_bound=m.variant == "numba") for m in RESULTS.measurements)
    ax = lines.plot_time(dataclasses.replace(RESULTS, measurements=cells))
    assert [line for line in ax.lines if line.get_markerfacecolor() == "none"]
    assert not [line for line in CHARTS["time"]().lines if line.get_markerfacecolor() == "none"]


def test_the_share_leaves_out_sizes_that_fit_into_the_cache():
    ax = CHARTS["share"]()
    assert [list(line.get_xdata()) for line in ax.lines if len(line.get_xdata()) and line.get_marker() == "o"]
    drawn = {x for line in ax.lines if line.get_marker() == "o" for x in line.get_xdata()}
    assert drawn == {2**26}


def test_speedup_is_baseline_over_candidate():
    line = next(line for line in CHARTS["speedup"]().lines if line.get_marker() == "o")
    assert list(line.get_ydata()) == pytest.approx([1 / 3, 150, 70_000 / 220])


def test_parts_of_a_bar_end_where_their_sum_is():
    ax = CHARTS["decomposition"]()
    assert "500 ms" in _texts(ax)


def test_the_ticks_under_a_bar_name_their_places():
    ax = shapes.plot_decomposition({"all": {"work": 0.0159}})
    ax.figure.draw_without_rendering()
    ticks = zip(ax.get_xticks(), [tick.get_text() for tick in ax.get_xticklabels()], strict=True)
    assert [text for place, text in ticks if 0 < place < 0.0184] == ["5.0 ms", "10 ms", "15 ms"]


def test_cells_of_a_heat_map_hold_their_numbers_and_nan_stays_empty():
    assert _texts(CHARTS["heatmap"]()) == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("draw", "error", "words"),
    [
        (lambda: lines.plot_time(RESULTS, variants=["nump"]), UnknownNameError, "numpy"),
        (lambda: shapes.plot_samples(RESULTS, 7), (ArgumentError, UnknownNameError), "7"),
        (lambda: shapes.plot_decomposition({}), ArgumentError, "bars"),
        (lambda: shapes.plot_decomposition({"a": {"b": -1.0}}), ArgumentError, "at least 0"),
        (
            lambda: shapes.plot_heatmap(
                [[1]], rows=[1, 2], columns=[1], row_name="", column_name="", value_name=""
            ),
            ArgumentError,
            r"\(2, 1\)",
        ),
    ],
)
def test_wrong_arguments_are_named(draw, error, words):
    with pytest.raises(error, match=words):
        draw()


@pytest.mark.parametrize("name", ["time", "rate", "share", "speedup"])
def test_names_stay_apart_once_the_limits_are_set(name):
    """Two lines that end at the same height, in each chart over the size."""
    import dataclasses

    twin = dataclasses.replace(RESULTS.variant("numba"), name="twin", label="Twin")
    cells = [dataclasses.replace(m, variant="twin") for m in RESULTS.measurements if m.variant == "numba"]
    both = dataclasses.replace(
        RESULTS, variants=(*RESULTS.variants, twin), measurements=(*RESULTS.measurements, *cells)
    )
    draw = {"time": lines.plot_time, "rate": lines.plot_rate, "share": lines.plot_share_of_ceiling}
    ax = lines.plot_speedup(both, "numpy") if name == "speedup" else draw[name](both)
    ax.figure.draw_without_rendering()
    heights = sorted(
        t.get_window_extent().y0 * 72 / ax.figure.dpi for t in ax.texts if t.get_text() in ("Numba", "Twin")
    )
    assert heights[1] - heights[0] >= 11


def test_sizes_that_lie_close_together_are_not_all_labelled():
    import dataclasses

    sizes = (10**3, 10**4, 30_000, 10**5, 10**6)
    cells = tuple(
        dataclasses.replace(m, size=size) for size in sizes for m in RESULTS.measurements if m.size == 2**20
    )
    checks = ()
    wide = dataclasses.replace(RESULTS, sizes=sizes, measurements=cells, checks=checks)
    ticks = [round(tick) for tick in lines.plot_time(wide).get_xticks()]
    assert 10**4 in ticks
    assert 30_000 in ticks
    close = dataclasses.replace(wide, sizes=(*sizes[:2], 11_000, *sizes[3:]), measurements=())
    from gpuguide.charts.marks import size_axis

    _, ax = plt.subplots()
    size_axis(ax, close)
    assert 11_000 not in [round(tick) for tick in ax.get_xticks()]
