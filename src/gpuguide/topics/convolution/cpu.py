"""Convolutions on the CPU by SciPy, on one thread and on all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.fft
import scipy.ndimage
import scipy.signal

from gpuguide.machine.cpu import cpu_info, thread_pool

THREADS = cpu_info().n_cpus


def direct_scipy(
    image: np.ndarray, weights: np.ndarray, column: np.ndarray, row: np.ndarray
) -> Any:
    """Add up all products with scipy.signal.convolve2d, which has one thread."""
    if not image.size:
        return image.copy()
    return scipy.signal.convolve2d(image, weights, mode="same")


def direct_threads(
    image: np.ndarray,
    weights: np.ndarray,
    column: np.ndarray,
    row: np.ndarray,
    out: np.ndarray,
) -> None:
    """Let each thread add up all products for a strip, with scipy.ndimage.convolve."""
    in_strips(
        lambda strip: scipy.ndimage.convolve(strip, weights, mode="constant"),
        image,
        len(weights) // 2,
        out,
    )


def fft_scipy(
    image: np.ndarray, weights: np.ndarray, column: np.ndarray, row: np.ndarray
) -> Any:
    """Transform, multiply, transform back with scipy.signal.fftconvolve on one thread."""
    if not image.size:
        return image.copy()
    return scipy.signal.fftconvolve(image, weights, mode="same")


def fft_threads(
    image: np.ndarray, weights: np.ndarray, column: np.ndarray, row: np.ndarray
) -> Any:
    """Do the same with scipy.fft on all threads."""
    with scipy.fft.set_workers(THREADS):
        return fft_scipy(image, weights, column, row)


def separable_threads(
    image: np.ndarray,
    weights: np.ndarray,
    column: np.ndarray,
    row: np.ndarray,
    out: np.ndarray,
) -> None:
    """Let each thread make two passes over a strip, with scipy.ndimage.convolve1d."""

    def two_passes(strip: np.ndarray) -> Any:
        down = scipy.ndimage.convolve1d(strip, column, axis=0, mode="constant")
        return scipy.ndimage.convolve1d(down, row, axis=1, mode="constant")

    in_strips(two_passes, image, len(column) // 2, out)


def in_strips(
    convolve: Callable[[np.ndarray], Any],
    image: np.ndarray,
    halo: int,
    out: np.ndarray,
) -> None:
    """Cut the image into strips that overlap by the reach of the kernel; each goes to a thread."""
    height = len(image)
    step = max(1, -(-height // THREADS))

    def one(start: int) -> None:
        above, stop = min(halo, start), min(start + step, height)
        made = convolve(image[start - above : stop + halo])
        out[start:stop] = made[above : above + stop - start]

    # map alone would neither wait for the threads nor raise their errors.
    list(thread_pool().map(one, range(0, height, step)))
