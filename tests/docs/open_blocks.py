"""What stands open on a lesson, block by block: what a reader copies from top to bottom."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from gpuguide_docs.pages.cells import Cell, read_cells
from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.pages.pages_toml import Page, read_pages
from gpuguide_docs.show.kernel import ModuleSource, functions_in, imports_and_rest, shown_source

LAYOUT = Layout(Path(__file__).parents[2])
_RUNG = re.compile(r"^\.\. rung:: (\w+)", re.MULTILINE)
_KERNEL = re.compile(r"^\.\. kernel:: (\S+)\n((?:   .*\n?)*)", re.MULTILINE)
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
    """How a lesson's open blocks are run at another size.

    `edits` is what a reader would change, as it stands there -> what is written instead, in all blocks.
    `checks` is a rung, or code that stands in one block -> statements that run after this block, among the
    names of the page: they assert that its answer is right, and spoil it for the next one. ``""`` is for the
    last block of all.
    """

    edits: dict[str, str]
    checks: dict[str, str]

    def program(self, blocks: list[Block]) -> str:
        """The blocks with the edits, each followed by its check."""
        rungs = {block.rung for block in blocks} - {""}
        assert rungs <= {*self.checks}, "each rung has a check"
        checks = [""] * len(blocks)
        for key, check in self.checks.items():
            texts = ([block.rung] if key in rungs else block.code for block in blocks)
            at = [i for i, text in enumerate(texts) if key in text]
            assert len(at) == 1 or not key, f"{key!r} names {len(at)} blocks, not one"
            checks[at[-1]] += f"\n{check}"
        for old in self.edits:
            assert any(old in block.code for block in blocks), f"{old!r} stands in no open block"
        # At once, so that what one edit wrote is not changed by the next.
        either = re.compile("|".join(map(re.escape, sorted(self.edits, key=len, reverse=True))) or r"(?!)")
        codes = [either.sub(lambda match: self.edits[match[0]], block.code) for block in blocks]
        return program([f"{code}\n{check}" for code, check in zip(codes, checks, strict=True)])


def program(codes: list[str]) -> str:
    """Blocks one after the other, with a mark between their outputs."""
    return f"\nprint({END!r}, end='')\n".join(["", *codes, ""])


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
    cells = read_cells(page.script(LAYOUT))
    launched = {
        name for cell in cells if cell.place == "open" for name in re.findall(r"^(\w+)\[", cell.content, re.M)
    }
    for cell in cells:
        if cell.kind == "text":
            blocks += _kernels(cell.content, launched)
            rung = next(reversed(_RUNG.findall(cell.content)), "")
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


def bare_cell(page: Page) -> Block:
    """The first block with a cell, which readers paste alone."""
    return next(block for block in open_blocks(page) if block.cell)


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


def _kernels(text: str, launched: set[str]) -> list[Block]:
    blocks = []
    for module, options in _KERNEL.findall(text):
        # What an open cell compiles or launches runs from a fold, too: a string of CUDA C++, a kernel.
        names = _names(options) or [""]
        is_needed = all(name.lower().endswith("source") or name in launched for name in names)
        if ":fold:" not in options or is_needed:
            source = ModuleSource(LAYOUT.source, module)
            blocks.append(Block(shown_source(source, _names(options) or list(source.names))))
    return blocks


def _names(options: str) -> list[str]:
    match = re.search(r":names:(.*)", options)
    return match[1].replace(",", " ").split() if match else []


def names_missing(page: Page, blocks: list[Block]) -> set[str]:
    """Names that blocks read, and that none of them, nor a fold of the page, defines or imports above."""
    text = "\n".join(cell.content for cell in read_cells(page.script(LAYOUT)) if cell.kind == "text")
    folds = {name for _, options in _KERNEL.findall(text) if ":fold:" in options for name in _names(options)}
    command = ["ruff", "check", "--isolated", "--select=F821", "--output-format=concise", "-"]
    ran = subprocess.run(
        [sys.executable, "-m", *command],
        input="\n".join(block.code for block in blocks),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode in (0, 1), ran.stderr
    return set(re.findall(r"F821 Undefined name `(\w+)`", ran.stdout)) - folds


def functions(code: str) -> dict[str, str]:
    """Functions that code defines -> what they are, without their docstrings; of kernels, with decorators."""
    found = {}
    for node in ast.parse(code).body:
        if isinstance(node, ast.FunctionDef):
            if ast.get_docstring(node) is not None and len(node.body) > 1:
                del node.body[0]
            if not is_kernel(node):
                # What a page compiles in sight is a plain function in the topic, and compiled by the study.
                node.decorator_list = []
            found[node.name] = ast.unparse(node)
    return found


def is_kernel(node: ast.FunctionDef) -> bool:
    """Whether a function is decorated by Numba for the GPU."""
    return any(ast.unparse(decorator).startswith("cuda.jit") for decorator in node.decorator_list)
