"""Directive ``try-it``: one change to the code above, and what then happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["TryItDirective", "setup"]


class TryItDirective(SphinxDirective):
    """``.. try-it::`` proposes a change; its first paragraph begins with the words given, or "Try it"."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Build the box; roles work in it."""
        self.assert_has_content()
        words = self.arguments[0] if self.arguments else "Try it"
        content = self.parse_content_to_nodes()
        lead = nodes.strong("", f"{words}.", classes=["gg-try-lead"])
        if isinstance(content[0], nodes.paragraph):
            content[0][0:0] = [lead, nodes.Text(" ")]
        else:
            content.insert(0, nodes.paragraph("", "", lead))
        box = nodes.admonition("", *content, classes=["gg-try"])
        self.set_source_info(box)
        return [box]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("try-it", TryItDirective)
