"""Source of single definitions, cut from a tested module by its syntax tree; nothing is imported."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from gpuguide.errors import unknown

__all__ = ["ModuleSource"]

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
    """A module as text, definition by definition."""

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
