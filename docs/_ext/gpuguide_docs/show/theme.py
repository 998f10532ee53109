"""What the guide does otherwise than its theme: pages load less, and all of them can be read aloud."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["setup"]


def _load_lazily(app: Sphinx, doctree: nodes.document) -> None:
    """Have a picture loaded when it comes into view: its twin of the other theme or width never does."""
    for image in doctree.findall(nodes.image):
        image["loading"] = "lazy"


def _without_its_name(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Drop the inline script that names the page: a list of allowed scripts would need one entry a page.

    The theme's choice of versions reads the name, and the guide has no such choice.
    """
    context["script_files"] = [
        script
        for script in context["script_files"]
        if "DOCUMENTATION_OPTIONS.pagename" not in getattr(script, "attributes", {}).get("body", "")
    ]


def _name_the_folds(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Say to a screen reader which section an arrow of the sidebar folds."""
    sidebar = context.get("generate_toctree_html")
    if sidebar is None:  # another theme's
        return

    def named(*args: Any, **options: Any) -> Any:
        found = sidebar(*args, **options)
        for summary in found.select("li > details > summary") if found else ():
            link = summary.find_parent("li").find("a")
            if link and not summary.get_text(strip=True):
                summary["aria-label"] = f"Pages of {link.get_text(strip=True)}"
        return found

    context["generate_toctree_html"] = named


def setup(app: Sphinx) -> None:
    """Register all, what changes the theme's own after it (500)."""
    app.connect("doctree-read", _load_lazily)
    app.connect("html-page-context", _without_its_name, priority=900)
    app.connect("html-page-context", _name_the_folds, priority=900)
