"""`gpuguide trace script.py` runs a whole script without a GPU."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gpuguide import cli

SCRIPT = """\
import sys
import numpy as np
import cupy as cp
from numba import cuda, vectorize

@vectorize
def larger(a, b):
    return a if a > b else b

@cuda.jit
def double(x, out):
    i = cuda.grid(1)
    out[i] = x[i] + x[i]

x = cp.arange(100, dtype=cp.float32)
out = cp.empty_like(x)
for _ in range(2):
    double[1, 100](x, out)
print("sum", float(out.sum()), cp.asnumpy(larger(out, x)).max(), type(out + 1).__module__, sys.argv[1:])
if __name__ == "__main__":
    double[4, 32](cuda.to_device(np.ones(100, np.float32)), out)
"""


def run(tmp_path: Path, source: str, *arguments: str) -> int:
    path = tmp_path / "script.py"
    path.write_text(source, encoding="utf-8")
    return cli.main(["trace", str(path), *arguments])


@pytest.mark.parametrize("successor", ["", "; from numba_cuda_mlir import cuda"])
def test_each_launch_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str], successor: str) -> None:
    """With the import of either compiler; the successor need not be installed."""
    before = sys.modules.get("numba")
    script = SCRIPT.replace("cuda, vectorize\n", f"vectorize{successor}\n") if successor else SCRIPT
    assert run(tmp_path, script, "given") == 1
    out = capsys.readouterr().out
    assert out.count("script.py, line 18: double, 1 block of 100 threads: no findings") == 1
    assert "sum 9900.0 198.0 cupy ['given']" in out
    assert (
        "script.py, line 21: double, 4 blocks of 32 threads: 1 finding\n\n  Thread 4 of block 3 reads x[100]"
        in out
    )
    assert out.endswith("3 launches, 1 has findings.\n")
    assert sys.modules.get("numba") is before


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (
            "import cupy\ncupy.RawKernel('', '')",
            "script.py ended in line 2 with UnsupportedError: cupy.RawKernel",
        ),
        ("from numba import cuda\ncuda.cg", "cuda.cg is not known to the tracer"),
        ("1 / 0", "script.py ended in line 1 with ZeroDivisionError"),
        (
            "from numba import cuda\n@cuda.jit\ndef add(a):\n    a[0] = 1\nadd([0])",
            "script.py ended in line 5 with ValueError: a launch of add needs blocks and threads",
        ),
        ("print('here')", "script.py launches no kernel."),
    ],
)
def test_what_ends_a_script_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: str, text: str
) -> None:
    run(tmp_path, source)
    assert text in capsys.readouterr().out


def test_a_missing_script_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["trace", str(tmp_path / "none.py")]) == 2
    assert "none.py cannot be read" in capsys.readouterr().err
