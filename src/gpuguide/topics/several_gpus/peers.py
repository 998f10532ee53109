"""Copies between the memories of two GPUs, directly and through the host, and the links between them."""

import warnings
from contextlib import suppress
from functools import partial

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import numba_cuda, nvml
from gpuguide.measure import cp
from gpuguide.topics.several_gpus.study import some

N_BYTES = 2**30  # long enough that the calls of Python, some 10 us, do not count
N_SAMPLES = 5


def rates(n_bytes=N_BYTES):
    """Time copies of GPU 0's array to GPU 1, in bytes per second; `within` stays on GPU 0."""
    gpus, n = some(2), n_bytes // 8
    xs, outs = [], []
    for gpu in gpus:
        with gpu.device:
            xs.append(cp.arange(gpu.number, n + gpu.number, dtype=np.int64))
            outs.append(cp.zeros(n, np.int64))
            gpu.device.synchronize()

    def copy(source, target, gpu):
        # Whether this goes directly depends on what the two GPUs are allowed.
        to, origin = outs[target].data.ptr, xs[source].data.ptr
        cp.cuda.runtime.memcpyPeerAsync(to, target, origin, source, n_bytes, gpu.stream.ptr)

    def timed(phases, pairs):
        samples = [
            len(pairs) * n_bytes / sum(seconds(*phase) for phase in phases)
            for _ in range(N_SAMPLES + 1)
        ]
        for source, target in pairs:
            check(outs[target], gpus[target], source)
        return samples[1:]

    def copies(*pairs):
        return timed(
            [[(gpus[source], partial(copy, source, to)) for source, to in pairs]], pairs
        )

    def by_host(between):
        to_host = gpus[0], lambda gpu: xs[0].get(stream=gpu.stream, out=between, blocking=False)
        from_host = gpus[1], lambda gpu: outs[1].set(between, stream=gpu.stream)
        return timed([[to_host], [from_host]], [(0, 1)])

    peer_access(2, allowed=False)
    staged = copies((0, 1))
    peer_access(2)
    return {
        "staged": staged,
        "within": copies((0, 0)),
        "direct": copies((0, 1)),
        "both_ways": copies((0, 1), (1, 0)),
        "pinned": by_host(pinned(n)),
        "pageable": by_host(np.ones(n, np.int64)),
    }


def pinned(n):
    """Make an array on the host that the GPUs can reach by themselves."""
    import cupyx

    return cupyx.empty_pinned(n, np.int64)


def seconds(*calls):
    """Time calls that begin together, each in the stream of its GPU, by events of the first GPU."""
    first = calls[0][0]
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


def check(out, gpu, source, factor=1):
    """Compare with the numbers that the array of GPU `source` holds, times a factor, and clear it."""
    with gpu.device:
        numbers = cp.arange(source, source + out.size, dtype=np.int64)
        wrong = int((out != numbers * factor).sum())
        out.fill(0)
        gpu.device.synchronize()
    if wrong:
        raise MismatchError(
            f"What came from GPU {source} to GPU {gpu.number} differs at {wrong:,} places."
        )


def using(n_bytes=N_BYTES):
    """Double GPU 0's array on GPU 0 and on GPU 1: bytes of the array per second, and CuPy's warning."""
    gpus, used = some(2), {}
    with gpus[0].device:
        x = cp.arange(n_bytes // 8, dtype=np.int64)
        gpus[0].device.synchronize()
    for name, gpu in zip(("used_here", "used_there"), gpus, strict=True):
        with gpu.device, gpu.stream, warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            out = x * 2
            call = gpu, lambda _, out=out: cp.multiply(x, 2, out=out)
            used[name] = [n_bytes / seconds(call) for _ in range(N_SAMPLES + 1)][1:]
        check(out, gpu, 0, factor=2)
    return used, str(seen[0].message)  # of GPU 1


def followers():
    """Ask CuPy and Numba on which GPU each is while the other one has been sent to GPU 1."""
    cuda = numba_cuda()
    with cuda.gpus[0]:  # Numba then has a current device, as after its first launch
        pass
    with cuda.gpus[1]:
        cupy_is_on = int(cp.cuda.Device().id)
    with cp.cuda.Device(1):
        numba_is_on = int(cuda.get_current_device().id)
    return {"cupy_follows": cupy_is_on, "numba_follows": numba_is_on}


def links():
    """Count the NVLinks of GPU 0 that are up."""
    library, up = nvml(), 0
    handle = library.nvmlDeviceGetHandleByPciBusId(cp.cuda.Device(0).pci_bus_id)
    with suppress(library.NVMLError):  # there is no such link
        for link in range(library.NVML_NVLINK_MAX_LINKS):
            up += library.nvmlDeviceGetNvLinkState(handle, link)
    return up


def peer_access(n_gpus, *, allowed=True):
    """Let the kernels and copies of each GPU reach the memory of the GPUs beside it, or forbid it."""
    runtime = cp.cuda.runtime
    change = runtime.deviceEnablePeerAccess if allowed else runtime.deviceDisablePeerAccess
    for g in range(1, n_gpus):
        for here, there in ((g - 1, g), (g, g - 1)):
            # It may be so already: CuPy allows it, too, before it copies.
            with cp.cuda.Device(here), suppress(runtime.CUDARuntimeError):
                change(there)


def no_access():
    """Say that GPU 0 and GPU 1 cannot read each other's memory; nothing where they can."""
    can = cp.cuda.runtime.deviceCanAccessPeer
    return "" if can(0, 1) and can(1, 0) else "GPU 0 and GPU 1 cannot read each other's memory"
