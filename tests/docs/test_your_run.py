"""The guide's times as the page *Your GPU and ours* gets them: current ones, of each machine."""

from types import SimpleNamespace
from typing import Any

from gpuguide_docs.show.your_run import numbers_of
from study_results import SIZES, cell, make, on_starts


def recording(gpu: str, study: Any) -> Any:
    return SimpleNamespace(
        machine="of-this-gpu",
        studies={"add": study},
        key=SimpleNamespace(topics=(("adding", "12ab"),)),
        provenance=SimpleNamespace(gpu=gpu, machine="of-this-gpu"),
    )


def site(*recordings: Any, script: str = "") -> Any:
    page = SimpleNamespace(name="adding", format="script", title="Add", docname="gallery/start/adding")
    page.script = lambda layout: SimpleNamespace(read_text=lambda encoding: script)
    state = SimpleNamespace(shown=recordings[0] if recordings else None, others=recordings[1:])
    return SimpleNamespace(pages=[page], state=lambda name, env: state, layout=None)


def chart_of(script: str) -> Any:
    pages = numbers_of(site(recording("NVIDIA H200", make()), script=script), None, "")["pages"]
    return pages["adding"]["studies"]["add"]["chart"]


def test_each_machine_has_its_time_of_each_cell_and_none_where_it_has_none() -> None:
    slower = make(sizes=SIZES[:2], measurements=(cell("numpy", SIZES[0], 4_000),))
    pages = numbers_of(site(recording("NVIDIA H200", make()), recording("NVIDIA T4", slower)), None, "../")[
        "pages"
    ]
    assert pages["adding"]["address"] == "../gallery/start/adding.html"
    assert pages["adding"]["topics"] == {"adding": "12ab"}
    assert pages["adding"]["machines"] == ["H200", "T4"]
    cells = pages["adding"]["studies"]["add"]["cells"]
    assert cells[0] == ["numpy", "host", SIZES[0], "NumPy", 2e-6, 4e-6]
    assert cells[1] == ["one", "device", SIZES[0], "One a thread", 3e-6, None]
    # What the guide did not measure stands beside nothing.
    assert ["numpy", SIZES[2]] not in [[name, size] for name, _, size, *_ in cells]


def test_a_time_is_the_median_over_the_machine_starts() -> None:
    pages = numbers_of(site(recording("NVIDIA H200", on_starts(make(), 1.0, 2.0, 4.0))), None, "")["pages"]
    assert pages["adding"]["studies"]["add"]["cells"][0][4] == 4e-6


def test_a_page_that_is_out_of_date_has_no_numbers() -> None:
    assert numbers_of(site(), None, "") == {"pages": {}}


def test_the_browser_draws_what_the_charts_of_the_page_draw() -> None:
    times = chart_of('ax = gg.plot_time(\n    results, variants=["four", "one"]\n)\nplot_bars(r, ["other"])')
    assert sorted(times["looks"]) == ["four", "one"]
    assert "bytes" not in times
    # Elsewhere what the others are measured against, and the fastest.
    assert "numpy" in chart_of("ax = gg.plot_time(results)")["looks"]


def test_rates_are_drawn_where_the_page_draws_rates() -> None:
    assert chart_of('plot_rate(results, variants=["one"])')["bytes"] == {
        f"one {size}": 8 * size for size in SIZES
    }
