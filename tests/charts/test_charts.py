"""Charts: what is drawn, how it is labelled, that it is deterministic and has a dark twin."""

import base64
import io
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from PIL import Image

from gpuguide.charts import lines, shapes
from gpuguide.charts.marks import draw_ranges, label_ends, mark_floor, marker_of
from gpuguide.charts.narrow import narrow_svg
from gpuguide.charts.style import (
    CPU,
    CUPY,
    KERNEL,
    LIBRARY,
    NUMPY,
    PALETTE,
    RANGES_SAID,
    SERIES,
    alt_text,
    save_svg,
    style,
    to_dark,
)
from gpuguide.charts.things import looks_of, thing_of
from gpuguide.errors import ArgumentError, UnknownNameError
from gpuguide.recordings.store import load, pages
from gpuguide.results.records import Fact, VariantInfo
from gpuguide.results.sample import sample_results
from gpuguide.results.starts import Quantity
from study_results import on_starts

RESULTS = sample_results()
SURE, UNSURE = on_starts(RESULTS, 1.0, 1.0, 1.0), on_starts(RESULTS, 1.1, 1.6, 2.4)
OVER_SIZES = {
    "time": lambda results: lines.plot_time(results, crossover=("numpy", "numba")),
    "rate": lines.plot_rate,
    "share": lines.plot_share_of_ceiling,
    "speedup": lambda results: lines.plot_speedup(results, "numpy"),
}


