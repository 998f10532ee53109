"""A convolution from array to array on the host: SciPy, and CuPy with the copies both ways."""

from __future__ import annotations

import warnings
from importlib import import_module
from math import isqrt
from typing import Any

import numpy as np
import scipy.fft
import scipy.signal
from numpy.typing import NDArray

from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.machine import launch
from gpuguide.machine.backends import cupy, is_device_array
from gpuguide.machine.cpu import cpu_info, in_threads
from gpuguide.topics.transfers.numbers import as_cupy

__all__ = [
    "KERNEL",
    "ConvolutionCheck",
    "blur",
    "convolve_cupy",
    "convolve_direct",
    "convolve_fft",
    "convolve_fft_threads",
    "convolve_with_copies",
    "convolve_with_copies_pinned",
    "image_and_kernel",
]

KERNEL = 15
THREADS = cpu_info().n_cpus
_BAND = 128


def convolve_direct(image: NDArray[Any], kernel: NDArray[Any]) -> NDArray[Any]:
    """Convolve with scipy.signal.convolve2d, on one thread."""
    found: NDArray[Any] = scipy.signal.convolve2d(image, kernel)
    return found


def convolve_fft(image: NDArray[Any], kernel: NDArray[Any]) -> NDArray[Any]:
    """Convolve with scipy.signal.fftconvolve, on one thread."""
    found: NDArray[Any] = scipy.signal.fftconvolve(image, kernel)
    return found if image.size else image


def convolve_fft_threads(image: NDArray[Any], kernel: NDArray[Any]) -> NDArray[Any]:
    """Convolve with scipy.signal.fftconvolve, its Fourier transforms on all threads."""
    with scipy.fft.set_workers(THREADS):
        return convolve_fft(image, kernel)


def convolve_on_gpu(image: Any, kernel: Any) -> Any:
    with warnings.catch_warnings():
        # Of cupyx.jit, which it imports: an experimental interface, not used here.
        warnings.simplefilter("ignore", FutureWarning)
        # Not at the top of the module, because it needs CuPy.
        signal: Any = import_module("cupyx.scipy.signal")
    return signal.convolve2d(image, kernel)


def convolve_cupy(image: Any, kernel: Any) -> Any:
    """Convolve arrays that are on the GPU already with cupyx.scipy.signal.convolve2d."""
    launch.check(image=image, kernel=kernel, ndim=2, dtype="float64", same_shape=False)
    return convolve_on_gpu(as_cupy(image), as_cupy(kernel)) if image.size else image


def convolve_with_copies(
    image_host: NDArray[Any], kernel_host: NDArray[Any], out_host: NDArray[Any]
) -> None:
    """Copy image and kernel with cp.asarray, convolve, and copy back into an array that exists."""
    if image_host.size:
        cp = cupy()
        convolve_on_gpu(cp.asarray(image_host), cp.asarray(kernel_host)).get(out=out_host)


def convolve_with_copies_pinned(
    image_host: NDArray[Any], kernel_host: NDArray[Any], out_host: NDArray[Any]
) -> None:
    """Do the same between arrays in pinned memory."""
    if image_host.size:
        cp = cupy()
        image, kernel = (cp.empty(x.shape, x.dtype) for x in (image_host, kernel_host))
        stream = cp.cuda.get_current_stream()
        image.set(image_host, stream=stream)
        kernel.set(kernel_host, stream=stream)
        convolve_on_gpu(image, kernel).get(out=out_host)


def blur(image: NDArray[Any], kernel: NDArray[Any]) -> NDArray[Any]:
    """Convolve the columns and then the rows, for a kernel that is the product of two profiles.

    >>> blur(np.array([[0.0, 1.0]]), np.array([[1.0, 2.0], [2.0, 4.0]])).tolist()
    [[0.0, 1.0, 2.0], [0.0, 2.0, 4.0]]
    """
    rows, columns = image.shape
    if not image.size:
        return image
    k = kernel.shape[0]
    down, across = kernel[:, 0], kernel[0] / kernel[0, 0]
    tall = np.zeros((rows + k - 1, columns))
    out = np.zeros((rows + k - 1, columns + k - 1))

    def one(start: int) -> None:
        band = slice(start, start + _BAND)
        for shift, weight in enumerate(down):
            # The rows of the image that this weight brings into the band.
            first, last = max(start, shift), min(start + _BAND, rows + shift)
            if first < last:
                tall[first:last] += weight * image[first - shift : last - shift]
        for shift, weight in enumerate(across):
            out[band, shift : shift + columns] += weight * tall[band]

    in_threads(one, range(0, rows + k - 1, _BAND), out.nbytes)
    return out


def image_and_kernel(
    n: int, dtype: np.dtype[Any], rng: np.random.Generator, exact: bool
) -> tuple[NDArray[Any], ...]:
    """Make a square image and a kernel of 15 x 15: points and a Gaussian, or whole numbers."""
    edge = isqrt(n)
    if edge * edge != n:
        raise ArgumentError(f"The image is a square; {n} is no square number.")
    if exact:
        profile = np.arange(1.0, KERNEL + 1) % 4 + 1
        image = rng.integers(-8, 9, (edge, edge)).astype(np.float64)
    else:
        profile = np.exp(-(np.linspace(-2, 2, KERNEL) ** 2))
        # Noise above the points, for constants are never timed.
        image = 0.01 * rng.random((edge, edge))
        image[8::16, 8::16] += 1
    return image.astype(dtype), np.outer(profile, profile).astype(dtype)


class ConvolutionCheck:
    """Every element within 8 eps (15 * 15 + log2 n) (largest pixel) (sum of the kernel) of another method."""

    def prepare(self, inputs: tuple[Any, ...]) -> tuple[NDArray[Any], float]:
        """Convolve by another method; return the result and the tolerance."""
        image, kernel = (x.get() if is_device_array(x) else x for x in inputs)
        size = max(image.size, 1)
        bound = (
            8
            * np.finfo(np.float64).eps
            * (KERNEL**2 + np.log2(size))
            * np.abs(image).max(initial=0)
            * np.abs(kernel).sum()
        )
        return blur(image, kernel), float(bound)

    def compare(self, output: Any, prepared: tuple[NDArray[Any], float]) -> tuple[float, float]:
        """Return the largest difference and the tolerance."""
        right, bound = prepared
        on_host = output.get() if is_device_array(output) else output
        if on_host.shape != right.shape:
            raise MismatchError(
                f"The result should have shape {right.shape}; it has {on_host.shape}."
            )
        # Not `max(initial=0)`, which would hide that there is a NaN.
        return (float(np.abs(on_host - right).max()) if right.size else 0.0), bound
