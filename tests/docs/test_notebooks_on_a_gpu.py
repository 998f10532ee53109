"""The downloaded notebooks run on a GPU, and one whose kernel is wrong does not get as far as a time."""

import os
import subprocess
import sys

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed here")

from notebooks import NOT_BUILT, NOTEBOOKS, UNSEEN, WITH_KERNELS, code_cells, mistakes  # noqa: E402

pytestmark = [pytest.mark.gpu, pytest.mark.slow, pytest.mark.skipif(not NOTEBOOKS, reason=NOT_BUILT)]


def run(notebook, cells, tmp_path):
    """Run the code cells of a notebook in order, in a process of their own, as a reader would."""
    script = tmp_path / f"{notebook.stem}.py"
    script.write_text("\n\n".join(cells), encoding="utf-8")
    environment = {**os.environ, "MPLBACKEND": "agg"}
    return subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=170,
        env=environment,
        cwd=tmp_path,
    )


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_from_top_to_bottom(notebook, tmp_path):
    ran = run(notebook, code_cells(notebook), tmp_path)
    assert ran.returncode == 0, ran.stderr[-2000:]


@pytest.mark.parametrize("notebook", WITH_KERNELS, ids=lambda path: path.stem)
def test_a_kernel_edited_to_be_wrong_raises_mismatch_error(notebook, tmp_path):
    wrong = mistakes(code_cells(notebook))
    kernel = next(name for name in wrong if name not in UNSEEN)
    ran = run(notebook, wrong[kernel], tmp_path)
    assert ran.returncode != 0
    assert "MismatchError" in ran.stderr, ran.stderr[-2000:]
