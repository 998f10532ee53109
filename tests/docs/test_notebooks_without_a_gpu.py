"""Each downloaded notebook runs from top to bottom without a GPU, as its first cell promises."""

import json
import os
import subprocess
import sys

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed here")
pytest.importorskip("IPython", reason="IPython is not installed here")

from notebooks import NOT_BUILT, NOTEBOOKS, code_cells  # noqa: E402

pytestmark = pytest.mark.skipif(not NOTEBOOKS, reason=NOT_BUILT)

#: Needs CuPy alone, and says so: there is no package to skip its cells.
NEEDS_CUPY = "five_minutes"
#: Hides CuPy, measures briefly and small, and prints each cell that fails.
PROGRAM = """
import json, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

sys.modules.update(cupy=None, cupyx=None)
from IPython.core.interactiveshell import InteractiveShell
from gpuguide.measure.study import Study

run = Study.run
Study.run = lambda study, **_: run(study, quick=True, sizes=[n for n in study.sizes if n <= 2**24])
shell = InteractiveShell.instance(colors="nocolor")
at_first = list(shell.input_transformers_cleanup)
for notebook, cells in json.load(sys.stdin).items():
    shell.reset()
    shell.input_transformers_cleanup[:] = at_first
    for cell in cells:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            ran = shell.run_cell(cell)
        if not ran.success:
            print(f"{notebook}: {ran.error_before_exec or ran.error_in_exec!r} in:\\n{cell}\\n")
            break
"""


def test_every_notebook_runs_without_a_gpu(tmp_path):
    cells = {path.stem: code_cells(path) for path in NOTEBOOKS if path.stem != NEEDS_CUPY}
    progress = str(tmp_path / "progress.json")
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(cells),
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
        env={**os.environ, "MPLBACKEND": "agg", "GPUGUIDE_PROGRESS": progress},
        cwd=tmp_path,
    )
    assert ran.stdout == ""
