"""Cells are told apart by their first line, and numbered among their own kind."""

import pytest
from sphinx.errors import ExtensionError

from gpuguide_docs.pages.cells import cells_from_blocks, read_cells

PAGE = '''"""
Title
=====

Question?
"""

# %%
# Text.

# wrong: no synchronisation
x = 1

# %%

# draw
gg.plot_time(results)

# %%

# only a comment

# %%

# draw: the second
y = 2

# %%

z = 3
'''


def test_kinds_and_places(tmp_path):
    page = tmp_path / "page.py"
    page.write_text(PAGE)
    found = [(cell.kind, cell.index) for cell in read_cells(page)]
    assert found == [
        ("text", 0),
        ("text", 1),
        ("recorded", 0),
        ("drawn", 0),
        ("comment", 0),
        ("drawn", 1),
        ("recorded", 1),
    ]


def test_line_numbers_and_marks(tmp_path):
    page = tmp_path / "page.py"
    page.write_text(PAGE)
    wrong = read_cells(page)[2]
    assert wrong.is_wrong
    assert PAGE.splitlines()[wrong.lineno - 1 :][1] == "# wrong: no synchronisation"


def test_text_on_the_line_of_a_mark_is_an_error(tmp_path):
    page = tmp_path / "page.py"
    page.write_text(PAGE.replace("# %%\n# Text.", "# %% Text that\n# nobody sees."))
    with pytest.raises(ExtensionError, match=r"page\.py, line 8: 'Text that' would be dropped"):
        read_cells(page)


@pytest.mark.parametrize("code", ["# drawing\nx = 1", "x = 1\n# draw", "# draw2\nx = 1"])
def test_only_the_mark_itself_makes_a_drawn_cell(code):
    (cell,) = cells_from_blocks([("code", code, 1)])
    assert cell.kind == "recorded"


def test_the_package_and_the_extension_see_the_same_recorded_cells(tmp_path):
    from gpuguide.recordings.keys import recorded_cells

    page = tmp_path / "page.py"
    page.write_text(PAGE)
    ours = [cell.content.strip() for cell in read_cells(page) if cell.kind == "recorded"]
    assert ours == [cell.strip() for cell in recorded_cells(PAGE)]
