"""Which documents show something of which pages, and are read again when that changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuguide_docs.replay.drawn_cells import drawing_of
from gpuguide_docs.replay.states import PageState, States

if TYPE_CHECKING:
    from sphinx.environment import BuildEnvironment

__all__ = ["note_use", "outdated"]

_USES = "gpuguide_uses"


def note_use(env: BuildEnvironment, states: States, state: PageState) -> None:
    """Note that the document being read shows something of a page, and is read again when that changes.

    Parameters
    ----------
    env : BuildEnvironment
        Sphinx's environment while it reads a document.
    states : States
        Of the pages.
    state : PageState
        The page's state.
    """
    uses: dict[str, dict[str, str]] = env.__dict__.setdefault(_USES, {})
    uses.setdefault(env.docname, {})[state.page] = _fingerprint(states, state)


def outdated(env: BuildEnvironment, states: States) -> set[str]:
    """Find the documents to read again because a page that they use changed, or states something else.

    Parameters
    ----------
    env : BuildEnvironment
        With the uses of the last build.
    states : States
        Of this build.

    Returns
    -------
    set of str
        Names of documents.
    """
    uses: dict[str, dict[str, str]] = env.__dict__.setdefault(_USES, {})
    for gone in uses.keys() - env.found_docs:
        del uses[gone]
    return {
        docname
        for docname, pages in uses.items()
        if any(
            page not in states.pages or _fingerprint(states, states[page]) != seen
            for page, seen in pages.items()
        )
    }


def _fingerprint(states: States, state: PageState) -> str:
    """Give what a document depends on that shows a number or a claim of a page."""
    return f"{state.fingerprint} {drawing_of(states, state).fingerprint}"
