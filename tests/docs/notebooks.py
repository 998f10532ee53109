"""The notebooks that were built, their cells, and faults to put into them."""

import ast
from pathlib import Path

import nbformat

from gpuguide_docs.downloads.downloads import DOWNLOADS

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / DOWNLOADS).glob("*.ipynb"))
NOT_BUILT = "the notebooks are not written: run make html first"

#: Page -> a line of one of its kernels, and what makes it wrong.
FAULTS = {
    "first_kernel": ("        x[i] += 1.0", "        x[i] += 2.0"),
    "how_to_time": ("        out[i] = x[i] + 1.0", "        out[i] = x[i]"),
    "know_your_gpu": ("out[i] = max(first, fifth)", "out[i] = min(first, fifth)"),
    "sort_search": ("out[i] = words[middle]", "out[i] = words[low]"),
    "why_gpu": ("total = total * x[i] + COEFFICIENTS[k]", "total = total + x[i] + COEFFICIENTS[k]"),
    "benchmark_well": ("        out[i] = larger(a[i], b[i])", "        out[i] = a[i]"),
    "maximum_cpu": ("out[i, j, k] = larger(a[i, j, k], b[i, j, k])", "out[i, j, k] = a[i, j, k]"),
    "compile_cost": ("a[i, j, k] if a[i, j, k] > b[i, j, k] else b[i, j, k]", "a[i, j, k]"),
    "ufuncs": ("    return a if a > b else b", "    return a if a < b else b"),
    "grids_2d_3d": ("        x[row, col] += 1.0", "        x[row, col] += 2.0"),
    "launch_sizes": ("        out[i] = larger(a[i], b[i])", "        out[i] = a[i]"),
    "launch_overhead": ("max(a[i], b[i], c[i], d[i], e[i], f[i], g[i])", "a[i] + b[i] + 1"),
    "primes": ("= packed_word(crossed, word, left)", "= packed_word(crossed, word, left) + 1"),
    "numba_types": ("level = (level + 2.5) * kept[i]", "level = (level + 3.5) * kept[i]"),
    "divergence": ("out[i] = turn_recipe(x[i])", "out[i] = shift_recipe(x[i])"),
}
#: Pages that call no kernel of the package.
WITHOUT_KERNELS = {"five_minutes"}
WITH_KERNELS = [path for path in NOTEBOOKS if path.stem not in WITHOUT_KERNELS]


def code_cells(notebook: Path) -> list[str]:
    """The code of a notebook, without the solutions of its exercises, which are folded away."""
    cells = nbformat.read(notebook, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "code" and not cell.metadata]


def is_of_definitions(code: str) -> bool:
    """Whether a cell holds what the page shows of a topic: it does nothing but import and define."""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    body = ast.parse(code).body
    inert = all(
        isinstance(each, kinds) or (isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant))
        for each in body
    )
    return inert and not all(isinstance(each, ast.Import | ast.ImportFrom) for each in body)


def defined(code: str) -> list[str]:
    """The names that a cell of definitions defines."""
    names = []
    for each in ast.parse(code).body:
        if isinstance(each, ast.FunctionDef | ast.ClassDef):
            names.append(each.name)
        elif isinstance(each, ast.Assign):
            names += [target.id for target in each.targets]
    return names


def with_fault(cells: list[str], notebook: Path) -> list[str]:
    """The cells with a mistake in one of the page's kernels."""
    right, wrong = FAULTS[notebook.stem]
    places = [i for i, code in enumerate(cells) if right in code and is_of_definitions(code)]
    assert places, f"{notebook.name} has no line {right!r} any more"
    return [code.replace(right, wrong) if i == places[0] else code for i, code in enumerate(cells)]
