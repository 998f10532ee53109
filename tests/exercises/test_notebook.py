"""A notebook without a GPU: it says so once, and its exercise runs."""

import subprocess
import sys

import pytest

from gpuguide.errors import UnknownNameError
from gpuguide.exercises import lanes, notebook, skip_without_gpu
from gpuguide.exercises.pool import get
from gpuguide.machine.backends import has_gpu

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed here")
v4 = pytest.importorskip("nbformat.v4", reason="nbformat is not installed here")

SKIP = 'import gpuguide.exercises\n\ngpuguide.exercises.skip_without_gpu("guard")'
CHECK = 'import gpuguide.exercises\n\ngpuguide.exercises.check("guard", maximum_kernel)'
NEEDS_A_GPU = ["import no_such_cupy as cp", "x = no_such_cupy.ones(5)\nprint(x)", "results = study()"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("GPUGUIDE_PROGRESS", str(tmp_path / "progress.json"))

    def run(*cells):
        made = v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in cells])
        nbclient.NotebookClient(
            made, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
        ).execute()
        return [cell.outputs for cell in made.cells]

    return run


@pytest.mark.skipif(has_gpu(), reason="is about computers without a GPU")
def test_all_cells_run_and_only_the_exercise_does_something(run):
    own = "@cuda.jit(device=True)\ndef larger(a, b):\n    return a if a > b else b"
    said, *quiet, defined, stub, checked, later, tried = run(
        SKIP, *NEEDS_A_GPU, f"from numba import cuda\n\n{own}", get("guard").stub, CHECK,
        "gg.claim(results)", "print(maximum_kernel.__name__)",
    )  # fmt: skip
    assert len(said) == 1
    assert said[0].text.endswith("The exercise needs none: change and check maximum_kernel.\n")
    assert quiet == [[]] * len(NEEDS_A_GPU)
    assert (defined, stub, later) == ([], [], [])
    assert checked[0].data["text/plain"].startswith("guard: not yet")
    assert tried[0].text == "maximum_kernel\n"


@pytest.mark.skipif(has_gpu(), reason="is about computers without a GPU")
def test_the_cell_may_be_run_again(run):
    assert run(SKIP, SKIP, "1 + 1", "%env\n")[2] == []


def test_with_a_gpu_nothing_is_said_or_skipped(monkeypatch, capsys):
    monkeypatch.setattr(lanes, "require_gpu", lambda: None)
    skip_without_gpu("guard")
    assert capsys.readouterr().out == ""


def test_a_script_ends_with_the_reason(monkeypatch):
    monkeypatch.setattr(notebook, "why_no_gpu", lambda: "No GPU.")
    with pytest.raises(
        SystemExit, match=r"^No GPU\.\nThe exercise needs none: gpuguide exercises start guard$"
    ):
        skip_without_gpu("guard")
    with pytest.raises(UnknownNameError, match="no_such"):
        skip_without_gpu("no_such")


@pytest.mark.parametrize(
    ("cell", "left"),
    [
        ("import numpy as np\n", True),
        ("import no_such_module\n", False),
        ("from no_such_module import a\n", False),
        ("def f(x):\n    return x\n", True),
        ("@cuda.jit\ndef f(x):\n    x[0] = 1\n", True),
        ("@vectorize(['float64(float64)'], target='cuda')\ndef f(x):\n    return x\n", False),
        ("x = 1\n", False),
        ("x = (\n", True),
        ("larger = maximum_kernel\n", True),
        ("def twice(x):\n    return maximum_kernel(x)\ntwice(1)\n", True),
        ("from gpuguide.exercises import check\ncheck('guard', 1)\n", True),
        ("maximum_kernel = 1\nprint(maximum_kernel)\n", False),
        ("x = y.maximum_kernel  # maximum_kernel\n", False),
    ],
)
def test_what_a_cell_needs_is_read_from_its_code(cell, left):
    lines = cell.splitlines(keepends=True)
    assert notebook._Skip(["maximum_kernel"])(lines) == (lines if left else [])


@pytest.mark.skipif(has_gpu(), reason="is about computers without a GPU")
def test_it_is_quick_where_there_is_no_gpu():
    code = "import sys; from gpuguide.exercises import skip_without_gpu\n"
    code += "try: skip_without_gpu('guard')\nexcept SystemExit: print('cupy' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout == "False\n"
