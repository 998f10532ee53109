"""The cells of an exercise, alone in a fresh process without a GPU: they judge what a reader wrote."""

import subprocess
import sys

import pytest

from gpuguide.exercises import pool, progress
from gpuguide_docs.downloads.exercise_cells import exercise_cells
from gpuguide_docs.downloads.notebook import notebook_text, script_text

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed here")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed here")

LIGHT = '\n\nimport sys\n\nprint("CuPy:", "cupy" in sys.modules)\n'


@pytest.mark.parametrize("name", ["guard", "count_transfers"])
def test_the_cells_of_a_script_run_alone(name, tmp_path):
    script = script_text(exercise_cells(pool.get(name))) + LIGHT
    (tmp_path / "exercise.py").write_text(script, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "exercise.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith(f"{name}: not yet")
    assert ran.stdout.endswith("CuPy: False\n")


def test_a_notebook_judges_the_readers_own_function(tmp_path, monkeypatch):
    monkeypatch.setenv("GPUGUIDE_PROGRESS", str(tmp_path / "progress.json"))
    exercise = pool.get("guard")
    notebook = nbformat.reads(notebook_text(exercise_cells(exercise), "guard"), as_version=4)
    _, start, check, *_, solution = notebook.cells
    again = {**check, "id": "again"}
    solved = {**start, "id": "solved", "source": exercise.solution}
    # Run all, then check once more: the solution has not taken the start's place. Then with it in there.
    notebook.cells += [nbformat.from_dict(cell) for cell in (again, solved, {**check, "id": "last"})]
    nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    verdicts = [cell.outputs[0].data for cell in notebook.cells if cell.source == check.source]
    assert [verdict["text/plain"].splitlines()[0] for verdict in verdicts] == [
        "guard: not yet",
        "guard: not yet",
        "guard: passed",
    ]
    assert all('class="gpuguide-verdict"' in verdict["text/html"] for verdict in verdicts)
    assert solution.metadata.jupyter.source_hidden
    assert list(progress.read()) == ["guard"]


@pytest.mark.parametrize("name", pool.names())
def test_every_exercise_makes_a_script_and_a_notebook(name):
    cells = exercise_cells(pool.get(name))
    compile(script_text(cells), name, "exec")
    nbformat.validate(nbformat.reads(notebook_text(cells, name), as_version=4))
    for cell in cells:
        if cell.kind == "code":
            compile(cell.text, name, "exec")
