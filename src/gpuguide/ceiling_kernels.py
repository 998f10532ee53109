"""CUDA C++ kernels that find what a machine can do at most: memory by mix, and fused multiply-adds."""

from __future__ import annotations

from itertools import product

from gpuguide.backends import RawKernel, raw_kernel

__all__ = [
    "CHAINS",
    "FMA_REPEATS",
    "FMA_SOURCE",
    "MEMORY_MIXES",
    "MEMORY_SOURCE",
    "SHAPES",
    "fma_kernel",
    "memory_kernel",
    "scramble_kernel",
]

MEMORY_MIXES = ("read", "write", "copy", "two_to_one")

SHAPES = tuple(product((4, 16), (1, 2, 4, 8)))
"""Bytes of one access, and independent accesses of a thread a block's width apart."""

CHAINS = (4, 8, 16)
"""Independent chains of multiply-adds in a thread."""

FMA_REPEATS = 16
"""Multiply-adds of each chain in one iteration."""

_MEMORY_TEMPLATES = r"""
// Arrays hold `tiles` whole tiles of blockDim.x * N vectors. With a grid of `tiles` blocks each block takes
// one tile; with a smaller grid it strides over them. All loads of a tile are issued before the first use.
// V is a vector of unsigned integers: what the bits mean does not change how fast they move.
typedef unsigned int Word;
typedef uint4 Quad;

__device__ __forceinline__ Word mix(Word a, Word b) { return a ^ b; }
__device__ __forceinline__ Quad mix(Quad a, Quad b) {
    return make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w);
}
__device__ __forceinline__ Word fold(Word a) { return a; }
__device__ __forceinline__ Word fold(Quad a) { return a.x ^ a.y ^ a.z ^ a.w; }
__device__ __forceinline__ void spread(Word w, Word& v) { v = w; }
__device__ __forceinline__ void spread(Word w, Quad& v) { v = make_uint4(w, w + 1, w + 2, w + 3); }

#define FOR_TILES for (long long tile = blockIdx.x; tile < tiles; tile += gridDim.x)
#define AT(j) (tile * N * blockDim.x + (j) * blockDim.x + threadIdx.x)

template <typename V, int N>
__device__ void read_tiles(const V* __restrict__ a, long long tiles, Word* never) {
    Word sum = 0;
    FOR_TILES {
        V v[N];
#pragma unroll
        for (int j = 0; j < N; ++j) v[j] = a[AT(j)];
#pragma unroll
        for (int j = 0; j < N; ++j) sum += fold(v[j]);
    }
    if (sum == 0x9e3779b9u) *never = sum;  // practically never, but the loads must happen to know
}

template <typename V, int N>
__device__ void write_tiles(V* __restrict__ out, long long tiles) {
    FOR_TILES {
#pragma unroll
        for (int j = 0; j < N; ++j) spread(0x9e3779b9u * (Word)AT(j), out[AT(j)]);
    }
}

template <typename V, int N>
__device__ void copy_tiles(const V* __restrict__ a, V* __restrict__ out, long long tiles) {
    FOR_TILES {
        V v[N];
#pragma unroll
        for (int j = 0; j < N; ++j) v[j] = a[AT(j)];
#pragma unroll
        for (int j = 0; j < N; ++j) out[AT(j)] = v[j];
    }
}

template <typename V, int N>
__device__ void two_to_one_tiles(
    const V* __restrict__ a, const V* __restrict__ b, V* __restrict__ out, long long tiles) {
    FOR_TILES {
        V v[N], w[N];
#pragma unroll
        for (int j = 0; j < N; ++j) v[j] = a[AT(j)];
#pragma unroll
        for (int j = 0; j < N; ++j) w[j] = b[AT(j)];
#pragma unroll
        for (int j = 0; j < N; ++j) out[AT(j)] = mix(v[j], w[j]);
    }
}

// Fills n words with bits that look random: some hardware moves constants at another rate.
extern "C" __global__ void scramble(Word* x, long long n) {
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        Word h = (Word)i * 0x85ebca6bu + 0x9e3779b9u;
        h = (h ^ (h >> 15)) * 0xc2b2ae35u;
        x[i] = h ^ (h >> 13);
    }
}

"""

