"""The search index: the same bytes from every build, also from one that read only what had changed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Set

    from sphinx.application import Sphinx
    from sphinx.search import IndexBuilder

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
    content = _read(index)
    for lists in ("alltitles", "indexentries"):
        # A document's own title has no anchor, but None.
        content[lists] = {
            name: sorted(places, key=lambda place: (place[0], place[1] or "", *place[2:]))
            for name, places in content[lists].items()
        }
    return f"{_BEFORE}{json.dumps(content, separators=(',', ':'), sort_keys=True)}{_AFTER}"


def _read(index: str) -> dict[str, Any]:
    if not (index.startswith(_BEFORE) and index.endswith(_AFTER)):
        raise ValueError(f"searchindex.js: expected {_BEFORE}...{_AFTER}; got {index[:40]!r}.")
    content: dict[str, Any] = json.loads(index[len(_BEFORE) : -len(_AFTER)])
    return content


def _load_whole(app: Sphinx) -> None:
    """Have a build that writes some pages know of the others all that the last one knew."""
    builder = app.builder
    if builder.name != "html":
        return
    load = builder.load_indexer  # type: ignore[attr-defined]

    def load_indexer(docnames: Set[str]) -> None:
        load(docnames)
        path = builder.outdir / "searchindex.js"
        if path.is_file():
            _complete(builder.indexer, _read(path.read_text(encoding="utf-8")))  # type: ignore[attr-defined]

    builder.load_indexer = load_indexer  # type: ignore[attr-defined]


def _complete(indexer: IndexBuilder, last: dict[str, Any]) -> None:
    """Give back the index entries, which Sphinx does not load, and forget words that no page holds."""
    for entry, places in last["indexentries"].items():
        for place, anchor, main in places:
            docname = last["docnames"][place]
            # The pages that will be written tell theirs anew.
            if docname in indexer._titles:
                entries = indexer._index_entries.setdefault(docname, [])
                entries.append((entry, anchor, "main" if main else ""))
    for words in (indexer._mapping, indexer._title_mapping):
        for word in [word for word, docnames in words.items() if not docnames]:
            del words[word]


def _sort(app: Sphinx, error: Exception | None) -> None:
    path = app.outdir / "searchindex.js"
    if error is None and app.builder.name == "html" and path.is_file():
        index = path.read_text(encoding="utf-8")
        path.write_text(in_order(index), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register what happens before and after the pages are written."""
    app.connect("builder-inited", _load_whole)
    app.connect("build-finished", _sort)
