"""The reference's pages are written when something they are written from changed, and old ones go."""

from types import SimpleNamespace

import pytest

from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.show import reference_stubs
from gpuguide_docs.show.reference_stubs import changed_reference, sweep_stubs, write_stubs

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
    monkeypatch.setattr(reference_stubs, "layout_of", lambda app: layout)
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
