"""One array in several libraries: the way through PyTorch and JAX and back, and a hand-over behind work."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda

from gpuguide.machine import launch
from gpuguide.machine.backends import cupy, is_device_array, raw_kernel
from gpuguide.measure.clocks import DELAY_SOURCE
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.topics.interop.libraries import jax_numpy, missing_jax, missing_torch, pytorch

SIZES = (2**10, 2**13, 2**16, 2**19, 2**22, 2**25)
# What a call gets is an array of Numba's on the GPU, and its time ends when the result is there.
ON_THE_GPU: dict[str, Any] = {
    "clock": "end_to_end",
    "arrays": "numba",
    "allocates": True,
    "simulatable": False,
}


def tripled_reference(x: Any) -> Any:
    """Return ``3 * x``.

    >>> tripled_reference(np.float32([1, 2])).tolist()
    [3.0, 6.0]
    """
    return x * x.dtype.type(3)


def in_cupy(x: Any) -> Any:
    """Take Numba's array as CuPy's, and triple it there."""
    if not length(x):
        return no_elements(x)
    return 3 * cupy().asarray(x)


def through_torch(x: Any) -> Any:
    """Take Numba's array as CuPy's, hand it to PyTorch, and take the result back: no element is copied."""
    if not length(x):
        return no_elements(x)
    cp = cupy()
    tensor = pytorch().from_dlpack(cp.asarray(x))
    return cp.from_dlpack(3 * tensor)


def through_jax(x: Any) -> Any:
    """Do the same with JAX."""
    if not length(x):
        return no_elements(x)
    cp = cupy()
    array = jax_numpy().from_dlpack(cp.asarray(x))
    return cp.from_dlpack(3 * array)


def copied_on_gpu(x: Any) -> Any:
    """Hand PyTorch a copy, and copy what comes back: the memory of each library stays its own."""
    if not length(x):
        return no_elements(x)
    cp = cupy()
    tensor = pytorch().from_dlpack(cp.asarray(x).copy())
    return cp.from_dlpack(3 * tensor).copy()


def through_pinned(x: Any) -> Any:
    """Copy to pinned memory, from there into PyTorch's, and the result back in the same way."""
    n = length(x)
    if not n:
        return no_elements(x)
    cp = cupy()
    there, back = pinned(n)
    cp.asarray(x).get(out=there)
    tensor = 3 * pytorch().from_numpy(there).cuda(non_blocking=True)
    pytorch().from_numpy(back).copy_(tensor)
    out = cp.empty(n, np.float32)
    # asarray would first copy it into pinned memory of CuPy's own.
    out.set(back, stream=cp.cuda.get_current_stream())
    return out


def through_pageable(x: Any) -> Any:
    """Do the same as most people write it, through new arrays in pageable memory."""
    if not length(x):
        return no_elements(x)
    cp = cupy()
    tensor = 3 * pytorch().from_numpy(cp.asnumpy(cp.asarray(x))).cuda()
    return cp.asarray(tensor.cpu().numpy())


