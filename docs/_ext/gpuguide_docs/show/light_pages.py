"""What a page loads: pictures when they come into view, and no script that is its own."""

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


def setup(app: Sphinx) -> None:
    """Register both, the second after the theme (500)."""
    app.connect("doctree-read", _load_lazily)
    app.connect("html-page-context", _without_its_name, priority=900)
