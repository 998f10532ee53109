"""Copies between the memories of GPUs: directly and through the host, timed by events of both."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import cupy, numba_cuda
from gpuguide.topics.several_gpus.gpus import Gpu, count, some

__all__ = ["N_BYTES", "access", "followers", "rates", "using", "without_access"]

N_BYTES = 2**28
"""Bytes of a copy."""
_MOST = 4  # GPUs whose pairs are measured
_SAMPLES = 5


def access(n: int | None = None) -> np.ndarray:
    """Ask, for each pair of GPUs, whether the first can read the memory of the second; itself it can."""
    n = count() if n is None else n
    can = cupy().cuda.runtime.deviceCanAccessPeer
    return np.array([[i == j or bool(can(i, j)) for j in range(n)] for i in range(n)])


def rates(n_bytes: int = N_BYTES) -> dict[str, list[float]]:
    """Measure copies between each pair of GPUs, and of each GPU with itself, in bytes per second.

    Returns
    -------
    dict of str to list of float
        ``"push_0_1"``: from GPU 0 to GPU 1, asked for in a stream of GPU 0 and timed by its events.
        ``"pull_0_1"``: the same copy asked for in a stream of GPU 1 and timed by those. ``"staged_0_1"``: by
        the driver, without peer access. ``"host_0_1"``: by way of pinned memory on the host.
    """
    gpus = some(min(_MOST, count()))
    found: dict[str, list[float]] = {}
    for i, source in enumerate(gpus):
        for j, target in enumerate(gpus):
            found |= _pair(f"{i}_{j}", source, target, n_bytes)
    cupy().get_default_memory_pool().free_all_blocks()
    return found


def using(n_bytes: int = N_BYTES) -> tuple[dict[str, list[float]], str]:
    """Double an array of GPU 0 on GPU 0 and, if there is one, on GPU 1; give the rates and CuPy's warning.

    Returns
    -------
    rates : dict of str to list of float
        ``"used_here"`` and, with two GPUs, ``"used_there"``: bytes of the array per second.
    warning : str
        What CuPy says when an array of another GPU is used; empty with one GPU.
    """
    cp = cupy()
    gpus = some(min(2, count()))
    with gpus[0].device:
        x = cp.arange(n_bytes // 8, dtype=np.int64)
        gpus[0].device.synchronize()
    found, said = {}, ""
    for name, gpu in zip(("used_here", "used_there"), gpus, strict=False):
        with gpu.device, gpu.stream, warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            doubled = x * 2
            said = str(seen[0].message) if seen else said
            wrong = int((doubled != 2 * cp.arange(x.size, dtype=np.int64)).sum())

            def double(gpu: Gpu, out: Any = doubled) -> None:
                cp.multiply(x, 2, out=out)

            found[name] = _timed(double, gpu, n_bytes)
        if wrong or int(doubled.device.id) != int(gpu.device.id):
            raise MismatchError(
                f"{name}: {wrong:,} elements are wrong, on GPU {doubled.device.id}."
            )
    return found, said


def followers() -> dict[str, int]:
    """Ask each library on which GPU it is while the other one has been sent to GPU 1.

    Returns
    -------
    dict of str to int
        ``"cupy_follows"`` and ``"numba_follows"``: numbers of GPUs. Empty with one GPU.
    """
    if count() < 2:
        return {}
    cp, cuda = cupy(), numba_cuda()
    with cuda.gpus[0]:  # Numba then has a current device, as after its first launch
        pass
    with cuda.gpus[1]:
        cupy_is_on = int(cp.cuda.Device().id)
    with cp.cuda.Device(1):
        numba_is_on = int(cuda.get_current_device().id)
    return {"cupy_follows": cupy_is_on, "numba_follows": numba_is_on}


def _pair(name: str, source: Gpu, target: Gpu, n_bytes: int) -> dict[str, list[float]]:
    cp = cupy()
    n = n_bytes // 8
    with source.device:
        x = cp.arange(n, dtype=np.int64)
        source.device.synchronize()
    with target.device:
        out = cp.zeros(n, np.int64)
        target.device.synchronize()

    def copy(gpu: Gpu) -> None:
        # Whether this goes directly depends on what the two GPUs are allowed.
        cp.cuda.runtime.memcpyPeerAsync(
            out.data.ptr,
            target.device.id,
            x.data.ptr,
            source.device.id,
            n_bytes,
            gpu.stream.ptr,
        )

    found = {}
    if source.device.id != target.device.id:
        with without_access(source, target):
            found[f"staged_{name}"] = _timed(copy, source, n_bytes)
    with with_access(source, target):
        found[f"push_{name}"] = _timed(copy, source, n_bytes)
        found[f"pull_{name}"] = _timed(copy, target, n_bytes)
    _check(name, out, target)
    found[f"host_{name}"] = _through_host(x, out, source, target, n_bytes)
    _check(name, out, target)
    return found


def _timed(copy: Callable[[Gpu], None], gpu: Gpu, n_bytes: int) -> list[float]:
    """Time a copy by events of the GPU whose stream it is asked for in; the first one does not count."""
    cp = cupy()
    seen = []
    with gpu.device:
        for _ in range(_SAMPLES + 1):
            begin, end = cp.cuda.Event(), cp.cuda.Event()
            begin.record(gpu.stream)
            copy(gpu)
            end.record(gpu.stream)
            end.synchronize()
            seen.append(n_bytes / (cp.cuda.get_elapsed_time(begin, end) / 1e3))
    return seen[1:]


def _through_host(x: Any, out: Any, source: Gpu, target: Gpu, n_bytes: int) -> list[float]:
    """Copy to pinned memory and from there, one after the other, by events of both GPUs."""
    import cupyx

    cp = cupy()
    between = cupyx.empty_pinned(x.shape, x.dtype)
    seen = []
    for _ in range(_SAMPLES):
        total = 0.0
        for gpu, one_way in (
            (source, lambda: x.get(out=between, stream=source.stream, blocking=False)),
            (target, lambda: out.set(between, stream=target.stream)),
        ):
            with gpu.device:
                begin, end = cp.cuda.Event(), cp.cuda.Event()
                begin.record(gpu.stream)
                one_way()
                end.record(gpu.stream)
                end.synchronize()
                total += cp.cuda.get_elapsed_time(begin, end) / 1e3
        seen.append(n_bytes / total)
    return seen


def _check(name: str, out: Any, target: Gpu) -> None:
    cp = cupy()
    with target.device:
        wrong = int((out != cp.arange(out.size, dtype=np.int64)).sum())
        out.fill(0)
        target.device.synchronize()
    if wrong:
        raise MismatchError(f"The copy {name} differs from its source at {wrong:,} places.")


@contextmanager
def with_access(source: Gpu, target: Gpu) -> Iterator[None]:
    """Let both GPUs read each other's memory, if they can at all; they stay allowed to, as CuPy keeps it."""
    _allow(source, target)
    _allow(target, source)
    yield


def _allow(one: Gpu, other: Gpu) -> None:
    runtime = cupy().cuda.runtime
    if one.device.id == other.device.id or not runtime.deviceCanAccessPeer(
        one.device.id, other.device.id
    ):
        return
    with one.device:
        _unless(runtime.deviceEnablePeerAccess, other.device.id, "PeerAccessAlreadyEnabled")


@contextmanager
def without_access(source: Gpu, target: Gpu) -> Iterator[None]:
    """Forbid both GPUs each other's memory, and allow it again."""
    runtime = cupy().cuda.runtime
    for one, other in ((source, target), (target, source)):
        with one.device:
            _unless(runtime.deviceDisablePeerAccess, other.device.id, "PeerAccessNotEnabled")
    try:
        yield
    finally:
        _allow(source, target)
        _allow(target, source)


def _unless(call: Callable[[int], None], number: int, forgiven: str) -> None:
    """Make a call of CUDA's runtime; that it was so already is no error."""
    try:
        call(number)
    except cupy().cuda.runtime.CUDARuntimeError as error:
        if forgiven not in str(error):
            raise
