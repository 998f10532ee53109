"""A scalar product of numbers that are on the host or on the GPU already, with the copies and without."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuguide.errors import MismatchError
from gpuguide.machine import launch
from gpuguide.machine.backends import cupy, has_gpu, is_device_array
from gpuguide.machine.cpu import cpu_info, in_threads, thread_pool
from gpuguide.measure.buffers import blocks
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant, cpu_variant, end_to_end_variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.results.results import Results
from gpuguide.topics.transfers.numbers import as_cupy

SIZES = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
THREADS = cpu_info().n_cpus
# Shorter parts cost more to hand out than to multiply.
_LEAST_PART = 1 << 20
_BLOCK = 1 << 20
# np.dot adds long vectors of float32 with errors that all point the same way; see the page.
_DRIFT = 0.002


def dot_reference(a: Any, b: Any) -> float:
    """Add up the products in float64, block by block.

    >>> dot_reference(np.array([1, 2], "f4"), np.array([3, 4], "f4"))
    11.0
    """

    def one(part: slice) -> float:
        products = a[part].astype(np.float64) * b[part].astype(np.float64)
        return float(products.sum())

    parts = blocks(a.size, _BLOCK)
    # A thread has a CuPy stream of its own, so only NumPy's arrays are added up in threads.
    if is_device_array(a):
        return float(sum(one(part) for part in parts))
    return float(sum(in_threads(one, parts, a.nbytes)))


def check_pairs(**vectors: Any) -> int:
    """Return the length of two vectors of float32; raise ArgumentError for anything else."""
    n: int = launch.check(**vectors, ndim=1, dtype="float32")
    return n


def dot_numpy(a: NDArray[Any], b: NDArray[Any]) -> Any:
    """Call np.dot, which takes one thread for vectors."""
    check_pairs(a=a, b=b)
    return np.dot(a, b)


def dot_numpy_threads(a: NDArray[Any], b: NDArray[Any]) -> Any:
    """Call np.dot for a part of the vectors on each thread, and add up what they return."""
    n = check_pairs(a=a, b=b)
    length = max(-(-n // THREADS), _LEAST_PART)

    def part(start: int) -> Any:
        return np.dot(a[start : start + length], b[start : start + length])

    starts = range(0, n, length)
    parts = thread_pool().map(part, starts) if len(starts) > 1 else map(part, starts)
    return np.float32(sum(map(float, parts)))


def dot_on_gpu(a: Any, b: Any) -> Any:
    """Call cp.dot, from the call until the result is there."""
    n = check_pairs(a=a, b=b)
    return cupy().dot(as_cupy(a), as_cupy(b)) if n else cupy().zeros((), np.float32)


def dot_with_copies(a_host: NDArray[Any], b_host: NDArray[Any]) -> Any:
    """Copy both vectors with cp.asarray, call cp.dot, and copy the result back."""
    check_pairs(a_host=a_host, b_host=b_host)
    cp = cupy()
    return cp.dot(cp.asarray(a_host), cp.asarray(b_host)).get()


def dot_with_copies_pinned(a_host: NDArray[Any], b_host: NDArray[Any]) -> Any:
    """Do the same with vectors in pinned memory."""
    n = check_pairs(a_host=a_host, b_host=b_host)
    cp = cupy()
    a, b = cp.empty(n, np.float32), cp.empty(n, np.float32)
    stream = cp.cuda.get_current_stream()
    a.set(a_host, stream=stream)
    b.set(b_host, stream=stream)
    return cp.dot(a, b).get()


class DotCheck:
    """Equal on whole numbers; on random ones within 1/500 of the sum in float64, since float32 drifts."""

    def prepare(self, inputs: tuple[Any, ...]) -> tuple[float, float]:
        """Return the right sum and how far a result may be from it."""
        a, b = inputs
        right = dot_reference(a, b)
        # Whole numbers are small enough here that no sum of them is rounded.
        whole = not a.size or bool((a[:1000] % 1 == 0).all())
        return right, 0.0 if whole else _DRIFT * right

    def compare(self, output: Any, prepared: tuple[float, float]) -> tuple[float, float]:
        """Return the difference and the tolerance."""
        right, tolerance = prepared
        if output.shape != ():
            raise MismatchError(
                f"The result should be a single number; it has shape {output.shape}."
            )
        return abs(float(output) - right), tolerance


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of scalar products by where the vectors are."""
    result: dict[str, Any] = {"allocates": True}
    return Study(
        name="dot",
        title="The scalar product of two vectors",
        variants=(
            cpu_variant("numpy", dot_numpy, "NumPy, one thread", **result),
            cpu_variant(
                "numpy_threads", dot_numpy_threads, "NumPy, all threads", THREADS, **result
            ),
            end_to_end_variant(
                "with_copies", dot_with_copies, "CuPy, pageable copies", **result
            ),
            end_to_end_variant(
                "with_copies_pinned",
                dot_with_copies_pinned,
                "CuPy, pinned copies",
                arrays="pinned",
                **result,
            ),
            Variant(
                "on_gpu",
                dot_on_gpu,
                "CuPy, on the GPU",
                clock="end_to_end",
                arrays="numba",
                simulatable=False,
                **result,
            ),
        ),
        sizes=tuple(size for size in SIZES if size <= most_numbers()),
        inputs=_vectors,
        output=lambda n, dtype: ((), dtype),
        check=DotCheck(),
        dtype="float32",
        size_name="pairs",
        input_note="uniform random numbers from 0 to 1; -1, 0 and 1 for the exact check",
        baseline="numpy",
        kernels=kernels,
    )


def most_numbers() -> int:
    """Return the largest of the sizes for which the GPU has memory: both vectors, and what checks them."""
    if not has_gpu():
        return SIZES[-1]
    free = int(cupy().cuda.Device().mem_info[0])
    return max((size for size in SIZES if 6 * 4 * size <= free), default=SIZES[0])


def _vectors(
    n: int, dtype: np.dtype[Any], rng: np.random.Generator, exact: bool
) -> tuple[NDArray[Any], ...]:
    if exact:
        return tuple(whole_numbers(rng, n, 2, dtype, low=-1) for _ in range(2))
    return tuple(uniform(rng, n, dtype) for _ in range(2))


def rounding(results: Results) -> dict[str, float]:
    """Say how far scalar products of the most random pairs are from their sum in float64."""
    checks = {
        check.variant: check
        for check in results.checks
        if check.size == max(results.sizes) and check.kind == "random"
    }
    variants = {"numpy": "numpy", "numpy_threads": "numpy_threads", "cupy": "on_gpu"}
    return {
        "right": checks["numpy"].tolerance / _DRIFT,
        **{
            f"off_{name}": checks[variant].largest_difference
            for name, variant in variants.items()
        },
    }
