"""Shown definitions as cells of a download, to be edited and then checked and timed by the study."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from inspect import signature

from gpuguide.measure.edited import kernels_in
from gpuguide_docs.downloads.markdown import ExportError
from gpuguide_docs.show.module_source import ModuleSource

__all__ = ["KernelCells"]

_NOTE = "# The study checks and times what the cells above define, with all that you change there."
_TOPICS = "gpuguide.topics."
_Edit = tuple[int, int, str]
"""First byte, byte behind the last, and what takes their place."""


class KernelCells:
    """The cells of one page: what is shown as a cell, no later one imports, and the studies are handed it.

    A name that two modules give to different things is told apart by its module.
    """

    def __init__(self) -> None:
        self._owners: dict[str, tuple[str, str]] = {}
        self._shown: dict[tuple[str, str], str] = {}
        self._imported: dict[str, str] = {}
        self._is_noted = False

    def cell(self, source: ModuleSource, names: list[str]) -> str:
        """Make the cell of definitions that the page shows.

        Parameters
        ----------
        source : ModuleSource
            The topic's module.
        names : list of str
            What the page shows.

        Returns
        -------
        str
            Imports and the definitions, with the private constants that they read.
        """
        module = source.module.rpartition(".")[2]
        constants = [
            name for name in source.private_constants(names) if (source.module, name) not in self._shown
        ]
        names = [*constants, *names]
        aliases: dict[str, str] = {}
        imports = [self._import(line, module, aliases) for line in source.needed(names)]
        for name in names:
            self._shown[source.module, name] = self._own(name, (source.module, name), module, aliases)
        code = "\n\n\n".join(_renamed(source.cut(name), aliases) for name in names)
        needed = "\n".join(filter(None, imports))
        return f"{needed}\n\n\n{code}" if needed else code

    def page_cell(self, code: str) -> str:
        """Let a cell of the page use what the cells above it define.

        Parameters
        ----------
        code : str
            As the page has it.

        Returns
        -------
        str
            Without imports of what is defined above; studies are handed it as ``kernels=...``.

        Raises
        ------
        ExportError
            If a study uses what is defined above, and takes no ``kernels``.
        """
        tree = ast.parse(code)
        edits = [edit for node in ast.walk(tree) for edit in self._without_shown(node, code)]
        for statement in tree.body:
            handed = list(self._with_kernels(statement, code))
            if handed and not self._is_noted:
                self._is_noted = True
                start = _span(statement, code)[0]
                handed.append((start, start, f"{_NOTE}\n"))
            edits += handed
        text = code.encode()
        # From the end, so that the places before stay right.
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new.encode() + text[end:]
        return text.decode()

    def _without_shown(self, node: ast.AST, code: str) -> Iterator[_Edit]:
        """Take a definition of a cell above instead of importing it, or asking its module for it."""
        if isinstance(node, ast.ImportFrom) and node.module:
            kept = [each for each in node.names if (node.module, each.name) not in self._shown]
            for each in node.names:
                self._imported[each.asname or each.name] = f"{node.module}.{each.name}"
            if len(kept) < len(node.names):
                start, end = _span(node, code)
                line = ast.unparse(ast.ImportFrom(node.module, kept, 0)) if kept else ""
                # Where nothing is left of the line, its line break goes, too.
                yield start, end + (not kept), line
        elif isinstance(node, ast.Attribute | ast.Name):
            module, _, name = self._path(node).rpartition(".")
            shown = self._shown.get((module, name))
            if shown and shown != ast.unparse(node):
                yield *_span(node, code), shown

    def _with_kernels(self, statement: ast.stmt, code: str) -> Iterator[_Edit]:
        """Hand the definitions of the cells above to the studies that a statement makes."""
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute) and node.attr == "make_inputs":
                return  # the study is asked for its numbers alone
            if not isinstance(node, ast.Call):
                continue
            module, _, name = self._path(node.func).rpartition(".")
            if not module.startswith(_TOPICS) or not (name == "study" or name.endswith("_study")):
                continue
            kernels = self._kernels(module, name)
            if kernels:
                end = _span(node, code)[1] - 1
                comma = ", " if node.args or node.keywords else ""
                lines = "".join(f'    "{own}": {shown},\n' for own, shown in kernels.items())
                yield end, end, f"{comma}kernels={{\n{lines}}}"

    def _kernels(self, module: str, name: str) -> dict[str, str]:
        """Give what a study uses and cells above define: its name in the study, and in the cells."""
        make = getattr(import_module(module), name)
        own = {id(thing): name for name, thing in kernels_in(each.call for each in make().variants).items()}
        shown = {id(getattr(import_module(where), what)): as_ for (where, what), as_ in self._shown.items()}
        kernels = {own[thing]: as_ for thing, as_ in shown.items() if thing in own}
        if kernels and "kernels" not in signature(make).parameters:
            raise ExportError(
                f"{module}.{name} must take kernels=None and pass it on to its Study, so that a reader's own "
                f"{', '.join(kernels)} can be timed"
            )
        return kernels

    def _path(self, node: ast.expr) -> str:
        """Give the full name of what an expression refers to, as far as imports tell; else an empty text."""
        if isinstance(node, ast.Name):
            return self._imported.get(node.id, "")
        if not isinstance(node, ast.Attribute):
            return ""
        before = self._path(node.value)
        return f"{before}.{node.attr}" if before else ""

    def _import(self, line: str, module: str, aliases: dict[str, str]) -> str:
        """Write an import, without what is defined above, and under other names where its own are taken."""
        (statement,) = ast.parse(line).body
        if not isinstance(statement, ast.ImportFrom):
            return line
        taken = []
        for each in statement.names:
            bound = each.asname or each.name
            thing = (statement.module or "", each.name)
            chosen = self._own(bound, thing, module, aliases)
            if self._shown.get(thing) != chosen:
                taken.append(each.name if chosen == each.name else f"{each.name} as {chosen}")
        return f"from {statement.module} import {', '.join(taken)}" if taken else ""

    def _own(self, name: str, thing: tuple[str, str], module: str, aliases: dict[str, str]) -> str:
        """Return the name under which a page's cells know a thing."""
        if self._owners.setdefault(name, thing) == thing:
            return name
        aliases[name] = f"{name}_of_{module}"
        return aliases[name]


