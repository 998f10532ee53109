"""Each GPU has an array, and afterwards all have the sum: by NCCL, and by copies to one GPU and back."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from gpuguide.errors import BackendError, MismatchError
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


_kept: dict[tuple[int, str], Any] = {}


def _memory(gpu: Gpu, what: str, n: int) -> Any:
    place = (gpu.device.id, what)
    if place not in _kept or _kept[place].size < n:
        _kept.pop(place, None)
        with gpu.device, gpu.stream:
            _kept[place] = _numbers(gpu, n) if what == "own" else cupy().empty(n, np.float32)
    return _kept[place][:n]


def _numbers(gpu: Gpu, n: int) -> Any:
    """Make what a GPU other than the first adds: whole numbers, so that the sum is exact in any order."""
    row = cupy().arange(n, dtype=np.int32)
    row %= _PERIOD
    row += gpu.device.id
    return row.astype(np.float32)


def forget() -> None:
    """Let the arrays go."""
    _kept.clear()


def sums(gpus: tuple[Gpu, ...], x: Any, out: Any) -> list[tuple[Gpu, Any, Any]]:
    """Give each GPU with its own array and the one for the sum: `x` and `out` belong to the first."""
    n = launch.check(x=x, out=out, ndim=1, dtype="float32")
    cp = cupy()
    # The streams know nothing of what happens in the current one.
    cp.cuda.get_current_stream().synchronize()
    others = [(gpu, _memory(gpu, "own", n), _memory(gpu, "sum", n)) for gpu in gpus[1:]]
    return [(gpus[0], cp.asarray(x), cp.asarray(out)), *others]


def by_nccl(n_gpus: int, x: Any, out: Any) -> None:
    """Let NCCL add up the arrays of all GPUs, and give each the sum."""
    if not launch.check(x=x, out=out, ndim=1, dtype="float32"):
        return
    gpus = some(n_gpus)
    library, connected = nccl(), communicators(n_gpus)
    # One process asks for all GPUs, so the calls form a group: alone, the first would wait for the second.
    library.groupStart()
    for (gpu, own, total), one in zip(sums(gpus, x, out), connected, strict=True):
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
    wait(gpus)


def by_copies(n_gpus: int, x: Any, out: Any) -> None:
    """Fetch the arrays of the other GPUs to the first, add them up there, and send the sum to all."""
    if not launch.check(x=x, out=out, ndim=1, dtype="float32"):
        return
    gpus = some(n_gpus)
    (first, own, total), *others = sums(gpus, x, out)
    cp = cupy()
    with first.device, first.stream as stream:
        cp.copyto(total, own)
        for _, other, _ in others:
            arrived = _memory(first, "arrived", own.size)
            arrived.data.copy_from_device_async(other.data, other.nbytes, stream)
            cp.add(total, arrived, out=total)
        for _, _, sum_there in others:
            sum_there.data.copy_from_device_async(total.data, total.nbytes, stream)
    wait(gpus[:1])


def bus_bytes(n_gpus: int, n: int) -> int:
    """Count the bytes that each GPU must send at the least, as NCCL's own tests do.

    >>> bus_bytes(4, 2**28) / 2**30
    1.5
    """
    return 2 * (n_gpus - 1) * 4 * n // n_gpus


class Sums:
    """Every element is the sum, to the last bit: all are whole numbers.

    >>> check = Sums(4)
    >>> x = np.arange(3, dtype=np.float32)
    >>> check.prepare((x,)).tolist()  # GPUs 1, 2 and 3 have i + 1, i + 2 and i + 3
    [6.0, 10.0, 14.0]
    """

    def __init__(self, n_gpus: int) -> None:
        self.n_gpus = n_gpus

    def prepare(self, inputs: tuple[Any, ...]) -> Any:
        """Add to the array of GPU 0 what the others have."""
        (x,) = inputs
        repeated = array_module(x).arange(x.size, dtype=np.float32) % _PERIOD
        return x + (self.n_gpus - 1) * repeated + np.float32(sum(range(self.n_gpus)))

    def compare(self, output: Any, prepared: Any) -> tuple[float, float]:
        """Compare where the result is."""
        if output.shape != prepared.shape:
            raise MismatchError(
                f"The output should have shape {prepared.shape}; it has {output.shape}."
            )
        wrong = output != prepared
        if bool(wrong.any()):
            at = int(wrong.argmax())
            raise MismatchError(
                f"The element at {at} is wrong: expected {prepared[at].item()!r}, got {output[at].item()!r}."
            )
        return 0.0, 0.0


def two_study(kernels: Kernels = None) -> Study:
    """Describe the sum of two arrays, one on each of two GPUs."""
    return _study("sum_of_two", 2, kernels)


def four_study(kernels: Kernels = None) -> Study:
    """Describe the sum of four arrays, one on each of four GPUs."""
    return _study("sum_of_four", 4, kernels)


def _study(name: str, n_gpus: int, kernels: Kernels) -> Study:
    options: dict[str, Any] = {"work": {"bus_bytes": partial(bus_bytes, n_gpus)}}
    missing = lacking(n_gpus)
    return Study(
        name=name,
        title=f"The sum of {n_gpus} arrays, one on each GPU, for all of them",
        variants=(
            on_gpus(
                "nccl",
                partial(by_nccl, n_gpus),
                f"NCCL, {label(n_gpus)}",
                missing or no_nccl(),
                **options,
            ),
            on_gpus(
                "copies",
                partial(by_copies, n_gpus),
                f"copies to GPU 0 and back, {label(n_gpus)}",
                missing,
                **options,
            ),
        ),
        sizes=SIZES,
        inputs=_inputs,
        check=Sums(n_gpus),
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


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    return (whole_numbers(rng, n, 1000, dtype),)
