"""Directive ``kernel``: code from the tested module, and how CUDA C++ in a Python string is highlighted."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import takewhile
from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from pygments.lexers import get_lexer_by_name
from pygments.lexers.c_like import CudaLexer
from pygments.lexers.python import PythonLexer
from pygments.token import String, _TokenType
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective
from sphinx_gallery import _doctree_links

from gpuguide.errors import GpuGuideError
from gpuguide_docs.show.folded import fold
from gpuguide_docs.show.module_source import ModuleSource
from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from docutils.nodes import Element, Node, TextElement
    from pygments.lexer import Lexer
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = [
    "KernelDirective",
    "PythonWithCudaLexer",
    "functions_in",
    "imports_and_rest",
    "kernel_block",
    "names_option",
    "setup",
    "shown_source",
]


def names_option(text: str | None) -> list[str]:
    """Read the option ``:names:``."""
    names = (text or "").replace(",", " ").split()
    if not names:
        raise ValueError("write the names to show, separated by commas")
    return names


def shown_source(source: ModuleSource, names: list[str]) -> str:
    """Put definitions together as they are shown."""
    return "\n\n\n".join(source.cut(name) for name in names)


def functions_in(code: str) -> dict[str, ast.FunctionDef]:
    """Give the functions that a cell defines, by name."""
    try:
        return {node.name: node for node in ast.parse(code).body if isinstance(node, ast.FunctionDef)}
    except SyntaxError:
        return {}


def imports_and_rest(code: str) -> tuple[str, str]:
    """Part a cell behind the imports that it begins with."""
    imports = takewhile(lambda node: isinstance(node, ast.Import | ast.ImportFrom), ast.parse(code).body)
    end = max((node.end_lineno or 0 for node in imports), default=0)
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


# CUDA C++ in a string -------------------------------------------------------------------------------------

# By its text and not its syntax tree, because a page also shows lines that are not a whole program.
_SOURCE = re.compile(
    r"""
    (?: \b (?: \w+_ )? source \s* = | \b raw_? (?: kernel | module ) \( )  # SUM_SOURCE = r'''...'''
    \s* r? (?P<quotes> \"{3} | '{3} ) (?P<code> .*? ) (?P=quotes)
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
# A source may be Python as well, for example in an exercise.
_IS_CUDA = re.compile(r"\b__(global|device)__\b|^\s*#\s*(include|define)\b", re.MULTILINE)


class PythonWithCudaLexer(PythonLexer):  # type: ignore[misc]
    """Python; a kernel in a string is CUDA C++ if its name ends with ``source`` or ``RawKernel`` takes it."""

    name = "Python with CUDA C++"
    aliases = ()

    def get_tokens_unprocessed(self, text: str, *args: Any) -> Iterator[tuple[int, _TokenType, str]]:
        """Give Python's tokens, and those of CUDA C++ in the place of such strings."""
        end = 0
        for match in _SOURCE.finditer(text):
            if _IS_CUDA.search(match["code"]):
                start, stop = match.span("code")
                for index, kind, value in super().get_tokens_unprocessed(text[end:start], *args):
                    yield end + index, kind, value
                for index, kind, value in CudaLexer().get_tokens_unprocessed(match["code"]):
                    yield start + index, kind, value
                yield stop, String.Double, match["quotes"]
                end = match.end()
        for index, kind, value in super().get_tokens_unprocessed(text[end:], *args):
            yield end + index, kind, value


def _lexer_of(name: str, **options: Any) -> Lexer:
    return PythonWithCudaLexer(**options) if name.lower() == "python" else get_lexer_by_name(name, **options)


def setup(app: Sphinx) -> None:
    """Register the directive; take the place of Python's lexer, under the name of sphinx-gallery, too."""
    app.setup_extension("sphinx_design")
    app.add_directive("kernel", KernelDirective)
    app.connect("missing-reference", _allow_missing)
    for name in ("python", "Python"):
        app.add_lexer(name, PythonWithCudaLexer)
    # Where sphinx-gallery links names in code, it cuts the code into tokens by itself.
    _doctree_links.get_lexer_by_name = _lexer_of
    # Last: it makes a node of each word of code, and all transforms after it walk through those.
    _doctree_links.CodeLinksTransform.default_priority = 900
