"""Cells that a page folds: where they stand on the page, in its downloads, and what they do not change."""

from __future__ import annotations

import json
import re

import pytest
from mini_project import Project
from sphinx.errors import ExtensionError

from gpuguide.recordings.keys import recorded_cells
from gpuguide.recordings.source_digest import digest
from gpuguide_docs.pages.cells import cells_from_blocks, read_cells

TOY = "examples/start/toy.py"
BY_HAND = "import numpy as np\n\nvalues"
TRIED = ":evidence:`opinion`\n#\n# .. try-it::\n#\n#    Add *five* numbers."
STUDY = "from gpuguide.topics.toy import study as toy"


@pytest.fixture(scope="module")
def unfolded(built) -> str:
    return built.page()


@pytest.fixture(scope="module")
def folded(make_project) -> Project:
    """The recorded project with headers put in; nothing is recorded again."""
    project = make_project()
    project.edit(TOY, BY_HAND, f"# wrong, fold: Sums <by hand>, *slowly*\n{BY_HAND}")
    project.edit(TOY, STUDY, f"# record: The study\n{STUDY}")
    project.edit(TOY, "# The study runs.", f"# The study runs. {TRIED}")
    chart = "# Time grows with the size.\n\n# draw\ngg.plot_time(results)\n"
    below = "\n# %%\n# What follows.\n"
    project.edit(TOY, chart, chart.replace("# draw", "# draw: Time, drawn") + below)
    ran = project.build()
    assert ran.code == 0, ran.output
    return project


def body(page: str) -> str:
    return page[page.index("<h1>") :].replace("<summary>\n", "<summary>")


def test_a_header_leaves_a_recording_current(folded):
    assert "Not measured since" not in folded.page()
    assert "6 |not a substitution|" in folded.page()


def test_a_header_changes_no_digest():
    page = '"Title"\n# %%\n# Text.\n\nx = 1\n'
    headed = page.replace("x = 1", "# {}: A title\nx = 1")
    plain = [digest(cell) for cell in recorded_cells(page)]
    for word in ("record", "fold", "wrong, fold"):
        assert [digest(cell) for cell in recorded_cells(headed.format(word))] == plain
    assert recorded_cells(headed.format("draw")) == ()


def test_the_package_and_the_extension_split_headed_cells_the_same(tmp_path):
    headers = ("# record: A", "# fold: B", "# wrong, fold: C", "# draw: D", "# draw", "# wrong: E", "x = 0")
    page = '"Title"\n' + "".join(f"# %%\n# Text.\n\n{header}\nx = 1\n\n" for header in headers)
    (tmp_path / "page.py").write_text(page)
    ours = [cell.content.strip() for cell in read_cells(tmp_path / "page.py") if cell.kind == "recorded"]
    assert ours == [cell.strip() for cell in recorded_cells(page)]
    assert len(ours) == 5


def test_a_side_path_is_folded_where_it_stands_with_its_output(folded):
    page = body(folded.page())
    found = re.search(r'<details class="([^"]*)">\s*<summary>(.*?)</summary>(.*?)</details>', page, re.DOTALL)
    classes, title, inside = found.groups()
    assert set(classes.split()) == {"gg-fold", "gg-cell", "gg-wrong-fold"}
    assert title == "Sums &lt;by hand&gt;, *slowly*"
    assert "6 |not a substitution|" in inside
    assert "# wrong" not in page
    # Browsers open a fold that holds the target of a link.
    assert 'id="cell-sums-by-hand-slowly"' in inside
    assert page.index("Nothing but NumPy") < page.index("<details") < page.index("The study runs")


def test_bookkeeping_is_folded_at_the_end_with_what_was_measured(folded):
    page = body(folded.page())
    card = page.index("How this was measured</summary>")
    at_end = page.index("<summary>The study</summary>")
    assert page.index("The study runs") < page.index("only-light") < card < at_end
    assert page.index('id="how-this-was-measured"') < at_end < page.index("<caption>Sums")
    assert page.index("raw files") > at_end
    assert page.count("How this was measured</summary>") == 1


def test_a_fold_is_an_ordinary_cell_of_the_downloads(folded):
    notebook = json.loads((folded.layout.gallery / "downloads" / "toy.ipynb").read_text())
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in notebook["cells"]]
    code = [source for kind, source in cells if kind == "code"]
    assert code[2].startswith("# wrong: Sums <by hand>, *slowly*\nimport numpy as np")
    assert code[3].startswith("# The study\nfrom gpuguide.topics.toy")
    assert "plot_time" in code[-1], "the study runs before the chart that needs it"
    assert any("runs. [not tested]\n\n> **Try it.** Add *five* numbers." in source for _, source in cells)
    assert not any("<details>" in source for _, source in cells)
    script = (folded.layout.gallery / "downloads" / "toy.py").read_text()
    assert "# %%\n# The study\nfrom gpuguide.topics.toy" in script


def test_the_code_of_a_chart_and_claims_are_folded_at_the_end(folded):
    page = body(folded.page())
    shown = ("only-light", "What follows.", "How this was measured</summary>")
    folds = (
        "<summary>Time, drawn in “Four numbers by hand”</summary>",
        "What is claimed of these results</summary>",
    )
    assert [part for part in (*shown, *folds) if part not in page] == []
    assert [page.index(part) for part in shown] == sorted(page.index(part) for part in shown)
    assert min(page.index(part) for part in folds) > page.index(shown[-1])
    notebook = (folded.layout.gallery / "downloads" / "toy.ipynb").read_text()
    assert '"# Time, drawn\\n",' in notebook


def test_without_headers_only_what_draws_is_folded(unfolded):
    titles = re.findall(r'gg-cell">\s*<summary>\s*([^<]*)</summary>', unfolded)
    assert sorted(titles) == [
        "Code of the chart in “Four numbers by hand”",
        "What is claimed of these results",
    ]


@pytest.mark.parametrize(
    ("code", "kind", "place", "title", "wrong"),
    [
        ("# record: The study\nx = 1", "recorded", "end", "The study", False),
        ("\n# fold: A: side path\nx = 1", "recorded", "folded", "A: side path", False),
        ("# wrong, fold: One launch\nx = 1", "recorded", "folded", "One launch", True),
        ("# wrong: One launch\nx = 1", "recorded", "open", "", True),
        ("# folding: x\nx = 1", "recorded", "open", "", False),
        ("x = 1\n# fold: late", "recorded", "open", "", False),
        ("# fold: only a comment", "comment", "open", "", False),
        ("# draw\nx = 1", "drawn", "open", "", False),
    ],
)
def test_the_first_line_says_where_a_cell_stands(code, kind, place, title, wrong):
    (cell,) = cells_from_blocks([("code", code, 1)])
    assert (cell.kind, cell.place, cell.title, cell.is_wrong) == (kind, place, title, wrong)
    if place != "open":
        assert cell.body == "x = 1"


@pytest.mark.parametrize("code", ["# fold\nx = 1", "# record:\nx = 1", "# wrong, fold: \nx = 1"])
def test_a_fold_needs_a_title(code):
    with pytest.raises(
        ExtensionError, match=r"page\.py, line 3: expected a title, as in '# \w+(, \w+)?: What"
    ):
        cells_from_blocks([("code", code, 3)], "page.py")


@pytest.mark.parametrize("text", ["record: The study", "fold: A\n", "wrong, fold: A", "draw", "draw: late"])
def test_a_header_right_under_the_mark_of_a_text_cell_is_refused(text):
    with pytest.raises(ExtensionError, match=r"page\.py, line 7: .* leave a line empty above it"):
        cells_from_blocks([("text", text, 7)], "page.py")
