"""The notebooks that were built, their cells, and mistakes to put into them."""

import ast
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import nbformat

from gpuguide_docs.downloads.downloads import DOWNLOADS

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / DOWNLOADS).glob("*.ipynb"))
NOT_BUILT = "the notebooks are not written: run make html first"

#: Pages that call no kernel of the package, or one in CUDA C++, in whose text no store can be spoiled.
WITHOUT_KERNELS = {
    "agnostic",
    "data_where_it_is",
    "first_call",
    "interop",
    "five_minutes",
    "linear_algebra",
    "look_into_a_recording",
    "memory_pools",
    "overlap",
    "random_numbers",
    "segmented_sieve",
    "several_gpus",
    "several_hosts",
    "sort_search",
    "streams",
}
WITH_KERNELS = [path for path in NOTEBOOKS if path.stem not in WITHOUT_KERNELS]


#: Functions whose mistakes are not seen at a small size without a GPU, and why.
UNSEEN = {
    "every_cupy": "copies a slice on the GPU",
    "launch_per_number": "only launched on CuPy's arrays",
    "group": "only launched on CuPy's arrays",
    "sieve_parallel": "takes limits of 50 000 and more",
    "there_and_back": "copies to a GPU",
}


@cache
def parsed(code: str) -> ast.Module:
    """The tree of a cell, for all tests that read it: none changes it."""
    return ast.parse(code)


@cache
def nodes_of(code: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(parsed(code)))


@cache
def code_cells(notebook: Path) -> tuple[str, ...]:
    """The code of a notebook, without the solutions of its exercises, which are folded away."""
    cells = nbformat.read(notebook, as_version=4).cells
    return tuple(cell.source for cell in cells if cell.cell_type == "code" and not cell.metadata)


def is_of_definitions(code: str) -> bool:
    """Whether a cell holds what the page shows of a topic: it does nothing but import and define."""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    body = parsed(code).body
    inert = all(
        isinstance(each, kinds) or (isinstance(each, ast.Assign) and _is_table(each)) for each in body
    )
    return inert and not all(isinstance(each, ast.Import | ast.ImportFrom) for each in body)


def _is_table(assigned: ast.Assign) -> bool:
    """Whether a constant is assigned, or an array of them."""
    value = assigned.value
    return isinstance(value, ast.Constant) or (
        isinstance(value, ast.Call) and ast.unparse(value.func) == "np.array"
    )


def defined(code: str) -> list[str]:
    """The names that a cell defines."""
    return _defined(parsed(code).body)


def _defined(body: Iterable[ast.stmt]) -> list[str]:
    names = []
    for each in body:
        if isinstance(each, ast.FunctionDef | ast.ClassDef):
            names.append(each.name)
        elif isinstance(each, ast.Assign):
            names += [target.id for target in each.targets if isinstance(target, ast.Name)]
    return names


def names_needed(definition: ast.AST) -> set[str]:
    """The global names that a definition looks up when it runs."""
    names = [node for node in ast.walk(definition) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(definition) if isinstance(node, ast.arg)}
    return {node.id for node in names} - bound


def handed_over(cells: Sequence[str]) -> list[ast.Call]:
    """The calls of a notebook that hand kernels to a study."""
    calls = (node for code in cells for node in nodes_of(code) if isinstance(node, ast.Call))
    return [call for call in calls if "kernels" in [each.arg for each in call.keywords]]


def names_handed(cells: Sequence[str]) -> set[str]:
    """The names under which the notebook knows what it hands to studies."""
    return {
        name.id
        for call in handed_over(cells)
        for name in ast.walk(call.keywords[-1].value)
        if isinstance(name, ast.Name)
    }


def definitions(cells: Sequence[str]) -> list[str]:
    """Code that defines what is handed to studies, and imports what is from topics; it needs no GPU.

    That is the cells of definitions, and what the page's own cells define of it.
    """
    needed = names_handed(cells)
    found = []
    # From the end: what a definition reads stands above it.
    for code in reversed(cells):
        if is_of_definitions(code):
            found.append(code)
            needed |= {name for each in parsed(code).body for name in names_needed(each)}
            continue
        for statement in reversed(parsed(code).body):
            if isinstance(statement, ast.Import | ast.ImportFrom):
                bound = {(each.asname or each.name).partition(".")[0] for each in statement.names}
                is_topic = (getattr(statement, "module", "") or "").startswith("gpuguide.topics")
                if (is_topic or bound & needed) and not _is_of_cupy(statement):
                    found.append(ast.unparse(statement))
            elif needed & set(_defined([statement])):
                found.append(ast.unparse(statement))
                needed |= names_needed(statement)
    return found[::-1]


def _is_of_cupy(statement: ast.Import | ast.ImportFrom) -> bool:
    """Whether it needs CuPy; a topic's name may hold that word as well."""
    modules = [each.name for each in statement.names]
    if isinstance(statement, ast.ImportFrom):
        modules = [statement.module or ""]
    return any(module.partition(".")[0] in ("cupy", "cupyx") for module in modules)


def mistakes(cells: Sequence[str]) -> dict[str, list[str]]:
    """Each function that is handed to a study -> the cells in which all that it stores is off by one."""
    wrong = {}
    handed = names_handed(cells)
    for place, code in enumerate(cells):
        for name in [each for each in defined(code) if each in handed]:
            tree = ast.parse(code)
            (function,) = (each for each in tree.body if name in _defined([each]))
            if isinstance(function, ast.FunctionDef) and _spoil(function):
                wrong[name] = [*cells[:place], ast.unparse(tree), *cells[place + 1 :]]
    return wrong


def _spoil(function: ast.FunctionDef) -> bool:
    """Add one to all that is stored in elements of what a function was given, or appended to a list."""
    given = {argument.arg for argument in function.args.args}
    n_spoiled = 0
    for node in ast.walk(function):
        if isinstance(node, ast.Assign | ast.AugAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            is_given = isinstance(target, ast.Subscript) and ast.unparse(target.value) in given
            if is_given and not isinstance(node.value, ast.ListComp):
                node.value = ast.BinOp(node.value, ast.Add(), ast.Constant(1))
                n_spoiled += 1
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".append"):
            node.args = [ast.BinOp(node.args[0], ast.Add(), ast.Constant(1))]
            n_spoiled += 1
    return n_spoiled > 0
