"""The candidates for each ceiling: what is tried to find the most that a machine can do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuguide import backends
from gpuguide.ceiling_kernels import CHAINS, FMA_REPEATS, SHAPES, fma_kernel, memory_kernel, scramble_kernel
from gpuguide.clocks import GpuClock
from gpuguide.device import DeviceInfo
from gpuguide.errors import OutOfMemoryError
from gpuguide.timers import Call

__all__ = [
    "Arrays",
    "Candidate",
    "allocate",
    "array_bytes",
    "fma_candidates",
    "memory_candidates",
    "pcie_candidates",
    "sentinel_bytes",
    "sentinel_candidate",
]

ARRAY_BYTES = 2**30
PCIE_BYTES = 2**28
FMA_SECONDS = 0.002
"""How long a kernel of multiply-adds should last at the physical peak."""
_TILE_BYTES = 1024 * 8 * 16
_BLOCKS = (256, 512, 1024)
_N_ARRAYS = {"read": 1, "write": 1, "copy": 2, "two_to_one": 3}
_HOST_TO_DEVICE, _DEVICE_TO_HOST, _DEVICE_TO_DEVICE = 1, 2, 3


@dataclass(frozen=True)
class Candidate:
    """One way to do one kind of work.

    Attributes
    ----------
    mix
        The kind, as in `gpuguide.results.Ceiling`.
    kernel
        What a reader sees: kernel, block and grid.
    call
        Does the work once.
    work
        Bytes moved, or operations executed, by one call.
    """

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
    """Return the size of each of three arrays for the memory ceilings.

    Parameters
    ----------
    device
        The GPU.
    free_bytes
        Free memory.

    Returns
    -------
    int
        1 GiB; less where that would last over 1 ms at the peak, or where three would take over a quarter
        of the free memory; whole tiles.

    Raises
    ------
    OutOfMemoryError
        Less than eight times the L2 cache would be left, which then would answer for the memory.

    Examples
    --------
    >>> from gpuguide.device import EXAMPLE_DEVICE
    >>> array_bytes(EXAMPLE_DEVICE, 140 * 2**30) == 2**30
    True
    """
    least = 8 * device.l2_bytes
    wanted = min(ARRAY_BYTES, max(least, int(device.peak_memory_bandwidth * 0.001)))
    size = _whole_tiles(min(wanted, free_bytes // 12))
    if size < least - _TILE_BYTES:
        raise OutOfMemoryError(
            f"Ceilings need three arrays of {least >> 20} MiB (eight times the L2 cache) in a quarter of the "
            f"free GPU memory; {free_bytes >> 20} MiB are free. Close what else uses the GPU."
        )
    return size


def memory_candidates(arrays: Arrays, device: DeviceInfo, mix: str) -> list[Candidate]:
    """Return every shape of one mix, with a block for each tile and with blocks that stride."""
    found = [
        _memory_candidate(arrays, mix, shape, threads, grid)
        for shape in SHAPES
        for threads in _BLOCKS
        for grid in (None, device.sm_count * device.max_threads_per_sm // threads)
    ]
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
    shape_of_grid = "one tile a block" if grid is None else "grid-stride"
    return Candidate(
        mix,
        f"{access_bytes} B x {n_accesses}, {threads} threads, {shape_of_grid}",
        lambda: kernel((blocks,), (threads,), args),
        _N_ARRAYS[mix] * arrays.n_bytes,
    )


def sentinel_bytes(free_bytes: int) -> int:
    """Return the size of the sentinel's arrays: at most 1 GiB, and a twelfth of the free memory."""
    return _whole_tiles(min(ARRAY_BYTES, free_bytes // 12))


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
    n = PCIE_BYTES
    pinned = [cp.cuda.alloc_pinned_memory(n) for _ in range(2)]
    there, back = cp.zeros(n, dtype=np.uint8), cp.zeros(n, dtype=np.uint8)
    other = cp.cuda.Stream(non_blocking=True)
    fork, join = (cp.cuda.Event(disable_timing=True) for _ in range(2))
    to_device = _memcpy(there.data.ptr, pinned[0].ptr, n, _HOST_TO_DEVICE)
    to_host = _memcpy(pinned[1].ptr, back.data.ptr, n, _DEVICE_TO_HOST)
    aside = _memcpy(pinned[1].ptr, back.data.ptr, n, _DEVICE_TO_HOST, other)

    def both() -> None:
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
    peak = device.peak_flops(unit) or 1e12
    iterations = max(1, int(peak * FMA_SECONDS / per_iteration))
    args = (*factors, np.int32(iterations), never)
    return Candidate(
        unit,
        f"{n_chains} chains, {threads} threads",
        lambda: kernel((blocks,), (threads,), args),
        per_iteration * iterations,
    )


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
