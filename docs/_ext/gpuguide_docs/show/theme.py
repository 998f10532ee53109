"""What the guide does otherwise than Sphinx and its theme: pages load less, and all can be read aloud."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

if TYPE_CHECKING:
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


def setup(app: Sphinx) -> None:
    """Register all, what changes the theme's own after it (500)."""
    app.connect("doctree-read", _load_lazily)
    app.connect("html-page-context", _page_context, priority=900)
    app.add_html_math_renderer("mathml", (_visit_math, None), (_visit_math_block, None))
    app.config.html_math_renderer = "mathml"
