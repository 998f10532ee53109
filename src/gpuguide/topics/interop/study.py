"""One array in several libraries: the way through PyTorch and JAX and back, and a hand-over behind work."""

from functools import cache, partial, wraps

import numpy as np
from numba import cuda

from gpuguide.machine.backends import raw_kernel
from gpuguide.measure import Study, cp, end_to_end, gpu, uniform, whole_numbers
from gpuguide.measure.clocks import DELAY_SOURCE
from gpuguide.topics.interop.libraries import jax_numpy, missing_jax, missing_torch, pytorch

DELAY_NS = 1_000_000  # how long the stream is kept busy ahead of a hand-over


def in_cupy(x):
    """Take Numba's array as CuPy's, and triple it there."""
    return 3 * cp.asarray(x)


def through_torch(x):
    """Take Numba's array as CuPy's, hand it to PyTorch, and take the result back: no element is copied."""
    tensor = pytorch().from_dlpack(cp.asarray(x))
    return cp.from_dlpack(3 * tensor)


def through_jax(x):
    """Do the same with JAX."""
    array = jax_numpy().from_dlpack(cp.asarray(x))
    return cp.from_dlpack(3 * array)


def copied_on_gpu(x):
    """Hand PyTorch a copy, and copy what comes back: the memory of each library stays its own."""
    tensor = pytorch().from_dlpack(cp.asarray(x).copy())
    return cp.from_dlpack(3 * tensor).copy()


def through_pinned(x):
    """Copy to pinned memory, from there into PyTorch's, and the result back in the same way."""
    there, back = pinned(x.size)
    cp.asarray(x).get(out=there)
    tensor = 3 * pytorch().from_numpy(there).cuda(non_blocking=True)
    pytorch().from_numpy(back).copy_(tensor)
    out = cp.empty(x.size, np.float32)
    # asarray would first copy it into pinned memory of CuPy's own.
    out.set(back, stream=cp.cuda.get_current_stream())
    return out


def through_pageable(x):
    """Do the same as most people write it, through new arrays in pageable memory."""
    tensor = 3 * pytorch().from_numpy(cp.asnumpy(cp.asarray(x))).cuda()
    return cp.asarray(tensor.cpu().numpy())


@cache
def pinned(n):
    """Return two arrays in pinned memory, made once."""
    import cupyx

    return cupyx.empty_pinned(n, np.float32), cupyx.empty_pinned(n, np.float32)


def to_numba(x):
    """Make Numba's view of a CuPy array; it waits for the stream."""
    return cuda.as_cuda_array(x)


def to_numba_without_waiting(x):
    """Make Numba's view of a CuPy array at once."""
    return cuda.as_cuda_array(x, sync=False)


def to_torch(x):
    """Make PyTorch's tensor of a CuPy array by DLPack."""
    return pytorch().from_dlpack(x)


def to_jax(x):
    """Make JAX's array of a CuPy array by DLPack."""
    return jax_numpy().from_dlpack(x)


def behind_work(hand_over, x):
    """Put a delay into the current stream, and hand the array over behind it."""
    delay()((1,), (1,), (np.uint64(DELAY_NS),))
    return hand_over(x)


@cache
def delay():
    """Return a kernel that does nothing for as many nanoseconds as it is told."""
    return raw_kernel(DELAY_SOURCE, "delay").compiled


def on_the_gpu(call, label, **options):
    """Return a variant that gets an array of Numba's on the GPU; its time ends when the result is there."""

    @wraps(call)
    def unless_empty(x):
        return call(x) if x.size else cp.empty(0, x.dtype)

    return end_to_end(unless_empty, label, arrays="numba", allocates=True, **options)


def behind(name, hand_over, label, **options):
    # Not batchable: the delays of many would add up.
    options |= {"allocates": True, "batchable": False, "note": hand_over.__doc__}
    return gpu(partial(behind_work, hand_over), label, name=name, **options)


def common():
    """Return what both studies share."""
    return {
        "inputs": lambda n, dtype, rng, exact: (
            whole_numbers(rng, n, 1000, dtype) if exact else uniform(rng, n, dtype),
        ),
        "input_note": "uniform random numbers; whole numbers for the exact check",
        "equal": True,
        "small": (),  # nothing of it can be simulated
    }


TORCH, JAX = {"missing": missing_torch}, {"missing": missing_jax}

tripled = Study(
    name="tripled",
    title="Numba's array, tripled in another library",
    sizes=(2**10, 2**13, 2**16, 2**19, 2**22, 2**25),
    reference=lambda x: x * x.dtype.type(3),
    baseline="in_cupy",
    variants=(
        on_the_gpu(in_cupy, "CuPy alone"),
        on_the_gpu(through_torch, "PyTorch, shared", **TORCH),
        on_the_gpu(through_jax, "JAX, shared", **JAX),
        on_the_gpu(copied_on_gpu, "PyTorch, copied on the GPU", **TORCH),
        on_the_gpu(through_pinned, "PyTorch, through pinned memory", **TORCH),
        on_the_gpu(through_pageable, "PyTorch, through pageable memory", **TORCH),
    ),
    **common(),
)
waiting = Study(
    name="waiting",
    title="A hand-over behind work in the array's stream",
    sizes=(2**20,),
    reference=lambda x: x,
    baseline="numba",
    variants=(
        behind("numba", to_numba, "Numba, as_cuda_array(x)"),
        behind("numba_at_once", to_numba_without_waiting, "Numba, sync=False"),
        behind("torch", to_torch, "PyTorch, from_dlpack(x)", **TORCH),
        behind("jax", to_jax, "JAX, from_dlpack(x)", **JAX),
    ),
    **common(),
)
