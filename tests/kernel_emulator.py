"""Runs a CUDA C++ source on the CPU: g++ compiles it, a thread stands for a CUDA thread, blocks take turns.

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

_HEAD = r"""
#include <barrier>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>
using std::fabs;
using std::hypot;
struct uint4 { unsigned int x, y, z, w; };
struct Dim { unsigned int x; };
static thread_local Dim threadIdx;
static Dim blockIdx, gridDim, blockDim;
static std::barrier<>* together;
static double __longlong_as_double(long long x) { double y; std::memcpy(&y, &x, 8); return y; }
static long long __double_as_longlong(double x) { long long y; std::memcpy(&y, &x, 8); return y; }
#define __global__
#define __device__ static
#define __shared__ static
#define __syncthreads() together->arrive_and_wait()
"""

_TAIL = r"""
template <typename F> void launch(int blocks, int threads, F call) {
    gridDim.x = blocks; blockDim.x = threads;
    for (int b = 0; b < blocks; ++b) {
        blockIdx.x = b;
        std::barrier<> barrier(threads);
        together = &barrier;
        std::vector<std::thread> all;
        for (int t = 0; t < threads; ++t) all.emplace_back([=] { threadIdx.x = t; call(); });
        for (auto& each : all) each.join();
    }
}
"""


def needs_host_compiler() -> pytest.MarkDecorator:
    """Return a mark that skips where g++ is not installed."""
    return pytest.mark.skipif(shutil.which("g++") is None, reason="not installed: g++")


def build(source: str, launchers: dict[str, str], folder: Path) -> ctypes.CDLL:
    """Compile a source; `launchers` are the parameters of each kernel, as in the source."""
    text = _HEAD + source + _TAIL
    for name, parameters in launchers.items():
        names = ", ".join(one.split()[-1].lstrip("*") for one in parameters.split(","))
        text += (
            f'extern "C" void run_{name}(int blocks, int threads, {parameters}) '
            f"{{ launch(blocks, threads, [=] {{ {name}({names}); }}); }}\n"
        )
    path = folder / "kernels.cpp"
    path.write_text(text)
    library = folder / "kernels.so"
    command = ["g++", "-std=c++20", "-O1", "-pthread", "-shared", "-fPIC", "-o", str(library), str(path)]
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    return ctypes.CDLL(str(library))


def as_ctypes(argument: Any) -> Any:
    """Return an argument of a launch as C takes it: NumPy arrays as pointers, scalars by their type."""
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(argument.ctypes.data)
    return np.ctypeslib.as_ctypes_type(argument.dtype)(argument.item())
