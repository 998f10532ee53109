"""A scalar product of numbers that are on the host or on the GPU already, with the copies and without."""

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import is_device_array
from gpuguide.machine.cpu import cpu_info, in_threads, thread_pool
from gpuguide.measure import Study, cp, cpu, end_to_end, uniform, whole_numbers
from gpuguide.measure.buffers import blocks
from gpuguide.topics.transfers.numbers import as_cupy

THREADS = cpu_info().n_cpus
# Shorter parts cost more to hand out than to multiply.
LEAST_PART = 1 << 20
PART = 1 << 20
# np.dot adds long vectors of float32 with errors that all point the same way; see the page.
DRIFT = 0.002


def numpy(a, b):
    """Call np.dot, which takes one thread for vectors."""
    return np.dot(a, b)


def numpy_threads(a, b):
    """Call np.dot for a part of the vectors on each thread, and add up what they return."""
    length = max(-(-a.size // THREADS), LEAST_PART)

    def part(start):
        return np.dot(a[start : start + length], b[start : start + length])

    starts = range(0, a.size, length)
    parts = thread_pool().map(part, starts) if len(starts) > 1 else map(part, starts)
    return np.float32(sum(map(float, parts)))


def on_gpu(a, b):
    """Call cp.dot, from the call until the result is there."""
    return cp.dot(as_cupy(a), as_cupy(b)) if a.size else cp.zeros((), np.float32)


def cublas_on_gpu(a, b):
    """Call cuBLAS, which reads each vector once, from the call until the result is there."""
    from cupy import cublas  # not there after `import cupy`

    return cublas.dot(as_cupy(a), as_cupy(b)) if a.size else cp.zeros((), np.float32)


def with_copies(a_host, b_host):
    """Copy both vectors with cp.asarray, call cp.dot, and copy the result back."""
    return cp.dot(cp.asarray(a_host), cp.asarray(b_host)).get()


def with_copies_pinned(a_host, b_host):
    """Do the same with vectors in pinned memory."""
    a, b = cp.empty(a_host.size, np.float32), cp.empty(b_host.size, np.float32)
    stream = cp.cuda.get_current_stream()
    a.set(a_host, stream=stream)
    b.set(b_host, stream=stream)
    return cp.dot(a, b).get()


def dot_reference(a, b):
    """Add up the products in float64, block by block."""

    def one(part):
        products = a[part].astype(np.float64) * b[part].astype(np.float64)
        return float(products.sum())

    parts = blocks(a.size, PART)
    # A thread has a CuPy stream of its own, so only NumPy's arrays are added up in threads.
    return sum(map(one, parts) if is_device_array(a) else in_threads(one, parts, a.nbytes))


class DotCheck:
    """Equal on whole numbers; on random ones within 1/500 of the sum in float64, since float32 drifts."""

    def prepare(self, inputs):
        """Return the right sum and how far a result may be from it."""
        a, b = inputs
        right = dot_reference(a, b)
        # Whole numbers are small enough here that no sum of them is rounded.
        whole = not a.size or bool((a[:1000] % 1 == 0).all())
        return right, 0.0 if whole else DRIFT * right

    def compare(self, output, prepared):
        """Return the difference and the tolerance."""
        right, tolerance = prepared
        if output.shape != ():
            raise MismatchError(
                f"The result should be a single number; it has shape {output.shape}."
            )
        return abs(float(output) - right), tolerance


def inputs(n, dtype, rng, exact):
    """Draw two vectors."""
    if exact:
        return tuple(whole_numbers(rng, n, 2, dtype, low=-1) for _ in range(2))
    return tuple(uniform(rng, n, dtype) for _ in range(2))


dot = Study(
    name="dot",
    title="The scalar product of two vectors",
    sizes=(10**3, 10**4, 10**5, 10**6, 10**7, 10**8),
    size_name="pairs",
    inputs=inputs,
    input_note="uniform random numbers from 0 to 1; -1, 0 and 1 for the exact check",
    check=DotCheck(),
    output=lambda n, dtype: ((), dtype),
    baseline="numpy",
    variants=(
        cpu(numpy, "NumPy, one thread", allocates=True),
        cpu(numpy_threads, "NumPy, all threads", THREADS, allocates=True),
        end_to_end(with_copies, "CuPy, pageable copies", allocates=True),
        end_to_end(with_copies_pinned, "CuPy, pinned copies", arrays="pinned", allocates=True),
        end_to_end(on_gpu, "CuPy, on the GPU", arrays="numba", allocates=True),
        end_to_end(cublas_on_gpu, "cuBLAS, on the GPU", arrays="numba", allocates=True),
    ),
)


def rounding(results):
    """Say how far scalar products of the most random pairs are from their sum in float64."""
    n = max(results.sizes)
    checks = {
        check.variant: check
        for check in results.checks
        if check.size == n and check.kind == "random"
    }
    return {
        "right": checks["numpy"].tolerance / DRIFT,
        "off_numpy": checks["numpy"].largest_difference,
        "off_numpy_threads": checks["numpy_threads"].largest_difference,
        "off_cupy": checks["on_gpu"].largest_difference,
        "off_cublas": checks["cublas_on_gpu"].largest_difference,
    }
