"""Downloaded notebooks: what their readers edit is what the study checks and times."""

import ast
import builtins
import importlib
import json
import symtable

import pytest

from gpuguide.measure.edited import kernels_in

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed here")

from notebooks import (  # noqa: E402
    NOT_BUILT,
    NOTEBOOKS,
    UNSEEN,
    WITH_KERNELS,
    code_cells,
    defined,
    definitions,
    handed_over,
    is_of_definitions,
    mistakes,
    names_handed,
    names_needed,
    nodes_of,
    parsed,
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
    "by_kernel": 5**2,
    "compiling": 5 * 6 * 7,
    "image": 33**2,
    "launches": 1024,
    "matrix": 16 * 17,
    "maximum_cpu": 11**3,
    "mixes": 4 * 1025,
    "primes": 1000,
    "product": 3,
    "qr": 16**2,
    "small": 33**2,
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
    trees = [parsed(code) for code in code_cells(notebook)]
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
        assert not above & {name for name, _ in imported(parsed(code))}
        if is_of_definitions(code):
            above |= set(defined(code))


@of_every_page
def test_no_cell_takes_a_name_away_from_another(notebook):
    """In a download, a page's cells and its editable kernels and launchers share one namespace."""
    needed, means, of_page, taken = set(), {}, {}, []
    for code in code_cells(notebook):
        tree = parsed(code)
        if is_of_definitions(code):
            found = dict(imported(tree)) | dict.fromkeys(defined(code), "defined here")
            taken += [name for name, module in found.items() if of_page.get(name, module) != module]
            needed |= {name for each in tree.body for name in names_needed(each)} | set(defined(code))
            means |= found
            continue
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        taken += [node.id for node in names if isinstance(node.ctx, ast.Store) and node.id in needed]
        taken += [name for name, module in imported(tree) if means.get(name, module) != module]
        of_page |= dict(imported(tree)) | dict.fromkeys(defined(code), "of the page")
    assert taken == []


def names_read(table):
    """The global names that code reads: at once, and when its functions are called."""
    names = [symbol for symbol in table.get_symbols() if symbol.is_referenced()]
    if table.get_type() != "module":
        names = [symbol for symbol in names if symbol.is_global()]
    below = [name for child in table.get_children() for name in names_read(child)]
    return {symbol.get_name() for symbol in names} | set(below)


@of_every_page
def test_every_name_of_a_cell_is_defined_in_it_or_above(notebook):
    """A kernel is defined above the first cell that needs it, and what it reads is above it as well."""
    bound = set(dir(builtins)) | {"__name__"}
    for code in code_cells(notebook):
        table = symtable.symtable(code, notebook.stem, "exec")
        names = table.get_symbols()
        bound |= {each.get_name() for each in names if each.is_assigned() or each.is_imported()}
        assert names_read(table) - bound == set(), code


@of_every_page
def test_every_name_of_a_script_is_defined_in_it(notebook):
    script = notebook.with_suffix(".py")
    if not script.exists():
        pytest.skip("a page written by hand has no script")
    table = symtable.symtable(script.read_text(encoding="utf-8"), script.name, "exec")
    bound = {each.get_name() for each in table.get_symbols() if each.is_assigned() or each.is_imported()}
    assert names_read(table) - bound - set(dir(builtins)) - {"__name__"} == set()


@of_every_page
def test_no_kernel_is_defined_twice(notebook):
    """Whoever edits the first of two definitions would be left with the second."""
    handed = names_handed(code_cells(notebook))
    names = [name for code in code_cells(notebook) for name in defined(code) if name in handed]
    assert sorted(names) == sorted(set(names))


@of_every_page
def test_a_study_is_handed_all_that_it_uses_and_that_stands_above_it(notebook):
    """What a cell of definitions has, and the kernels of the page's own cells."""
    cells = code_cells(notebook)
    paths, above = {}, set()
    for code in cells:
        paths |= dict(imported(parsed(code)))
        above |= set(defined(code) if is_of_definitions(code) else own_kernels(code))
        for call in studies(parsed(code), paths):
            used = kernels_in(variant.call for variant in called(call, paths)().variants)
            handed = {key.value for each in call.keywords for key in getattr(each.value, "keys", ())}
            assert above & set(used) <= handed, ast.unparse(call.func)


def own_kernels(code):
    functions = [node for node in parsed(code).body if isinstance(node, ast.FunctionDef)]
    decorated = {node.name: [ast.unparse(each) for each in node.decorator_list] for node in functions}
    return [name for name, decorators in decorated.items() if "cuda.jit" in decorators]


def studies(tree, paths):
    """The calls that make a study of the package's; one that is asked for its inputs is left out."""
    asked = [ast.unparse(node.value) for node in ast.walk(tree) if getattr(node, "attr", "") == "make_inputs"]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and root(node.func) in paths and ast.unparse(node) not in asked:
            name = ast.unparse(node.func).rpartition(".")[2]
            full = f"{paths[root(node.func)]}{ast.unparse(node.func).removeprefix(root(node.func))}"
            if full.startswith("gpuguide.topics.") and (full.endswith(".study") or name.endswith("_study")):
                yield node


def called(call, paths):
    """The function that a call names."""
    full = f"{paths[root(call.func)]}{ast.unparse(call.func).removeprefix(root(call.func))}"
    module, _, name = full.rpartition(".")
    return getattr(importlib.import_module(module), name)


@of_every_page
def test_whatever_can_be_edited_is_used_by_a_study_or_by_another_cell(notebook):
    """An edit without effect would let a reader draw the wrong conclusion."""
    cells = code_cells(notebook)
    for code in filter(is_of_definitions, cells):
        for name in defined(code):
            used = [
                node
                for each in cells
                for node in nodes_of(each)
                if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
            ]
            assert used or name in SHOWN_ONLY, name


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
