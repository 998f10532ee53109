"""The most that this machine can do, measured once per session: the best of several kernels for each mix.

Shares in the guide refer to the ceiling for the kernel's own mix of reads and writes, so the ceilings must be
as high as possible. The candidates are the shapes that have won on some machine start: accesses of 16 bytes,
a tile for each block. Grid-stride loops, accesses of 4 bytes and the driver's own copy and fill never did.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from statistics import median
from typing import Any

import numpy as np

from gpuguide.errors import ImplausibleError, MismatchError, OutOfMemoryError
from gpuguide.machine import backends
from gpuguide.machine.backends import raw_kernel
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

MEMORY_MIXES = {"read": 1, "write": 1, "copy": 2, "two_to_one": 3}
"""Mix -> how many arrays it moves."""
ACCESSES = (1, 2, 4, 8)
"""Independent accesses of 16 bytes per thread, one block's width apart."""
THREADS = (256, 512, 1024)
CHAINS = (8, 16)
"""Independent chains of multiply-adds in a thread."""
FMA_REPEATS = 16
"""Multiply-adds of each chain in one iteration."""
TENSOR_UNITS = ("fp64_tensor", "tf32", "fp16_tensor", "bf16_tensor")

_MIX_BUDGET_S = 0.5  # for the samples of the two best candidates of one mix
_SCREENING_SAMPLES = 3
_ARRAY_BYTES, _PCIE_BYTES = 2**30, 2**28
_FMA_SECONDS = 0.002  # how long a kernel of multiply-adds should last at the physical peak
_PRODUCT_SECONDS, _PRODUCT_STEP = 0.002, 1024  # the same for a product, and what its rows are a multiple of
# Factors that every type holds, bfloat16 too. A sum of at most 64 a row stays below 2**24 up to 262 144 rows,
# so that products are exact in float32.
_LARGEST_FACTOR, _WEIGHTS = 8, 1009
# The most that one block takes: threads times accesses times bytes. Every shape divides it.
_TILE_BYTES = 1024 * 8 * 16
# As CUDA numbers them in cudaMemcpyKind.
_HOST_TO_DEVICE, _DEVICE_TO_HOST = 1, 2


@dataclass(frozen=True)
class Candidate:
    """One way to do one kind of work."""

    mix: str
    kernel: str
    call: Call
    work: int


def measure(gpu: GpuClock, device: DeviceInfo, *, host: HostClock | None = None) -> Ceilings:
    """Measure all ceilings of this machine."""
    clock = host or SystemClock()
    cp = backends.cupy()
    with gpu.use():
        arrays = allocate(gpu, array_bytes(device, cp.cuda.runtime.memGetInfo()[0]), 3)
        items = [best(memory_candidates(arrays, mix), gpu, clock) for mix in MEMORY_MIXES]
        del arrays
        items += [best([copy], gpu, clock) for copy in pcie_candidates(gpu)]
        items += [best(fma_candidates(device, unit), gpu, clock) for unit in ("fp32", "fp64")]
        items += tensor_ceilings(gpu, device, clock)
    cp.get_default_memory_pool().free_all_blocks()
    cp.get_default_pinned_memory_pool().free_all_blocks()
    return Ceilings((*items, *launch_ceilings(gpu, clock)))


def best(candidates: Iterable[Candidate], gpu: GpuClock, host: HostClock) -> Ceiling:
    """Return the ceiling that the fastest of several candidates reaches.

    All are tried three times; the two with the lowest medians are then sampled until that is enough, because
    three samples do not separate the best from the second best.
    """
    ranked = sorted(candidates, key=partial(_screen, gpu))
    return max((_ceiling(one, gpu, host) for one in ranked[:2]), key=lambda ceiling: ceiling.value)


def _screen(gpu: GpuClock, candidate: Candidate) -> float:
    """Return the median of a few samples, in nanoseconds."""
    with gpu.use():
        candidate.call()
        gpu.synchronize()
    return median(collect(DeviceTimer(gpu, candidate.call), _SCREENING_SAMPLES).ns)


def _ceiling(candidate: Candidate, gpu: GpuClock, host: HostClock) -> Ceiling:
    """Sample a candidate until that is enough; return its rate."""
    samples = collect_enough(DeviceTimer(gpu, candidate.call), host, budget_s=_MIX_BUDGET_S / 2)
    unit = "FLOP/s" if candidate.mix in ("fp32", "fp64", *TENSOR_UNITS) else "B/s"
    rate = candidate.work / (median(samples.ns) / 1e9)
    return Ceiling(candidate.mix, rate, unit, samples.ns, candidate.work, candidate.kernel)


