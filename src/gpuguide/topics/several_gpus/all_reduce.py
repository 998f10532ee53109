"""Each GPU has an array, and afterwards all have the sum: by NCCL, and by copies to one GPU and back."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from gpuguide.errors import BackendError
from gpuguide.machine import launch
from gpuguide.machine.backends import array_module, cupy, has_gpu
from gpuguide.measure.edited import Kernels
from gpuguide.measure.random_inputs import whole_numbers
from gpuguide.measure.study import Study
from gpuguide.topics.several_gpus.gpus import Gpu, lacking, nccl, some, wait
from gpuguide.topics.several_gpus.study import label, on_gpus

SIZES = tuple(2**exponent for exponent in (10, 14, 18, 22, 26, 28))
_PERIOD = 1021


@cache
def communicators(n_gpus: int) -> list[Any]:
    """Connect the first GPUs, which takes seconds; once for a process."""
    return list(nccl().NcclCommunicator.initAll(n_gpus))


def numbers(xp: Any, n: int, g: int) -> Any:
    """Make what a GPU other than the first adds: whole numbers, so that the sum is exact in any order."""
    # Counted in integers: float32 does not hold all of them beyond 2^24.
    row = xp.arange(n, dtype=np.int32)
    row %= _PERIOD
    row += g
    return row.astype(np.float32)


@cache
def _own(gpu: Gpu, n: int) -> Any:
    with gpu.device, gpu.stream:
        made = numbers(cupy(), n, gpu.device.id)
        gpu.stream.synchronize()
    return made


def arrays_on(gpus: tuple[Gpu, ...], x: Any, out: Any) -> list[tuple[Gpu, Any, Any]]:
    """Give each GPU with its own array and one for the sum: `x` and `out` belong to the first."""
    cp = cupy()
    # The streams know nothing of what happens in the current one.
    cp.cuda.get_current_stream().synchronize()
    arrays = [(gpus[0], cp.asarray(x), cp.asarray(out))]
    for gpu in gpus[1:]:
        with gpu.device, gpu.stream:
            arrays.append((gpu, _own(gpu, len(x)), cp.empty(len(x), np.float32)))
    return arrays


def by_nccl(arrays: list[tuple[Gpu, Any, Any]]) -> None:
    """Let NCCL add up the arrays of all GPUs, and give each the sum."""
    library, connected = nccl(), communicators(len(arrays))
    # One process asks for all GPUs, so the calls form a group: alone, the first would wait for the second.
    library.groupStart()
    for (gpu, own, total), one in zip(arrays, connected, strict=True):
        with gpu.device:
            one.allReduce(
                own.data.ptr,
                total.data.ptr,
                own.size,
                library.NCCL_FLOAT32,
                library.NCCL_SUM,
                gpu.stream.ptr,
            )
    library.groupEnd()


def by_copies(arrays: list[tuple[Gpu, Any, Any]]) -> None:
    """Fetch the arrays of the other GPUs to the first, add them up there, and send the sum to all."""
    (first, own, total), *others = arrays
    cp = cupy()
    with first.device, first.stream as stream:
        cp.copyto(total, own)
        arrived = cp.empty(own.size, np.float32)
        for _, other, _ in others:
            arrived.data.copy_from_device_async(other.data, other.nbytes, stream)
            cp.add(total, arrived, out=total)
        for _, _, sum_there in others:
            sum_there.data.copy_from_device_async(total.data, total.nbytes, stream)


def summed(way: Callable[..., None], n_gpus: int, x: Any, out: Any) -> None:
    """Add up an array of each GPU for all of them, and wait until they have the sum."""
    if launch.check(x=x, out=out, ndim=1, dtype="float32"):
        gpus = some(n_gpus)
        way(arrays_on(gpus, x, out))
        wait(gpus)


def bus_bytes(n_gpus: int, n: int) -> int:
    """Count the bytes that each GPU must send at the least, as NCCL's own tests do.

    >>> bus_bytes(2, 2**28) / 2**30
    1.0
    """
    return 2 * (n_gpus - 1) * 4 * n // n_gpus


def sum_of_all(n_gpus: int, x: Any) -> Any:
    """Add to the array of GPU 0 what the others have.

    >>> sum_of_all(2, np.arange(3, dtype=np.float32)).tolist()  # GPU 1 has 1, 2 and 3
    [1.0, 3.0, 5.0]
    """
    xp = array_module(x)
    return x + sum(numbers(xp, x.size, g) for g in range(1, n_gpus))


def sums_study(kernels: Kernels = None) -> Study:
    """Describe the sum of two arrays, one on each of two GPUs."""
    n_gpus = 2
    missing = lacking(n_gpus)
    ways = (
        ("nccl", by_nccl, "NCCL", missing or no_nccl()),
        ("copies", by_copies, "copies to GPU 0 and back", missing),
    )
    return Study(
        name="sums",
        title="The sum of two arrays, one on each GPU, for both",
        variants=tuple(
            on_gpus(
                name,
                partial(summed, way, n_gpus),
                f"{words}, {label(n_gpus)}",
                reason,
                work={"bus_bytes": partial(bus_bytes, n_gpus)},
                note=f"{words}.",
            )
            for name, way, words, reason in ways
        ),
        sizes=SIZES,
        inputs=lambda n, dtype, rng, exact: (whole_numbers(rng, n, 1000, dtype),),
        reference=partial(sum_of_all, n_gpus),
        equal=True,
        input_note="whole numbers below 1000",
        baseline="copies",
        kernels=kernels,
    )


def no_nccl() -> str:
    """Say that NCCL is missing; empty where it is there, and where there is no GPU at all."""
    if not has_gpu():
        return ""
    try:
        nccl()
    except BackendError:
        return "needs NCCL, which CuPy does not find here"
    return ""
