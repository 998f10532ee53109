"""What stands open on a lesson, block by block: what a reader copies from top to bottom."""

from __future__ import annotations

import ast
import builtins
import json
import re
import symtable
from dataclasses import dataclass
from pathlib import Path

from gpuguide_docs.pages.cells import Cell, read_cells
from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.pages.pages_toml import Page, read_pages
from gpuguide_docs.show.kernel import functions_in, imports_and_rest, shown_source
from gpuguide_docs.show.module_source import ModuleSource

LAYOUT = Layout(Path(__file__).parents[2])
_RUNG = re.compile(r"^\.\. rung:: (\w+)", re.MULTILINE)
_KERNEL = re.compile(r"^\.\. kernel:: (\S+)\n((?:   .*\n?)*)", re.MULTILINE)
_RUNS = """\
import json, sys
from pathlib import Path

namespace = {{"__name__": "__main__"}}
for code, check in json.loads(Path({path!r}).read_text()):
    print({end!r}, end="")
    exec(compile(code, "a block of the page", "exec"), namespace)
    exec(compile(check, "a check", "exec"), namespace)
print({end!r}, end="")
"""
#: Between the outputs of two blocks.
END = "\x1e"


@dataclass(frozen=True)
class Block:
    """Code that is copied in one piece: that of a cell, with the kernel of its rung, or of a directive."""

    code: str
    cell: Cell | None = None
    rung: str = ""


@dataclass(frozen=True)
class OtherSizes:
    """How a lesson's open blocks are run at another size."""

    #: What a reader would change, as it stands there -> what is written instead, in all blocks.
    edits: dict[str, str]
    #: Rung -> statements that run after its block, among the names of the page: they assert that its answer
    #: is right, and spoil it for the next one. ``""`` is for the last block of all.
    checks: dict[str, str]

    def of(self, blocks: list[Block]) -> list[str]:
        """The checks after each of these blocks."""
        rungs = {block.rung for block in blocks} - {""}
        assert rungs == {*self.checks} - {""}, "each rung has a check"
        checks = [self.checks[block.rung] if block.rung else "" for block in blocks]
        checks[-1] += self.checks.get("", "")
        return checks


def lessons() -> list[Page]:
    """The lessons that have code."""
    pages = [page for page in read_pages(LAYOUT) if page.format == "script"]
    # One that is listed and not written yet is for lint to name.
    return [page for page in pages if page.script(LAYOUT).is_file()]


def open_blocks(page: Page) -> list[Block]:
    """Put together what the page shows, as the directives `rung` and `kernel` do."""
    blocks: list[Block] = []
    shown: set[str] = set()
    rung = ""
    for cell in read_cells(page.script(LAYOUT)):
        if cell.kind == "text":
            blocks += _kernels(cell.content)
            rungs = _RUNG.findall(cell.content)
            rung = rungs[-1] if rungs else ""
        elif cell.kind == "recorded":
            if cell.place == "open":
                kernel = _kernel_of(rung, cell, page, shown)
                own = cell.content.strip("\n")
                imports, rest = imports_and_rest(own) if kernel else ("", own)
                code = "\n\n\n".join(filter(None, (imports, kernel, rest)))
                blocks.append(Block(code, cell, rung))
                shown.update(functions_in(cell.content) if rung else ())
            rung = ""
    return blocks


def folded_names(page: Page) -> set[str]:
    """What the directive `kernel` shows in folds: a click away from what stands open."""
    text = "\n".join(cell.content for cell in read_cells(page.script(LAYOUT)) if cell.kind == "text")
    folded = [options for _, options in _KERNEL.findall(text) if ":fold:" in options]
    names = [found[1] for options in folded if (found := re.search(r":names:(.*)", options))]
    return {name for each in names for name in each.replace(",", " ").split()}


def kernels_of(page: Page) -> ModuleSource | None:
    """The topic's kernels.py, if it has one."""
    path = LAYOUT.source.joinpath("gpuguide", "topics", page.topic, "kernels.py")
    return ModuleSource(LAYOUT.source, f"gpuguide.topics.{page.topic}.kernels") if path.is_file() else None


def _kernel_of(rung: str, cell: Cell, page: Page, shown: set[str]) -> str:
    source = kernels_of(page)
    if source is None or rung not in source.names or rung in functions_in(cell.content):
        return ""
    names = [name for name in source.with_read(rung) if name == rung or name not in shown]
    shown.update(names)
    return shown_source(source, names)


def _kernels(text: str) -> list[Block]:
    found = []
    for module, options in _KERNEL.findall(text):
        if ":fold:" not in options:
            source = ModuleSource(LAYOUT.source, module)
            names = re.search(r":names:(.*)", options)
            chosen = names[1].replace(",", " ").split() if names else list(source.names)
            found.append(Block(shown_source(source, chosen)))
    return found


def edited(blocks: list[Block], edits: dict[str, str]) -> list[str]:
    """The code of blocks after edits; each must change something."""
    codes = [block.code for block in blocks]
    for old in edits:
        assert any(old in code for code in codes), f"{old!r} stands in no open block"
    # At once, so that what one edit wrote is not changed by the next.
    either = re.compile("|".join(map(re.escape, sorted(edits, key=len, reverse=True))) or r"(?!)")
    return [either.sub(lambda found: edits[found[0]], code) for code in codes]


def program(path: Path, codes: list[str], checks: list[str] | None = None) -> str:
    """A program that runs blocks one after the other, as the main module; they are read from a file."""
    pairs = list(zip(codes, checks or [""] * len(codes), strict=True))
    path.write_text(json.dumps(pairs), encoding="utf-8")
    return _RUNS.format(path=str(path), end=END)


def names_missing(codes: list[str]) -> set[str]:
    """Names that code reads and that none of it defines or imports, or only further down."""
    known = {*dir(builtins), "__name__"}
    missing = set()
    for statement in ast.parse("\n".join(codes)).body:
        own = symtable.symtable(ast.unparse(statement), "open blocks", "exec").get_symbols()
        known |= {each.get_name() for each in own if each.is_assigned() or each.is_imported()}
        # What a function reads inside it needs when it is called.
        missing |= {each.get_name() for each in own if each.is_referenced()} - known
    whole = symtable.symtable("\n".join(codes), "open blocks", "exec")
    return missing | (_globals_read(whole) - known)


def _globals_read(table: symtable.SymbolTable) -> set[str]:
    outer = table.get_type() == "module"
    own = (each for each in table.get_symbols() if each.is_referenced() and (outer or each.is_global()))
    return {each.get_name() for each in own}.union(*map(_globals_read, table.get_children()))


def functions(code: str) -> dict[str, str]:
    """Functions that code defines -> what they are, without their docstrings; of kernels, with decorators."""
    found = {}
    for node in ast.parse(code).body:
        if isinstance(node, ast.FunctionDef):
            if ast.get_docstring(node) is not None and len(node.body) > 1:
                del node.body[0]
            if not is_kernel(code, node.name):
                # What a page compiles in sight is a plain function in the topic, and compiled by the study.
                node.decorator_list = []
            found[node.name] = ast.dump(node)
    return found


def is_kernel(code: str, name: str) -> bool:
    """Whether a function is decorated by Numba for the GPU."""
    nodes = [node for node in ast.parse(code).body if isinstance(node, ast.FunctionDef) and node.name == name]
    return any(ast.unparse(each).startswith("cuda.jit") for node in nodes for each in node.decorator_list)
