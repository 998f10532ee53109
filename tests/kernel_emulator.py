"""Runs a CUDA C++ source with several kernels on the CPU, as `warp_emulator` does with one.

For kernels with one dimension of threads, static shared memory and `__syncthreads`, and no more.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warp_emulator import HEAD, TAIL

_NUMBERS = r"""
#include <cmath>
using std::fabs;
using std::hypot;
static double __longlong_as_double(long long x) { double y; std::memcpy(&y, &x, 8); return y; }
static long long __double_as_longlong(double x) { long long y; std::memcpy(&y, &x, 8); return y; }
"""


def needs_host_compiler() -> pytest.MarkDecorator:
    """Return a mark that skips where g++ is not installed."""
    return pytest.mark.skipif(shutil.which("g++") is None, reason="not installed: g++")


def build(source: str, launchers: dict[str, str], folder: Path) -> ctypes.CDLL:
    """Compile a source; `launchers` are the parameters of each kernel, as in the source.

    What runs one returns 0, or 1 if threads wait at a barrier that not all reach.
    """
    text = HEAD + _NUMBERS + source + TAIL
    for name, parameters in launchers.items():
        names = ", ".join(one.split()[-1].lstrip("*") for one in parameters.split(","))
        text += (
            f'extern "C" int run_{name}(int blocks, int threads, {parameters}) '
            f"{{ return launch(blocks, threads, [=] {{ {name}({names}); }}); }}\n"
        )
    path = folder / "kernels.cpp"
    path.write_text(text)
    library = folder / "kernels.so"
    command = ["g++", "-std=c++17", "-O1", "-shared", "-fPIC", "-o", str(library), str(path)]
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    return ctypes.CDLL(str(library))


def as_ctypes(argument: Any) -> Any:
    """Return an argument of a launch as C takes it: NumPy arrays as pointers, scalars by their type."""
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(argument.ctypes.data)
    return np.ctypeslib.as_ctypes_type(argument.dtype)(argument.item())
