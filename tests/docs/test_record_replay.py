"""Building again: what a change shows, what a page without numbers shows, and what fails a build."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace

import pytest
from mini_project import MACHINE, Project, run_file, tree

from gpuguide.recordings import store as recordings
from gpuguide_docs.replay.states import States
from gpuguide_docs.show.guide import GpuGuide

TOY, PICTURES = "examples/start/toy.py", "examples/later/pictures.py"
STUDY = "src/gpuguide/topics/toy/study.py"
BANNER = "Not measured since its code changed"
OUTPUT = "6 |not a substitution| `nor a role`_"


@pytest.fixture
def project(rebuilt: Project) -> Project:
    return rebuilt


def built_ok(project: Project, **env: str) -> None:
    ran = project.build(**env)
    assert ran.code == 0, ran.output


def html_tree(project: Project) -> dict[str, bytes]:
    # .buildinfo holds hashes of paths that no reader sees.
    return {name: data for name, data in tree(project.html).items() if not name.startswith(".")}


def assert_incremental_equals_clean(project: Project) -> None:
    """What is published; files of pages and figures that are gone may stay until the next clean build."""
    incremental = html_tree(project)
    shutil.rmtree(project.layout.build)
    shutil.rmtree(project.layout.gallery)
    # With another seed of hashes: no page may stand in the order of a set.
    built_ok(project, PYTHONHASHSEED="1")
    assert [name for name, data in html_tree(project).items() if incremental.get(name) != data] == []


def page(project: Project, name: str) -> str:
    return (project.html / f"{name}.html").read_text(encoding="utf-8")


# A change is shown by the next build


def test_an_unchanged_build_reads_runs_and_draws_nothing(project):
    made = [*project.html.rglob("gallery/**/*.html"), *project.layout.build.rglob("live.ipynb")]
    before = {path: path.stat().st_mtime_ns for path in made}
    places = ("-c", ".", "-d", "docs/_build/doctrees", "docs", "docs/_build/html")
    ran = project.run("-X", "importtime", "-m", "sphinx", *places)
    assert ran.code == 0, ran.output
    assert "0 added, 0 changed, 0 removed" in ran.output
    imported = set(re.findall(r"^import time:.*\| +(\S+)$", ran.output, re.MULTILINE))
    assert "sphinx" in imported
    assert not imported & {"matplotlib.pyplot", "numba", "cupy"}
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_each_change_is_shown_by_the_next_build_and_all_equal_a_clean_one(project):
    """Prose, charts, titles, numbers, facts, measured code, live cells and names: none needs a GPU."""
    images = project.layout.gallery / "start" / "images"
    drawn = (images / "toy-1-light.svg").read_bytes()
    project.edit(TOY, "A sum is quick.", "A sum is very quick.")
    project.edit(TOY, "of it. More", "of time. More")
    for file, old, new in (
        ("add_two/task.md", "Look at", "Look hard at"),
        ("add_one/exercise.py", "It teaches add_one.", "It teaches to add."),
    ):
        project.edit(f"src/gpuguide/exercises/pool/{file}", old, new)
    more = 'ax = gg.plot_time(results)\nax.set_title("Sums")\ngg.plot_speedup(results, "numpy")'
    project.edit(TOY, "gg.plot_time(results)", more)
    project.edit(TOY, "Toy sums\n========", "Toy additions\n=============")
    project.edit(PICTURES, "2 * facts", "3 * facts")
    project.edit("docs/later/live.md", "answer + 1", "answer + 2")
    built_ok(project)
    toy, other = project.page(), page(project, "other")
    assert "A sum is very quick." in toy
    assert OUTPUT in toy
    assert BANNER not in toy
    assert (images / "toy-1-light.svg").read_bytes() != drawn
    assert "Toy additions" in other, "it lists who uses plot_speedup"
    assert ">126<" in other
    assert "Look hard at" in page(project, "exercises/add_two")
    assert "It teaches to add." in page(project, "practice/puzzles")
    assert "It teaches to add." in project.page("pictures", "later")
    assert " of time.</p>" in page(project, "gallery/start/index")
    assert "<pre>43\n</pre>" in page(project, "later/live").replace("<span></span>", "")
    # A fact alone, and a page less that uses a function.
    folder = project.layout.recorded / MACHINE / "pictures"
    old = recordings.read(folder)
    shutil.rmtree(folder)  # or it would be one run more, and the fact be taken over both
    facts = {"answer": replace(old.facts["answer"], value=43)}
    recordings.add(replace(old, facts=facts), project.layout.recorded)
    project.edit(TOY, '\ngg.plot_speedup(results, "numpy")', "")
    built_ok(project)
    assert ">129<" in page(project, "other")
    assert "Toy additions" not in page(project, "other")
    # Measured code: this page is out of date, and no other.
    project.edit(TOY, "np.arange(4)", "np.arange(5)")
    built_ok(project)
    toy = project.page()
    assert BANNER in toy
    assert OUTPUT not in toy
    assert "only-light" not in toy
    assert "appears once the page is measured" in toy
    assert b"toy-1-light" not in (images / "thumb" / "sphx_glr_toy_thumb.svg").read_bytes()
    assert BANNER not in project.page("pictures", "later")
    # Back to the measured code, whose outputs are valid again; and the other page has another name.
    project.edit(TOY, "np.arange(5)", "np.arange(4)")
    project.edit("examples/pages.toml", 'name = "pictures"', 'name = "figures"')
    for path, name in (("docs/other.rst", "pictures:"), (PICTURES, ":: pictures\n")):
        project.edit(path, name, name.replace("pictures", "figures"))
    shutil.move(project.root / PICTURES, project.root / "examples/later/figures.py")
    built_ok(project)
    assert OUTPUT in project.page()
    shutil.rmtree(project.layout.cache)
    assert_incremental_equals_clean(project)


def test_what_another_builder_read_first_is_new_on_the_page(project):
    """A changed extension reads all pages again; what was read but not written is written later."""
    project.edit(STUDY, "Sum by definition.", "Sum as it is defined.")
    project.edit("docs/other.rst", "Other\n=====", "Elsewhere\n=========")
    project.edit("docs/_ext/gpuguide_docs/show/kernel.py", "Tested code from", "Code from")
    ran = project.build("-b", "dummy", out="dummy")
    assert ran.code == 0, ran.output
    built_ok(project)
    pictures = project.page("pictures", "later")
    assert "Sum as it is defined." in pictures
    assert "Tested code from" not in pictures
    assert 'title="Elsewhere"' in page(project, "later/live")


def test_a_page_recorded_again_shows_the_new_outputs(project):
    project.edit(TOY, "np.arange(4)", "np.arange(6)")
    assert project.record("toy").code == 0
    built_ok(project)
    assert OUTPUT.replace("6", "15") in project.page()


# Out of date, and never measured


@pytest.mark.parametrize(
    ("path", "old", "new", "stale"),
    [
        (STUDY, "out[0] = x.sum()", "out[0] = x.sum() + 0", True),
        (STUDY, '"""Sum by definition."""', '"""Sum."""', False),
        ("src/gpuguide/measure/harness.toml", "version = 1", "version = 2", True),
        ("src/gpuguide/charts/style.py", "import", "NEW = 1\nimport", False),
    ],
    ids=["topic", "docstring", "harness", "drawing module"],
)
def test_edits_in_the_package_count_only_where_they_can_change_a_number(recordable, path, old, new, stale):
    def status() -> str:
        return States(recordable.layout, GpuGuide())["toy"].status

    assert status() == "current"
    recordable.edit(path, old, new)
    assert status() == ("stale" if stale else "current")
    recordable.edit(path, new, old)
    assert status() == "current"


def test_a_page_without_a_recording_says_so_and_why(project):
    project.edit("examples/pages.toml", 'name = "toy"\n', 'name = "toy"\nwaits = "The machine is away."\n')
    shutil.rmtree(project.layout.recorded / MACHINE)
    built_ok(project)
    for text in (project.page(), project.page("pictures", "later")):
        assert "Not measured yet" in text
        assert OUTPUT not in text
        assert "recorded-figure" not in text
    assert "Why it waits: The machine is away." in project.page()
    assert "not measured yet" in page(project, "other")


# What fails a build


def test_a_damaged_recording_is_named(project):
    file = run_file(project)
    project.edit(str(file), '"names"', '"nams"')
    ran = project.build("-j", "2", strict=False)
    assert ran.code != 0
    (line,) = ran.output.strip().splitlines()
    assert f"damaged: test-cpu/toy/{file.name}: Unknown field 'nams'" in line


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"numpy", faster_than="dot"', '"dot", faster_than="numpy"', "ClaimError: Sums: “dot” is faster"),
        ("gg.plot_time(results)", "gg.plot_time(result)", "NameError: name 'result'"),
    ],
    ids=["a claim that does not hold", "a drawn cell that fails"],
)
def test_a_drawn_cell_fails_the_build_at_its_line(project, old, new, message):
    project.edit(TOY, old, new)
    lines = (project.root / TOY).read_text().splitlines()
    ran = project.build()
    assert ran.code != 0
    (line,) = (number for number, text in enumerate(lines, start=1) if new in text)
    assert f"toy.py:{line}: {message}" in ran.output


def test_what_fails_a_build_fails_the_next_one_too(project):
    """Sphinx itself would tell of a broken link once, and keep what it read."""
    project.edit(TOY, "A sum is quick.", "A sum is :doc:`nowhere`.")
    project.edit("docs/other.rst", "pictures:twice", "picture:twice")
    project.edit("docs/later/live.md", "answer + 1", "answers + 1")
    for strict in (True, False):
        ran = project.build("-j", "2", strict=strict)
        assert (ran.code != 0) == strict
        for message in (
            "nowhere",
            r"other\.rst:4: ERROR: measured 'picture:twice': .*'pictures'",
            r"live\.md.*: WARNING: (?s:.*)CellExecutionError(?s:.*)NameError",
        ):
            assert re.search(message, ran.output), ran.output


def test_a_live_cell_that_warns_fails_the_build(project):
    project.edit("docs/later/live.md", "answer + 1", "import warnings; warnings.warn('beware')")
    ran = project.build()
    assert ran.code != 0
    assert re.search(r"live\.md:\d+: WARNING: .*stderr", ran.output)


def test_a_script_that_no_list_names_is_an_error(project):
    shutil.copy(project.root / TOY, project.root / "examples/start/stray.py")
    ran = project.build()
    assert ran.code != 0
    assert "stray.py: this page is not in examples/pages.toml" in ran.output
