"""The larger of two elements by every short way there is, and the squared distance of points."""

from functools import cache, partial

import numpy as np
from numba import guvectorize, vectorize

from gpuguide.machine.backends import array_module, current_stream
from gpuguide.measure import (
    Study,
    cp,
    cpu,
    end_to_end,
    gpu,
    kernel,
    per_element,
    uniform,
    whole_numbers,
)
from gpuguide.measure.reference import Tolerance
from gpuguide.topics.ufuncs.functions import (
    LAYOUT,
    ROW_SIGNATURES,
    SIGNATURES,
    larger,
    squared_distance,
)
from gpuguide.topics.ufuncs.kernels import distance_kernel, own_kernel
from gpuguide.topics.ufuncs.kernels_cpu import maximum_cpu, maximum_cpu_loop

N_COORDINATES = 3


@cache
def gpu_ufunc(function):
    """Make a ufunc for the GPU; its kernel is compiled at the first call."""
    return vectorize(SIGNATURES, target="cuda")(function)


@cache
def gpu_row_ufunc():
    """Make a ufunc of rows for the GPU; compiled when this is called."""
    return guvectorize(ROW_SIGNATURES, LAYOUT, target="cuda")(squared_distance)


def from_numpy(function, a_host, b_host):
    """Call the GPU's ufunc on NumPy arrays: it copies them there, and the result back."""
    return gpu_ufunc(function)(a_host, b_host)


def from_pinned(function, a_host, b_host, out_host):
    """Do the same between arrays in pinned memory, which the GPU copies by itself."""
    gpu_ufunc(function)(a_host, b_host, out=out_host, stream=current_stream())


def ufunc(function, a, b, out):
    """Call the GPU's ufunc on arrays that lie on the GPU."""
    if out.size:
        # Unlike CuPy's, Numba's ufuncs do not follow CuPy's current stream.
        gpu_ufunc(function)(a, b, out=out, stream=current_stream())


def cupy_maximum(a, b, out):
    """Call cp.maximum, which has been compiled with CuPy's own rule for NaN."""
    cp.maximum(a, b, out=out)


@cache
def fused_larger():
    """Make one kernel of two operations of CuPy; compiled when it is first called."""

    @cp.fuse
    def larger_fused(a, b):
        return cp.where(a > b, a, b)

    return larger_fused


def fused(a, b):
    """Call a function of two operations that cp.fuse has made one kernel of."""
    return fused_larger()(a, b)


@cache
def elementwise_larger():
    """Describe the operation on one pair in a line of CUDA C++; compiled when it is first called."""
    arguments = "float32 a, float32 b", "float32 out", "out = a > b ? a : b"
    return cp.ElementwiseKernel(*arguments, "elementwise_larger")


def elementwise(a, b, out):
    """Call a cp.ElementwiseKernel of one line of CUDA C++."""
    elementwise_larger()(a, b, out)


def inputs(n, dtype, rng, exact):
    def draw():  # whole numbers that float32 still holds
        return whole_numbers(rng, n, 2**24, dtype) if exact else uniform(rng, n, dtype)

    return draw(), draw()


def blocks_of(threads):
    """Return the grid of a launch in blocks of so many threads, one for each element."""
    return lambda n: (-(-n // threads), threads)


SHORT = {"up_to": 256**3}
# A comparison is not counted as an operation.
MOVED = {"traffic": per_element(reads=2, writes=1)}

maximum = Study(
    name="maximum",
    title="The larger of two elements",
    sizes=tuple(edge**3 for edge in (16, 32, 64, 128, 256, 512)),
    inputs=inputs,
    input_note="uniform random numbers; whole numbers below 2**24 for the exact check",
    reference=lambda a, b: array_module(a).where(a > b, a, b),
    equal=True,
    baseline="cpu_loop",
    variants=(
        cpu(maximum_cpu, "CPU ufunc, one thread", name="cpu", **SHORT),
        cpu(maximum_cpu_loop, "CPU loop, all threads", "all", name="cpu_loop", **SHORT),
        end_to_end(
            partial(from_numpy, larger), "GPU ufunc, pageable copies", allocates=True, **SHORT
        ),
        end_to_end(
            partial(from_pinned, larger), "GPU ufunc, pinned copies", arrays="pinned", **SHORT
        ),
        gpu(partial(ufunc, larger), "@vectorize", arrays="numba", **MOVED),
        kernel(own_kernel, "@cuda.jit, 256 threads", blocks_of(256), **MOVED),
        kernel(
            own_kernel,
            "@cuda.jit, 1024 threads",
            blocks_of(1024),
            name="own_kernel_1024",
            **MOVED,
        ),
        gpu(cupy_maximum, "cupy.maximum", **MOVED),
        gpu(fused, "cupy.fuse", allocates=True, **MOVED),
        gpu(elementwise, "ElementwiseKernel", **MOVED),
    ),
)


def row_ufunc(a, b, out):
    """Call @guvectorize's ufunc on the GPU: each thread takes a row."""
    if out.size:
        gpu_row_ufunc()(a, b, out=out, stream=current_stream())


def points(n, dtype, rng, exact):
    def draw():
        count = n * N_COORDINATES
        numbers = (
            whole_numbers(rng, count, 10, dtype, low=-9)
            if exact
            else uniform(rng, count, dtype)
        )
        return numbers.reshape(n, N_COORDINATES)

    return draw(), draw()


def largest_square(a, b):
    """Return the squared distance that two points could have at most."""
    return np.square(abs(a) + abs(b)).sum(axis=1)


distance = Study(
    name="distance",
    title="Squared distance of two points",
    sizes=(128**3,),
    size_name="pairs of points",
    inputs=points,
    input_note="uniform random coordinates; whole numbers from -9 to 9 for the exact check",
    reference=lambda a, b: np.square(a - b).sum(axis=1),
    output=lambda n, dtype: ((n,), dtype),
    tolerance=Tolerance(serial=N_COORDINATES, scale=largest_square),
    traffic=per_element(reads=2 * N_COORDINATES, writes=1, flops=3 * N_COORDINATES),
    baseline="distance_kernel",
    variants=(
        gpu(row_ufunc, "@guvectorize", arrays="numba"),
        kernel(distance_kernel, "@cuda.jit", blocks_of(256)),
    ),
)
