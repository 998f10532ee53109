"""Shown definitions as cells of a download, to be edited and then checked and timed by the study."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gpuguide_docs.show.module_source import ModuleSource

__all__ = ["KernelCells"]

_NOTE = "# From here on the study checks and times these instead of the package's own."


class KernelCells:
    """The cells of one page: a name that two modules give to different things is told apart by its module."""

    def __init__(self) -> None:
        self._owners: dict[str, tuple[str, str]] = {}

    def cell(self, source: ModuleSource, names: list[str]) -> str:
        """Make one cell.

        Parameters
        ----------
        source : ModuleSource
            The topic's module.
        names : list of str
            What the page shows.

        Returns
        -------
        str
            Imports, the definitions, and a line that puts them into the module.
        """
        module = source.module.rpartition(".")[2]
        aliases: dict[str, str] = {}
        imports = [self._import(line, module, aliases) for line in source.needed(names)]
        imports.append("from gpuguide.editing import use_instead")
        for name in names:
            self._own(name, (source.module, name), module, aliases)
        code = "\n\n\n".join(_renamed(source.cut(name), aliases) for name in names)
        given = "\n".join(f"    {name}={aliases.get(name, name)}," for name in names)
        put = f'{_NOTE}\nuse_instead(\n    "{source.module}",\n{given}\n)'
        return "\n\n\n".join(["\n".join(imports), code, put])

    def _import(self, line: str, module: str, aliases: dict[str, str]) -> str:
        """Write an import, under other names where its own are taken."""
        (statement,) = ast.parse(line).body
        if not isinstance(statement, ast.ImportFrom):
            return line
        taken = []
        for each in statement.names:
            bound = each.asname or each.name
            chosen = self._own(bound, (statement.module or "", each.name), module, aliases)
            taken.append(each.name if chosen == each.name else f"{each.name} as {chosen}")
        return f"from {statement.module} import {', '.join(taken)}"

    def _own(self, name: str, thing: tuple[str, str], module: str, aliases: dict[str, str]) -> str:
        """Return the name under which a page's cells know a thing."""
        if self._owners.setdefault(name, thing) == thing:
            return name
        aliases[name] = f"{name}_of_{module}"
        return aliases[name]


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
