"""CUDA C++ kernels that compare and fill arrays of any dtype: one source, compiled once for all studies."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gpuguide.machine.backends import array_module, raw_kernel

__all__ = [
    "CHECKING_SOURCE",
    "KERNELS",
    "MAX_OPERANDS",
    "Row",
    "compare",
    "copy",
    "fill",
    "first_difference",
    "first_other",
]

MAX_OPERANDS = 3
"""The most operands that a tolerance can use; with more, CuPy's own functions compare."""

# In the order of the enumeration in the source; threads per block and columns per row match the source, too.
_TYPES = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")
_THREADS, _MAX_BLOCKS = 256, 1024
_ROW = 5

CHECKING_SOURCE = r"""
// Every block writes a row of its own, which the host joins: no atomics, and nothing to set to 0 before.
typedef unsigned long long Word;
enum { I1, I2, I4, I8, U1, U2, U4, U8, F2, F4, F8, C8, C16 };
#define THREADS 256
#define NONE 0x7fffffffffffffffLL
#define FOR_ALL(i, n) \
    for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < (n); \
         i += (long long)gridDim.x * THREADS)

struct Number { double re, im; Word bits; };

__device__ double half_to_double(unsigned short h) {
    const int exponent = (h >> 10) & 31;
    const int fraction = h & 1023;
    double x;
    if (exponent == 0) x = fraction / 16777216.0;
    else if (exponent == 31) x = __longlong_as_double(fraction ? 0x7ff8000000000000LL : 0x7ff0000000000000LL);
    else x = (1024 + fraction) * __longlong_as_double((long long)(exponent + 998) << 52);
    return h & 0x8000 ? -x : x;
}

template <typename T> __device__ Number whole(const char* x, long long i) {
    const T value = ((const T*)x)[i];
    Number v = {(double)value, 0.0, (Word)(long long)value};
    return v;
}

template <typename T> __device__ Number rounded(const char* x, long long i, int parts) {
    Number v = {(double)((const T*)x)[parts * i], 0.0, 0};
    if (parts == 2) v.im = (double)((const T*)x)[2 * i + 1];
    return v;
}

__device__ Number load(const char* x, long long i, int type) {
    switch (type) {
        case I1: return whole<signed char>(x, i);
        case I2: return whole<short>(x, i);
        case I4: return whole<int>(x, i);
        case I8: return whole<long long>(x, i);
        case U1: return whole<unsigned char>(x, i);
        case U2: return whole<unsigned short>(x, i);
        case U4: return whole<unsigned int>(x, i);
        case U8: return whole<Word>(x, i);
        case F4: return rounded<float>(x, i, 1);
        case F8: return rounded<double>(x, i, 1);
        case C8: return rounded<float>(x, i, 2);
        case C16: return rounded<double>(x, i, 2);
    }
    Number v = {half_to_double(((const unsigned short*)x)[i]), 0.0, 0};
    return v;
}

__device__ double size_of(Number v, int type) { return type >= C8 ? hypot(v.re, v.im) : fabs(v.re); }
__device__ bool is_nan(Number v) { return v.re != v.re || v.im != v.im; }
// False for infinity and NaN.
__device__ bool is_finite(double x) { return fabs(x) <= 1.7976931348623157e308; }

__device__ double larger(double scale, const char* x, long long i, int type) {
    if (type < 0) return scale;
    const double other = size_of(load(x, i, type), type);
    // What is not finite stays: it stands for "no tolerance".
    return is_finite(scale) && !(other <= scale) ? other : scale;
}

// Rows: elements that are wrong, first of them, bits of the largest difference, where, bits of its tolerance.
// magnitudes: 0 for a tolerance by element, 1 for one magnitude, n for one each; without factor unused.
extern "C" __global__ void compare(
        const char* got, const char* expected, const char* a, const char* b, const char* c,
        const double* magnitude, long long* rows, long long n, long long magnitudes, double factor,
        int got_type, int expected_type, int a_type, int b_type, int c_type) {
    long long n_wrong = 0, first = NONE, top = -1, top_at = NONE;
    double top_limit = 0.0;
    FOR_ALL(i, n) {
        const Number x = load(got, i, got_type), y = load(expected, i, expected_type);
        const bool rounds = got_type >= F2;
        const bool equal = x.re == y.re && x.im == y.im;
        const bool same = rounds ? equal || (is_nan(x) && is_nan(y)) : x.bits == y.bits;
        double limit = 0.0;
        if (factor != 0.0) {
            double scale;
            if (magnitudes == 0) {
                scale = size_of(y, expected_type);
                scale = larger(larger(larger(scale, a, i, a_type), b, i, b_type), c, i, c_type);
            } else {
                scale = magnitude[magnitudes == 1 ? 0 : i];
            }
            limit = is_finite(scale) ? factor * scale : 0.0;
        }
        double distance = 0.0;
        if (!same) {
            const Number d = {x.re - y.re, x.im - y.im, 0};
            distance = size_of(d, got_type);
            if (!rounds || !(distance <= limit)) {
                ++n_wrong;
                if (first == NONE) first = i;
            }
        }
        // The bits of what is not negative order as the numbers do, with NaN above infinity.
        const long long bits = distance != distance ? 0x7ff8000000000000LL : __double_as_longlong(distance);
        if (bits > top) { top = bits; top_at = i; top_limit = limit; }
    }
    __shared__ long long wrongs[THREADS], firsts[THREADS], tops[THREADS], places[THREADS];
    __shared__ double limits[THREADS];
    const int t = threadIdx.x;
    wrongs[t] = n_wrong; firsts[t] = first; tops[t] = top; places[t] = top_at; limits[t] = top_limit;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) {
            const int u = t + half;
            wrongs[t] += wrongs[u];
            if (firsts[u] < firsts[t]) firsts[t] = firsts[u];
            if (tops[u] > tops[t] || (tops[u] == tops[t] && places[u] < places[t])) {
                tops[t] = tops[u]; places[t] = places[u]; limits[t] = limits[u];
            }
        }
    }
    if (t == 0) {
        long long* row = rows + 5 * (long long)blockIdx.x;
        row[0] = wrongs[0]; row[1] = firsts[0]; row[2] = tops[0]; row[3] = places[0];
        row[4] = __double_as_longlong(limits[0]);
    }
}

__device__ void keep_least(long long found, long long* least) {
    __shared__ long long all[THREADS];
    const int t = threadIdx.x;
    all[t] = found;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half && all[t + half] < all[t]) all[t] = all[t + half];
    }
    if (t == 0) least[blockIdx.x] = all[0];
}

// Where the bytes of a and b first differ: 16 at a time where both lie at multiples of 16.
extern "C" __global__ void first_difference(
        const char* a, const char* b, long long n_bytes, long long* least) {
    long long found = NONE;
    const long long n = ((Word)a | (Word)b) & 15 ? 0 : n_bytes / 16;
    FOR_ALL(i, n) {
        const uint4 x = ((const uint4*)a)[i], y = ((const uint4*)b)[i];
        if (x.x != y.x || x.y != y.y || x.z != y.z || x.w != y.w) {
            for (found = 16 * i; a[found] == b[found];) ++found;
            break;
        }
    }
    FOR_ALL(j, n_bytes - 16 * n) {
        const long long at = 16 * n + j;
        if (found == NONE && a[at] != b[at]) found = at;
    }
    keep_least(found, least);
}

// Where the bytes of x first differ from a pattern of 8: 8 at a time where x lies at a multiple of 8, which
// the guard zone after an array of an odd number of small elements does not.
extern "C" __global__ void first_other(const char* x, Word pattern, long long n_bytes, long long* least) {
    long long found = NONE;
    const long long n = (Word)x & 7 ? 0 : n_bytes / 8;
    FOR_ALL(i, n) {
        const Word different = ((const Word*)x)[i] ^ pattern;
        if (different) {
            found = 8 * i;
            for (Word rest = different; (rest & 255) == 0; rest >>= 8) ++found;
            break;
        }
    }
    FOR_ALL(j, n_bytes - 8 * n) {
        const long long at = 8 * n + j;
        if (found == NONE && (unsigned char)x[at] != (unsigned char)(pattern >> (8 * (j & 7)))) found = at;
    }
    keep_least(found, least);
}

extern "C" __global__ void fill(char* x, Word pattern, long long n_bytes) {
    const long long n = (Word)x & 7 ? 0 : n_bytes / 8;
    FOR_ALL(i, n) ((Word*)x)[i] = pattern;
    FOR_ALL(j, n_bytes - 8 * n) x[8 * n + j] = (char)(pattern >> (8 * (j & 7)));
}
"""

