"""Right kernels of many kinds, for comparing simulators: source, grid, block, arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

IMPORTS = """
import math
import numpy as np
from numba import cuda, float32, float64, int32, int64

"""


class Right(NamedTuple):
    """A kernel and one launch of it; arrays are made anew by each call of `all_kernels`."""

    name: str
    source: str
    grid: Any
    block: Any
    arguments: dict[str, Any]
    shared_bytes: int = 0


def _ramp(n: int, dtype: str = "f4") -> np.ndarray:
    return (np.arange(n) % 11 - 5).astype(dtype)


def _nothing(*shape: int, dtype: str = "f4") -> np.ndarray:
    return np.zeros(shape, dtype)


MAP = """
def kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * float32(3) + i
"""
GRID_STRIDE = """
def kernel(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = abs(x[i]) ** 2 if x[i] < 0 else -x[i]
"""
EARLY_RETURN = """
def kernel(x, out):
    i = cuda.grid(1)
    if i >= out.shape[0]:
        return
    total = 0.0
    k = 0
    while True:
        total += x[(i + k) % x.size]
        k += 1
        if k > i % 7:
            break
        if k == 3:
            continue
    out[i] = total / k
"""
TRANSPOSE = """
TILE = 8

def kernel(x, out):
    tile = cuda.shared.array((8, 9), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        tile[ty, tx] = x[i, j]
    cuda.syncthreads()
    j = cuda.blockIdx.y * TILE + tx
    i = cuda.blockIdx.x * TILE + ty
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = tile[tx, ty]
"""
MATMUL = """
def kernel(a, b, c):
    sa = cuda.shared.array((4, 4), float32)
    sb = cuda.shared.array((4, 4), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = float32(0)
    for m in range((a.shape[1] + 3) // 4):
        sa[ty, tx] = a[i, 4 * m + tx] if i < a.shape[0] and 4 * m + tx < a.shape[1] else 0
        sb[ty, tx] = b[4 * m + ty, j] if 4 * m + ty < b.shape[0] and j < b.shape[1] else 0
        cuda.syncthreads()
        for k in range(4):
            total += sa[ty, k] * sb[k, tx]
        cuda.syncthreads()
    if i < c.shape[0] and j < c.shape[1]:
        c[i, j] = total
"""
BLOCK_SUM = """
def kernel(x, out):
    s = cuda.shared.array(32, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    stride = 16
    while stride > 0:
        if t < stride:
            s[t] += s[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        cuda.atomic.add(out, 0, s[0])
"""
SCAN = """
def step(s, t, d):
    v = s[t - d] if t >= d else 0
    cuda.syncthreads()
    s[t] += v
    cuda.syncthreads()

def kernel(x, out):
    s = cuda.shared.array(32, int64)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    d = 1
    while d < 32:
        step(s, t, d)
        d *= 2
    out[cuda.grid(1)] = s[t]
"""
HISTOGRAM = """
def kernel(x, h):
    s = cuda.shared.array(11, int32)
    t = cuda.threadIdx.x
    if t < 11:
        s[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(s, int(x[i]) + 5, 1)
    cuda.syncthreads()
    if t < 11:
        cuda.atomic.add(h, t, s[t])
"""
ATOMICS = """
def kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.max(out, 0, x[i])
        cuda.atomic.min(out, 1, x[i])
        cuda.atomic.sub(out, 2, x[i])
        cuda.atomic.add(out, 3, x[i])
"""
STENCIL = """
def kernel(u, v):
    i, j = cuda.grid(2)
    m, n = u.shape
    if 0 < i < m - 1 and 0 < j < n - 1:
        v[i, j] = (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]) / 4
    elif i < m and j < n:
        v[i, j] = u[i, j]
"""
LOCAL = """
def kernel(x, out):
    window = cuda.local.array(3, float64)
    i = cuda.grid(1)
    if i < out.size:
        for k in range(3):
            window[k] = x[min(max(i + k - 1, 0), x.size - 1)]
        out[i] = (window[0] + 2 * window[1] + window[2]) * 0.25
"""
ROWS = """
def kernel(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        row = x[i]
        total = 0.0
        for k, v in enumerate(row):
            total += k * v
        for a, b in zip(x[i], x[0, :]):
            total += a * b
        out[i] = total + len(row) + row.size
        rest = out[i:]
        rest[0] += x.T[0, i]
"""
IN_PLACE = """
def kernel(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 2
        x[i] *= 3
        x[i] -= 1
        x[i] //= 2
"""
INTEGERS = """
def kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        a, b = x[i], i + 1
        out[i] = (a * b) % 7 + (a // b) - (a ^ b) + (a & 6) + (a | 1) + (b << 2) + (b >> 1) + (-a) % b
"""
LOGIC = """
def kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        small = x[i] < -1 or x[i] > 3
        odd = not (i % 2 == 0 and True)
        out[i] = (int(small) + int(odd)) * 10 + (1 if small and odd else 2) + int(x[i] > 0) + round(x[i] / 3)
"""
MATH = """
def kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = abs(x[i]) + 0.5
        a = math.sqrt(v) + math.exp(-v) + math.log(v) + math.sin(v) * math.cos(v) + math.tanh(v)
        b = math.floor(v) + math.ceil(v) + math.hypot(v, 1.0) + math.atan2(v, 2.0) + math.erf(v)
        out[i] = a + b + math.pi + float(int(v)) + pow(v, 1.5) + divmod(7, 3)[1] + max(v, 1.0) + min(v, 2)
"""
THREE_AXES = """
def kernel(x):
    i, j, k = cuda.grid(3)
    if i < x.shape[0] and j < x.shape[1] and k < x.shape[2]:
        x[i, j, k] = 100 * cuda.blockIdx.z + 10 * cuda.threadIdx.y + i + cuda.gridsize(3)[1]
"""
COUNT = """
def kernel(x, out):
    i = cuda.grid(1)
    n = cuda.syncthreads_count(int32(x[i] > 0))
    both = cuda.syncthreads_and(int32(x[i] > -6)) + 2 * cuda.syncthreads_or(int32(x[i] > 4))
    out[i] = 10 * n + both
"""
DYNAMIC = """
def kernel(x, out):
    s = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = s[cuda.blockDim.x - 1 - t]
"""
NARROW = """
def kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * 3
"""


def all_kernels() -> Iterator[Right]:
    """Yield every kernel with fresh arguments."""
    x = _ramp(70)
    yield Right("map", MAP, 3, 32, {"x": x, "out": _nothing(70)})
    yield Right("map of a strided view", MAP, 3, 32, {"x": _ramp(140)[::2], "out": _nothing(70, 2)[:, 1]})
    yield Right("grid stride", GRID_STRIDE, 2, 8, {"x": x, "out": _nothing(70)})
    yield Right("early return", EARLY_RETURN, 3, 32, {"x": x, "out": _nothing(70, dtype="f8")})
    wide = _ramp(13 * 20).reshape(13, 20)
    yield Right("transpose", TRANSPOSE, (3, 2), (8, 8), {"x": wide, "out": _nothing(20, 13)})
    fortran = np.asfortranarray(wide)
    yield Right("transpose, Fortran", TRANSPOSE, (3, 2), (8, 8), {"x": fortran, "out": _nothing(20, 13)})
    a, b = _ramp(5 * 6).reshape(5, 6), _ramp(6 * 7).reshape(6, 7)
    yield Right("matmul", MATMUL, (2, 2), (4, 4), {"a": a, "b": b, "c": _nothing(5, 7)})
    yield Right("block sum", BLOCK_SUM, 3, 32, {"x": x, "out": _nothing(1, dtype="f8")})
    yield Right("scan", SCAN, 2, 32, {"x": _ramp(64, "i4"), "out": _nothing(64, dtype="i8")})
    yield Right("histogram", HISTOGRAM, 3, 32, {"x": x, "h": _nothing(11, dtype="i4")})
    yield Right("atomics", ATOMICS, 3, 32, {"x": _ramp(70, "i4"), "out": _nothing(4, dtype="i4")})
    u = _ramp(9 * 8).reshape(9, 8)
    yield Right("stencil", STENCIL, (2, 1), (8, 8), {"u": u, "v": _nothing(9, 8)})
    yield Right("local array", LOCAL, 3, 32, {"x": x, "out": _nothing(70)})
    yield Right("rows", ROWS, 1, 16, {"x": wide, "out": _nothing(13)})
    yield Right("in place", IN_PLACE, 3, 32, {"x": _ramp(70, "i4")})
    yield Right("integers", INTEGERS, 3, 32, {"x": _ramp(70, "i4"), "out": _nothing(70, dtype="i8")})
    yield Right("logic", LOGIC, 3, 32, {"x": _ramp(70, "f8"), "out": _nothing(70, dtype="i4")})
    yield Right("math", MATH, 3, 32, {"x": _ramp(70, "f8"), "out": _nothing(70, dtype="f8")})
    yield Right("three axes", THREE_AXES, (2, 1, 2), (3, 4, 2), {"x": _nothing(5, 4, 3, dtype="i4")})
    yield Right("count", COUNT, 2, 32, {"x": _ramp(64), "out": _nothing(64, dtype="i4")})
    yield Right("dynamic shared memory", DYNAMIC, 2, 32, {"x": _ramp(64), "out": _nothing(64)}, 128)
    yield Right("narrow integers", NARROW, 3, 32, {"x": _ramp(70, "i2"), "out": _nothing(70, dtype="i8")})
