"""What `results` computes decides nothing that is recorded: those who measure take its data alone.

They are part of the harness, and `results` is not. A statistic of `results` that decided when to stop, or
wrote a fact into a recording, could be changed and nobody would be asked.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import types
from importlib import import_module
from pathlib import Path

import pytest

import gpuguide.measure
from gpuguide.recordings.keys import recorded_cells

ROOM = Path(gpuguide.measure.__file__).parent
REPOSITORY = Path(__file__).parents[2]
MODULES = sorted(ROOM.glob("*.py"))
# Names that dictionaries, or classes of measure itself, use for something of their own.
SHARED = {"array", "get", "measurement", "n_bytes", "variant"}
# What a notebook shows of a study: a recording stores the description itself.
SHOWN = {("study", "html")}


def taken(path):
    """The objects that a module imports from results, by name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gpuguide.results"):
            for alias in node.names:
                yield alias.name, getattr(import_module(node.module), alias.name)
        if isinstance(node, ast.Import):
            assert not any(alias.name.startswith("gpuguide.results") for alias in node.names)


def computed():
    """Names of what the data classes that measure takes work out: their methods and properties."""
    classes = {thing for path in MODULES for _, thing in taken(path)}
    kinds = (types.FunctionType, classmethod, staticmethod, property, functools.cached_property)
    return {
        name
        for cls in classes
        for name, attribute in vars(cls).items()
        if isinstance(attribute, kinds) and not name.startswith("__")
    }


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_imports_only_data_classes(path):
    functions = [name for name, thing in taken(path) if not dataclasses.is_dataclass(thing)]
    assert functions == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_uses_nothing_that_they_compute(path):
    names = computed() - SHARED
    assert {"median_s", "bytes_total", "for_traffic"} <= names
    used = [
        f"line {node.lineno}: {node.attr}"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in names and (path.stem, node.attr) not in SHOWN
    ]
    assert used == []


def computed_of_results():
    """Names of what the classes of `results` compute, but for those that mean something else elsewhere.

    CuPy has `get` and `array`, a peer has `n_bytes`, and an occupancy has a `share`.
    """
    fields, methods = set(), set()
    for path in (ROOM.parent / "results").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                fields |= {item.target.id for item in node.body if isinstance(item, ast.AnnAssign)}
                methods |= {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
    names = methods - fields - {"get", "array", "n_bytes", "share"}
    return {name for name in names if not name.startswith("_")}


def test_topics_and_recorded_cells_use_nothing_that_results_compute():
    """Another formula would change facts of a page under the same key."""
    names = computed_of_results()
    assert "median_s" in names
    sources = {path.name: path.read_text(encoding="utf-8") for path in (ROOM.parent / "topics").rglob("*.py")}
    for path in (REPOSITORY / "examples").rglob("*.py"):
        cells = recorded_cells(path.read_text(encoding="utf-8"))
        sources |= {f"{path.name}, cell {i}": cell for i, cell in enumerate(cells, start=1)}
    used = {}
    for name, source in sources.items():
        nodes = list(ast.walk(ast.parse(source)))
        imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
        # A function of a module may have the name of a method of results.
        modules = {alias.asname or alias.name for node in imports for alias in node.names}
        used[name] = names & {
            node.attr
            for node in nodes
            if isinstance(node, ast.Attribute)
            and not (isinstance(node.value, ast.Name) and node.value.id in modules)
        }
    assert {name: found for name, found in used.items() if found} == {}
