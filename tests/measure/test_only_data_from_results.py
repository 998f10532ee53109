"""What `results` computes decides nothing that is recorded: `measure` takes data classes and their fields.

Only `measure` is part of the measuring key. A statistic of `results` that decided when to stop, or wrote a
note into a recording, could be changed without any page becoming stale.
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

ROOM = Path(gpuguide.measure.__file__).parent
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
