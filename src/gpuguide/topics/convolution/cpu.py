"""Convolutions on the CPU by SciPy and PyTorch, on one thread and on all."""

from functools import cache
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import scipy.fft
import scipy.ndimage
import scipy.signal

from gpuguide.machine.cpu import cpu_info, thread_pool

THREADS = cpu_info().n_cpus
# Smaller images are done on one thread before the others have begun.
ALONE_BELOW = 2**18


def direct_scipy(image, weights, *vectors, mode="same"):
    """Add up all products with scipy.signal.convolve2d, which has one thread."""
    return scipy.signal.convolve2d(image, weights, mode)


def direct_threads(image, weights, column, row, out):
    """Let each thread add up all products for a strip, with scipy.ndimage.convolve."""

    def convolve(strip):
        return scipy.ndimage.convolve(strip, weights, mode="constant")

    in_strips(convolve, image, len(weights) // 2, out)


def fft_scipy(image, weights, *vectors, mode="same"):
    """Transform, multiply, transform back with scipy.signal.fftconvolve on one thread."""
    return scipy.signal.fftconvolve(image, weights, mode)


def fft_threads(image, weights, *vectors, mode="same"):
    """Do the same with scipy.fft on all threads."""
    with scipy.fft.set_workers(THREADS if image.size >= ALONE_BELOW else 1):
        return fft_scipy(image, weights, mode=mode)


def separable_threads(image, weights, column, row, out):
    """Let each thread make two passes over a strip, with scipy.ndimage.convolve1d."""

    def two_passes(strip):
        down = scipy.ndimage.convolve1d(strip, column, axis=0, mode="constant")
        return scipy.ndimage.convolve1d(down, row, axis=1, mode="constant")

    in_strips(two_passes, image, len(column) // 2, out)


def in_strips(convolve, image, halo, out):
    """Cut the image into strips that overlap by the reach of the kernel; each goes to a thread."""
    height = len(image)
    step = max(1, -(-height // (THREADS if image.size >= ALONE_BELOW else 1)))

    def one(start):
        above, stop = min(halo, start), min(start + step, height)
        made = convolve(image[start - above : stop + halo])
        out[start:stop] = made[above : above + stop - start]

    # map alone would neither wait for the threads nor raise their errors.
    list(thread_pool().map(one, range(0, height, step)))


def without_torch():
    """Say why PyTorch cannot convolve here; empty if it can."""
    return "" if find_spec("torch") else "PyTorch is not installed; pytorch.org says how"


@cache
def pytorch():
    """Import PyTorch when it is first needed, and let it use all threads."""
    torch = import_module("torch")
    torch.set_num_threads(THREADS)
    return torch


def conv2d(image, weights):
    """Call PyTorch's conv2d, which goes forwards through the weights, so they are turned first."""
    torch = pytorch()
    turned = np.ascontiguousarray(weights[::-1, ::-1])
    # Both have four axes: of images and channels, and of channels out and in.
    pixels, turned = (torch.from_numpy(x)[None, None] for x in (image, turned))
    padding = tuple(n // 2 for n in weights.shape)
    return torch.nn.functional.conv2d(pixels, turned, padding=padding)[0, 0].numpy()


def direct_torch(image, weights, column, row):
    """Add up all products with PyTorch's conv2d on all threads."""
    return conv2d(image, weights)


def separable_torch(image, weights, column, row):
    """Make two passes with PyTorch's conv2d on all threads."""
    return conv2d(conv2d(image, column[:, None]), row[None])