_FMA_TEMPLATE = r"""
// N independent chains a thread hide the latency of a multiply-add; x and y come from the host, so that
// nothing can be worked out at compile time.
template <typename T, int N>
__device__ __forceinline__ void fma_chains(T x, T y, int iterations, T* never) {
    T a[N];
#pragma unroll
    for (int j = 0; j < N; ++j) a[j] = (T)(threadIdx.x + j);
#pragma unroll 1
    for (int i = 0; i < iterations; ++i) {
#pragma unroll
        for (int r = 0; r < REPEATS; ++r)
#pragma unroll
            for (int j = 0; j < N; ++j) a[j] = a[j] * x + y;
    }
    T sum = 0;
#pragma unroll
    for (int j = 0; j < N; ++j) sum += a[j];
    if (sum == (T)-12345) *never = sum;
}
"""

_CALLS = {
    "read": "read_tiles<{v}, {n}>(a, tiles, never)",
    "write": "write_tiles<{v}, {n}>(out, tiles)",
    "copy": "copy_tiles<{v}, {n}>(a, out, tiles)",
    "two_to_one": "two_to_one_tiles<{v}, {n}>(a, b, out, tiles)",
}
_VECTORS = {4: "Word", 16: "Quad"}
_FLOATS = {"fp32": "float", "fp64": "double"}


def _memory_entry(mix: str, access_bytes: int, n: int) -> str:
    """Return the source of one kernel; all have one signature, so that the host calls them alike."""
    v = _VECTORS[access_bytes]
    return (
        f'extern "C" __global__ void {mix}_{access_bytes}x{n}(const {v}* __restrict__ a, '
        f"const {v}* __restrict__ b, {v}* __restrict__ out, long long tiles, Word* never) "
        f"{{ {_CALLS[mix].format(v=v, n=n)}; }}"
    )


def _fma_entry(unit: str, n: int) -> str:
    real = _FLOATS[unit]
    return (
        f'extern "C" __global__ void {unit}_{n}({real} x, {real} y, int iterations, {real}* never) '
        f"{{ fma_chains<{real}, {n}>(x, y, iterations, never); }}"
    )


MEMORY_SOURCE = "\n".join(
    [_MEMORY_TEMPLATES, *(_memory_entry(mix, *shape) for mix, shape in product(MEMORY_MIXES, SHAPES))]
)
FMA_SOURCE = "\n".join(
    [
        f"#define REPEATS {FMA_REPEATS}",
        _FMA_TEMPLATE,
        *(_fma_entry(*each) for each in product(_FLOATS, CHAINS)),
    ]
)


def memory_kernel(mix: str, access_bytes: int, n_accesses: int) -> RawKernel:
    """Return the kernel of one mix and shape.

    Parameters
    ----------
    mix : str
        One of `MEMORY_MIXES`.
    access_bytes, n_accesses : int
        One of `SHAPES`.

    Returns
    -------
    RawKernel
        Takes ``(a, b, out, tiles, never)``, whatever the mix uses of them; `tiles` is the number of whole
        tiles of ``threads_per_block * n_accesses`` accesses.

    Examples
    --------
    >>> memory_kernel("copy", 16, 4).name
    'copy_16x4'
    """
    return raw_kernel(MEMORY_SOURCE, f"{mix}_{access_bytes}x{n_accesses}")


def fma_kernel(unit: str, n_chains: int) -> RawKernel:
    """Return the kernel of multiply-add chains of one unit.

    Parameters
    ----------
    unit : str
        ``"fp32"`` or ``"fp64"``.
    n_chains : int
        One of `CHAINS`.

    Returns
    -------
    RawKernel
        Takes ``(x, y, iterations, never)``; each thread executes
        ``2 * FMA_REPEATS * n_chains * iterations`` operations.

    Examples
    --------
    >>> fma_kernel("fp64", 8).name
    'fp64_8'
    """
    return raw_kernel(FMA_SOURCE, f"{unit}_{n_chains}")


def scramble_kernel() -> RawKernel:
    """Return the kernel that fills words with bits that look random; takes ``(x, n)``."""
    return raw_kernel(MEMORY_SOURCE, "scramble")
