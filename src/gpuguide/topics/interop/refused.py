"""What becomes of a hand-over that may end the process: tried in a process of its own."""

import subprocess
import sys

_SET_UP = """
import os
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
import cupy as cp, numpy as np
from numba import cuda
import torch
{more}
x = cp.arange(6, dtype=cp.float32)
"""
_TRY = """
try:
    print({number}, "gave", {code}, flush=True)
except Exception as error:
    print({number}, type(error).__name__, str(error).split(chr(10))[0], flush=True)
"""


def outcomes(codes, more="", timeout_s=60):
    """Evaluate expressions one after the other in a fresh process, with CuPy, Numba and PyTorch at hand."""
    tries = "".join(_TRY.format(number=i, code=code) for i, code in enumerate(codes))
    done = subprocess.run(
        [sys.executable, "-c", _SET_UP.format(more=more) + tries],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    printed = dict(
        line.split(" ", 1)
        for line in done.stdout.splitlines()
        if line.split(" ")[0].isdecimal()
    )
    results = {}
    for i, code in enumerate(codes):
        words = printed.get(str(i), "not reached")
        if words == "not reached" and done.returncode and len(printed) == i:
            what = next((line for line in done.stderr.splitlines() if "what()" in line), "")
            words = f"ended the process ({done.returncode}): {what.strip()}"
        results[code] = words
    return results
