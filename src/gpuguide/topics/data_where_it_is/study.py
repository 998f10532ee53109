"""Doubling the elements of a vector: a draft, to be replaced by what the page data_where_it_is is about."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gpuguide.machine import launch
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import cpu_variant, kernel_variant, streaming_traffic
from gpuguide.measure.random_inputs import uniform
from gpuguide.measure.study import Study
from gpuguide.topics.data_where_it_is.kernels import one_element

THREADS_PER_BLOCK = 256
SIZES = (2**10, 2**13, 2**16, 2**18, 2**20, 2**24)


def data_where_it_is_reference(x: Any) -> Any:
    """Return ``2 * x``: the definition of correct."""
    return 2 * x


def numpy(x: np.ndarray, out: np.ndarray) -> None:
    """Double with NumPy, on one thread."""
    np.multiply(x, 2, out=out)


def cover(kernel: Any, x: Any, out: Any) -> None:
    """Launch a thread for each element."""
    n = launch.check(x=x, out=out, ndim=1, dtype="float32")
    if n:
        kernel[blocks_1d(n, THREADS_PER_BLOCK), THREADS_PER_BLOCK](x, out)


data_where_it_is_traffic = streaming_traffic(reads=1, writes=1, flops=1)


def study(kernels: Kernels = None) -> Study:
    """Compare the kernel with NumPy."""
    return Study(
        name="data_where_it_is",
        title="Doubling the elements of a vector",
        variants=(
            cpu_variant("numpy", numpy, "NumPy", traffic=data_where_it_is_traffic),
            kernel_variant(
                "one_element",
                partial(cover, one_element),
                "One element per thread",
                traffic=data_where_it_is_traffic,
            ),
        ),
        sizes=SIZES,
        inputs=_inputs,
        reference=data_where_it_is_reference,
        equal=True,
        dtype="float32",
        input_note="uniform random numbers; whole numbers counting up for the exact check",
        baseline="numpy",
        kernels=kernels,
    )


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    # Counting up shows an element that ended up in the wrong place.
    return (np.arange(n, dtype=dtype) if exact else uniform(rng, n, dtype),)
