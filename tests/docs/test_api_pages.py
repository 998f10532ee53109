"""The reference: what its pages show, and what its side bar lists."""

import inspect
import re
import threading
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from docutils import nodes
from mini_project import REPOSITORY
from sphinx import addnodes
from sphinx.errors import ExtensionError
from sphinx.ext.autosummary import import_by_name
from sphinx.ext.autosummary.generate import find_autosummary_in_files

import gpuguide
from gpuguide import exercises
from gpuguide_docs.commands import reference
from gpuguide_docs.show import api_pages
from gpuguide_docs.show.api_pages import Entry, Group, groups_of

SOURCE = REPOSITORY / "src"
TOPICS = {f"gpuguide.topics.{path.parent.name}" for path in SOURCE.glob("gpuguide/topics/*/__init__.py")}
NAMES = {f"{package.__name__}.{name}" for package in (gpuguide, exercises) for name in package.__all__}


@pytest.fixture(scope="module")
def listed():
    return {entry.name for entry in find_autosummary_in_files([REPOSITORY / "docs" / "api" / "index.rst"])}


def test_every_public_name_and_every_topic_is_listed(listed):
    assert (NAMES | TOPICS) - listed == set()


def test_every_listed_name_has_an_example(listed):
    names = sorted(name for name in listed if not inspect.ismodule(import_by_name(name)[1]))
    assert [name for name in names if ">>> " not in (import_by_name(name)[1].__doc__ or "")] == []


def test_all_modules_of_a_topic_stand_on_its_page_with_what_each_defines(tmp_path):
    index = tmp_path / "index.rst"
    index.write_text(
        ".. currentmodule:: gpuguide\n\n"
        ".. autosummary::\n   :toctree: generated\n   :recursive:\n\n"
        "   topics.maximum_cpu\n   topics.first_kernel\n"
    )
    pages = tmp_path / "generated"
    pages.mkdir()
    (pages / "gpuguide.gone.rst").touch()
    reference.main([str(index), str(REPOSITORY / "docs" / "_templates"), str(pages)])
    assert {path.name for path in pages.iterdir()} == {
        "gpuguide.topics.first_kernel.rst",
        "gpuguide.topics.maximum_cpu.rst",
    }
    page = (pages / "gpuguide.topics.first_kernel.rst").read_text()
    folder = REPOSITORY / "src" / "gpuguide" / "topics" / "first_kernel"
    modules = sorted(path.stem for path in folder.glob("*.py") if path.stem not in ("__init__", "kernels"))
    shown = re.findall(r"automodule:: gpuguide\.topics\.first_kernel\.(\w+)", page)
    assert shown == ["kernels", *modules]
    assert f":members: {', '.join(reference.documented('gpuguide.topics.first_kernel.study'))}\n" in page


def test_a_module_documents_what_it_defines_and_not_what_it_imports_or_hides():
    found = reference.documented("gpuguide.topics.first_kernel.kernels")
    assert found == ["by_hand", "cpu_threads", "grid", "grid_stride", "one_block", "one_thread"]
    # A number with a docstring below it.
    assert "MOST_RUNS" in reference.documented("gpuguide.recordings.runs")


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
        ("Primes", ["api/generated/gpuguide.topics.primes"]),
    ]
    assert groups_of(Environment(tocs={"api/index": contents(listed)})) == (
        Group("Charts", (Entry("plot_time", "api/generated/gpuguide.plot_time"),)),
        Group("Primes", (Entry("topics.primes", "api/generated/gpuguide.topics.primes"),)),
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
