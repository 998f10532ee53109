"""The examples in the extension's docstrings."""

import doctest
import importlib
from pathlib import Path

import pytest

import gpuguide_docs

FILES = sorted(Path(gpuguide_docs.__file__).parent.rglob("*.py"))
PACKAGE = Path(gpuguide_docs.__file__).parent
NAMES = [
    ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
    for file in FILES
    if ">>> " in file.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_give_what_they_say(name):
    ran = doctest.testmod(importlib.import_module(f"gpuguide_docs.{name}"))
    assert ran.attempted
    assert not ran.failed
