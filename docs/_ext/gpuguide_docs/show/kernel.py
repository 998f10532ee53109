"""Directive ``kernel``: definitions cut from the tested module; and CUDA C++ in a string, highlighted."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import takewhile
from pathlib import Path
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

from gpuguide.errors import GpuGuideError, unknown
from gpuguide_docs.show.cells import fold
from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from docutils.nodes import Element, Node, TextElement
    from pygments.lexer import Lexer
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = [
    "KernelDirective",
    "ModuleSource",
    "PythonWithCudaLexer",
    "functions_in",
    "imports_and_rest",
    "kernel_block",
    "names_option",
    "setup",
    "shown_source",
]

_Definition = ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


def _module_file(source: Path, module: str) -> Path:
    path = source.joinpath(*module.split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    files = sorted((source / "gpuguide" / "topics").rglob("*.py"))
    names = (".".join(file.relative_to(source).with_suffix("").parts) for file in files)
    raise unknown("module", module, [name.removesuffix(".__init__") for name in names])


class ModuleSource:
    """A module as text, cut definition by definition by its syntax tree; nothing is imported."""

    def __init__(self, source: Path, module: str) -> None:
        self.module = module
        self.path = _module_file(source, module)
        text = self.path.read_text(encoding="utf-8")
        self._lines = text.splitlines()
        tree = ast.parse(text)
        self._definitions = dict(_definitions(tree))
        self._imports = {name: source for node in tree.body for name, source in _imports(node)}

    @property
    def names(self) -> tuple[str, ...]:
        """What can be cut out, in order."""
        return tuple(self._definitions)

    def cut(self, name: str) -> str:
        """Cut a definition out, with its decorators and the comment above it."""
        node = self._definition(name)
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
        while first > 1 and self._lines[first - 2].startswith("#"):
            first -= 1
        lines = self._lines[first - 1 : node.end_lineno]
        docstring = _docstring(node)
        if docstring is None:
            return "\n".join(lines)
        start, stop = docstring.lineno - first, (docstring.end_lineno or docstring.lineno) - first + 1
        return "\n".join([*lines[:start], *_summary(lines[start:stop]), *lines[stop:]])

    def needed(self, names: Iterable[str]) -> list[str]:
        """List the imports that definitions need outside of their module."""
        shown = list(names)
        plain = set()
        of_modules: dict[str, set[str]] = {}
        for name in {read for own in shown for read in self._read_by(own)} - {*shown}:
            module, written = self._imports.get(name, (self.module, name))
            if not module:
                plain.add(f"import {written}")
            elif name in self._imports or name in self._definitions:
                of_modules.setdefault(module, set()).add(written)
        froms = {f"from {module} import {', '.join(sorted(of))}" for module, of in of_modules.items()}
        return sorted(plain | froms, key=_import_order)

    def with_read(self, name: str) -> list[str]:
        """Name a definition and all of the module's own that it reads, in the module's order."""
        known, waiting = set(), [name]
        while waiting:
            known.add(waiting[-1])
            waiting += set(self._own_read_by(waiting.pop())) - known
        return [own for own in self._definitions if own in known]

    def private_constants(self, names: Iterable[str]) -> list[str]:
        """List the module's own variables with a private name that definitions read: never imported."""
        used = dict.fromkeys(own for name in names for own in self._own_read_by(name))
        return [
            own
            for own in used
            if own.startswith("_") and isinstance(self._definitions[own], ast.Assign | ast.AnnAssign)
        ]

    def _read_by(self, name: str) -> list[str]:
        """Give the names that a definition reads and does not bind itself, in their order."""
        inside = list(ast.walk(self._definition(name)))
        names = [node for node in inside if isinstance(node, ast.Name)]
        bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
        bound |= {node.arg for node in inside if isinstance(node, ast.arg)}
        bound |= {node.name for node in inside[1:] if isinstance(node, ast.FunctionDef)}
        bound |= {name for node in inside for name, _ in _imports(node)}
        return [node.id for node in names if node.id not in bound]

    def _own_read_by(self, name: str) -> list[str]:
        return [read for read in self._read_by(name) if read in self._definitions]

    def _definition(self, name: str) -> _Definition:
        if name not in self._definitions:
            raise unknown(f"name in {self.module}:", name, self._definitions)
        return self._definitions[name]


def _import_order(line: str) -> tuple[bool, bool, bool, str]:
    """Order imports as a linter would: standard library, others, this package; ``import`` first."""
    root = line.split()[1].split(".", maxsplit=1)[0]
    return root not in sys.stdlib_module_names, root == "gpuguide", line.startswith("from"), line


def _definitions(tree: ast.Module) -> Iterator[tuple[str, _Definition]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            for part in ast.walk(target):  # LEFT, TOP = 1, 2 defines two
                if isinstance(part, ast.Name):
                    yield part.id, node


def _imports(node: ast.AST) -> Iterator[tuple[str, tuple[str, str]]]:
    """Give each name that a statement imports, with its module (empty for ``import x``) and its text."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            name = (alias.asname or alias.name).split(".")[0]
            yield name, (getattr(node, "module", ""), ast.unparse(alias))


def _docstring(node: _Definition) -> ast.Expr | None:
    has_one = isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node)
    return node.body[0] if has_one else None  # type: ignore[union-attr, return-value]


def _summary(lines: list[str]) -> list[str]:
    """Keep the first paragraph of a docstring given as source lines."""
    end = next((number for number, line in enumerate(lines) if not line.strip()), len(lines))
    return lines if end == len(lines) else [*lines[: end - 1], lines[end - 1] + '"""']


# The directive ----------------------------------------------------------------------------------------------


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
