"""What several processes do in a build is what one would do."""

import shutil
import subprocess

import pytest
from mini_project import Project, tree

from gpuguide_docs.replay.drawn_cells import draw_ahead, pages_to_draw
from gpuguide_docs.replay.states import States
from gpuguide_docs.show.guide import GpuGuide

DRAWN_TOO = "\n# %%\n\n# draw\ngg.plot_time(gg.load('toy', root=ROOT).studies['sums'])\n"


@pytest.fixture
def two_drawn(project):
    """The pages of a project of which two draw, and no figure is kept."""
    script = project.layout.script("later", "pictures")
    root = f"__import__('pathlib').Path({str(project.layout.recorded)!r})"
    script.write_text(script.read_text() + DRAWN_TOO.replace("ROOT", root))
    shutil.rmtree(project.layout.cache / "drawn")
    return States(project.layout, GpuGuide())


def test_pages_are_drawn_ahead_as_they_would_be_at_their_turn(two_drawn):
    draw_ahead(two_drawn, 1)()
    assert sorted(page.name for page, _ in pages_to_draw(two_drawn)) == ["pictures", "toy"]
    draw_ahead(two_drawn, 2)()
    assert pages_to_draw(two_drawn) == []


def test_a_cell_that_fails_is_left_to_its_page(two_drawn):
    script = two_drawn.layout.script("later", "pictures")
    script.write_text(script.read_text().replace("gg.plot_time(", "gg.no_such_chart("))
    draw_ahead(two_drawn, 2)()
    assert [page.name for page, _ in pages_to_draw(two_drawn)] == ["pictures"]


def french(folder):
    """Give the environment of a French machine; where no such locale is installed, make it."""
    if shutil.which("localedef"):
        folder.mkdir()
        made = ["localedef", "-i", "fr_FR", "-f", "UTF-8", str(folder / "fr_FR.UTF-8")]
        if subprocess.run(made, capture_output=True, check=False).returncode == 0:
            return {"LC_ALL": "fr_FR.UTF-8", "LANGUAGE": "fr", "LOCPATH": str(folder)}
    return {"LC_ALL": "fr_FR.UTF-8", "LANGUAGE": "fr"}


def test_clean_builds_are_the_same_bytes_wherever_and_however_they_run(project, tmp_path):
    """In another folder, time zone and language, with another seed of hashes and number of processes."""
    other = Project(tmp_path / "elsewhere" / "guide")
    shutil.copytree(project.root, other.root, ignore=shutil.ignore_patterns("_build"))
    shutil.rmtree(project.layout.build, ignore_errors=True)
    tokyo = {"TZ": "Asia/Tokyo", **french(tmp_path / "locales")}
    ways = ((project, "-j1", "0", {"TZ": "UTC"}), (other, "-j3", "1", tokyo))
    for each, processes, seed, env in ways:
        shutil.rmtree(each.layout.gallery, ignore_errors=True)
        ran = each.build(processes, PYTHONHASHSEED=seed, **env)
        assert ran.code == 0, ran.output
    # Sphinx's note for its next build: a hash of the configuration, which names folders.
    one, two = ({k: v for k, v in tree(each.html).items() if k != ".buildinfo"} for each in (project, other))
    assert sorted(one) == sorted(two)
    assert [name for name in one if one[name] != two[name]] == []


def test_one_page_can_be_built_alone_in_a_fresh_clone(make_project):
    """Where no earlier build has left an index of the search."""
    project = make_project()
    page = "docs/gallery/start/toy.rst"
    ran = project.run("-m", "sphinx", "-q", "-W", "-c", ".", "docs", str(project.html), page)
    assert (ran.code, ran.output) == (0, "")
    assert "toy" in (project.html / "searchindex.js").read_text()
