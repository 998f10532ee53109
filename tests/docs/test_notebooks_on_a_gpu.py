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
    "why_gpu": ("total = total * x[i] + COEFFICIENTS[k]", "total = total + x[i] + COEFFICIENTS[k]"),
    "benchmark_well": ("        out[i] = larger(a[i], b[i])", "        out[i] = a[i]"),
    "maximum_cpu": ("out[i, j, k] = larger(a[i, j, k], b[i, j, k])", "out[i, j, k] = a[i, j, k]"),
    "compile_cost": ("a[i, j, k] if a[i, j, k] > b[i, j, k] else b[i, j, k]", "a[i, j, k]"),
    "ufuncs": ("    return a if a > b else b", "    return a if a < b else b"),
    "grids_2d_3d": ("        x[row, col] += 1.0", "        x[row, col] += 2.0"),
    "launch_sizes": ("        out[i] = larger(a[i], b[i])", "        out[i] = a[i]"),
    "launch_overhead": ("max(a[i], b[i], c[i], d[i], e[i], f[i], g[i])", "a[i] + b[i] + 1"),
    "primes": ("= packed_word(crossed, word, left)", "= packed_word(crossed, word, left) + 1"),
    "numba_types": ("level = (level + 2.5) * kept[i]", "level = (level + 3.5) * kept[i]"),
    "divergence": ("out[i] = turn_recipe(x[i])", "out[i] = shift_recipe(x[i])"),
}
#: Pages that call no kernel of the package.
WITHOUT_KERNELS = {"five_minutes"}
WITH_KERNELS = [path for path in NOTEBOOKS if path.stem not in WITHOUT_KERNELS]


def run(notebook, tmp_path, fault=None):
    """Run the code cells of a notebook in order, in a process of their own, as a reader would."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    codes = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    if fault:
        # The cell of a tested kernel ends by putting it into the topic; bare cells do not.
        place = next((i for i, code in enumerate(codes) if fault[0] in code and "use_instead(" in code), None)
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


@pytest.mark.parametrize("notebook", WITH_KERNELS, ids=lambda path: path.stem)
def test_a_kernel_edited_to_be_wrong_raises_mismatch_error(notebook, tmp_path):
    ran = run(notebook, tmp_path, FAULTS[notebook.stem])
    assert ran.returncode != 0
    assert "MismatchError" in ran.stderr, ran.stderr[-2000:]
