"""Each GPU has an array, and afterwards all have the sum: by NCCL, and by copies to one GPU and back."""

from functools import cache, partial

import numpy as np

from gpuguide.errors import BackendError
from gpuguide.machine.backends import array_module
from gpuguide.measure import Study, cp, whole_numbers
from gpuguide.topics.several_gpus.study import needs_two, on_gpus, some, unavailable


def nccl():
    """Import CuPy's binding of NCCL."""
    try:
        from cupy.cuda import nccl as library
    except ImportError:
        library = None
    if library is None or not library.available:
        raise BackendError(
            "CuPy finds no NCCL, with which GPUs add up arrays. Install it beside CuPy: "
            "pip install nvidia-nccl-cu13 (or -cu12, as CuPy)."
        )
    return library


@cache
def communicators(n_gpus):
    """Connect the first GPUs, which takes seconds; once for a process."""
    return list(nccl().NcclCommunicator.initAll(n_gpus))


def numbers(xp, n, g):
    """Make what a GPU other than the first adds: whole numbers, so that the sum is exact in any order."""
    # Counted in integers: float32 does not hold all of them beyond 2^24.
    return ((xp.arange(n, dtype=np.int32) % 1021) + g).astype(np.float32)


@cache
def numbers_of(g, n):
    """Make the numbers of a GPU in its own memory; once, for the sum alone is timed."""
    device = cp.cuda.Device(g)
    with device:
        own = numbers(cp, n, g)
        device.synchronize()
    return own


def by_nccl(arrays):
    """Let NCCL add up the arrays of all GPUs, and give each the sum."""
    library, connected = nccl(), communicators(len(arrays))
    # One process asks for all GPUs, so the calls form a group: alone, the first would wait for the second.
    library.groupStart()
    for (gpu, own, total), one in zip(arrays, connected, strict=True):
        what = own.size, library.NCCL_FLOAT32, library.NCCL_SUM
        with gpu.device:
            one.allReduce(own.data.ptr, total.data.ptr, *what, gpu.stream.ptr)
    library.groupEnd()


def by_copies(arrays):
    """Fetch the arrays of the other GPUs to the first, add them up there, and send the sum to all."""
    (first, own, total), *others = arrays
    with first.device, first.stream as stream:
        cp.copyto(total, own)
        arrived = cp.empty(own.size, np.float32)
        for _, other, _ in others:
            arrived.data.copy_from_device_async(other.data, other.nbytes, stream)
            cp.add(total, arrived, out=total)
        for _, _, sum_there in others:
            sum_there.data.copy_from_device_async(total.data, total.nbytes, stream)


def summed(way, n_gpus, x, out):
    """Add up an array of each GPU for all of them, and wait until they have the sum."""
    if not len(x):
        return
    gpus = some(n_gpus)
    # The streams know nothing of what happens in the current one.
    cp.cuda.get_current_stream().synchronize()
    arrays = [(gpus[0], cp.asarray(x), cp.asarray(out))]
    for gpu in gpus[1:]:
        with gpu.device, gpu.stream:
            arrays.append((gpu, numbers_of(gpu.number, len(x)), cp.empty(len(x), np.float32)))
    way(arrays)
    for gpu in gpus:
        gpu.stream.synchronize()


def sum_of_all(n_gpus, x):
    """Add to the array of GPU 0 what the others have."""
    return x + sum(numbers(array_module(x), x.size, g) for g in range(1, n_gpus))


# As NCCL's own tests count them, of two GPUs.
on_bus = {"bus_bytes": lambda n: 4 * n}
sums = Study(
    name="sums",
    title="The sum of two arrays, one on each GPU, for both",
    sizes=tuple(2**exponent for exponent in (10, 14, 18, 22, 26, 28)),
    inputs=lambda n, dtype, rng, exact: (whole_numbers(rng, n, 1000, dtype),),
    input_note="whole numbers below 1000",
    reference=partial(sum_of_all, 2),
    equal=True,
    baseline="copies",
    variants=(
        on_gpus(
            "nccl",
            partial(summed, by_nccl, 2),
            "NCCL",
            lambda: needs_two() or unavailable(nccl),
            work=on_bus,
        ),
        on_gpus(
            "copies",
            partial(summed, by_copies, 2),
            "copies to GPU 0 and back",
            needs_two,
            work=on_bus,
        ),
    ),
    small=(),
)
