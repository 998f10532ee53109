"""What the guide does otherwise than Sphinx and its theme: pages load less, are read aloud, and are found."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from collections.abc import Set
    from pathlib import Path

    from sphinx.application import Sphinx

__all__ = ["setup"]


def _load_lazily(_app: Sphinx, doctree: nodes.document) -> None:
    """Have a picture loaded when it comes into view: its twin of the other theme or width never does."""
    for image in doctree.findall(nodes.image):
        image["loading"] = "lazy"


def _page_context(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    # The theme's choice of versions reads the name of the page, and the guide has no such choice. Without
    # this inline script, a list of allowed scripts needs no entry for each page.
    context["script_files"] = [
        script
        for script in context["script_files"]
        if "DOCUMENTATION_OPTIONS.pagename" not in getattr(script, "attributes", {}).get("body", "")
    ]
    if "generate_toctree_html" in context:
        context["generate_toctree_html"] = _with_names(context["generate_toctree_html"])


def _with_names(sidebar: Any) -> Any:
    """Say to a screen reader which section an arrow of the sidebar folds."""

    def named(*args: Any, **options: Any) -> Any:
        tree = sidebar(*args, **options)
        for summary in tree.select("li > details > summary") if tree else ():
            link = summary.find_parent("li").find("a")
            if link and not summary.get_text(strip=True):
                summary["aria-label"] = f"Pages of {link.get_text(strip=True)}"
        return tree

    return named


def _visit_math(writer: Any, node: nodes.math) -> None:
    """Write a formula as docutils does: no script, no font from another host."""
    writer.body.append(tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def _visit_math_block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math">{tex2mathml(node.astext().strip(), as_block=True)}</div>')
    raise nodes.SkipNode


# The search -----------------------------------------------------------------------------------------------

#: How much a word says of a page that has it in title, question, what it promises, a heading or a tag.
_TITLE, _QUESTION, _PROMISED, _HEADING = 4, 3, 2, 1
_BEFORE, _AFTER = "Search.setIndex(", ")"


def _about(app: Sphinx) -> dict[str, dict[str, int]]:
    """Weigh the words of titles, questions and headings: the fewer pages have one, the more it says."""
    indexer = app.builder.indexer  # type: ignore[attr-defined]
    pages: dict[str, dict[str, int]] = {}
    for page in site_of(app.env).pages:
        headings = [title for title, _ in indexer._all_titles.get(page.docname, ())]
        texts = [(text, _HEADING) for text in (*page.tags, *headings)]
        texts += [(objective, _PROMISED) for objective in page.objectives]
        words = pages[page.docname] = {}
        for text, weight in [*texts, (page.question, _QUESTION), (page.title, _TITLE)]:
            words |= {indexer.lang.stem(word.lower()): weight for word in indexer.lang.split(text)}
    having = Counter(word for words in pages.values() for word in words)
    return {
        page: {
            word: round(10 * weight * math.log(1 + len(pages) / having[word]))
            for word, weight in words.items()
        }
        for page, words in pages.items()
    }


def _add_tags(app: Sphinx, doctree: nodes.document) -> None:
    """Have the search find a page by its tags, which stand nowhere in its text."""
    page = site_of(app.env).page_of(app.env.docname)
    if page and page.tags:
        words = re.findall(r"\w+", " ".join(page.tags))
        doctree += nodes.meta("", name="keywords", content=", ".join(dict.fromkeys(words)))


def _load_whole(app: Sphinx) -> None:
    """Have a build that writes some pages know of the others all that the last one knew."""
    builder = app.builder
    if builder.name != "html":
        return
    load = builder.load_indexer  # type: ignore[attr-defined]

    def load_indexer(docnames: Set[str]) -> None:
        path = builder.outdir / "searchindex.js"
        # In a fresh clone a page can be built alone: Sphinx would warn that the others are not in the search.
        load(docnames if path.is_file() else set(app.env.all_docs))
        if not path.is_file():
            return
        # Sphinx does not load the entries of its last index, and keeps words that no page holds any more.
        indexer, last = builder.indexer, _read(path)  # type: ignore[attr-defined]
        for entry, places in last["indexentries"].items():
            for place, anchor, main in places:
                if last["docnames"][place] in indexer._titles:
                    entries = indexer._index_entries.setdefault(last["docnames"][place], [])
                    entries.append((entry, anchor, "main" if main else ""))
        for words in (indexer._mapping, indexer._title_mapping):
            for word in [word for word, docnames in words.items() if not docnames]:
                del words[word]

    builder.load_indexer = load_indexer  # type: ignore[attr-defined]


def _read(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    index: dict[str, Any] = json.loads(text.removeprefix(_BEFORE).removesuffix(_AFTER))
    return index


def _finish(app: Sphinx, error: Exception | None) -> None:
    """Add what pages are about, and sort what Sphinx lists as its processes finish."""
    path = app.outdir / "searchindex.js"
    if error is None and app.builder.name == "html" and path.is_file():
        index = _read(path)
        for lists in (index["alltitles"], index["indexentries"]):
            for places in lists.values():
                # A document's own title has no anchor, but None.
                places.sort(key=lambda place: (place[0], place[1] or ""))
        index["about"] = _about(app)
        text = json.dumps(index, separators=(",", ":"), sort_keys=True)
        path.write_text(f"{_BEFORE}{text}{_AFTER}", encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register all, what changes the theme's own after it (500)."""
    app.connect("doctree-read", _load_lazily)
    app.connect("html-page-context", _page_context, priority=900)
    app.add_html_math_renderer("mathml", (_visit_math, None), (_visit_math_block, None))
    app.config.html_math_renderer = "mathml"
    app.connect("builder-inited", _load_whole)
    app.connect("doctree-read", _add_tags)
    app.connect("build-finished", _finish)
