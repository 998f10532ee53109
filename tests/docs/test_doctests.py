"""The examples of the docstrings: all run, none is missing, and Sphinx runs the same ones."""

import ast
import doctest
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import gpuguide

ROOT = Path(__file__).parents[2]
PACKAGE = Path(gpuguide.__file__).parent
# As Sphinx's builder has them by default.
FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL | doctest.DONT_ACCEPT_TRUE_FOR_1


def module_names():
    for path in sorted([*PACKAGE.glob("*.py"), *PACKAGE.glob("topics/*.py")]):
        if path.stem not in ("__init__", "__main__"):
            yield ".".join(("gpuguide", *path.relative_to(PACKAGE).with_suffix("").parts))


MODULES = list(module_names())


def is_public(name):
    return not any(part.startswith("_") for part in name.split("."))


def examples_of(module):
    found = doctest.DocTestFinder().find(import_module(module), module)
    return [test for test in found if test.examples and is_public(test.name.removeprefix(f"{module}."))]


def listed_modules():
    index = (ROOT / "docs" / "api" / "index.rst").read_text(encoding="utf-8")
    names = re.findall(r"^   ([a-z0-9_.]+)$", index, re.MULTILINE)
    return {f"gpuguide.{name}" for name in names if f"gpuguide.{name}" in MODULES}


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_a_module_run(module):
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    report = []
    for test in examples_of(module):
        runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)


def test_every_public_name_has_an_example():
    lacking = [name for name in gpuguide.__all__ if ">>>" not in (getattr(gpuguide, name).__doc__ or "")]
    assert lacking == []


def test_every_launcher_has_an_example():
    lacking = []
    for path in sorted(PACKAGE.glob("topics/*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            launches = (
                re.search(r"_kernel\[", ast.unparse(node)) if isinstance(node, ast.FunctionDef) else None
            )
            if launches and not node.name.startswith("_") and ">>>" not in (ast.get_docstring(node) or ""):
                lacking.append(f"{path.stem}.{node.name}")
    assert lacking == []


def test_the_reference_lists_every_topic():
    assert {module for module in MODULES if ".topics." in module} <= listed_modules()


@pytest.mark.slow
def test_sphinx_runs_the_same_examples(tmp_path):
    """The builder's count is that of the modules, of the public names, and of the pages written by hand."""
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "doctest", "-c", str(ROOT)]
    command += ["-d", str(tmp_path / "doctrees"), str(ROOT / "docs"), str(tmp_path / "out")]
    subprocess.run(command, check=True, timeout=170, capture_output=True)
    output = (tmp_path / "out" / "output.txt").read_text(encoding="utf-8")
    counted = int(re.search(r"^ *(\d+) tests$", output, re.MULTILINE).group(1))

    everything = {test.name: len(test.examples) for module in MODULES for test in examples_of(module)}
    listed = {test.name for module in listed_modules() for test in examples_of(module)}
    expected = sum(count for test, count in everything.items() if test in listed)
    for name in gpuguide.__all__:
        value = getattr(gpuguide, name)
        home = f"{value.__module__}.{value.__qualname__}"
        members = [f"{home}."] if inspect.isclass(value) else []
        expected += sum(
            count for test, count in everything.items() if test == home or test.startswith(tuple(members))
        )
    for page in (ROOT / "docs").glob("*.md"):
        for block in re.findall(r"```\{doctest\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            expected += len(doctest.DocTestParser().get_examples(block))
    assert counted == expected
