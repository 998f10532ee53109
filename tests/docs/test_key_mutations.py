"""No function can change what is recorded under an unchanged key: each is changed, and the page recorded.

Folders say what counts (`gpuguide.recordings.keys.MEASURING_ROOMS`); behaviour says whether they are right.
"""

from __future__ import annotations

import ast
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from mini_project import REPOSITORY, write_project

from gpuguide.recordings.keys import recorded_cells
from warm_python import COMPILED_ONCE

LAB_FAKES = '''\
"""A host and a GPU whose times are the same in every run, and differ from sample to sample."""

from fake_clock import FakeGpu, FakeHost

HOST = FakeHost()
GPU = FakeGpu(HOST)
STATE = [1]


def jitter():
    """Return the next number of nanoseconds of a fixed sequence."""
    STATE[0] = (STATE[0] * 1103515245 + 12345) % 2**31
    return STATE[0] % 3000
'''

LAB = '''\
"""A study on the fake machine."""

import numpy as np

from gpuguide.measure.plan import Variant
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.lab import fakes

KERNEL = fakes.GPU.kernel(100_000)


def add_kernel(x, out):
    """Add one on the GPU."""
    KERNEL()
    if fakes.GPU.recording is None:
        fakes.HOST.advance(fakes.jitter())
    np.add(x, 1, out=out)


def add_numpy(x, out):
    """Add one with NumPy."""
    fakes.HOST.advance(2_000_000 + x.size + fakes.jitter())
    np.add(x, 1, out=out)


def inputs(n, dtype, rng, exact):
    """Make small whole numbers, or random ones."""
    return (rng.integers(-8, 8, n).astype(dtype) if exact else rng.random(n).astype(dtype),)


def traffic(n, dtype):
    """Count bytes read and written."""
    return Traffic(n * dtype.itemsize, n * dtype.itemsize, n)


def study():
    """Compare two ways to add one."""
    return Study(
        name="add",
        title="Add one",
        variants=(
            Variant("kernel", add_kernel, traffic=traffic),
            Variant("numpy", add_numpy, device="cpu", clock="host", traffic=traffic),
        ),
        sizes=(1000, 4096),
        inputs=inputs,
        reference=lambda x: x + 1,
        baseline="numpy",
    )
'''

PAGE = '''\
"""
Adding one
==========

How long does it take?
"""

# %%
# By hand.

import numpy as np

import gpuguide as gg

print(np.arange(4).sum(), "\\x1b[31mred\\x1b[0m", "\\t|")

# %%
# Measured.

from gpuguide.topics.lab import study

results = study.study().run()
print(results.sizes, [info.name for info in results.variants])
results

# %%
# What was compared.

study.study()

# %%
# Two facts.

gg.fact("first_s", np.float64(0.5), unit="s", samples=(0.4, 0.6), note="By hand.")
gg.fact("answer", 42, unit="1")
np.float64(0.5)

# %%
# Drawn.

# draw
gg.plot_time(results)
'''

ENTRY = """
[[page]]
section = "start"
name = "lab"
title = "Adding one"
question = "How long does it take?"
kind = "tutorial"
level = "beginner"
needs = { gpus = 0 }
objectives = ["Add one", "Read a chart"]
"""

CEILINGS = json.dumps(
    {
        "items": [
            {"mix": mix, "value": value, "unit": unit, "samples_ns": [5, 7], "work": 8, "kernel": "four"}
            for mix, value, unit in (
                ("read", 4.5e12, "B/s"),
                ("copy", 4.25e12, "B/s"),
                ("write", 4.0e12, "B/s"),
                ("fp32", 6.0e13, "FLOP/s"),
                ("launch", 2.5e-6, "s"),
            )
        ]
    }
)

ALL = "GPUGUIDE_ALL_MUTANTS"


