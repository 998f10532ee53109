"""The reference: when its pages are written anew, and what its side bar lists."""

from types import SimpleNamespace

import pytest
from docutils import nodes
from sphinx import addnodes

from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.show import reference
from gpuguide_docs.show.reference import (
    Entry,
    Group,
    changed_reference,
    groups_of,
    sweep_stubs,
    write_stubs,
)

INDEX = "Reference\n=========\n\nThe old one.\n\n   Study\n   topics.sort\n"


@pytest.fixture
def layout(tmp_path):
    (tmp_path / "docs" / "api" / "generated").mkdir(parents=True)
    (tmp_path / "docs" / "_templates").mkdir()
    (tmp_path / "docs" / "api" / "index.rst").write_text(INDEX)
    (tmp_path / "src" / "gpuguide").mkdir(parents=True)
    (tmp_path / "src" / "gpuguide" / "study.py").write_text('"""Studies."""\n')
    return Layout(tmp_path)


@pytest.fixture
def written(layout, monkeypatch):
    """Write the stubs with a stand-in for autosummary; give the function and the times it ran."""
    times = []

    def generate(sources, **_):
        times.append(sources)
        (layout.docs / "api" / "generated" / "gpuguide.Study.rst").write_text("Study\n=====\n")

    monkeypatch.setattr("sphinx.ext.autosummary.generate.generate_autosummary_docs", generate)
    monkeypatch.setattr(reference, "layout_of", lambda app: layout)
    return lambda: (write_stubs(SimpleNamespace(srcdir=layout.docs)), len(times))[1]


def test_only_stubs_that_the_reference_lists_stay(layout):
    generated = layout.docs / "api" / "generated"
    for name in ("Study", "topics.sort", "old"):
        (generated / f"gpuguide.{name}.rst").touch()
    assert [path.name for path in sweep_stubs(layout)] == ["gpuguide.old.rst"]
    assert len(list(generated.iterdir())) == 2


def test_nothing_is_written_while_nothing_changed(layout, written):
    assert changed_reference(layout)
    assert written() == 1
    assert not changed_reference(layout)
    assert written() == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("src/gpuguide/study.py", '"""Other studies."""\n'),
        ("src/gpuguide/more.py", '"""More."""\n'),
        ("docs/api/index.rst", f"{INDEX}   topics.more\n"),
        ("docs/_templates/class.rst", "{{ objname }}"),
        ("docs/api/generated/gpuguide.Study.rst", None),
    ],
)
def test_a_change_of_what_they_are_written_from_writes_them_again(layout, written, path, text):
    written()
    changed = layout.root / path
    changed.unlink() if text is None else changed.write_text(text)
    assert written() == 2
    assert written() == 2


def test_a_project_without_a_reference_has_nothing_to_write(layout, written):
    (layout.docs / "api" / "index.rst").unlink()
    assert written() == 0


class Environment(SimpleNamespace):
    """As much of Sphinx's as is asked; unlike a plain namespace it can be a key."""

    __hash__ = object.__hash__


def contents(sections):
    """Make a table of contents as Sphinx keeps it of one document."""
    page = nodes.bullet_list()
    for title, docnames in sections:
        toctree = addnodes.toctree(entries=[(None, docname) for docname in docnames])
        heading = addnodes.compact_paragraph("", "", nodes.reference("", title))
        page += nodes.list_item("", heading, nodes.bullet_list("", toctree))
    return page


def test_groups_are_the_sections_in_order():
    listed = [
        ("Charts", ["api/generated/gpuguide.plot_time"]),
        ("Primes", ["api/generated/gpuguide.topics.primes.study"]),
    ]
    assert groups_of(Environment(tocs={"api/index": contents(listed)})) == (
        Group("Charts", (Entry("plot_time", "api/generated/gpuguide.plot_time"),)),
        Group("Primes", (Entry("topics.primes.study", "api/generated/gpuguide.topics.primes.study"),)),
    )


def test_a_site_without_a_reference_has_no_groups():
    assert groups_of(Environment(tocs={})) == ()
