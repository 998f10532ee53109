"""The examples in the extension's docstrings."""

import ast
import doctest
import importlib
from pathlib import Path

import pytest

import gpuguide_docs

PACKAGE = Path(gpuguide_docs.__file__).parent
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef


def has_examples(file):
    """Tell examples in docstrings from those in texts that the extension writes."""
    text = file.read_text(encoding="utf-8")
    nodes = ast.walk(ast.parse(text)) if ">>> " in text else ()
    return any(">>> " in (ast.get_docstring(node) or "") for node in nodes if isinstance(node, DOCUMENTED))


NAMES = [
    ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
    for file in sorted(PACKAGE.rglob("*.py"))
    if has_examples(file)
]


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_give_what_they_say(name):
    ran = doctest.testmod(importlib.import_module(f"gpuguide_docs.{name}"))
    assert ran.attempted
    assert not ran.failed
