"""The most that this machine can do, measured once per session: the best of many kernels for each mix.

Shares in the guide refer to the ceiling for the kernel's own mix of reads and writes, so the ceilings must be
as high as possible: the candidates differ in the size and number of accesses per thread, in the block, and in
whether blocks stride over the array. The module has, in this order, the measurement, the candidates, the
source of their kernels, and the peaks that no measurement may exceed.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from statistics import median
from typing import Any

import numpy as np

from gpuguide.errors import ImplausibleError, MismatchError, OutOfMemoryError
from gpuguide.machine import backends
from gpuguide.machine.backends import RawKernel, raw_kernel
from gpuguide.machine.device import DeviceInfo
from gpuguide.measure.clocks import GpuClock, HostClock, SystemClock
from gpuguide.measure.timing import (
    Call,
    DeviceTimer,
    Samples,
    collect,
    collect_enough,
    device_timer,
    launch_timer,
)
from gpuguide.results.ceilings import Ceiling, Ceilings
from gpuguide.results.records import Measurement

__all__ = [
    "Arrays",
    "Candidate",
    "best",
    "check_plausible",
    "copy_sentinel",
    "launch_ceilings",
    "measure",
    "tensor_ceilings",
]

MEMORY_MIXES = ("read", "write", "copy", "two_to_one")
SHAPES = tuple(product((4, 16), (1, 2, 4, 8)))
"""Bytes of one access, and the number of independent accesses per thread, one block's width apart."""
TENSOR_UNITS = ("fp64_tensor", "tf32", "fp16_tensor", "bf16_tensor")
CHAINS = (4, 8, 16)
"""Independent chains of multiply-adds in a thread."""
FMA_REPEATS = 16
"""Multiply-adds of each chain in one iteration."""

_MIX_BUDGET_S = 0.5  # for the samples of the two best candidates of one mix
_SCREENING_SAMPLES = 3
_ARRAY_BYTES, _PCIE_BYTES = 2**30, 2**28
_FMA_SECONDS = 0.002  # how long a kernel of multiply-adds should last at the physical peak
_PRODUCT_SECONDS, _PRODUCT_STEP = 0.002, 1024  # the same for a product, and what its rows are a multiple of
# Factors that every type holds, bfloat16 too. A sum of at most 64 a row stays below 2**24 up to 262 144 rows,
# so that products are exact in float32.
_LARGEST_FACTOR, _WEIGHTS = 8, 1009
# The most that one block takes in a turn: threads times accesses times bytes. Every shape divides it.
_TILE_BYTES = 1024 * 8 * 16
_BLOCKS = (256, 512, 1024)
_N_ARRAYS = {"read": 1, "write": 1, "copy": 2, "two_to_one": 3}
# As CUDA numbers them in cudaMemcpyKind.
_HOST_TO_DEVICE, _DEVICE_TO_HOST, _DEVICE_TO_DEVICE = 1, 2, 3


def measure(gpu: GpuClock, device: DeviceInfo, *, host: HostClock | None = None) -> Ceilings:
    """Measure all ceilings of this machine."""
    clock = host or SystemClock()
    cp = backends.cupy()
    with gpu.use():
        arrays = allocate(gpu, array_bytes(device, cp.cuda.runtime.memGetInfo()[0]))
        found = [best(memory_candidates(arrays, device, mix), gpu, clock) for mix in MEMORY_MIXES]
        del arrays
        found += [best([each], gpu, clock) for each in pcie_candidates(gpu)]
        found += [best(fma_candidates(device, unit), gpu, clock) for unit in ("fp32", "fp64")]
        found += tensor_ceilings(gpu, device, clock)
    cp.get_default_memory_pool().free_all_blocks()
    cp.get_default_pinned_memory_pool().free_all_blocks()
    return Ceilings((*found, *launch_ceilings(gpu, clock)))


