"""The examples of the docstrings: all run, none is missing, and Sphinx runs the same ones."""

import doctest
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import gpuguide
from gpuguide import exercises

ROOT = Path(__file__).parents[2]
PACKAGE = Path(gpuguide.__file__).parent
# As Sphinx's builder has them by default.
FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL | doctest.DONT_ACCEPT_TRUE_FOR_1


def module_names():
    """Every module that holds an example; the texts that readers start from and compare with are none."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.stem not in ("start", "solution") and ">>> " in path.read_text(encoding="utf-8"):
            parts = path.relative_to(PACKAGE).with_suffix("").parts
            yield ".".join(("gpuguide", *(part for part in parts if part != "__init__")))


MODULES = list(module_names())
TOPICS = {f"gpuguide.topics.{path.parent.name}" for path in PACKAGE.glob("topics/*/[!_]*.py")}


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
    packages = (gpuguide, exercises)
    public = {f"{package.__name__}.{name}" for package in packages for name in package.__all__}
    assert public - {name for name, _ in listed_objects()} == set()


def test_every_topic_is_listed():
    assert TOPICS - set(listed_names()) == set()


def test_every_listed_name_has_an_example():
    assert [name for name, value in listed_objects() if ">>> " not in (value.__doc__ or "")] == []


def examples_listed():
    """How many examples stand behind each name that the reference lists, by Sphinx's name of its page."""
    counts = {
        f"{test.name}.": sum(doctest.SKIP not in example.options for example in test.examples)
        for module in MODULES
        for test in examples_of(module)
    }
    objects = dict(listed_objects())
    for name in listed_names():
        if name in objects:
            home, elsewhere = f"{objects[name].__module__}.{objects[name].__qualname__}.", ()
        else:
            # What is public stands on a page of its own and not on that of its module.
            homes = (f"gpuguide.{module}.{public}." for module, public in gpuguide._HOMES.values())
            home, elsewhere = f"{name}.", tuple(homes)
        own = (n for test, n in counts.items() if test.startswith(home) and not test.startswith(elsewhere))
        yield f"api/generated/{name}", sum(own)


def test_sphinx_ran_the_same_examples(request):
    """Page by page, what the reference lists; hand-written pages may have more."""
    output = request.config.getoption("--sphinx-examples")
    if output is None:
        pytest.skip("`make doctest` lets Sphinx run the examples, and this test compare them")
    pages = re.split(r"^Document: (.+)$", Path(output).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    ran = {
        page: int(re.search(r"^ *(\d+) tests? in default$", said, re.MULTILINE)[1])
        for page, said in zip(pages[::2], pages[1::2], strict=True)
        if page.startswith("api/")
    }
    assert ran == {page: n for page, n in examples_listed() if n}
