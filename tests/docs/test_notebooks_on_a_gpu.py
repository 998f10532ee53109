"""The downloaded notebooks run on a GPU, and one whose kernel is wrong does not get as far as a time."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOWNLOADS = ROOT / "docs" / "gallery" / "downloads"
NOTEBOOKS = sorted(DOWNLOADS.glob("*.ipynb"))

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.slow,
    pytest.mark.skipif(not NOTEBOOKS, reason="the notebooks are not written: run make html first"),
]

#: Page -> a line of one of its kernels, and what makes it wrong.
FAULTS = {
    "first_kernel": ("        x[i] += 1.0", "        x[i] += 2.0"),
    "how_to_time": ("        out[i] = x[i] + 1.0", "        out[i] = x[i]"),
    "know_your_gpu": ("out[i] = max(first, fifth)", "out[i] = min(first, fifth)"),
    "sort_search": ("out[i] = words[middle]", "out[i] = words[low]"),
}


def run(notebook, tmp_path, fault=None):
    """Run the code cells of a notebook in order, in a process of their own, as a reader would."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    codes = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    if fault:
        # The cell of a tested kernel ends by putting it into the topic; bare cells do not.
        place = next((i for i, code in enumerate(codes) if fault[0] in code and "vars(" in code), None)
        assert place is not None, f"{notebook.name} has no line {fault[0]!r} any more"
        codes[place] = codes[place].replace(*fault)
    code = "\n\n".join(codes)
    script = tmp_path / f"{notebook.stem}.py"
    script.write_text(code, encoding="utf-8")
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
    ran = run(notebook, tmp_path)
    assert ran.returncode == 0, ran.stderr[-2000:]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_kernel_edited_to_be_wrong_raises_mismatch_error(notebook, tmp_path):
    ran = run(notebook, tmp_path, FAULTS[notebook.stem])
    assert ran.returncode != 0
    assert "MismatchError" in ran.stderr, ran.stderr[-2000:]
