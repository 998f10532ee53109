"""Copies between the memories of two GPUs, directly and through the host, and the links between them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import cupy, numba_cuda, nvml
from gpuguide.topics.several_gpus.gpus import Gpu, count, some

N_BYTES = 2**30
"""Bytes of a copy: long enough that the calls of Python, some 10 us, do not count."""
_SAMPLES = 5
_MOST_LINKS = 18


def measured(n_bytes: int = N_BYTES) -> tuple[dict[str, list[float]], str]:
    """Time copies and the use of the other GPU's array; give the rates, and CuPy's warning."""
    used, warning = using(n_bytes)
    found = {**rates(n_bytes), **used}
    for gpu in some(2):
        with gpu.device:
            cupy().get_default_memory_pool().free_all_blocks()
    return found, warning


def rates(n_bytes: int) -> dict[str, list[float]]:
    """Time copies within GPU 0, between GPU 0 and GPU 1, and both ways at once, in bytes per second."""
    cp, gpus, n = cupy(), some(2), n_bytes // 8
    xs, outs = [], []
    for g, gpu in enumerate(gpus):
        with gpu.device:
            xs.append(cp.arange(g, n + g, dtype=np.int64))
            outs.append(cp.zeros(n, np.int64))
            gpu.device.synchronize()

    def copy(source: int, target: int) -> tuple[Gpu, Callable[[Gpu], None]]:
        def call(gpu: Gpu) -> None:
            # Whether this goes directly depends on what the two GPUs are allowed.
            to, origin = outs[target].data.ptr, xs[source].data.ptr
            cp.cuda.runtime.memcpyPeerAsync(to, target, origin, source, n_bytes, gpu.stream.ptr)

        return gpus[source], call

    def timed(*pairs: tuple[int, int]) -> list[float]:
        copies = [copy(*pair) for pair in pairs]
        samples = [len(pairs) * n_bytes / seconds(*copies) for _ in range(_SAMPLES + 1)]
        for source, target in pairs:
            check(xs[source], outs[target], source, gpus[target])
        return samples[1:]

    def by_host(between: np.ndarray) -> list[float]:
        def to_host(gpu: Gpu) -> None:
            xs[0].get(out=between, stream=gpu.stream, blocking=False)

        def from_host(gpu: Gpu) -> None:
            outs[1].set(between, stream=gpu.stream)

        samples = [
            n_bytes / (seconds((gpus[0], to_host)) + seconds((gpus[1], from_host)))
            for _ in range(_SAMPLES + 1)
        ]
        check(xs[0], outs[1], 0, gpus[1])
        return samples[1:]

    with without_access():
        found = {"staged": timed((0, 1))}
    found |= {
        "within": timed((0, 0)),
        "direct": timed((0, 1)),
        "direct_back": timed((1, 0)),
        "both_ways": timed((0, 1), (1, 0)),
        "pinned": by_host(pinned(n)),
        "pageable": by_host(np.ones(n, np.int64)),
    }
    return found


def pinned(n: int) -> np.ndarray:
    """Make an array on the host that the GPUs can reach by themselves."""
    import cupyx

    between: np.ndarray = cupyx.empty_pinned(n, np.int64)
    return between


def seconds(*calls: tuple[Gpu, Callable[[Gpu], None]]) -> float:
    """Time calls that begin together, each in the stream of its GPU, by events of the first GPU."""
    cp, first = cupy(), calls[0][0]
    with first.device:
        begin, end = cp.cuda.Event(), cp.cuda.Event()
        begin.record(first.stream)
    for gpu, call in calls:
        with gpu.device:
            gpu.stream.wait_event(begin)
            call(gpu)
            done = cp.cuda.Event(disable_timing=True)
            done.record(gpu.stream)
        first.stream.wait_event(done)
    with first.device:
        end.record(first.stream)
        end.synchronize()
    return float(cp.cuda.get_elapsed_time(begin, end)) / 1e3


def check(x: Any, out: Any, begin: int, gpu: Gpu) -> None:
    """Compare a copy with the numbers that its source holds, and clear it."""
    cp = cupy()
    with gpu.device:
        wrong = int((out != cp.arange(begin, begin + x.size, dtype=np.int64)).sum())
        out.fill(0)
        gpu.device.synchronize()
    if wrong:
        raise MismatchError(
            f"A copy from GPU {begin} to GPU {gpu.device.id} differs at {wrong:,} places."
        )


def using(n_bytes: int) -> tuple[dict[str, list[float]], str]:
    """Double an array of GPU 0 on GPU 0 and on GPU 1: bytes of the array per second, and CuPy's warning."""
    cp, gpus = cupy(), some(2)
    with gpus[0].device:
        x = cp.arange(n_bytes // 8, dtype=np.int64)
        gpus[0].device.synchronize()
    found, words = {}, ""
    for name, gpu in zip(("used_here", "used_there"), gpus, strict=True):
        with gpu.device, gpu.stream, warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            out = x * 2
            words = str(seen[0].message) if seen else words

            def double(_: Gpu, out: Any = out) -> None:
                cp.multiply(x, 2, out=out)

            samples = [n_bytes / seconds((gpu, double)) for _ in range(_SAMPLES + 1)]
            found[name] = samples[1:]
            wrong = int((out != 2 * cp.arange(x.size, dtype=np.int64)).sum())
        if wrong or int(out.device.id) != int(gpu.device.id):
            raise MismatchError(f"{name}: {wrong:,} numbers are wrong, on GPU {out.device.id}.")
    return found, words


def followers() -> dict[str, int]:
    """Ask CuPy and Numba on which GPU each is while the other one has been sent to GPU 1."""
    cp, cuda = cupy(), numba_cuda()
    with cuda.gpus[0]:  # Numba then has a current device, as after its first launch
        pass
    with cuda.gpus[1]:
        cupy_is_on = int(cp.cuda.Device().id)
    with cp.cuda.Device(1):
        numba_is_on = int(cuda.get_current_device().id)
    return {"cupy_follows": cupy_is_on, "numba_follows": numba_is_on}


def links() -> int:
    """Count the NVLinks of GPU 0 that are up, by NVIDIA's management library; 0 where it does not know."""
    library = nvml()
    if library is None:
        return 0
    handle = library.nvmlDeviceGetHandleByPciBusId(cupy().cuda.Device(0).pci_bus_id)
    up = 0
    for link in range(_MOST_LINKS):
        try:
            up += int(library.nvmlDeviceGetNvLinkState(handle, link))
        except library.NVMLError:  # there is no such link
            break
    return up


def allow(one: int, other: int) -> None:
    """Let the kernels of a GPU read the memory of another one, if it can at all."""
    runtime = cupy().cuda.runtime
    if one != other and runtime.deviceCanAccessPeer(one, other):
        with cupy().cuda.Device(one):
            # CuPy does it, too, before it copies, and twice is an error.
            _unless(runtime.deviceEnablePeerAccess, other, "PeerAccessAlreadyEnabled")


@contextmanager
def without_access() -> Iterator[None]:
    """Forbid GPU 0 and GPU 1 each other's memory; afterwards both are allowed to."""
    runtime = cupy().cuda.runtime
    for one in range(2):
        with cupy().cuda.Device(one):
            _unless(runtime.deviceDisablePeerAccess, 1 - one, "PeerAccessNotEnabled")
    try:
        yield
    finally:
        for one in range(min(2, count())):
            allow(one, 1 - one)


def _unless(call: Callable[[int], None], number: int, forgiven: str) -> None:
    """Make a call of CUDA's runtime; that it was so already is no error."""
    try:
        call(number)
    except cupy().cuda.runtime.CUDARuntimeError as error:
        if forgiven not in str(error):
            raise