def _span(node: ast.stmt | ast.expr, code: str) -> tuple[int, int]:
    """Give a node's first byte, and the byte behind its last."""
    # Columns of a syntax tree count bytes of UTF-8, not characters.
    lines = code.encode().splitlines(keepends=True)
    before = [sum(map(len, lines[: line - 1])) for line in (node.lineno, node.end_lineno or node.lineno)]
    return before[0] + node.col_offset, before[1] + (node.end_col_offset or 0)


def _renamed(code: str, aliases: dict[str, str]) -> str:
    """Give a definition's globals, and the definition itself, their other names."""
    if not aliases:
        return code
    lines = code.split("\n")
    places = sorted(_places(ast.parse(code), lines, aliases), reverse=True)
    for row, column, name in places:
        encoded = lines[row].encode()
        end = column + len(name.encode())
        lines[row] = (encoded[:column] + aliases[name].encode() + encoded[end:]).decode()
    return "\n".join(lines)


def _places(tree: ast.Module, lines: list[str], aliases: dict[str, str]) -> Iterator[tuple[int, int, str]]:
    """Find row, byte and name of what is renamed; a local variable of the same name is not."""
    for top in tree.body:
        bound = {node.arg for node in ast.walk(top) if isinstance(node, ast.arg)}
        if isinstance(top, ast.FunctionDef):
            stored = (node for node in ast.walk(top) if isinstance(node, ast.Name))
            bound |= {node.id for node in stored if isinstance(node.ctx, ast.Store)}
        for node in ast.walk(top):
            if isinstance(node, ast.Name) and node.id in aliases and node.id not in bound:
                yield node.lineno - 1, node.col_offset, node.id
            elif isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in aliases:
                row = node.lineno - 1
                yield row, len(lines[row][: lines[row].index(node.name)].encode()), node.name
