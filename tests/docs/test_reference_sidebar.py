"""The reference's side bar lists what its index lists, section by section."""

from types import SimpleNamespace

from docutils import nodes
from sphinx import addnodes

from gpuguide_docs.show.reference_sidebar import Entry, Group, groups_of


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
        Group("Primes", (Entry("topics.primes", "api/generated/gpuguide.topics.primes.study"),)),
    )


def test_a_site_without_a_reference_has_no_groups():
    assert groups_of(Environment(tocs={})) == ()