@functools.cache
def pinned(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two arrays in pinned memory, made once."""
    import cupyx

    return cupyx.empty_pinned(n, np.float32), cupyx.empty_pinned(n, np.float32)


def length(x: Any) -> int:
    """Return how many elements there are; anything but a vector of float32 is refused."""
    n: int = launch.check(x=x, ndim=1, dtype="float32")
    return n


def no_elements(x: Any) -> Any:
    """Return an array without elements, where the given one lies."""
    return (cupy() if is_device_array(x) else np).empty(0, np.float32)


def study(kernels: Kernels = None) -> Study:
    """Describe how an array gets through another library and back, shared and copied.

    Where PyTorch or JAX cannot be used, their rows say why.
    """
    with_torch, with_jax = _there(missing_torch()), _there(missing_jax())
    return Study(
        name="tripled",
        title="Numba's array, tripled in another library",
        variants=(
            Variant("in_cupy", in_cupy, "CuPy alone", **ON_THE_GPU),
            Variant(
                "through_torch", through_torch, "PyTorch, shared", **ON_THE_GPU, **with_torch
            ),
            Variant("through_jax", through_jax, "JAX, shared", **ON_THE_GPU, **with_jax),
            Variant(
                "copied_on_gpu",
                copied_on_gpu,
                "PyTorch, copied on the GPU",
                **ON_THE_GPU,
                **with_torch,
            ),
            Variant(
                "through_pinned",
                through_pinned,
                "PyTorch, through pinned memory",
                **ON_THE_GPU,
                **with_torch,
            ),
            Variant(
                "through_pageable",
                through_pageable,
                "PyTorch, through pageable memory",
                **ON_THE_GPU,
                **with_torch,
            ),
        ),
        sizes=SIZES,
        inputs=_numbers,
        reference=tripled_reference,
        equal=True,
        dtype="float32",
        input_note="uniform random numbers; whole numbers for the exact check",
        baseline="in_cupy",
        kernels=kernels,
    )


def _there(reason: str) -> dict[str, Any]:
    # No size is as small, so every cell of these rows shows the reason.
    return {"max_size": 1, "max_size_reason": reason} if reason else {}


def _numbers(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    return (whole_numbers(rng, n, 1000, dtype) if exact else uniform(rng, n, dtype),)


# Handing over behind work -----------------------------------------------------------------------

ELEMENTS = 2**20
DELAY_NS = 1_000_000
"""How long the stream is kept busy ahead of a hand-over, in nanoseconds."""


def same_reference(x: Any) -> Any:
    """Return the array: a hand-over changes nothing.

    >>> same_reference(np.arange(2)).tolist()
    [0, 1]
    """
    return x


def to_numba(x: Any) -> Any:
    """Make Numba's view of a CuPy array; it waits for the stream."""
    return cuda.as_cuda_array(x)


def to_numba_without_waiting(x: Any) -> Any:
    """Make Numba's view of a CuPy array at once."""
    return cuda.as_cuda_array(x, sync=False)


def to_torch(x: Any) -> Any:
    """Make PyTorch's tensor of a CuPy array by DLPack."""
    return pytorch().from_dlpack(x)


def to_jax(x: Any) -> Any:
    """Make JAX's array of a CuPy array by DLPack."""
    return jax_numpy().from_dlpack(x)


def behind_work(hand_over: Callable[[Any], Any], x: Any) -> Any:
    """Put a delay into the current stream, and hand the array over behind it."""
    delay()((1,), (1,), (np.uint64(DELAY_NS),))
    return hand_over(x)


@functools.cache
def delay() -> Any:
    """Return a kernel that does nothing for as many nanoseconds as it is told."""
    return raw_kernel(DELAY_SOURCE, "delay").compiled


def waiting_study(kernels: Kernels = None) -> Study:
    """Describe how long the host takes to hand over an array that the GPU still works on."""
    return Study(
        name="waiting",
        title="A hand-over behind work in the array's stream",
        variants=(
            _behind("numba", to_numba, "Numba, as_cuda_array(x)"),
            _behind("numba_at_once", to_numba_without_waiting, "Numba, sync=False"),
            _behind("torch", to_torch, "PyTorch, from_dlpack(x)", missing_torch()),
            _behind("jax", to_jax, "JAX, from_dlpack(x)", missing_jax()),
        ),
        sizes=(ELEMENTS,),
        inputs=_numbers,
        reference=same_reference,
        equal=True,
        dtype="float32",
        input_note="uniform random numbers; whole numbers for the exact check",
        baseline="numba",
        kernels=kernels,
    )


def _behind(
    name: str, hand_over: Callable[[Any], Any], label: str, reason: str = ""
) -> Variant:
    # Not batchable: the delays of many would add up.
    return Variant(
        name,
        functools.partial(behind_work, hand_over),
        label=label,
        allocates=True,
        batchable=False,
        simulatable=False,
        note=(hand_over.__doc__ or "").splitlines()[0],
        **_there(reason),
    )
