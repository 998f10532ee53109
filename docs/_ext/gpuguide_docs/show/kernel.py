"""Directive ``kernel``: code shown from the tested module, so that nothing untested stands on a page."""

from __future__ import annotations

import ast
from itertools import takewhile
from typing import TYPE_CHECKING, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

from gpuguide.errors import GpuGuideError
from gpuguide_docs.show.folded import fold
from gpuguide_docs.show.module_source import ModuleSource
from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from docutils.nodes import Element, Node, TextElement
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = ["KernelDirective", "imports_and_rest", "kernel_block", "names_option", "setup", "shown_source"]


def names_option(text: str | None) -> list[str]:
    """Read the option ``:names:``."""
    names = (text or "").replace(",", " ").split()
    if not names:
        raise ValueError("write the names to show, separated by commas")
    return names


def shown_source(source: ModuleSource, names: list[str]) -> str:
    """Put definitions together as they are shown."""
    return "\n\n\n".join(source.cut(name) for name in names)


def imports_and_rest(code: str) -> tuple[str, str]:
    r"""Part a cell behind the imports that it begins with."""
    imports = takewhile(lambda each: isinstance(each, ast.Import | ast.ImportFrom), ast.parse(code).body)
    end = max((each.end_lineno or 0 for each in imports), default=0)
    lines = code.split("\n")
    return "\n".join(lines[:end]), "\n".join(lines[end:]).lstrip("\n")


def kernel_block(source: ModuleSource, names: list[str], imports: str = "") -> nodes.container:
    """Show definitions, and leave in the document what they are."""
    code = "\n\n\n".join(filter(None, (imports, shown_source(source, names))))
    shown = nodes.container("", nodes.literal_block(code, code, language="python"), classes=["gg-kernel"])
    # Evidence finds the code by these.
    shown["kernel"], shown["names"] = source.module, names
    return shown


class KernelDirective(SphinxDirective):
    """``.. kernel:: MODULE`` with ``:names:`` shows definitions and links their reference page.

    ``:fold: TITLE`` folds them.
    """

    required_arguments = 1
    option_spec: ClassVar = {"names": names_option, "fold": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Show the code, or name what the module has instead."""
        module = self.arguments[0]
        try:
            source = ModuleSource(site_of(self.env).layout.source, module)
            self.env.note_dependency(str(source.path))
            names = self.options.get("names") or list(source.names)
            shown = kernel_block(source, names)
        except GpuGuideError as error:
            self.env.note_reread()
            raise self.error(f"kernel: {error}") from None
        shown += self._origin(module, names)
        for node in (shown, shown[0]):
            self.set_source_info(node)
        if "fold" in self.options:
            return [fold(self.options["fold"], shown, classes=("gg-cell",))]
        return [shown]

    def _origin(self, module: str, names: list[str]) -> nodes.paragraph:
        line = nodes.paragraph(classes=["gg-kernel-origin"])
        line += [nodes.Text("Tested code from "), self._link(module, module), nodes.Text(": ")]
        for number, name in enumerate(names):
            line += [nodes.Text(", ")] if number else []
            line += self._link(f"{module}.{name}", name)
        return line

    def _link(self, target: str, text: str) -> addnodes.pending_xref:
        return addnodes.pending_xref(
            "",
            nodes.literal("", text),
            refdomain="py",
            reftype="obj",
            reftarget=target,
            refdoc=self.env.docname,
            gg_optional=True,
        )


def _allow_missing(
    _app: Sphinx, _env: BuildEnvironment, node: addnodes.pending_xref, content: TextElement
) -> Element | Node | None:
    """Show a definition that the reference leaves out, a device function say, without a link."""
    return content if node.get("gg_optional") else None


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("kernel", KernelDirective)
    app.connect("missing-reference", _allow_missing)