CHARTS = {
    "several starts": lambda: lines.plot_time(UNSURE),
    "time": lambda: lines.plot_time(RESULTS, crossover=("numpy", "numba")),
    "rate": lambda: lines.plot_rate(RESULTS),
    "share": lambda: lines.plot_share_of_ceiling(RESULTS),
    "speedup": lambda: lines.plot_speedup(RESULTS, "numpy"),
    "samples": lambda: shapes.plot_samples(RESULTS, 2**20),
    "bars": lambda: shapes.plot_bars(RESULTS, ["numpy", "numba"], at=2**20),
    "values": lambda: shapes.plot_values({"cp.sum": Fact("sum", 0.001, "s")}, "time of a sum"),
    "dots": lambda: shapes.plot_dots({"flat": 0.0005, "by row": 0.002}, "time"),
    "decomposition": lambda: shapes.plot_decomposition({"first": {"compile": 0.3, "work": 0.2}}),
    "ratios": lambda: shapes.plot_ratios(
        {"a": Fact("a", 0.2, "ratio"), "b": Fact("b", 26.0, "ratio")}, "ratio"
    ),
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


def test_numbers_stand_on_the_side_of_a_dot_that_is_away_from_its_line() -> None:
    facts = {"half": Fact("half", 0.5, "ratio"), "double": Fact("double", 2.0, "ratio")}
    ax = shapes.plot_ratios(facts, "wrong / right")
    assert [(text.get_text(), text.get_ha()) for text in ax.texts] == [("0.50×", "right"), ("2.0×", "left")]
    assert alt_text(ax.figure) == "Wrong / right, on a logarithmic axis: half 0.50×; double 2.0×."


def test_numbers_stand_past_the_range_of_their_dot() -> None:
    starts = {"slower": (0.5, 0.6, 0.7), "faster": (1.5, 1.7, 1.9)}
    facts = {
        name: Fact.over_starts([(value, Fact(name, value, "ratio")) for value in values])
        for name, values in starts.items()
    }
    numbers = {text.get_text(): text for text in shapes.plot_ratios(facts, "two / one").texts}
    assert numbers[facts["slower"].shown].xy[0] == facts["slower"].over.low
    assert numbers[facts["faster"].shown].xy[0] == facts["faster"].over.high


def test_ratios_within_a_power_of_ten_have_more_than_one_number_on_their_axis() -> None:
    facts = {name: Fact(name, value, "ratio") for name, value in (("large", 1.96), ("small", 0.63))}
    ax = shapes.plot_ratios(facts, "two / one")
    ax.figure.draw_without_rendering()
    low, high = ax.get_xlim()
    shown = [tick.label1.get_text() for tick in ax.xaxis.get_major_ticks() if low <= tick.get_loc() <= high]
    assert shown == ["0.5×", "1×", "2×"]


def test_a_ratio_behind_which_a_time_is_a_span_is_hollow() -> None:
    facts = {name: Fact(name, 0.5, "share") for name in ("a span", "a time")}
    ax = shapes.plot_ratios(facts, "held", spans=["a span"])
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    assert [dot.get_markerfacecolor() == "none" for dot in dots] == [True, False]
    assert alt_text(ax.figure).endswith("Hollow: a span.")


def test_the_same_chart_is_the_same_file(chart):
    assert save_svg(chart().figure) == save_svg(chart().figure)


@pytest.mark.parametrize(("cmap", "mode"), [("gray", "L"), ("magma", "RGBA")])
def test_a_picture_in_grey_has_one_channel_and_keeps_its_shades(cmap, mode):
    shades = np.arange(256).reshape(16, 16)
    figure, ax = plt.subplots()
    ax.imshow(shades, cmap=cmap, interpolation="none")
    (png,) = re.findall(r'base64,([^"]+)', save_svg(figure).decode())
    image = Image.open(io.BytesIO(base64.b64decode(png)))
    assert image.mode == mode
    if mode == "L":
        assert np.abs(np.sort(np.ravel(image)) - shades.ravel()).max() <= 1


@pytest.mark.parametrize(
    ("info", "thing"),
    [
        (VariantInfo("numpy", "NumPy, one thread", device="cpu", threads=1), NUMPY),
        (VariantInfo("numpy", "NumPy, all threads", device="cpu", threads=16), CPU),
        (VariantInfo("loop", "njit loop", device="cpu", threads=1), CPU),
        (VariantInfo("primesieve", "primesieve, 16 threads", device="cpu", threads=16), LIBRARY),
        (VariantInfo("grid", "cuda.grid"), KERNEL),
        (VariantInfo("cupy", "CuPy, pinned copies"), CUPY),
        (VariantInfo("cupy_arrays", "Numba, CuPy arrays"), KERNEL),
        (VariantInfo("sum_without", "cp.sum, without CUB"), CUPY),
        (VariantInfo("sum_cub", "cp.sum, with CUB"), LIBRARY),
        (VariantInfo("fused", "fused", source="gpuguide.topics.fusion.study.fused"), CUPY),
        (VariantInfo("four", "four each", source="gpuguide.topics.fusion.kernels.four"), KERNEL),
    ],
    ids=lambda value: value.label if isinstance(value, VariantInfo) else "",
)
def test_a_thing_has_one_colour(info, thing):
    assert thing_of(info) == thing


def test_six_lines_of_any_study_can_be_told_apart():
    studies = [(page, study) for page in pages("nvidia-h200") for study in load(page).studies.values()]
    for page, study in studies:
        names = [info.name for info in study.variants]
        for first in range(max(1, len(names) - 5)):
            looks = looks_of(study, names[first : first + 6])
            drawn = {(look, marker_of(study, name)) for name, look in looks.items()}
            assert len(drawn) == len(looks), f"{page}:{study.name}: {[*looks]}"


def test_copies_are_dashed_in_the_colour_of_what_is_copied_for():
    results = load("why_gpu").studies["polynomial"]
    looks = looks_of(results, ["numpy", "gpu_threads", "with_copies", "with_copies_pinned"])
    assert [look.colour for look in looks.values()] == [NUMPY, KERNEL, KERNEL, KERNEL]
    assert len({look.dashes for look in looks.values()}) == 3
    # Where all are copies, dashes would tell nothing.
    assert {look.dashes for look in looks_of(results, ["with_copies", "with_copies_pinned"]).values()} == {
        "-"
    }


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
    assert ax.get_ylabel() == "time (on the GPU)"


def test_a_floor_is_drawn_where_an_empty_kernel_was_timed():
    cells = [
        replace(cell, floor_ns=2_000 if cell.size < 2**26 else None) if cell.variant == "numba" else cell
        for cell in RESULTS.measurements
    ]
    ax = lines.plot_time(RESULTS)
    n_lines, n_texts = len(ax.lines), len(ax.texts)
    mark_floor(ax, replace(RESULTS, measurements=tuple(cells)), "numba")
    *_, floor = ax.lines
    assert floor.get_xydata().tolist() == [[1024, 2e-6], [2**20, 2e-6]]
    assert ax.texts[-1].get_text() == "an empty kernel"
    assert ax.get_ylim()[0] <= 0.8e-6
    mark_floor(ax, RESULTS, "numba")
    assert (len(ax.lines), len(ax.texts)) == (n_lines + 1, n_texts + 1)


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
    drawn = {x for line in ax.lines if line.get_marker() != "None" for x in line.get_xdata()}
    assert drawn == {2**26}


def test_speedup_is_baseline_over_candidate():
    line = next(line for line in CHARTS["speedup"]().lines if line.get_marker() != "None")
    assert list(line.get_ydata()) == pytest.approx([1 / 3, 150, 70_000 / 220])


def test_parts_of_a_bar_end_where_their_sum_is():
    ax = CHARTS["decomposition"]()
    assert "500 ms" in _texts(ax)


def test_a_bar_says_the_time_with_the_digits_of_the_text():
    time = Quantity(0.0024, 0.001, 0.004, "s", 9, n_starts=3, n_runs=3)
    ax = shapes.plot_decomposition({"cached": {"read": time}, "twice": {"read": time, "copy": time}})
    assert {str(time), "5 ms"} <= set(_texts(ax))
    assert f"read {time}" in alt_text(ax.figure)


def test_the_ticks_under_a_bar_name_their_places():
    ax = shapes.plot_decomposition({"all": {"work": 0.0159}})
    ax.figure.draw_without_rendering()
    ticks = zip(ax.get_xticks(), [tick.get_text() for tick in ax.get_xticklabels()], strict=True)
    assert [text for place, text in ticks if 0 < place < 0.0184] == ["5.0 ms", "10 ms", "15 ms"]


@pytest.mark.parametrize("quantity", ["time", "share"])
def test_a_bar_of_a_share_is_long_as_the_share_and_others_as_the_longest(quantity):
    ax = shapes.plot_bars(RESULTS, ["numba"], at=2**26, quantity=quantity)
    (bar,) = ax.patches
    whole = ax.get_xlim()[1] / 1.35
    share = RESULTS.quantity("numba", 2**26, "share").value
    assert 0 < share < 1
    assert bar.get_width() / whole == pytest.approx(share if quantity == "share" else 1)


@pytest.mark.parametrize(
    ("label", "what", "unit", "better", "colour", "hatch"),
    [
        ("np.sum", "time of a sum", "s", "shorter is better", NUMPY, None),
        ("one block", "time of a sum", "s", "shorter is better", KERNEL, None),
        ("GPU, with pinned copies", "time of a sum", "s", "shorter is better", KERNEL, "////"),
        ("cp.asarray(x)", "speed of a copy", "B/s", "longer is better", CUPY, "////"),
    ],
)
def test_a_bar_shows_by_its_words_what_it_is_and_which_are_better(label, what, unit, better, colour, hatch):
    fact = Fact("fact", 25e9 if unit == "B/s" else 0.025, unit)
    ax = shapes.plot_values({label: fact}, what)
    (bar,) = ax.patches
    assert _texts(ax) == [label, fact.shown, better]
    assert bar.get_hatch() == hatch
    assert to_hex(bar.get_edgecolor() if hatch else bar.get_facecolor()) == colour
    assert alt_text(ax.figure) == f"Bars of the {what}; {better}. {label}: {fact.shown}."


def test_a_long_label_of_a_bar_fits_on_a_phone():
    bars = {"Kepler's equation: GPU, with pinned copies": Fact("time", 1.25e-3, "s")}
    assert narrow_svg(shapes.plot_values(bars, "time").figure)


def test_cells_of_a_heat_map_hold_their_numbers_and_nan_stays_empty():
    assert _texts(CHARTS["heatmap"]()) == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("draw", "error", "words"),
    [
        (lambda: lines.plot_time(RESULTS, variants=["nump"]), UnknownNameError, "numpy"),
        (lambda: shapes.plot_samples(RESULTS, 7), (ArgumentError, UnknownNameError), "7"),
        (lambda: shapes.plot_bars(RESULTS, ["nump"], at=2**20), UnknownNameError, "numpy"),
        (lambda: shapes.plot_dots({}, "time"), ArgumentError, "at least 0"),
        (lambda: shapes.plot_dots({"a": float("nan")}, "time"), ArgumentError, "at least 0"),
        (lambda: shapes.plot_decomposition({}), ArgumentError, "bars"),
        (lambda: shapes.plot_ratios({}, "share"), ArgumentError, "none"),
        (
            lambda: shapes.plot_ratios({"a": Fact("a", 1.0, "ratio"), "b": Fact("b", 1.0, "share")}, "share"),
            ArgumentError,
            "ratios alone, or shares alone",
        ),
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


def test_one_size_has_an_axis_of_some_length_beside_another_chart():
    """As in the chart that `gpuguide run --quick --plot` writes."""
    cells = tuple(cell for cell in RESULTS.measurements if cell.size == 2**20)
    one = on_starts(replace(RESULTS, sizes=(2**20,), measurements=cells, checks=()), 1.1, 1.6, 2.4)
    _, axes = plt.subplots(1, 2, sharex=True, sharey=True)
    for ax in axes:
        low, high = lines.plot_time(one, ax=ax).get_xlim()
        assert low < 2**20 < high


def _bars(ax):
    """Of each bar where it stands and its two ends."""
    from matplotlib.collections import LineCollection

    found = [each for each in ax.collections if isinstance(each, LineCollection)]
    return [tuple(map(tuple, each.get_segments()[0])) for each in found]


def test_a_bar_reaches_over_the_range_of_the_next_start():
    ax = lines.plot_time(UNSURE, variants=["numba"])
    times = [(size, UNSURE.time("numba", size)) for size in UNSURE.sizes]
    assert _bars(ax) == [((size, time.low), (size, time.high)) for size, time in times]
    assert times[0][1].high / times[0][1].low > 2
    line = next(line for line in ax.lines if line.get_marker() != "None")
    assert list(line.get_ydata()) == [time.value for _, time in times], "the median over the starts"


@pytest.mark.parametrize("name", OVER_SIZES)
def test_a_range_within_its_mark_is_not_drawn_nor_explained(name):
    ax = OVER_SIZES[name](SURE)
    assert not _bars(ax)
    assert RANGES_SAID not in _texts(ax)


@pytest.mark.parametrize("name", OVER_SIZES)
@pytest.mark.parametrize("factors", [(1.5,), (1.1, 1.5)], ids=["one", "two"])
def test_fewer_than_three_starts_have_no_range(name, factors):
    ax = OVER_SIZES[name](on_starts(RESULTS, *factors))
    assert not _bars(ax)
    assert not [each for each in ax.collections if each.get_alpha()], "nor a band"


@pytest.mark.parametrize("name", ["time", "rate", "share"])
def test_ranges_are_explained_once_below_the_axis_and_in_the_alternative_text(name):
    ax = OVER_SIZES[name](UNSURE)
    assert _bars(ax)
    assert _texts(ax).count(RANGES_SAID) == 1
    assert alt_text(ax.figure).endswith(". Thin bars: where another run may land.")
    ax.figure.draw_without_rendering()
    said = next(text for text in ax.texts if text.get_text() == RANGES_SAID).get_window_extent()
    assert said.y1 <= ax.xaxis.label.get_window_extent().y0
    assert ax.figure.bbox.containsx(said.x0)
    assert said.y0 >= 0, "within the figure"


def test_ratios_that_agree_have_no_bar_though_their_times_do():
    """A start that is slower throughout moves both times, and not their ratio."""
    assert not _bars(OVER_SIZES["speedup"](UNSURE))
    moving = replace(
        UNSURE,
        measurements=tuple(
            replace(each, samples_ns=tuple(3 * ns for ns in each.samples_ns))
            if each.variant == "numba"
            else each
            for each in UNSURE.measurements
        ),
    )
    ratio = moving.speedup("numba", "numpy", 2**26)
    assert ((2**26, ratio.low), (2**26, ratio.high)) in _bars(OVER_SIZES["speedup"](moving))


def test_whether_a_range_is_wider_than_its_mark_is_a_matter_of_the_axis():
    number = Quantity(100.0, 99.0, 101.0, "s", n=9, n_starts=3, n_runs=3)
    for limits, drawn in (((0, 1000), False), ((90, 110), True)):
        _, ax = plt.subplots()
        ax.set(xlim=limits, ylim=(-1, 1))
        assert draw_ranges(ax, [(0, number, SERIES[0])], along="x") is drawn
        assert _bars(ax) == [((99.0, 0), (101.0, 0))] * drawn


def test_facts_have_ranges_too_in_the_unit_of_the_axis():
    facts = [Fact("copy", value, "s") for value in (0.3, 0.4, 0.5)]
    over = Fact.over_starts([(fact.value, fact) for fact in facts])
    _, ax = plt.subplots()
    ax.set(xlim=(-1, 2), ylim=(0, 1000))
    assert not draw_ranges(ax, [(0, facts[0], SERIES[0]), (1, Fact("name", "H200", "text"), SERIES[0])])
    assert draw_ranges(ax, [(0, over, SERIES[0])], scale=1e3)
    assert _bars(ax)[0] == pytest.approx(np.array([(0, 1e3 * over.over.low), (0, 1e3 * over.over.high)]))


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_an_axis_whose_limits_were_set_makes_room_for_a_range(scale):
    number = Quantity(10.0, 2.0, 50.0, "s", n=9, n_starts=3, n_runs=3)
    _, ax = plt.subplots()
    ax.set(yscale=scale, ylim=(12, 3))
    draw_ranges(ax, [(0, number, SERIES[0])])
    bottom, top = ax.get_ylim()
    assert bottom > 50, "and it stays the other way round"
    assert (0 if scale == "log" else -1) < top < 2
    draw_ranges(ax, [(1, number, SERIES[0])])
    assert ax.get_ylim() == (bottom, top), "where there is room, it stays as it is"


def test_samples_are_those_of_the_newest_run():
    ax = shapes.plot_samples(UNSURE, 2**20)
    assert ax.get_xlabel().endswith("newest run)")
    assert "newest run" not in CHARTS["samples"]().get_xlabel()
    drawn = {x for line in ax.lines if line.get_marker() == "o" for x in line.get_xdata()}
    assert drawn == {s for m in UNSURE.measurements if m.size == 2**20 for s in m.samples_s}
    assert "All samples of the newest run" in alt_text(ax.figure)


def test_the_total_of_a_bar_stands_past_its_range():
    over = Fact.over_starts([(str(v), Fact("copy", v, "s")) for v in (0.3, 0.4, 0.5)])
    ax = shapes.plot_decomposition({"all": {"launch": 0.1, "copy": over}})
    ((start, row), (end, _)) = _bars(ax)[0]
    assert (start, end, row) == pytest.approx((0.1 + over.over.low, 0.1 + over.over.high, 0))
    total = next(text for text in ax.texts if text.get_text() == "500 ms")
    assert total.get_position()[0] > end
    assert ax.get_xlim()[1] > end


def test_a_range_lies_along_x_or_y():
    with pytest.raises(ArgumentError, match="'x' or 'y'; got 'z'"):
        draw_ranges(plt.subplots()[1], [], along="z")


@pytest.mark.parametrize(
    ("name", "quantity"),
    [("time", UNSURE.time), ("rate", UNSURE.rate), ("share", UNSURE.share)],
)
def test_alternative_text_has_the_digits_that_the_range_leaves(name, quantity):
    words = alt_text(OVER_SIZES[name](UNSURE).figure)
    assert f"to {quantity('numba', 2**26)} at 2²⁶" in words
    assert f"to {quantity('numba', 2**26).value:.4g}" not in words
