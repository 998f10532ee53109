"""Source of single definitions, cut from a tested module by its syntax tree; nothing is imported."""

from __future__ import annotations

import ast
import builtins
import itertools
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
        self._imports = dict(_imports(tree))

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
        used = [name for shown_name in shown for name in _free_names(self._definition(shown_name))]
        wanted = dict.fromkeys(name for name in used if name not in shown and not hasattr(builtins, name))
        from_modules: dict[str, list[str]] = {}
        plain = []
        for name in wanted:
            if name in self._imports:
                module, alias = self._imports[name]
                if module:
                    from_modules.setdefault(module, []).append(alias)
                else:
                    plain.append(f"import {alias}")
            elif name in self._definitions:
                from_modules.setdefault(self.module, []).append(name)
        froms = [f"from {module} import {', '.join(sorted(set(of)))}" for module, of in from_modules.items()]
        return sorted({*plain, *froms}, key=_import_order)

    def with_read(self, name: str) -> list[str]:
        """Name a definition and all of the module's own that it reads, in the module's order."""
        found = {name}
        waiting = [name]
        while waiting:
            read = {
                used for used in _free_names(self._definition(waiting.pop())) if used in self._definitions
            }
            waiting += read - found
            found |= read
        return [each for each in self._definitions if each in found]

    def private_constants(self, names: Iterable[str]) -> list[str]:
        """List the module's own variables with a private name that definitions read: never imported."""
        used = [used for name in names for used in _free_names(self._definition(name))]
        return [
            name
            for name in dict.fromkeys(used)
            if name.startswith("_") and isinstance(self._definitions.get(name), ast.Assign | ast.AnnAssign)
        ]

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
        elif isinstance(node, ast.Assign):
            for target in ast.walk(node.targets[0]):  # LEFT, TOP = 1, 2 defines two
                if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                    yield target.id, node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, node


def _imports(tree: ast.Module) -> Iterator[tuple[str, tuple[str, str]]]:
    """Give each imported name with the module (empty for ``import x``) and how it is imported."""
    blocks = [node.body for node in tree.body if isinstance(node, ast.If)]  # if TYPE_CHECKING
    for node in itertools.chain(tree.body, *blocks):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        module = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            written = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
            yield (alias.asname or alias.name).split(".")[0], (module, written)


def _free_names(node: ast.AST) -> Iterator[str]:
    """Give names that are read and not bound inside, in order."""
    inside = list(ast.walk(node))
    bound = {child.arg for child in inside if isinstance(child, ast.arg)}
    bound |= {child.name for child in inside[1:] if isinstance(child, ast.FunctionDef)}
    bound |= {name for child in inside for name in _bound_by_import(child)}
    names = [child for child in inside if isinstance(child, ast.Name)]
    bound |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
    for name in names:
        if name.id not in bound:
            yield name.id


def _bound_by_import(node: ast.AST) -> list[str]:
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return []
    return [(alias.asname or alias.name).split(".")[0] for alias in node.names]


def _docstring(node: _Definition) -> ast.Constant | None:
    if not isinstance(node, ast.FunctionDef | ast.ClassDef) or not isinstance(node.body[0], ast.Expr):
        return None
    value = node.body[0].value
    return value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def _summary(lines: list[str]) -> list[str]:
    """Keep the first paragraph of a docstring given as source lines."""
    end = next((number for number, line in enumerate(lines) if not line.strip()), len(lines))
    if end == len(lines):
        return lines
    quotes = '"""' if '"""' in lines[0] else "'''"
    return [*lines[: end - 1], lines[end - 1] + quotes]