KERNELS = ("compare", "first_difference", "first_other", "fill")
"""Kernels of the source."""

# One source for all dtypes: CuPy compiled about 35 kernels per page for the same, 0.3 s each.
_module = raw_kernel(CHECKING_SOURCE, "compare")


class Row(NamedTuple):
    """What a comparison found."""

    n_wrong: int
    first_wrong: int | None
    largest: float
    tolerance: float


def compare(got: Any, expected: Any, operands: Sequence[Any], magnitude: Any | None, factor: float) -> Row:
    """Compare a result in GPU memory with what it should be, in one pass."""
    n = int(got.size)
    if n == 0:
        return Row(0, None, 0.0, 0.0)
    xp = array_module(got)
    got, expected, *operands = (xp.ascontiguousarray(x) for x in (got, expected, *operands))
    # A kernel takes a fixed number of pointers. Type -1 marks an operand that is absent and never read.
    beside = [*operands, *[got] * (MAX_OPERANDS - len(operands))]
    types = [_type(x) for x in operands] + [-1] * (MAX_OPERANDS - len(operands))
    blocks = _blocks(n)
    rows = xp.empty((blocks, _ROW), dtype=np.int64)
    sizes = n, 0 if magnitude is None else int(magnitude.size)
    _launch(
        "compare",
        blocks,
        (
            *(got, expected, *beside, got if magnitude is None else magnitude, rows),
            *map(np.int64, sizes),
            np.float64(factor),
            *map(np.int32, (_type(got), _type(expected), *types)),
        ),
    )
    return _joined(rows.get())


