"""A preview needs no GPU, is stamped a draft, and touches nothing of the guide."""

from __future__ import annotations

from mini_project import tree

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


def test_a_page_is_drafted_outside_the_guide(project):
    project.edit(
        "examples/start/toy.py",
        "results\n\n# %%",
        "results\n\n# %%\n# On the GPU.\n\nimport cupy as cp\n\ncp.arange(3)\n\n# %%",
    )
    before = {name: data for name, data in tree(project.root).items() if not name.startswith(".preview")}
    ran = project.run("-m", "gpuguide_docs.commands.preview", "toy")
    assert ran.code == 0, ran.output
    after = {name: data for name, data in tree(project.root).items() if not name.startswith(".preview")}
    assert after == before
    page = (project.layout.preview / "toy" / "html" / "gallery" / "start" / "toy.html").read_text()
    assert "Draft, simulator" in page
    assert "needs a GPU" in page
    figures = list(
        (project.layout.preview / "toy" / "docs" / "gallery" / "start" / "images").glob("*-light.svg")
    )
    assert figures
    assert all(b"draft, simulator" in figure.read_bytes() for figure in figures)


def test_an_error_in_a_cell_is_told(project):
    project.edit("examples/start/toy.py", "np.arange(4)", "np.nothing(4)")
    ran = project.run("-m", "gpuguide_docs.commands.preview", "toy")
    assert ran.code == 1
    assert "AttributeError" in ran.output


def test_the_drawings_of_a_page_are_in_its_draft(project):
    folder = project.layout.docs / "_static" / "drawings"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("idea", "idea-dark"):
        (folder / f"{name}.svg").write_bytes(SVG)
    project.edit(
        "examples/start/toy.py",
        "results\n\n# %%",
        "results\n\n# %%\n# .. drawing:: idea\n#\n#     An idea.\n\n# %%",
    )
    ran = project.run("-m", "gpuguide_docs.commands.preview", "toy")
    assert ran.code == 0, ran.output
    html = project.layout.preview / "toy" / "html"
    assert 'alt="An idea."' in (html / "gallery" / "start" / "toy.html").read_text()
    assert {"idea.svg", "idea-dark.svg"} <= {path.name for path in (html / "_images").iterdir()}