def best(candidates: Iterable[Candidate], gpu: GpuClock, host: HostClock | None = None) -> Ceiling:
    """Return the ceiling that the fastest of several candidates reaches.

    All are tried three times; the two with the lowest medians are then sampled until that is enough.
    """
    clock = host or SystemClock()
    ranked = sorted(((_screen(each, gpu), each) for each in candidates), key=lambda pair: pair[0])
    # Two, because three samples do not separate the best from the second best.
    found = [_ceiling(each, gpu, clock) for _, each in ranked[:2]]
    return max(found, key=lambda ceiling: ceiling.value)


def _screen(candidate: Candidate, gpu: GpuClock) -> float:
    """Return the median of a few samples, in nanoseconds."""
    with gpu.use():
        candidate.call()
        gpu.synchronize()
    timer = DeviceTimer(gpu, candidate.call)
    return median(collect(timer, _SCREENING_SAMPLES).ns)


def _ceiling(candidate: Candidate, gpu: GpuClock, host: HostClock) -> Ceiling:
    """Sample a candidate until that is enough; return its rate."""
    samples = collect_enough(DeviceTimer(gpu, candidate.call), host, budget_s=_MIX_BUDGET_S / 2)
    unit = "FLOP/s" if candidate.mix in ("fp32", "fp64", *TENSOR_UNITS) else "B/s"
    rate = candidate.work / (median(samples.ns) / 1e9)
    return Ceiling(candidate.mix, rate, unit, samples.ns, candidate.work, candidate.kernel)


def launch_ceilings(gpu: GpuClock, host: HostClock | None = None) -> tuple[Ceiling, ...]:
    """Return the time of an empty kernel in a graph, and the host time of launching it."""
    graph = device_timer(gpu.empty, gpu)
    launch = launch_timer(gpu.empty, gpu, host=host)
    return (
        _seconds("launch", f"empty kernel, {graph.n_calls} in a {graph.method}", collect(graph, 20)),
        _seconds("launch_host", "empty RawKernel, host time", collect(launch, 20)),
    )


def _seconds(mix: str, kernel: str, samples: Samples) -> Ceiling:
    """Return a ceiling that is a time per call; its work is the number of calls in a sample."""
    return Ceiling(mix, median(samples.seconds), "s", samples.ns, samples.n_calls, kernel)


def copy_sentinel(gpu: GpuClock, *, n_samples: int = 20) -> float:
    """Return the rate of one fixed copy kernel in B/s, to tell whether the machine changed meanwhile."""
    cp = backends.cupy()
    free_bytes = cp.cuda.runtime.memGetInfo()[0]
    with gpu.use():
        arrays = allocate(gpu, sentinel_bytes(free_bytes), n_arrays=2)
        candidate = sentinel_candidate(arrays)
        timer = device_timer(candidate.call, gpu, batchable=False)
        seconds = median(collect(timer, n_samples).ns) / 1e9
        del arrays
    cp.get_default_memory_pool().free_all_blocks()
    return candidate.work / seconds


@dataclass(frozen=True)
class Candidate:
    """One way to do one kind of work."""

    mix: str
    kernel: str
    call: Call
    work: int


@dataclass(frozen=True)
class Arrays:
    """Three arrays of `n_bytes` in GPU memory, and a word that is never written."""

    a: Any
    b: Any
    out: Any
    never: Any
    n_bytes: int