def first_difference(a: Any, b: Any) -> int | None:
    """Return the first byte at which two arrays in GPU memory differ."""
    xp = array_module(a)
    return _least("first_difference", int(a.nbytes), 16, (xp.ascontiguousarray(a), xp.ascontiguousarray(b)))


def first_other(x: Any, word: np.unsignedinteger[Any]) -> int | None:
    """Return the first byte of an array in GPU memory that is not as in an array full of one word."""
    return _least("first_other", int(x.nbytes), 8, (x, _repeated(word)))


def fill(x: Any, word: np.unsignedinteger[Any]) -> None:
    """Fill a contiguous array in GPU memory with a word of 1, 2, 4 or 8 bytes."""
    n_bytes = int(x.nbytes)
    if n_bytes:
        _launch("fill", _blocks(-(-n_bytes // 8)), (x, _repeated(word), np.int64(n_bytes)))


def copy(target: Any, source: Any) -> None:
    """Copy a contiguous array in GPU memory to another of the same bytes: no kernel, so none to compile."""
    target.data.copy_from_device_async(source.data, target.nbytes)


def _type(x: Any) -> int:
    return _TYPES.index("u1" if x.dtype.kind == "b" else f"{x.dtype.kind}{x.dtype.itemsize}")


def _blocks(n: int) -> int:
    return min(_MAX_BLOCKS, -(-n // _THREADS))


def _repeated(word: np.unsignedinteger[Any]) -> np.uint64:
    return np.uint64(int.from_bytes(word.tobytes() * (8 // word.itemsize), sys.byteorder))


def _least(name: str, n_bytes: int, width: int, arguments: tuple[Any, ...]) -> int | None:
    if n_bytes == 0:
        return None
    blocks = _blocks(-(-n_bytes // width))
    least = array_module(arguments[0]).empty(blocks, dtype=np.int64)
    _launch(name, blocks, (*arguments, np.int64(n_bytes), least))
    found = int(least.get().min())
    return None if found == np.iinfo(np.int64).max else found


def _joined(rows: np.ndarray[Any, Any]) -> Row:
    """Join the rows of all blocks; of equal differences the first counts."""
    top = rows[rows[:, 2] == rows[:, 2].max()]
    best = top[top[:, 3].argmin()]
    # The kernel stored the bits of these two, so that a row is of one type.
    largest, tolerance = best[[2, 4]].view(np.float64)
    n_wrong = int(rows[:, 0].sum())
    return Row(n_wrong, int(rows[:, 1].min()) if n_wrong else None, float(largest), float(tolerance))


def _launch(name: str, blocks: int, arguments: tuple[Any, ...]) -> None:
    _function(name)((blocks,), (_THREADS,), arguments)


@functools.cache
def _function(name: str) -> Any:
    return _module.module.get_function(name)
