"""The search index: the same bytes from every build."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["in_order", "setup"]

_BEFORE, _AFTER = "Search.setIndex(", ")"


def in_order(index: str) -> str:
    """Sort the places of titles and of index entries, which Sphinx lists as its processes finish.

    Parameters
    ----------
    index : str
        ``searchindex.js`` as Sphinx writes it.

    Returns
    -------
    str
        The same with each list of places sorted.

    Raises
    ------
    ValueError
        The text is not what Sphinx writes.
    """
    if not (index.startswith(_BEFORE) and index.endswith(_AFTER)):
        raise ValueError(f"searchindex.js: expected {_BEFORE}...{_AFTER}; got {index[:40]!r}.")
    content: dict[str, Any] = json.loads(index[len(_BEFORE) : -len(_AFTER)])
    for lists in ("alltitles", "indexentries"):
        content[lists] = {name: sorted(places) for name, places in content[lists].items()}
    return f"{_BEFORE}{json.dumps(content, separators=(',', ':'), sort_keys=True)}{_AFTER}"


def _sort(app: Sphinx, error: Exception | None) -> None:
    path = app.outdir / "searchindex.js"
    if error is None and app.builder.name == "html" and path.is_file():
        index = path.read_text(encoding="utf-8")
        path.write_text(in_order(index), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register what happens after a build."""
    app.connect("build-finished", _sort)