class Lab:
    """A project with one page on a fake machine, and the script that tries mutants on it."""

    def __init__(self, root: Path) -> None:
        self.project = write_project(root)
        files = {
            "src/gpuguide/topics/lab/__init__.py": '"""A topic on a fake machine."""\n',
            "src/gpuguide/topics/lab/fakes.py": LAB_FAKES,
            "src/gpuguide/topics/lab/study.py": LAB,
            "examples/start/lab.py": PAGE,
            "ceilings.json": CEILINGS,
        }
        for name, text in files.items():
            (self.project.root / name).parent.mkdir(exist_ok=True)
            (self.project.root / name).write_text(text)
        entries = self.project.layout.pages_toml
        entries.write_text(entries.read_text() + ENTRY)

    def tried(self, only: str, n_each: str, n_counted: str) -> dict[str, Any]:
        """Report on mutants: see `recording_mutants.main`."""
        out = self.project.root / "report.json"
        script = REPOSITORY / "tests" / "docs" / "recording_mutants.py"
        paths = [self.project.root / "docs" / "_ext", self.project.root / "src", REPOSITORY / "tests"]
        paths.append(Path(COMPILED_ONCE))
        ran = self.project.run(
            *(str(script), str(out), only, n_each, n_counted),
            timeout_s=3600,
            PYTHONPATH=os.pathsep.join(map(str, paths)),
            OPENBLAS_NUM_THREADS="1",
        )
        assert ran.code == 0, ran.output
        return json.loads(out.read_text())


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "mini")


def findings(report: dict[str, Any]) -> list[str]:
    return [f"{each['function']}, {each['change']}: {each['difference']}" for each in report["findings"]]


def test_what_changes_a_recording_changes_its_key(lab: Lab) -> None:
    """A bounded choice of changes, the same in every run, of every function that runs."""
    report = lab.tried("", "2", "6")
    assert len(report["functions"]) > 200, "functions of all rooms run"
    assert report["n_recorded"] > 100
    assert report["n_refused"] > report["n_recorded"] // 5, (
        "many changes end in an error, so they do something"
    )
    assert not findings(report), "\n".join(["", *findings(report)])


@pytest.mark.skipif(not os.environ.get(ALL), reason=f"takes minutes; {ALL}=1 tries every change")
def test_no_change_at_all_slips_through(lab: Lab) -> None:
    report = lab.tried("", "all", "all")
    assert not findings(report), "\n".join(["", *findings(report)])


def test_a_number_that_a_room_outside_the_key_computes_is_found(lab: Lab) -> None:
    """A study's median would be of another formula tomorrow, under the same key."""
    lab.project.edit(
        "examples/start/lab.py", "np.float64(0.5), unit", "results.measurements[0].median_s, unit"
    )
    found = findings(lab.tried("gpuguide.results.statistics", "all", "all"))
    assert any(each.startswith("gpuguide.results.statistics.quartiles, ") for each in found), found
    assert any("facts.first_s.value" in each for each in found), found


def test_a_change_in_a_room_of_the_key_is_noticed(lab: Lab) -> None:
    report = lab.tried("gpuguide.measure.timing", "1", "all")
    assert report["n_counted"] > 10
    assert report["n_recorded"] <= report["n_counted"] // 4, "the key sees all but messages"
    assert not findings(report)


# Recorded cells and topics -------------------------------------------------------------------------------


@cache
def computed_of_results() -> set[str]:
    """Names of what the classes of `results` compute, but for those that mean something else elsewhere.

    CuPy has `get` and `array`, a peer has `n_bytes`, and an occupancy has a `share`.
    """
    fields, computed = set(), set()
    for path in (REPOSITORY / "src/gpuguide/results").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                fields |= {each.target.id for each in node.body if isinstance(each, ast.AnnAssign)}
                computed |= {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
    names = computed - fields - {"get", "array", "n_bytes", "share"}
    return {name for name in names if not name.startswith("_")}


def uses(code: str) -> set[str]:
    nodes = list(ast.walk(ast.parse(code)))
    # A function of a module may have the name of a method of results.
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = {alias.asname or alias.name for node in imports for alias in node.names}
    attributes = {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute)
        and not (isinstance(node.value, ast.Name) and node.value.id in modules)
    }
    return attributes & computed_of_results()


def test_a_function_of_a_module_is_no_method_of_results() -> None:
    assert uses("from here import study\nstudy.longest()") == set()
    assert uses("from here import results as study\nother.longest()") == {"longest"}


def test_topics_compute_nothing_by_functions_of_results() -> None:
    """Another formula would change facts of a page under the same key."""
    assert "median_s" in computed_of_results()
    found = {
        path.name: used
        for path in (REPOSITORY / "src/gpuguide/topics").rglob("*.py")
        if (used := uses(path.read_text(encoding="utf-8")))
    }
    assert not found


def test_recorded_cells_keep_and_print_only_data_of_results() -> None:
    found = {
        f"{path.name}, cell {i}": used
        for path in (REPOSITORY / "examples").rglob("*.py")
        for i, cell in enumerate(recorded_cells(path.read_text(encoding="utf-8")), start=1)
        if (used := uses(cell))
    }
    assert not found
