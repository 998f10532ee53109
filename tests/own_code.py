"""Import this, and what the guide's own modules are made of is at hand, though they are not loaded.

Each copied project has these modules in a folder of its own and imports them from there. Most of that is
reading their code and compiling patterns and the methods of data classes, which is the same for all copies.
"""

import dataclasses
import importlib
import sys
from functools import cache
from pathlib import Path

import sitecustomize

ROOT = Path(__file__).resolve().parents[1]
OWN = ("gpuguide", "gpuguide_docs")


@cache
def compiled(text):
    return compile(text, "<string>", "exec")


def run_compiled(text, *namespaces):
    """Take the place of `exec` where methods of data classes are made."""
    exec(compiled(text), *namespaces)


def forget_own() -> list:
    """Make this Python import the guide's own modules anew; return those that were loaded."""
    names = [name for name in sys.modules if name.partition(".")[0] in OWN]
    return [sys.modules.pop(name) for name in names]


def keep_code() -> None:
    path = sys.path[:]
    sys.path[:0] = [str(ROOT / "docs" / "_ext"), str(ROOT / "src")]
    extension = importlib.import_module("gpuguide_docs.extension")
    for name in extension.MODULES:
        importlib.import_module(f"gpuguide_docs.{name}")
    sys.path[:] = path
    for module in forget_own():
        sitecustomize.keep(module)


dataclasses.exec = run_compiled
keep_code()
