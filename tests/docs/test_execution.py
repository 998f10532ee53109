"""One cell runs as in a notebook, errors name file and line, and its names resolve without running it."""

import pytest

from gpuguide.results.sample import sample_results
from gpuguide_docs.pages.cells import Cell
from gpuguide_docs.record.execution import CellError, refuse_figures, run_cell, value_text
from gpuguide_docs.record.names import CodeName, page_names, recorded_names, short_module
from gpuguide_docs.replay.drawn_cells import text_and_markup


def run(code: str, lineno: int = 1):
    return run_cell(Cell("recorded", 0, code, lineno), {}, "page.py")


@pytest.mark.parametrize(
    ("code", "printed", "value", "shown"),
    [
        ("print('a')\n1 + 1", "a\n", 2, "2\n"),
        ("x = 1", "", None, ""),
        ("None", "", None, ""),
        ("", "", None, ""),
    ],
)
def test_printed_text_and_the_last_value_are_shown(code, printed, value, shown):
    assert run(code) == (printed, value)
    assert value_text(value) == shown


def test_a_value_with_markup_is_shown_as_markup_and_a_figure_not_as_text():
    code = "class T:\n    def _repr_html_(self): return '<b>x</b>'\nT()"
    assert text_and_markup(*run(code)) == ("", "<b>x</b>")
    assert text_and_markup(*run("from matplotlib.figure import Figure\n[Figure().subplots()]")) == ("", "")


def test_a_recorded_cell_leaves_no_figure_open():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.close("all")  # what another test may have left
    cell = Cell("recorded", 0, "", 7)
    refuse_figures(cell, "page.py")
    plt.figure()
    with pytest.raises(CellError, match=r"^page\.py:7: "):
        refuse_figures(cell, "page.py")
    assert not plt.get_fignums()


@pytest.mark.parametrize(
    ("code", "line"), [("\nx = 1\n1 / 0", 12), ("def f():\n    raise ValueError\n\nf()", 11), ("x = (", 10)]
)
def test_an_error_names_file_and_line(code, line):
    with pytest.raises(CellError, match=rf"^page\.py:{line}: "):
        run(code, lineno=10)


def test_names_are_resolved_while_recording_and_public_ones_are_the_package_s():
    assert short_module("gpuguide.measure.study", "Study.run") == "gpuguide"
    assert short_module("gpuguide.topics.toy", "study") == "gpuguide.topics.toy"
    names = recorded_names("results.table()\nn = 1", {"results": sample_results(), "n": 1})
    assert CodeName("results.table", "gpuguide", "Results.table", "gpuguide", False) in names
    assert not [name for name in names if name.used == "n"], "builtins are noise"


def test_stored_names_come_before_what_imports_tell_and_drawn_cells_have_results():
    stored = [CodeName("x.sum", "cupy", "ndarray.sum", "cupy", False), CodeName("gone", "a", "b", "a", False)]
    names = page_names(
        ["import numpy as x\nx.sum()\nresults.crossover('a', 'b')\ngg.plot_time(results)"],
        stored,
        ["results"],
    )
    modules = [(name["module"], name["name"]) for name in names["x.sum"]]
    assert modules == [("cupy", "ndarray.sum"), ("numpy", "sum")]
    assert "gone" not in names
    assert names["results.crossover"][0]["name"] == "Results.crossover"
    assert (names["gg.plot_time"][0]["module"], names["gg.plot_time"][0]["name"]) == ("gpuguide", "plot_time")
