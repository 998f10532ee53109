"""Downloaded notebooks: what their readers edit is what the study checks and times."""

import ast
import json

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed here")

from notebooks import (  # noqa: E402
    NOT_BUILT,
    NOTEBOOKS,
    UNSEEN,
    WITH_KERNELS,
    code_cells,
    defined,
    handed_over,
    is_of_definitions,
    mistakes,
)

pytestmark = pytest.mark.skipif(not NOTEBOOKS, reason=NOT_BUILT)
of_every_page = pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
of_every_page_with_kernels = pytest.mark.parametrize("notebook", WITH_KERNELS, ids=lambda path: path.stem)

#: Functions that no study calls, each with the reason why a page shows it.
SHOWN_ONLY = {
    "bucket_starts": "makes the table of contents, which is an input",
    # What variants declare as their work is counted by the package, not by the reader's copy.
    **dict.fromkeys(("turns_thread_per_number", "turns_odd_numbers", "turns_to_square_root"), "counts work"),
    **dict.fromkeys(("divisions", "warp_steps", "marks", "segments"), "counts work"),
}
#: A delay of the GPU goes ahead of its launches, for which the simulator has no match.
NOT_SIMULATED = "busy"
#: Study -> the size at which it is checked here; 257 if it is not listed.
SIZES = {
    "box": 5 * 6 * 7,
    "compiling": 5 * 6 * 7,
    "launches": 1024,
    "matrix": 16 * 17,
    "maximum_cpu": 11**3,
    "mixes": 4 * 1025,
    "primes": 1000,
    "qr": 16**2,
    "reads": 4 * 4097,
}
CHECK = """
import inspect, json
from pathlib import Path
from gpuguide.errors import MismatchError
from gpuguide.measure.edited import kernels_in


def code_of(thing):  # the reader's launcher is copied if it uses a table of the topic's
    return getattr(inspect.unwrap(thing), "__code__", thing) if not isinstance(thing, str) else thing


def check(study, kernels):
    used = kernels_in(variant.call for variant in study.variants)
    assert [name for name in kernels if code_of(used[name]) is not code_of(kernels[name])] == []
    able = [v for v in study.variants if not v.needs_gpu or (v.simulatable and v.arrays == "numba")]
    names = [v.name for v in able if wrong in kernels_in([v.call])]
    if names and study.name != {without!r}:
        study.check_all([{sizes}.get(study.name, 257)], names)


for wrong, program in json.loads(Path({path!r}).read_text()).items():
    try:
        exec(program, {{"__name__": "__main__", "check": check}})
    except (MismatchError, OverflowError):  # the simulator refuses what does not fit its place
        print(wrong)
"""


def imported(tree):
    """Name that an import binds -> the module it is from."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from ((each.asname or each.name, f"{node.module}.{each.name}") for each in node.names)
        elif isinstance(node, ast.Import):
            yield from ((each.asname or each.name, each.name) for each in node.names)


def root(node):
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


@of_every_page
def test_no_notebook_uses_a_private_name_or_changes_a_module_of_the_package(notebook):
    trees = [ast.parse(code) for code in code_cells(notebook)]
    names = {name: module for tree in trees for name, module in imported(tree)}
    ours = {name for name, module in names.items() if module.startswith("gpuguide")}
    private = [module for module in names.values() if "._" in f".{module}".replace("__future__", "")]
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.Attribute):
            assert isinstance(node.ctx, ast.Load) or root(node) not in ours, ast.unparse(node)
            if node.attr.startswith("_") and root(node) in ours:
                private.append(node.attr)
        elif isinstance(node, ast.Name):
            assert node.id not in ("setattr", "delattr"), "a module could be changed"
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "vars":
            assert not ours & {root(each) for each in node.args}
    assert private == []


@of_every_page
def test_nothing_is_imported_that_a_cell_above_defines(notebook):
    above = set()
    for code in code_cells(notebook):
        assert not above & {name for name, _ in imported(ast.parse(code))}
        if is_of_definitions(code):
            above |= set(defined(code))


def names_needed(function):
    """The global names that a definition looks up when it runs."""
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    return {node.id for node in names} - bound


@of_every_page
def test_no_cell_of_a_page_takes_a_name_away_from_the_code_that_it_shows(notebook):
    """In a download, a page's cells and its editable kernels and launchers share one namespace."""
    needed, means, taken = set(), {}, []
    for code in code_cells(notebook):
        tree = ast.parse(code)
        if is_of_definitions(code):
            needed |= {name for each in tree.body for name in names_needed(each)} | set(defined(code))
            means |= dict(imported(tree)) | dict.fromkeys(defined(code), "defined here")
            continue
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        taken += [node.id for node in names if isinstance(node.ctx, ast.Store) and node.id in needed]
        taken += [name for name, module in imported(tree) if means.get(name, module) != module]
    assert taken == []


@of_every_page
def test_whatever_can_be_edited_is_used_by_a_study_or_by_another_cell(notebook):
    """An edit without effect would let a reader draw the wrong conclusion."""
    cells = code_cells(notebook)
    for code in filter(is_of_definitions, cells):
        for name in defined(code):
            used = [
                node
                for each in cells
                for node in ast.walk(ast.parse(each))
                if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
            ]
            assert used or name in SHOWN_ONLY, name


def definitions(cells):
    """The cells of definitions, and what the others import from topics."""
    for code in cells:
        if is_of_definitions(code):
            yield code
            continue
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("gpuguide.topics"):
                yield ast.unparse(node)


def checks(cells):
    """A program that checks all studies that are handed kernels."""
    for call in handed_over(cells):
        (kernels,) = [ast.unparse(each.value) for each in call.keywords if each.arg == "kernels"]
        yield f"check({ast.unparse(call)}, {kernels})"


@of_every_page_with_kernels
def test_studies_use_what_the_notebook_defines_and_find_its_mistakes(notebook, simulator_python, tmp_path):
    cells = code_cells(notebook)
    wrong = mistakes(cells)
    assert wrong
    programs = {name: "\n".join([*definitions(each), *checks(each)]) for name, each in wrong.items()}
    path = tmp_path / "programs.json"
    path.write_text(json.dumps(programs), encoding="utf-8")
    program = CHECK.format(sizes=SIZES, without=NOT_SIMULATED, path=str(path))
    refused = set(simulator_python(program, timeout=300).split())
    assert set(wrong) - refused == set(wrong) & set(UNSEEN)
