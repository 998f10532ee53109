"""One cell runs as in a notebook, and errors name file and line."""

import pytest

from gpuguide_docs.pages.cells import Cell
from gpuguide_docs.record.execution import CellError, refuse_figures, run_cell, value_text
from gpuguide_docs.replay.drawn_cells import text_and_markup


def run(code: str, lineno: int = 1):
    namespace: dict[str, object] = {}
    return run_cell(Cell("recorded", 0, code, lineno), namespace, "page.py")


def test_printed_text_and_the_last_value_are_given():
    assert run("print('a')\n1 + 1") == ("a\n", 2)
    assert value_text(2) == "2\n"


@pytest.mark.parametrize("code", ["x = 1", "None", "print"[:0]])
def test_no_value_shows_nothing(code):
    assert run(code) == ("", None)
    assert value_text(None) == ""


def test_a_value_with_markup_is_shown_as_markup():
    code = "class T:\n    def _repr_html_(self): return '<b>x</b>'\nT()"
    assert text_and_markup(*run(code)) == ("", "<b>x</b>")


def test_a_figure_is_not_shown_as_text_too():
    assert text_and_markup(*run("from matplotlib.figure import Figure\n[Figure().subplots()]")) == ("", "")


def test_a_recorded_cell_leaves_no_figure_open():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.close("all")  # what another test may have left
    cell = Cell("recorded", 0, "", 7)
    refuse_figures(cell, "page.py")
    plt.figure()
    with pytest.raises(CellError, match=r"^page\.py:7: .* Draw it in a cell of its own"):
        refuse_figures(cell, "page.py")
    assert not plt.get_fignums()


@pytest.mark.parametrize(
    ("code", "line"), [("\nx = 1\n1 / 0", 12), ("def f():\n    raise ValueError\n\nf()", 11), ("x = (", 10)]
)
def test_an_error_names_file_and_line(code, line):
    with pytest.raises(CellError, match=rf"^page\.py:{line}: "):
        run(code, lineno=10)