def array_bytes(device: DeviceInfo, free_bytes: int) -> int:
    """Return the size of each of three arrays for the memory ceilings."""
    least = 8 * device.l2_bytes
    wanted = min(_ARRAY_BYTES, max(least, int(device.peak_memory_bandwidth * 0.001)))
    # Three arrays of a twelfth are a quarter of what is free.
    size = _whole_tiles(min(wanted, free_bytes // 12))
    # Rounding down to whole tiles may have cost up to one.
    if size < least - _TILE_BYTES:
        raise OutOfMemoryError(
            f"Ceilings need three arrays of {least >> 20} MiB (eight times the L2 cache) in a quarter of the "
            f"free GPU memory; {free_bytes >> 20} MiB are free. Close what else uses the GPU."
        )
    return size


def sentinel_bytes(free_bytes: int) -> int:
    """Return the size of the sentinel's arrays: at most 1 GiB, and a twelfth of the free memory."""
    return _whole_tiles(min(_ARRAY_BYTES, free_bytes // 12))


def _whole_tiles(n_bytes: int) -> int:
    return n_bytes // _TILE_BYTES * _TILE_BYTES


def allocate(gpu: GpuClock, n_bytes: int, n_arrays: int = 3) -> Arrays:
    """Return arrays whose inputs hold bits that look random; `b` is `a` where two are asked for."""
    cp = backends.cupy()
    n = n_bytes // 4
    a, out = cp.empty(n, dtype=np.uint32), cp.empty(n, dtype=np.uint32)
    b = cp.empty(n, dtype=np.uint32) if n_arrays == 3 else a
    scramble = scramble_kernel()
    for array in (a, b, out):
        scramble((4096,), (256,), (array, np.int64(n)))
    gpu.synchronize()
    return Arrays(a, b, out, cp.zeros(1, dtype=np.uint32), n_bytes)


def memory_candidates(arrays: Arrays, device: DeviceInfo, mix: str) -> list[Candidate]:
    """Return every shape for one mix, with a block for each tile and with blocks that stride."""
    found = [
        _memory_candidate(arrays, mix, shape, threads, grid)
        for shape in SHAPES
        for threads in _BLOCKS
        # If blocks stride, there are as many as can be resident at once.
        for grid in (None, device.sm_count * device.max_threads_per_sm // threads)
    ]
    # The driver's own copy and fill may be the fastest, and a ceiling that is too low gives shares above 100
    # %.
    driver = {"copy": _driver_copy, "write": _driver_set}.get(mix)
    return [*found, driver(arrays)] if driver else found


def _memory_candidate(
    arrays: Arrays, mix: str, shape: tuple[int, int], threads: int, grid: int | None
) -> Candidate:
    """Return one kernel as a candidate; `grid` blocks stride over the tiles, or each has its own."""
    access_bytes, n_accesses = shape
    kernel = memory_kernel(mix, access_bytes, n_accesses)
    tiles = arrays.n_bytes // (threads * access_bytes * n_accesses)
    blocks = tiles if grid is None else min(grid, tiles)
    args = (arrays.a, arrays.b, arrays.out, np.int64(tiles), arrays.never)
    shape_of_grid = "one tile per block" if grid is None else "grid-stride"
    return Candidate(
        mix,
        f"{access_bytes} B x {n_accesses}, {threads} threads, {shape_of_grid}",
        lambda: kernel((blocks,), (threads,), args),
        _N_ARRAYS[mix] * arrays.n_bytes,
    )


def sentinel_candidate(arrays: Arrays) -> Candidate:
    """Return the one copy kernel that the sentinel always runs."""
    return _memory_candidate(arrays, "copy", (16, 4), 512, None)


def _driver_copy(arrays: Arrays) -> Candidate:
    copy = _memcpy(arrays.out.data.ptr, arrays.a.data.ptr, arrays.n_bytes, _DEVICE_TO_DEVICE)
    return Candidate("copy", "cudaMemcpyAsync", copy, 2 * arrays.n_bytes)


def _driver_set(arrays: Arrays) -> Candidate:
    cp = backends.cupy()

    def set_bytes() -> None:
        stream = cp.cuda.get_current_stream().ptr
        cp.cuda.runtime.memsetAsync(arrays.out.data.ptr, 0xA5, arrays.n_bytes, stream)

    return Candidate("write", "cudaMemsetAsync", set_bytes, arrays.n_bytes)


def _memcpy(target: int, source: int, n_bytes: int, kind: int, stream: Any = None) -> Call:
    """Return an asynchronous copy into `stream`, or into what is then the current one."""
    cp = backends.cupy()

    def copy() -> None:
        into = cp.cuda.get_current_stream() if stream is None else stream
        cp.cuda.runtime.memcpyAsync(target, source, n_bytes, kind, into.ptr)

    return copy


def pcie_candidates(gpu: GpuClock) -> list[Candidate]:
    """Return copies between pinned host memory and the GPU: each way, and both ways in two streams."""
    cp = backends.cupy()
    n = _PCIE_BYTES
    pinned = [cp.cuda.alloc_pinned_memory(n) for _ in range(2)]
    there, back = cp.zeros(n, dtype=np.uint8), cp.zeros(n, dtype=np.uint8)
    other = cp.cuda.Stream(non_blocking=True)
    fork, join = (cp.cuda.Event(disable_timing=True) for _ in range(2))
    to_device = _memcpy(there.data.ptr, pinned[0].ptr, n, _HOST_TO_DEVICE)
    to_host = _memcpy(pinned[1].ptr, back.data.ptr, n, _DEVICE_TO_HOST)
    aside = _memcpy(pinned[1].ptr, back.data.ptr, n, _DEVICE_TO_HOST, other)

    def both() -> None:
        # The clock's events are in its own stream: work in the other one begins and ends between them.
        fork.record(gpu.stream)
        other.wait_event(fork)
        aside()
        join.record(other)
        to_device()
        gpu.stream.wait_event(join)

    def keeping(call: Call) -> Call:
        owners = (*pinned, there, back)  # freed memory must not be copied to
        return lambda: (call(), owners)[0]

    return [
        Candidate("h2d", "cudaMemcpyAsync, pinned", keeping(to_device), n),
        Candidate("d2h", "cudaMemcpyAsync, pinned", keeping(to_host), n),
        Candidate("both_ways", "cudaMemcpyAsync, pinned, two streams", keeping(both), 2 * n),
    ]


def fma_candidates(device: DeviceInfo, unit: str) -> list[Candidate]:
    """Return chains of multiply-adds that fill the GPU for about 2 ms."""
    real = np.float32 if unit == "fp32" else np.float64
    never = backends.cupy().zeros(1, dtype=real)
    return [
        # With these, a chain settles near 1/4 and neither overflows nor becomes subnormal.
        _fma_candidate(device, unit, n_chains, threads, (real(-0.9999), real(0.5)), never)
        for n_chains in CHAINS
        for threads in _BLOCKS[:2]
    ]


def _fma_candidate(
    device: DeviceInfo, unit: str, n_chains: int, threads: int, factors: tuple[Any, Any], never: Any
) -> Candidate:
    kernel = fma_kernel(unit, n_chains)
    blocks = device.sm_count * device.max_threads_per_sm // threads
    per_iteration = 2 * FMA_REPEATS * n_chains * blocks * threads
    # For a GPU that is not in the tables: only the length of the kernel depends on it.
    peak = device.peak_flops(unit) or 1e12
    iterations = max(1, int(peak * _FMA_SECONDS / per_iteration))
    args = (*factors, np.int32(iterations), never)
    return Candidate(
        unit,
        f"{n_chains} chains, {threads} threads, ordinary units",
        lambda: kernel((blocks,), (threads,), args),
        per_iteration * iterations,
    )


def tensor_ceilings(gpu: GpuClock, device: DeviceInfo, host: HostClock | None = None) -> Iterator[Ceiling]:
    """Yield the rate that cuBLAS reaches on each kind of tensor core that the GPU has."""
    for unit in TENSOR_UNITS:
        if not device.peak_flops(unit):
            continue
        try:
            yield best([product_candidate(gpu, device, unit)], gpu, host)
        # A wrong product is an error, and must not become a warning below.
        except MismatchError:
            raise
        except Exception as error:  # if cuBLAS fails here, all other ceilings must survive
            warnings.warn(
                f"no ceiling of {unit}: {type(error).__name__}: {error}", RuntimeWarning, stacklevel=2
            )


def product_rows(device: DeviceInfo, unit: str) -> int:
    """Return how many rows square matrices have whose product would last about 2 ms at the physical peak."""
    flops = (device.peak_flops(unit) or 1e12) * _PRODUCT_SECONDS
    rows: float = (flops / 2) ** (1 / 3)
    return max(1, round(rows / _PRODUCT_STEP)) * _PRODUCT_STEP


def product_candidate(gpu: GpuClock, device: DeviceInfo, unit: str) -> Candidate:
    """Return a product of two matrices on tensor cores, checked on the same numbers that are timed."""
    n = product_rows(device, unit)
    with gpu.use():
        multiply, a, b, out = _product(n, unit)
        multiply()
        check_product(unit, a, b, out)
    return Candidate(unit, f"cuBLAS, {n} x {n} matrices, tensor cores", multiply, 2 * n**3)


def _product(n: int, unit: str) -> tuple[Call, Any, Any, Any]:
    """Return a call that multiplies two matrices of whole numbers, both of them, and where the product goes.

    Called through cuBLAS itself: CuPy decides once per process whether it may use TF32, and needs another
    package for bfloat16.
    """
    cp, cublas = backends.cupy(), backends.cublas()
    runtime = cp.cuda.runtime
    # The type of the factors, that of the product, and cuBLAS' number for the kind of computation.
    kinds = {
        "fp64_tensor": (runtime.CUDA_R_64F, np.float64, runtime.CUDA_R_64F, 70),  # CUBLAS_COMPUTE_64F
        "tf32": (runtime.CUDA_R_32F, np.float32, runtime.CUDA_R_32F, 77),  # CUBLAS_COMPUTE_32F_FAST_TF32
        "fp16_tensor": (runtime.CUDA_R_16F, np.float32, runtime.CUDA_R_32F, 68),  # CUBLAS_COMPUTE_32F
        "bf16_tensor": (runtime.CUDA_R_16BF, np.float32, runtime.CUDA_R_32F, 68),
    }
    factor_type, real, product_type, compute = kinds[unit]
    a, b = (_whole_numbers(n, real, seed) for seed in (1, 2))
    a_short, b_short = (_shortened(x, unit) for x in (a, b))
    # An element that cuBLAS does not write stays NaN, which equals nothing.
    out = cp.full((n, n), np.nan, dtype=real)
    one, zero = np.ones(1, real), np.zeros(1, real)
    handle = cp.cuda.device.get_cublas_handle()

    def multiply() -> None:
        # cuBLAS counts along columns, so it sees row-major matrices as transposed, and b comes first.
        first, second = (b_short.data.ptr, factor_type, n), (a_short.data.ptr, factor_type, n)
        product = (zero.ctypes.data, out.data.ptr, product_type, n)
        # Neither matrix is transposed (0, 0), and cuBLAS chooses the algorithm (-1).
        cublas.gemmEx(handle, 0, 0, n, n, n, one.ctypes.data, *first, *second, *product, compute, -1)

    return multiply, a, b, out


def _whole_numbers(n: int, real: Any, seed: int) -> Any:
    """Return a matrix of whole numbers from -8 to 8 in no visible order; every type of float holds them."""
    cp = backends.cupy()
    h = cp.arange(n * n, dtype=np.uint32)
    h += np.uint32(seed * n * n % 2**32)
    # Multipliers and shifts of xxHash, in place, since the matrices are large.
    h *= np.uint32(2_654_435_761)
    h ^= h >> np.uint32(15)
    h *= np.uint32(2_246_822_519)
    h ^= h >> np.uint32(13)
    h %= np.uint32(2 * _LARGEST_FACTOR + 1)
    return (h.astype(real) - real(_LARGEST_FACTOR)).reshape(n, n)


def _shortened(x: Any, unit: str) -> Any:
    """Return a matrix as the factor that a unit takes; of bfloat16, the bits."""
    if unit == "fp16_tensor":
        return x.astype(np.float16)
    return (x.view(np.uint32) >> np.uint32(16)).astype(np.uint16) if unit == "bf16_tensor" else x


def check_product(unit: str, a: Any, b: Any, out: Any) -> None:
    """Raise unless a matrix is the product of two others, all of whole numbers.

    Multiplied by a vector of whole numbers, the product and the factors must give the same result to the last
    bit: each sum is far below 2**53, so it is exact in any order. This needs no product of matrices.
    """
    n = out.shape[0]
    # Freivalds' check, with weights from 1 on: a 0 would leave out a column.
    weights = 1 + np.random.default_rng(n).integers(0, _WEIGHTS, n)
    xp = backends.array_module(out)
    v = xp.asarray(weights.astype(np.float64))
    wrong = xp.flatnonzero(~(_times(out, v) == _times(a, _times(b, v))))
    if wrong.size:
        raise MismatchError(
            f"cuBLAS on {unit}: {wrong.size} of {n} rows are wrong, the first is {int(wrong[0])}."
        )


def _times(matrix: Any, v: Any) -> Any:
    """Multiply a matrix by a vector, a block of rows at a time, without a product of matrices."""
    xp = backends.array_module(matrix)
    # 128 MiB of float64 at a time, instead of another whole matrix.
    step = max(1, 2**24 // max(1, matrix.shape[1]))
    blocks = [(matrix[i : i + step] * v).sum(axis=1) for i in range(0, matrix.shape[0], step)]
    return xp.concatenate(blocks)


def memory_kernel(mix: str, access_bytes: int, n_accesses: int) -> RawKernel:
    """Return the kernel of one mix and shape."""
    return raw_kernel(MEMORY_SOURCE, f"{mix}_{access_bytes}x{n_accesses}")


def fma_kernel(unit: str, n_chains: int) -> RawKernel:
    """Return the kernel of multiply-add chains of one unit."""
    return raw_kernel(FMA_SOURCE, f"{unit}_{n_chains}")


def scramble_kernel() -> RawKernel:
    """Return the kernel that fills words with bits that look random; takes ``(x, n)``."""
    return raw_kernel(MEMORY_SOURCE, "scramble")


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


def check_plausible(measurement: Measurement, device: DeviceInfo) -> None:
    """Raise if a measurement exceeds what the hardware can do."""
    traffic = measurement.traffic
    if not measurement.samples_ns or measurement.clock not in ("device", "end_to_end"):
        return
    seconds = median(measurement.samples_ns) / measurement.n_calls / 1e9
    for work in measurement.work:
        # If it is only a little above, the clock was higher than the device says.
        if work.ceiling and work.count / seconds > 1.02 * work.ceiling:
            raise ImplausibleError(
                f"{measurement.variant} at {measurement.size}: expected at most {work.ceiling:.4g} "
                f"{work.name} per second, its declared ceiling, got {work.count / seconds:.4g}. "
                "Check the count and the ceiling."
            )
    if traffic is None:
        return
    # The bytes that fit into the cache need not have come from memory.
    from_memory = traffic.bytes_read + traffic.bytes_written - device.l2_bytes
    _compare(measurement, "memory", "B/s", from_memory / seconds, device.peak_memory_bandwidth)
    if traffic.flops:
        rate = traffic.flops / seconds
        _compare(measurement, traffic.unit, "FLOP/s", rate, device.peak_flops(traffic.unit))


def _compare(measurement: Measurement, what: str, unit: str, rate: float, peak: float | None) -> None:
    # Without a peak in the tables, nothing can be checked.
    if peak and rate > peak:
        raise ImplausibleError(
            f"{measurement.variant} at {measurement.size}: expected at most the physical peak of {what}, "
            f"{peak / 1e12:,.2f} T{unit}, got {rate / 1e12:,.2f} T{unit}. "
            "Check the traffic model, and that the kernel does all its work inside the clock."
        )
