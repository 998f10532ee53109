"""Formulae as MathML, written by docutils' own converter: no script, no font from another host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.utils.math import latex2mathml

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["setup"]


def _visit_inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(latex2mathml.tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def _visit_block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(
        f'<div class="math">{latex2mathml.tex2mathml(node.astext().strip(), as_block=True)}</div>'
    )
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register the renderer and make it the one in use."""
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    app.config.html_math_renderer = "mathml"