def launch_ceilings(gpu: GpuClock, host: HostClock) -> tuple[Ceiling, ...]:
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
    n_bytes = _whole_tiles(min(_ARRAY_BYTES, backends.cupy().cuda.runtime.memGetInfo()[0] // 12))
    with gpu.use():
        candidate = _memory_candidate(allocate(gpu, n_bytes, 2), "copy", 4, 512)
        timer = device_timer(candidate.call, gpu, batchable=False)
        return candidate.work / (median(collect(timer, n_samples).ns) / 1e9)


def array_bytes(device: DeviceInfo, free_bytes: int) -> int:
    """Return the size of each of three arrays for the memory ceilings."""
    least = 8 * device.l2_bytes
    aim = min(_ARRAY_BYTES, max(least, int(device.peak_memory_bandwidth * 0.001)))
    # Three arrays of a twelfth are a quarter of what is free.
    size = _whole_tiles(min(aim, free_bytes // 12))
    # Rounding down to whole tiles may have cost up to one.
    if size < least - _TILE_BYTES:
        raise OutOfMemoryError(
            f"Ceilings need three arrays of {least >> 20} MiB (eight times the L2 cache) in a quarter of the "
            f"free GPU memory; {free_bytes >> 20} MiB are free. Close what else uses the GPU."
        )
    return size


def _whole_tiles(n_bytes: int) -> int:
    return n_bytes // _TILE_BYTES * _TILE_BYTES


def allocate(gpu: GpuClock, n_bytes: int, n_arrays: int) -> list[Any]:
    """Return arrays of words that look random: some hardware moves constants at another rate."""
    n = n_bytes // 4
    arrays = [backends.cupy().empty(n, dtype=np.uint32) for _ in range(n_arrays)]
    scramble = raw_kernel(MEMORY_SOURCE, "scramble")
    for array in arrays:
        scramble((4096,), (256,), (array, np.int64(n)))
    gpu.synchronize()
    return arrays


def memory_candidates(arrays: list[Any], mix: str) -> list[Candidate]:
    """Return every shape for one mix."""
    return [_memory_candidate(arrays, mix, *shape) for shape in product(ACCESSES, THREADS)]


def _memory_candidate(arrays: list[Any], mix: str, n_accesses: int, threads: int) -> Candidate:
    kernel = raw_kernel(MEMORY_SOURCE, f"{mix}_{n_accesses}")
    n_bytes = 4 * arrays[0].size
    tiles = n_bytes // (threads * n_accesses * 16)
    never = backends.cupy().zeros(1, dtype=np.uint32)
    args = (arrays[0], arrays[1], arrays[-1], np.int64(tiles), never)
    return Candidate(
        mix,
        f"16 B x {n_accesses}, {threads} threads, one tile per block",
        lambda: kernel((tiles,), (threads,), args),
        MEMORY_MIXES[mix] * n_bytes,
    )


def pcie_candidates(gpu: GpuClock) -> list[Candidate]:
    """Return copies between pinned host memory and the GPU: each way, and both ways in two streams."""
    cp = backends.cupy()
    n = _PCIE_BYTES
    pinned = [cp.cuda.alloc_pinned_memory(n) for _ in range(2)]
    there, back = cp.zeros(n, dtype=np.uint8), cp.zeros(n, dtype=np.uint8)
    other = cp.cuda.Stream(non_blocking=True)
    fork, join = (cp.cuda.Event(disable_timing=True) for _ in range(2))

    # The arrays in these functions live as long as the candidates: freed memory must not be copied to.
    def to_device() -> None:
        stream = cp.cuda.get_current_stream()
        cp.cuda.runtime.memcpyAsync(there.data.ptr, pinned[0].ptr, n, _HOST_TO_DEVICE, stream.ptr)

    def to_host(stream: Any = None) -> None:
        stream = stream or cp.cuda.get_current_stream()
        cp.cuda.runtime.memcpyAsync(pinned[1].ptr, back.data.ptr, n, _DEVICE_TO_HOST, stream.ptr)

    def both() -> None:
        # The clock's events are in its own stream: work in the other one begins and ends between them.
        fork.record(gpu.stream)
        other.wait_event(fork)
        to_host(other)
        join.record(other)
        to_device()
        gpu.stream.wait_event(join)

    return [
        Candidate("h2d", "cudaMemcpyAsync, pinned", to_device, n),
        Candidate("d2h", "cudaMemcpyAsync, pinned", to_host, n),
        Candidate("both_ways", "cudaMemcpyAsync, pinned, two streams", both, 2 * n),
    ]


def fma_candidates(device: DeviceInfo, unit: str) -> list[Candidate]:
    """Return chains of multiply-adds that fill the GPU for about 2 ms."""
    real = np.float32 if unit == "fp32" else np.float64
    never = backends.cupy().zeros(1, dtype=real)
    return [_fma_candidate(device, unit, *shape, real, never) for shape in product(CHAINS, THREADS[:2])]


def _fma_candidate(
    device: DeviceInfo, unit: str, n_chains: int, threads: int, real: Any, never: Any
) -> Candidate:
    kernel = raw_kernel(FMA_SOURCE, f"{unit}_{n_chains}")
    blocks = device.sm_count * device.max_threads_per_sm // threads
    per_iteration = 2 * FMA_REPEATS * n_chains * blocks * threads
    # For a GPU that is not in the tables: only the length of the kernel depends on it.
    peak = device.peak_flops(unit) or 1e12
    iterations = max(1, int(peak * _FMA_SECONDS / per_iteration))
    # With these factors, a chain settles near 1/4 and neither overflows nor becomes subnormal.
    args = (real(-0.9999), real(0.5), np.int32(iterations), never)
    return Candidate(
        unit,
        f"{n_chains} chains, {threads} threads, ordinary units",
        lambda: kernel((blocks,), (threads,), args),
        per_iteration * iterations,
    )


def tensor_ceilings(gpu: GpuClock, device: DeviceInfo, host: HostClock) -> Iterator[Ceiling]:
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
    by_product, by_factors = (out * v).sum(axis=1), (a * (b * v).sum(axis=1)).sum(axis=1)
    wrong = xp.flatnonzero(~(by_product == by_factors))
    if wrong.size:
        raise MismatchError(
            f"cuBLAS on {unit}: {wrong.size} of {n} rows are wrong, the first is {int(wrong[0])}."
        )


MEMORY_SOURCE = r"""
// Arrays hold `tiles` whole tiles of blockDim.x * N vectors; the grid has a block for each. All loads of a
// tile are issued before the first use. What the bits mean does not change how fast they move.
typedef unsigned int Word;

#define FOR_TILES for (long long tile = blockIdx.x; tile < tiles; tile += gridDim.x)
#define EACH _Pragma("unroll") for (int j = 0; j < N; ++j)
#define AT(j) (tile * N * blockDim.x + (j) * blockDim.x + threadIdx.x)
#define KERNEL(mix) template <int N> __device__ __forceinline__ void mix(const uint4* __restrict__ a, \
    const uint4* __restrict__ b, uint4* __restrict__ out, long long tiles, Word* never)

__device__ __forceinline__ Word fold(uint4 a) { return a.x ^ a.y ^ a.z ^ a.w; }

KERNEL(read) {
    Word sum = 0;
    FOR_TILES {
        uint4 v[N];
        EACH v[j] = a[AT(j)];
        EACH sum += fold(v[j]);
    }
    if (sum == 0x9e3779b9u) *never = sum;  // practically never, but the loads must happen to know
}

KERNEL(write) {
    FOR_TILES EACH {
        const Word w = 0x9e3779b9u * (Word)AT(j);
        out[AT(j)] = make_uint4(w, w + 1, w + 2, w + 3);
    }
}

KERNEL(copy) {
    FOR_TILES {
        uint4 v[N];
        EACH v[j] = a[AT(j)];
        EACH out[AT(j)] = v[j];
    }
}

KERNEL(two_to_one) {
    FOR_TILES {
        uint4 v[N], w[N];
        EACH v[j] = a[AT(j)];
        EACH w[j] = b[AT(j)];
        EACH out[AT(j)] = make_uint4(v[j].x ^ w[j].x, v[j].y ^ w[j].y, v[j].z ^ w[j].z, v[j].w ^ w[j].w);
    }
}

extern "C" __global__ void scramble(Word* x, long long n) {
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        Word h = (Word)i * 0x85ebca6bu + 0x9e3779b9u;
        h = (h ^ (h >> 15)) * 0xc2b2ae35u;
        x[i] = h ^ (h >> 13);
    }
}
""" + "\n".join(
    f'extern "C" __global__ void {mix}_{n}(const uint4* __restrict__ a, const uint4* __restrict__ b, '
    f"uint4* __restrict__ out, long long tiles, Word* never) {{ {mix}<{n}>(a, b, out, tiles, never); }}"
    for mix, n in product(MEMORY_MIXES, ACCESSES)
)

FMA_SOURCE = rf"""
// N independent chains a thread hide the latency of a multiply-add; x and y come from the host, so that
// nothing can be worked out at compile time.
template <typename T, int N>
__device__ __forceinline__ void fma_chains(T x, T y, int iterations, T* never) {{
    T a[N];
#pragma unroll
    for (int j = 0; j < N; ++j) a[j] = (T)(threadIdx.x + j);
#pragma unroll 1
    for (int i = 0; i < iterations; ++i) {{
#pragma unroll
        for (int r = 0; r < {FMA_REPEATS}; ++r)
#pragma unroll
            for (int j = 0; j < N; ++j) a[j] = a[j] * x + y;
    }}
    T sum = 0;
#pragma unroll
    for (int j = 0; j < N; ++j) sum += a[j];
    if (sum == (T)-12345) *never = sum;
}}
""" + "\n".join(
    f'extern "C" __global__ void {unit}_{n}({real} x, {real} y, int iterations, {real}* never) '
    f"{{ fma_chains<{real}, {n}>(x, y, iterations, never); }}"
    for (unit, real), n in product((("fp32", "float"), ("fp64", "double")), CHAINS)
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
