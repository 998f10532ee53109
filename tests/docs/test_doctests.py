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
from gpuguide import exercises
from gpuguide.exercises import trace

ROOT = Path(__file__).parents[2]
PACKAGE = Path(gpuguide.__file__).parent
# As Sphinx's builder has them by default.
FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL | doctest.DONT_ACCEPT_TRUE_FOR_1


def module_names():
    """Every module that holds an example; the texts that readers start from and compare with are none."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.stem not in ("stub", "solution") and ">>> " in path.read_text(encoding="utf-8"):
            parts = path.relative_to(PACKAGE).with_suffix("").parts
            yield ".".join(("gpuguide", *(part for part in parts if part != "__init__")))


MODULES = list(module_names())
TOPICS = {f"gpuguide.topics.{path.stem}" for path in PACKAGE.glob("topics/[!_]*.py")}


def is_public(name):
    return not any(part.startswith("_") for part in name.split("."))


def examples_of(module):
    found = doctest.DocTestFinder().find(import_module(module), module)
    return [test for test in found if test.examples and is_public(test.name.removeprefix(f"{module}."))]


def listed_names():
    """What the reference lists, by full names and in its order."""
    package = ""
    for line in (ROOT / "docs" / "api" / "index.rst").read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            package = line.split()[-1]
        elif re.fullmatch(r"   [A-Za-z0-9_.]+", line):
            yield f"{package}.{line.strip()}"


def listed_objects():
    """Of these the ones that are no modules, by their names in the reference."""
    for name in listed_names():
        module, _, attribute = name.rpartition(".")
        value = getattr(import_module(module), attribute, None)  # None: a module that nobody imported yet
        if value is not None and not inspect.ismodule(value):
            yield name, value


def listed_homes():
    """Where each of the listed names is defined, which is where its examples are found."""
    objects = dict(listed_objects())
    for name in listed_names():
        yield f"{objects[name].__module__}.{objects[name].__qualname__}" if name in objects else name


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_a_module_run(module, monkeypatch, tmp_path):
    monkeypatch.setenv("GPUGUIDE_PROGRESS", str(tmp_path / "progress.json"))
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    report = []
    for test in doctest.DocTestFinder().find(import_module(module), module):
        runner.run(test, out=report.append)
    assert runner.tries
    assert runner.failures == 0, "".join(report)


def test_every_public_name_is_listed():
    packages = (gpuguide, exercises, trace)
    public = {f"{package.__name__}.{name}" for package in packages for name in package.__all__}
    assert public - {name for name, _ in listed_objects()} == set()


def test_every_topic_is_listed():
    assert TOPICS - set(listed_names()) == set()


def test_every_listed_name_has_an_example():
    assert [name for name, value in listed_objects() if ">>> " not in (value.__doc__ or "")] == []


def launches(function):
    """Whether a function launches a kernel: kernel[blocks_per_grid, threads_per_block, ...](...)."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Subscript)
        and isinstance(node.func.slice, ast.Tuple)
        for node in ast.walk(function)
    )


def test_every_launcher_has_an_example():
    launchers, lacking = 0, []
    for path in sorted(PACKAGE.glob("topics/*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and is_public(node.name) and launches(node):
                launchers += 1
                if ">>> " not in (ast.get_docstring(node) or ""):
                    lacking.append(f"{path.stem}.{node.name}")
    assert launchers
    assert lacking == []


@pytest.mark.slow
def test_sphinx_runs_the_same_examples(tmp_path):
    """The builder's count is that of what the reference lists, and of the pages written by hand."""
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "doctest", "-c", str(ROOT)]
    command += ["-d", str(tmp_path / "doctrees"), str(ROOT / "docs"), str(tmp_path / "out")]
    subprocess.run(command, check=True, timeout=170, capture_output=True)
    output = (tmp_path / "out" / "output.txt").read_text(encoding="utf-8")
    counted = int(re.search(r"^ *(\d+) tests$", output, re.MULTILINE).group(1))

    counts = {test.name: len(test.examples) for module in MODULES for test in examples_of(module)}
    expected = 0
    for home in listed_homes():
        expected += sum(n for test, n in counts.items() if f"{test}.".startswith(f"{home}."))
    for page in (ROOT / "docs").glob("*.md"):
        for block in re.findall(r"```\{doctest\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            expected += len(doctest.DocTestParser().get_examples(block))
    assert counted == expected
