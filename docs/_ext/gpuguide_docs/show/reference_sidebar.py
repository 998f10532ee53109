"""The reference's side bar: its groups and their objects, gathered once a build.

The theme would put together the table of contents of a hundred pages anew for each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from docutils import nodes
from sphinx import addnodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = ["Entry", "Group", "groups_of", "setup"]

_INDEX = "api/index"
_GROUPS: WeakKeyDictionary[BuildEnvironment, tuple[Group, ...]] = WeakKeyDictionary()


class Entry(NamedTuple):
    """An object or module of the reference: its name without the package's, and its page."""

    name: str
    docname: str


class Group(NamedTuple):
    """A section of the reference's index and what it lists."""

    title: str
    entries: tuple[Entry, ...]


def groups_of(env: BuildEnvironment) -> tuple[Group, ...]:
    """Gather what the reference lists, by the sections of its index.

    Parameters
    ----------
    env : BuildEnvironment
        After reading.

    Returns
    -------
    tuple of Group
        In the order of the index; empty where there is no reference.
    """
    if env not in _GROUPS:
        contents = env.tocs.get(_INDEX, nodes.bullet_list())
        _GROUPS[env] = tuple(_group(toctree) for toctree in contents.findall(addnodes.toctree))
    return _GROUPS[env]


def _group(toctree: addnodes.toctree) -> Group:
    section = toctree.parent
    while not isinstance(section, nodes.list_item):
        section = section.parent
    heading = next(section.findall(nodes.reference))
    docnames = [docname for _, docname in toctree["entries"]]
    return Group(heading.astext(), tuple(Entry(_name(docname), docname) for docname in docnames))


def _name(docname: str) -> str:
    return docname.rpartition("/")[2].removeprefix("gpuguide.")


def _offer(app: Sphinx, pagename: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    if pagename.startswith("api/"):
        context["reference_groups"] = groups_of(app.env)


def setup(app: Sphinx) -> None:
    """Offer the groups to the template of the reference's side bar."""
    app.connect("html-page-context", _offer)
