"""What the guide does otherwise than Sphinx and its theme: pages load less, are read aloud, and are found."""

from __future__ import annotations

import functools
import json
import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    #: Each with its weight.
    _Texts = list[tuple[str, int]]

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
    if "body" in context:
        # A list of contents without a title of its own is a landmark without a name.
        context["body"] = context["body"].replace(
            '<nav class="contents', '<nav aria-label="Contents" class="contents'
        )
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

#: How much a word says of a page or section that has it in its title, question, objectives, headings, text.
_TITLE, _QUESTION, _OBJECTIVE, _HEADING, _TEXT = 5, 4, 3, 2, 1
#: What nearly all pages have with the same words: cards, bylines, tables of results.
_UNSEARCHED = {"no-search", "gg-byline", "gg-results", "gg-exercise-about"}
_BEFORE, _AFTER = "Search.setIndex(", ")"


def _note_places(app: Sphinx, doctree: nodes.document) -> None:
    """Keep, with what Sphinx knows of a document, what the search finds in it and where."""
    page = site_of(app.env).page_of(app.env.docname)
    texts: _Texts = []
    if page:
        texts += [(page.title, _TITLE), (page.question, _QUESTION)]
        texts += [(text, _OBJECTIVE) for text in page.objectives]
        texts += [(text, _HEADING) for text in page.tags]
    places = [("", "", texts)]
    for node in doctree.children:
        _collect(node, texts, places)
    if "nosearch" in app.env.metadata[app.env.docname]:
        places = []
    app.env.metadata[app.env.docname]["places"] = [
        (anchor, title, _weighed(texts)) for anchor, title, texts in places
    ]


def _collect(node: nodes.Node, texts: _Texts, places: list[tuple[str, str, _Texts]]) -> None:
    """Share the texts among what a hit leads to: the page, a section, or an entry of the glossary."""
    if isinstance(node, nodes.Text):
        texts.append((node.astext(), _TEXT))
        return
    if not isinstance(node, nodes.Element) or isinstance(node, (nodes.comment, nodes.raw)):
        return
    if not _UNSEARCHED.isdisjoint(node["classes"]):
        return
    if isinstance(node, nodes.section) and isinstance(node.parent, nodes.document):
        texts += [(title.astext(), _TITLE) for title in node.children if isinstance(title, nodes.title)]
    elif isinstance(node, (nodes.section, nodes.definition_list_item)):
        heading = next(child for child in node.children if isinstance(child, (nodes.title, nodes.term)))
        if ids := node["ids"] or heading["ids"]:
            texts = [(heading.astext(), _HEADING)]
            places.append((ids[0], heading.astext(), texts))
    for child in node.children:
        _collect(child, texts, places)


def _weighed(texts: _Texts) -> dict[str, int]:
    """Weigh the words of texts. A name such as CUDA_ERROR_NO_DEVICE is one, and so are its parts."""
    weights: dict[str, int] = {}
    for text, weight in texts:
        for name in re.findall(r"\w+", text.lower()):
            for word in {name, *name.split("_")} - {""}:
                weights[word] = max(weight, weights.get(word, 0))
    return weights


def _load_whole(app: Sphinx) -> None:
    """In a fresh clone a page can be built alone: Sphinx would warn that the others are not in the search."""
    builder = app.builder
    if builder.name == "html":
        load = builder.load_indexer  # type: ignore[attr-defined]
        path = builder.outdir / "searchindex.js"
        builder.load_indexer = (  # type: ignore[attr-defined]
            lambda docnames: load(docnames if path.is_file() else set(app.env.all_docs))
        )


def _finish(app: Sphinx, error: Exception | None) -> None:
    """Index sections in place of pages; docs/_templates/search_scorer.js searches them."""
    path = app.outdir / "searchindex.js"
    if error is not None or app.builder.name != "html" or not path.is_file():
        return
    index = json.loads(path.read_text(encoding="utf-8").removeprefix(_BEFORE).removesuffix(_AFTER))
    language = app.builder.indexer.lang  # type: ignore[attr-defined]
    stem = functools.cache(language.stem)
    sections: list[tuple[int, str, str]] = []
    words: dict[str, dict[int, int]] = {}
    for number, docname in enumerate(index["docnames"]):
        for anchor, title, weights in app.env.metadata[docname]["places"]:
            for word, weight in weights.items():
                if language.word_filter(word):
                    having = words.setdefault(stem(word), {})
                    having[len(sections)] = max(weight, having.get(len(sections), 0))
            sections.append((number, anchor, title))
    # Sphinx reads its own tables again; nothing is looked up in them.
    index |= {"terms": {}, "titleterms": {}, "alltitles": {}, "indexentries": {}, "sections": sections}
    index["words"] = {
        word: [8 * section + weight for section, weight in having.items()] for word, having in words.items()
    }
    text = json.dumps(index, separators=(",", ":"), sort_keys=True)
    path.write_text(f"{_BEFORE}{text}{_AFTER}", encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register all, what changes the theme's own after it (500)."""
    app.connect("doctree-read", _load_lazily)
    app.connect("html-page-context", _page_context, priority=900)
    app.add_html_math_renderer("mathml", (_visit_math, None), (_visit_math_block, None))
    app.config.html_math_renderer = "mathml"
    app.connect("builder-inited", _load_whole)
    app.connect("doctree-read", _note_places)
    app.connect("build-finished", _finish)
