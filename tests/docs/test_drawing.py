"""Drawn cells are drawn again when something they depend on changed, and only then."""

from __future__ import annotations

import pytest
from mini_project import Project

from gpuguide_docs.pages.cells import Cell, read_cells
from gpuguide_docs.record.execution import CellError
from gpuguide_docs.replay.drawn_cells import draw, drawing_key, namespace_of
from gpuguide_docs.replay.states import forget, states_of

PLOT = "gg.plot_time(results)"
OTHER = 'print(gg.load("pictures", root=ROOT).facts["answer"].value)'


def drawn(project: Project, code: str = PLOT):
    """Draw the page `toy` with this code in its drawn cell."""
    forget(project.layout)
    script = project.layout.script("start", "toy")
    state = states_of(project.layout)["toy"]
    code = code.replace("ROOT", f"__import__('pathlib').Path({str(project.layout.recorded)!r})")
    cell = Cell("drawn", 0, f"# draw\n{code}\n", 1)
    return draw(project.layout, "toy", (cell,), state.recording, state.digest, script)


def stamps(project: Project) -> dict[str, int]:
    folder = project.layout.cache / "drawn" / "toy"
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_unchanged_cells_come_from_the_cache(project):
    first = drawn(project)
    before = stamps(project)
    assert drawn(project) == first
    assert stamps(project) == before


@pytest.mark.parametrize(
    ("path", "old", "new", "again"),
    [
        ("src/gpuguide/charts/style.py", '"""How', '"""This is how', True),
        (
            "src/gpuguide/measure/study.py",
            "from __future__ import annotations",
            "from __future__ import annotations\n\nX = 1",
            False,
        ),
    ],
)
def test_the_key_covers_what_draws_and_not_what_only_measures(project, path, old, new, again):
    cells = tuple(cell for cell in read_cells(project.layout.script("start", "toy")) if cell.kind == "drawn")
    before = drawing_key(project.layout, cells, "0")
    project.edit(path, old, new)
    assert (drawing_key(project.layout, cells, "0") != before) is again


def test_only_one_set_of_drawings_of_a_page_is_kept(project):
    drawn(project)
    drawn(project, f"ax = {PLOT}")
    assert len(list((project.layout.cache / "drawn" / "toy").iterdir())) == 1


def test_a_drawn_cell_finds_what_the_design_says(project):
    state = states_of(project.layout)["toy"]
    assert {"gg", "plt", "np", "results", "facts", "ceilings"} <= set(namespace_of(state.recording))


def test_what_another_page_measured_can_be_drawn_until_it_goes_stale(project):
    (output,) = drawn(project, OTHER)
    assert output.stdout == "42\n"
    project.edit("examples/later/pictures.py", "** 2", "** 3")
    assert drawn(project, OTHER) == (None,)


def test_a_warning_in_a_drawn_cell_is_an_error(project):
    with pytest.raises(CellError, match="RuntimeWarning"):
        drawn(project, "np.float64(1) / np.float64(0)")
