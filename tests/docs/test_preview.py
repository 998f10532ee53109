"""A preview needs no GPU, is stamped a draft, and touches nothing of the guide."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from mini_project import Project, tree

from gpuguide_docs.commands.preview import stamp
from gpuguide_docs.replay.outputs import Picture
from plain_drawing import assert_only_draws

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 200"><path d="M0 0"/></svg>\n'


def test_a_stamp_is_drawn_over_the_whole_figure():
    stamped = stamp(Picture(SVG, "A chart."))
    assert b"draft, simulator</text></svg>" in stamped.data
    assert b'<rect width="400" height="200" fill="url(#draft-hatch)"/>' in stamped.data
    assert stamped.alt.startswith("Draft, simulator.")
    assert_only_draws(stamped.data.decode())


@dataclass(frozen=True)
class Draft:
    """The guide before and after a page of it was drafted, and where its draft is."""

    before: dict[str, bytes]
    after: dict[str, bytes]
    folder: Path


def of_the_guide(project: Project) -> dict[str, bytes]:
    return {name: data for name, data in tree(project.root).items() if not name.startswith(".preview")}


@pytest.fixture(scope="module")
def draft(make_project) -> Draft:
    """The draft of a page with a cell that needs a GPU, and with a drawing."""
    project = make_project()
    folder = project.layout.docs / "_static" / "drawings"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("idea", "idea-dark"):
        (folder / f"{name}.svg").write_bytes(SVG)
    project.edit(
        "examples/start/toy.py",
        "results\n\n# %%",
        "results\n\n# %%\n# On the GPU.\n\nimport cupy as cp\n\ncp.arange(3)\n\n# %%\n"
        "# .. drawing:: idea\n#\n#     An idea.\n\n# %%",
    )
    before = of_the_guide(project)
    ran = project.run("-m", "gpuguide_docs.commands.preview", "toy")
    assert ran.code == 0, ran.output
    return Draft(before, of_the_guide(project), project.layout.preview / "toy")


def test_a_page_is_drafted_outside_the_guide(draft):
    assert draft.after == draft.before
    page = (draft.folder / "html" / "gallery" / "start" / "toy.html").read_text()
    assert "Draft, simulator" in page
    assert "needs a GPU" in page
    figures = list((draft.folder / "docs" / "gallery" / "start" / "images").glob("*-light.svg"))
    assert figures
    assert all(b"draft, simulator" in figure.read_bytes() for figure in figures)


def test_the_drawings_of_a_page_are_in_its_draft(draft):
    html = draft.folder / "html"
    assert 'alt="An idea."' in (html / "gallery" / "start" / "toy.html").read_text()
    assert {"idea.svg", "idea-dark.svg"} <= {path.name for path in (html / "_images").iterdir()}


def test_an_error_in_a_cell_is_told(project):
    project.edit("examples/start/toy.py", "np.arange(4)", "np.nothing(4)")
    ran = project.run("-m", "gpuguide_docs.commands.preview", "toy")
    assert ran.code == 1
    assert "AttributeError" in ran.output
