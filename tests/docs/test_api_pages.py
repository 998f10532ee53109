"""The reference: when its pages are written anew, and what its side bar lists."""

import subprocess
import threading
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from docutils import nodes
from mini_project import REPOSITORY
from sphinx import addnodes
from sphinx.errors import ExtensionError

from gpuguide_docs.show import api_pages
from gpuguide_docs.show.api_pages import Entry, Group, groups_of


@pytest.mark.parametrize(
    ("changed", "written"),
    [
        ("src/gpuguide/topics/primes/study.py", True),
        ("docs/api/index.rst", True),
        ("docs/_templates/autosummary/module.rst", True),
        ("docs/index.md", False),
    ],
)
def test_its_pages_are_written_when_what_they_are_written_from_changed(tmp_path, changed, written):
    stamp = tmp_path / "reference" / "ready"
    stamp.parent.mkdir()
    stamp.touch()
    make = ["make", "--dry-run", f"OUT={tmp_path}", "PY=python", "-W", changed, str(stamp)]
    said = subprocess.run(make, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    assert ("sphinx.ext.autosummary.generate --remove-old" in said) is written


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


@pytest.mark.parametrize(("status", "message"), [("0", ""), ("2", "why stands above")])
def test_a_build_waits_for_the_reference_and_fails_with_it(status, message, tmp_path, monkeypatch):
    said = tmp_path / "said"
    monkeypatch.setenv("GPUGUIDE_REFERENCE", str(said))
    writer = threading.Timer(0.1, lambda: said.write_text(status))
    writer.start()
    with pytest.raises(ExtensionError, match=message) if message else nullcontext():
        api_pages._wait_for_the_stubs(None)
    writer.join()
    assert said.exists()


def test_a_reference_that_never_comes_ends_the_build(tmp_path, monkeypatch):
    monkeypatch.setenv("GPUGUIDE_REFERENCE", str(tmp_path / "never"))
    monkeypatch.setattr(api_pages, "_LONGEST_WAIT_S", 0.05)
    with pytest.raises(ExtensionError, match="was not written within"):
        api_pages._wait_for_the_stubs(None)
