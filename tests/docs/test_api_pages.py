"""The reference: what it lists, and what stands on the page of a topic."""

import re
from types import SimpleNamespace

import pytest
from mini_project import REPOSITORY
from sphinx.ext.autosummary import import_by_name
from sphinx.ext.autosummary.generate import find_autosummary_in_files

import gpuguide
from gpuguide import exercises
from gpuguide_docs.show import api_pages

SOURCE = REPOSITORY / "src"
TOPICS = {f"gpuguide.topics.{path.parent.name}" for path in SOURCE.glob("gpuguide/topics/*/__init__.py")}
NAMES = {f"{package.__name__}.{name}" for package in (gpuguide, exercises) for name in package.__all__}


@pytest.fixture(scope="module")
def listed():
    return {entry.name for entry in find_autosummary_in_files([REPOSITORY / "docs" / "api" / "index.rst"])}


def test_every_public_name_and_every_topic_is_listed(listed):
    assert (NAMES | TOPICS) - listed == set()


def test_every_listed_name_has_an_example(listed):
    names = sorted(listed - TOPICS)
    assert [name for name in names if ">>> " not in (import_by_name(name)[1].__doc__ or "")] == []


def test_the_page_of_a_topic_begins_with_the_kernels_and_shows_all_its_modules():
    page = api_pages.topic_page("gpuguide.topics.primes", SOURCE)
    modules = re.findall(r"automodule:: gpuguide\.topics\.primes\.(\w+)", page)
    assert modules == ["kernels", "counts", "kernels_cpu", "launch_parts", "reference", "study"]


def test_a_module_shows_what_it_defines_and_not_what_it_imports_or_hides():
    shown = {"asking", "parts", "pinned_rows", "spans", "timeline"}
    assert set(api_pages._definitions("gpuguide.topics.overlap.timeline")) == shown


def test_the_page_of_a_name_goes_with_its_entry(tmp_path):
    """Sphinx would warn of it, so that a build after a change of branch would fail."""
    pages = tmp_path / "api" / "generated"
    pages.mkdir(parents=True)
    index = tmp_path / "api" / "index.rst"
    index.write_text(".. autosummary::\n   :toctree: generated\n\n   gpuguide.Study\n")
    for name in ("Study", "Gone"):
        (pages / f"gpuguide.{name}.rst").touch()
    api_pages._delete_unlisted(SimpleNamespace(srcdir=tmp_path))
    assert [page.name for page in pages.iterdir()] == ["gpuguide.Study.rst"]
