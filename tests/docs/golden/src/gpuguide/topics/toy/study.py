"""Sums on the CPU: what the tests of the extension measure."""

import math

import numpy as np

from gpuguide.measure.plan import Variant
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.toy.kernels import dot, halves, slow


def sum_reference(x):
    """Sum by definition."""
    return np.array([math.fsum(x)])


def sum_numpy(x, out):
    """Sum by NumPy."""
    out[0] = x.sum()
    return out


def sum_traffic(n, dtype):
    """Bytes read and written."""
    return Traffic(bytes_read=n * dtype.itemsize, bytes_written=dtype.itemsize, flops=n)


def inputs(n, dtype, rng, exact):
    """Whole numbers whose sum is exact, or random ones."""
    if exact:
        return (rng.integers(-1, 2, n).astype(dtype),)
    return (rng.random(n, dtype=dtype),)


def study():
    """Four ways to add."""
    common = {"device": "cpu", "clock": "host", "arrays": "host", "traffic": sum_traffic}
    return Study(
        name="sums",
        title="Sums",
        variants=(
            Variant("numpy", sum_numpy, **common),
            Variant("dot", dot, **common),
            Variant("slow", slow, up_to=256, **common),
            Variant("halves", halves, work={"additions": lambda n: n - 1}, **common),
        ),
        sizes=(256, 65536),
        inputs=inputs,
        reference=sum_reference,
        output=lambda n, dtype: ((1,), dtype),
        dtype="float64",
        baseline="numpy",
    )
