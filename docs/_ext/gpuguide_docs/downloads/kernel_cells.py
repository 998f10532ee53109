"""Shown definitions as cells of a download, to be edited and then checked and timed by the study."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from inspect import signature
from typing import NamedTuple

from gpuguide.measure.edited import kernels_in
from gpuguide_docs.downloads.markdown import ExportError
from gpuguide_docs.show.module_source import ModuleSource

__all__ = ["KernelCells"]

_NOTE = "# The study checks and times what it is handed here, with all that you change in the cells above."
_EARLY = "# The sections below explain these definitions. Change them here: every cell below uses them."
_PACKAGE = "import gpuguide as gg"
_TOPICS = "gpuguide.topics."
_Edit = tuple[int, int, str]
"""First byte, byte behind the last, and what takes their place."""


class _Thing(NamedTuple):
    """A definition of a module."""

    module: str
    name: str


class KernelCells:
    """The cells of one page: what is shown as a cell, no later one imports, and the studies are handed it.

    A definition becomes a cell where the page shows it, or above the first cell that needs it. A name that
    two modules give to different things is told apart by its module.
    """

    def __init__(
        self,
        shown: Iterable[tuple[ModuleSource, list[str], bool]] = (),
        cells: Sequence[str] | None = None,
        topic: Iterable[ModuleSource] = (),
    ) -> None:
        self._sources: dict[str, ModuleSource] = {}
        self._shown: set[_Thing] = set()
        self._open: set[_Thing] = set()
        self._owners: dict[str, _Thing] = {}
        self._defined: dict[_Thing, str] = {}
        self._imported: dict[str, str] = {}
        self._is_noted = False
        self._topic = list(topic)
        self._by_page: set[_Thing] = set()
        for source, names, is_folded in shown:
            things = {_Thing(source.module, name) for name in names}
            self._sources.setdefault(source.module, source)
            self._shown |= things
            self._open |= set() if is_folded else things
        self._used: set[_Thing] | None = None
        if cells is not None:
            used = {thing for code in cells for thing in self._needs(ast.parse(code))}
            self._used = self._with_read(used)
            self._imported.clear()

    def shown(self, source: ModuleSource, names: list[str]) -> tuple[list[str], list[str]]:
        """Make what stands where the page shows definitions."""
        things = {_Thing(source.module, name) for name in names}
        cells = self._define(things if self._used is None else things & self._used, names)
        done = self._defined if cells else self._by_page
        return cells, [name for name in names if _Thing(source.module, name) not in done]

    def is_defined(self, source: ModuleSource, name: str) -> bool:
        """Say whether a cell so far defines it."""
        return _Thing(source.module, name) in self._defined

    def page_cells(self, code: str) -> list[str]:
        """Let a cell of the page use what is shown on it."""
        tree = ast.parse(code)
        self._note_own(tree)
        early = self._define(set(self._needs(tree)))
        made = self._page_cell(code, tree)
        left = _parsed(made)
        # The first cell of a download imports the package.
        is_empty = len(left) < len(tree.body) and all(ast.unparse(each) == _PACKAGE for each in left)
        return [*(f"{_EARLY}\n{cell}" for cell in early), *([] if is_empty else [made])]

    def _page_cell(self, code: str, tree: ast.Module) -> str:
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

    def _note_own(self, tree: ast.Module) -> None:
        """Keep the names of a cell of the page for what it means by them.

        What it defines word for word as its topic does takes the place of the topic's.
        """
        for name, path in _names_imported(tree):
            self._owners.setdefault(name, _Thing(*path.rsplit(".", 1)))
        for statement in tree.body:
            for name in _names_defined(statement):
                thing = self._same_in_topic(name, statement)
                self._owners[name] = thing or _Thing("", name)
                if thing:
                    self._by_page.add(thing)
                    self._defined[thing] = name

    def _same_in_topic(self, name: str, statement: ast.stmt) -> _Thing | None:
        for source in self._topic:
            if name in source.names and _code_of(*_parsed(source.cut(name))) == _code_of(statement):
                return _Thing(source.module, name)
        return None

    def _needs(self, tree: ast.Module) -> Iterator[_Thing]:
        """Give what the page shows and a cell uses: by itself, unless it is folded, or in a study."""
        self._imported |= dict(_names_imported(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute | ast.Name):
                module, _, name = self._path(node).rpartition(".")
                if (module, name) in self._open:
                    yield _Thing(module, name)
        for statement in tree.body:
            for call in self._studies(statement):
                yield from self._in_study(call, self._shown)

    def _with_read(self, things: Iterable[_Thing]) -> set[_Thing]:
        """Add what the page shows and these definitions read."""
        found: set[_Thing] = set()
        waiting = list(things)
        while waiting:
            thing = waiting.pop()
            if thing not in found:
                found.add(thing)
                waiting += [read for read in self._read_by(thing.module, [thing.name]) if read in self._shown]
        return found

    def _read_by(self, module: str, names: Iterable[str]) -> Iterator[_Thing]:
        for line in self._sources[module].needed(names):
            for statement in _parsed(line):
                if isinstance(statement, ast.ImportFrom):
                    yield from (_Thing(statement.module or "", each.name) for each in statement.names)

    def _define(self, things: Iterable[_Thing], listed: Sequence[str] = ()) -> list[str]:
        """Define what no cell does yet, with what that reads and the page shows: one cell for each module."""
        wanted: dict[str, list[str]] = {}
        for module, name in self._with_read(things) - {*self._defined}:
            wanted.setdefault(module, []).append(name)
        cells = []
        order = list(self._sources)
        for module in sorted(wanted, key=lambda module: (self._depth(module), order.index(module))):
            source = self._sources[module]
            names = [name for name in source.names if name in wanted[module]]
            # In the page's order; what was added comes first.
            names.sort(key=lambda name: listed.index(name) if name in listed else -1)
            cells.append(self._cell(source, names))
        return cells

    def _depth(self, module: str) -> int:
        """Say how many modules must be defined before one, so that it finds what it reads."""
        read = {thing.module for thing in self._read_by(module, self._sources[module].names)}
        return 1 + max((self._depth(each) for each in read & {*self._sources} - {module}), default=0)

    def _cell(self, source: ModuleSource, names: list[str]) -> str:
        """Make a cell of definitions: imports, private constants, and what is named."""
        module = source.module.rpartition(".")[2]
        constants = [
            name
            for name in source.private_constants(names)
            if _Thing(source.module, name) not in self._defined and name not in names
        ]
        names = [*constants, *names]
        aliases: dict[str, str] = {}
        imports = [self._import(line, module, aliases) for line in source.needed(names)]
        for name in names:
            thing = _Thing(source.module, name)
            self._defined[thing] = self._name_of(name, thing, module, aliases)
        code = "\n\n\n".join(_renamed(source.cut(name), aliases) for name in names)
        needed = "\n".join(filter(None, imports))
        return f"{needed}\n\n\n{code}" if needed else code

    def _without_shown(self, node: ast.AST, code: str) -> Iterator[_Edit]:
        """Take a definition of a cell above instead of importing it, or asking its module for it."""
        if isinstance(node, ast.ImportFrom) and node.module:
            kept = [each for each in node.names if not self._is_a_cell(_Thing(node.module, each.name))]
            if len(kept) < len(node.names):
                start, end = _span(node, code)
                line = ast.unparse(ast.ImportFrom(node.module, kept, 0)) if kept else ""
                # Where nothing is left of the line, its line break goes, too.
                yield start, end + (not kept), line
        elif isinstance(node, ast.Attribute | ast.Name):
            module, _, name = self._path(node).rpartition(".")
            shown = self._defined.get(_Thing(module, name))
            if shown and shown != ast.unparse(node):
                yield *_span(node, code), shown

    def _is_a_cell(self, thing: _Thing) -> bool:
        """Say whether a cell defines it, or will before it is needed."""
        return thing in self._defined or (self._used is not None and thing in self._used)

    def _with_kernels(self, statement: ast.stmt, code: str) -> Iterator[_Edit]:
        """Hand the definitions of the cells above to the studies that a statement makes."""
        for call in self._studies(statement):
            handed = {
                name: self._defined[thing] for thing, name in self._in_study(call, self._defined).items()
            }
            if handed:
                self._check_takes_kernels(call, handed)
                end = _span(call, code)[1] - 1
                comma = ", " if call.args or call.keywords else ""
                lines = "".join(f'    "{own}": {shown},\n' for own, shown in handed.items())
                yield end, end, f"{comma}kernels={{\n{lines}}}"

    def _studies(self, statement: ast.stmt) -> list[ast.Call]:
        """Give the calls that make a study, unless it is asked for its numbers alone."""
        nodes = list(ast.walk(statement))
        if any(isinstance(node, ast.Attribute) and node.attr == "make_inputs" for node in nodes):
            return []
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        paths = [self._path(call.func) for call in calls]
        return [
            call
            for call, path in zip(calls, paths, strict=True)
            if path.startswith(_TOPICS) and path.endswith((".study", "_study"))
        ]

    def _in_study(self, call: ast.Call, things: Iterable[_Thing]) -> dict[_Thing, str]:
        """Give those of some definitions that a study uses, with their names in there."""
        module, _, name = self._path(call.func).rpartition(".")
        make = getattr(import_module(module), name)
        own = {id(thing): name for name, thing in kernels_in(each.call for each in make().variants).items()}
        known = {thing: id(getattr(import_module(thing.module), thing.name)) for thing in things}
        return {thing: own[known[thing]] for thing in known if known[thing] in own}

    def _check_takes_kernels(self, call: ast.Call, handed: Iterable[str]) -> None:
        module, _, name = self._path(call.func).rpartition(".")
        if "kernels" not in signature(getattr(import_module(module), name)).parameters:
            raise ExportError(
                f"{module}.{name} must take kernels=None and pass it on to its Study, so that a reader's own "
                f"{', '.join(handed)} can be timed"
            )

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
        (statement,) = _parsed(line)
        if not isinstance(statement, ast.ImportFrom):
            return line
        taken = []
        for each in statement.names:
            bound = each.asname or each.name
            thing = _Thing(statement.module or "", each.name)
            chosen = self._name_of(bound, thing, module, aliases)
            if self._defined.get(thing) != chosen:
                taken.append(each.name if chosen == each.name else f"{each.name} as {chosen}")
        return f"from {statement.module} import {', '.join(taken)}" if taken else ""

    def _name_of(self, name: str, thing: _Thing, module: str, aliases: dict[str, str]) -> str:
        """Return the name under which a page's cells know a thing."""
        if self._owners.setdefault(name, thing) == thing:
            return name
        aliases[name] = f"{name}_of_{module}"
        return aliases[name]


def _parsed(code: str) -> list[ast.stmt]:
    return ast.parse(code).body


def _names_imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Give each name that is imported from a module, and its full name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((each.asname or each.name, f"{node.module}.{each.name}") for each in node.names)


def _names_defined(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _code_of(statement: ast.stmt) -> str:
    """Write a definition without docstring and annotations, so that two of them can be compared."""
    (copy,) = _parsed(ast.unparse(statement))
    if isinstance(copy, ast.FunctionDef):
        copy.returns = None
        for argument in ast.walk(copy.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        if ast.get_docstring(copy) is not None:
            del copy.body[0]
    return ast.unparse(copy)


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
