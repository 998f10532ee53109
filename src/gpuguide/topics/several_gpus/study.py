"""An integral whose slices are shared out among GPUs, each of which adds up its own."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.machine import launch
from gpuguide.machine.backends import cupy
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant, end_to_end_variant
from gpuguide.measure.study import Study
from gpuguide.topics.several_gpus.gpus import COUNTS, Gpu, cut, lacking, some, wait
from gpuguide.topics.several_gpus.kernels import INTEGRATE_SOURCE

PIECES = 64
"""Parts of the integral whose areas are compared, each on one GPU."""
SLICES = 2**22
"""Threads for all pieces together: with four GPUs a million on each, which still fills it."""
SIZES = (2**24, 2**37)


def pieces(n: int) -> int:
    """Return into how many pieces `n` points are cut.

    >>> pieces(0), pieces(3), pieces(2**24)
    (0, 3, 64)
    """
    return min(PIECES, n)


def plan(n: int) -> tuple[int, int]:
    """Return how many slices a piece has, and how many points a slice has.

    >>> plan(2**37), plan(2**24), plan(100)
    ((65536, 32768), (65536, 4), (1, 1))
    """
    a_piece = n // max(1, pieces(n))
    slices = max(1, min(a_piece, SLICES // PIECES))
    return slices, max(1, a_piece // slices)


def points(n: int) -> int:
    """Count the points at which the function is evaluated."""
    slices, each = plan(n)
    return pieces(n) * slices * each


@cache
def integrate_kernel(source: str) -> Any:
    """Make the kernel of a source: the area of the slice that begins at `left`."""
    return cupy().ElementwiseKernel(
        "float64 left, int64 points, float64 step", "float64 area", source, "integrate"
    )


def areas_on(gpus: tuple[Gpu, ...], first: float, n: int, out: Any) -> None:
    """Integrate 4 / (1 + x^2) over 64 pieces of length 1 / 64, an equal share of them on each GPU."""
    cp = cupy()
    slices, each = plan(n)
    width = 1 / PIECES / slices
    integrate = integrate_kernel(INTEGRATE_SOURCE)
    sums = []
    for gpu, (begin, end) in zip(gpus, cut(pieces(n), gpus), strict=True):
        with gpu.device, gpu.stream:
            # Nothing here waits, so all GPUs are at work at the same time.
            left = first + cp.arange(begin * slices, end * slices) * width
            areas = integrate(left, each, width / each)
            sums.append(areas.reshape(end - begin, slices).sum(axis=1))
    wait(gpus)
    gathered = cp.asarray(out)
    for part, (begin, end) in zip(sums, cut(pieces(n), gpus), strict=True):
        # `copy` brings it to the current GPU.
        gathered[begin:end] = part.copy()


def shared(n_gpus: int, first: float, n: int, out: Any) -> None:
    """Share the pieces out among the first GPUs of this machine."""
    launch.check(out=out, shape=(pieces(n),), dtype="float64")
    if n:
        areas_on(some(n_gpus), first, n, out)


class Areas:
    """Each piece has the area that arctangents give, within the rule's own error and that of the additions.

    >>> check = Areas()
    >>> prepared = check.prepare((0.0, 2**24))
    >>> check.compare(prepared[0], prepared)[0]
    0.0
    """

    def prepare(self, inputs: tuple[Any, ...]) -> tuple[np.ndarray, float]:
        """Compute the areas, and how far an approximation by midpoints may be off."""
        first, n = inputs
        left = first + np.arange(pieces(n)) / PIECES
        right = left + 1 / PIECES
        slices, each = plan(n)
        step = 1 / PIECES / slices / each
        # The second derivative is at most 8; the additions are one after the other within a slice.
        rule = step**2 / 3 / PIECES
        rounding = np.finfo(np.float64).eps * (each + 20) * 4 / PIECES
        return 4 * np.arctan((right - left) / (1 + left * right)), rule + rounding

    def compare(self, output: Any, prepared: Any) -> tuple[float, float]:
        """Compare on the host; there are 64 numbers."""
        expected, tolerance = prepared
        got = output.get() if hasattr(output, "get") else np.asarray(output)
        if got.shape != expected.shape:
            raise MismatchError(
                f"The output should have shape {expected.shape}; it has {got.shape}."
            )
        if not len(got):
            return 0.0, 0.0
        off = np.abs(got - expected)
        worst = int(np.argmax(np.where(np.isnan(off), np.inf, off)))
        if not off[worst] <= tolerance:
            raise MismatchError(
                f"Piece {worst} is wrong: expected {expected[worst]!r}, got {got[worst]!r}; "
                f"the tolerance is {tolerance:.3g}."
            )
        return float(off[worst]), tolerance


def areas_reference(first: float, n: int) -> np.ndarray:
    """Give the areas by arctangents."""
    return Areas().prepare((first, n))[0]


def on_gpus(name: str, call: Any, label: str, missing: str = "", **options: Any) -> Variant:
    """Describe a call on some GPUs; where they are lacking, its rows say so and nothing is timed."""
    # No size of a study is as small, so every cell of the variant shows the reason.
    there = {"max_size": 1, "max_size_reason": missing} if missing else {}
    return end_to_end_variant(name, call, label, arrays="numba", **there, **options)


def label(n_gpus: int) -> str:
    """Name a number of GPUs.

    >>> label(1), label(4)
    ('1 GPU', '4 GPUs')
    """
    return f"{n_gpus} GPU{'s' if n_gpus > 1 else ''}"


def study(kernels: Kernels = None) -> Study:
    """Describe the integral on one GPU, on two and on four."""
    return Study(
        name="integral",
        title="An integral, its slices shared out among GPUs",
        variants=tuple(
            on_gpus(
                name,
                partial(shared, n),
                label(n),
                lacking(n),
                work={"points": points},
                note=f"{label(n)}, each with an equal share of the pieces.",
            )
            for name, n in COUNTS.items()
        ),
        sizes=SIZES,
        inputs=_inputs,
        check=Areas(),
        output=lambda n, dtype: ((pieces(n),), np.float64),
        dtype="float64",
        size_name="points",
        input_note="where the first piece begins, at random; all else is made on the GPUs",
        baseline="one",
        kernels=kernels,
    )


def _inputs(n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool) -> tuple[Any, ...]:
    if n < 0:
        raise ArgumentError(f"n must be at least 0; got {n}.")
    return (0.0 if exact else float(rng.random())), n
