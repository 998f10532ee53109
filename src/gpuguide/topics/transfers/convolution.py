"""A convolution from array to array on the host: SciPy, and CuPy with the copies both ways."""

from functools import partial
from math import isqrt

import numpy as np

from gpuguide.measure import Study, cp, cpu, end_to_end
from gpuguide.topics.convolution import check
from gpuguide.topics.convolution.cpu import THREADS, direct_scipy, fft_scipy, fft_threads
from gpuguide.topics.convolution.study import convolve2d_full
from gpuguide.topics.transfers.numbers import as_cupy

KERNEL = 15

convolve_direct, convolve_fft, convolve_fft_threads = (
    partial(call, mode="full") for call in (direct_scipy, fft_scipy, fft_threads)
)


def convolve_cupy(image, kernel):
    """Convolve arrays that are on the GPU already with cupyx.scipy.signal.convolve2d."""
    return convolve2d_full(as_cupy(image), as_cupy(kernel))


def with_copies(image_host, kernel_host, out_host):
    """Copy image and kernel with cp.asarray, convolve, and copy back into an array that exists."""
    convolve2d_full(cp.asarray(image_host), cp.asarray(kernel_host)).get(out=out_host)


def with_copies_pinned(image_host, kernel_host, out_host):
    """Do the same between arrays in pinned memory."""
    image, kernel = (cp.empty(x.shape, x.dtype) for x in (image_host, kernel_host))
    stream = cp.cuda.get_current_stream()
    image.set(image_host, stream=stream)
    kernel.set(kernel_host, stream=stream)
    convolve2d_full(image, kernel).get(out=out_host)


def image_and_kernel(n, dtype, rng, exact):
    """Make a square image and a kernel of 15 x 15: points and a Gaussian, or whole numbers."""
    edge = isqrt(n)
    if exact:
        profile = np.arange(1.0, KERNEL + 1) % 4 + 1
        image = rng.integers(-8, 9, n).reshape(edge, edge)
    else:
        profile = np.exp(-(np.linspace(-2, 2, KERNEL) ** 2))
        # Noise above the points, for constants are never timed.
        image = 0.01 * rng.random(n).reshape(edge, edge)
        image[8::16, 8::16] += 1
    return image.astype(dtype), np.outer(profile, profile).astype(dtype)


class ConvolutionCheck(check.ConvolutionCheck):
    """Whole numbers within 1/4; random ones within 4 eps (K + log2 n) of the largest sum of magnitudes."""

    def prepare(self, inputs):
        """Take the kernel apart into its two profiles."""
        image, kernel = inputs
        return super().prepare((image, kernel, kernel[:, 0], kernel[0] / kernel[0, 0]))


convolution = Study(
    name="convolution",
    title="An image of 2048 x 2048 convolved with 15 x 15",
    sizes=(2048**2,),
    size_name="pixels",
    dtype="float64",
    inputs=image_and_kernel,
    input_note="points on a little noise, and a Gaussian; whole numbers for the exact check",
    # Every place where the kernel touches the image.
    output=lambda n, dtype: ((isqrt(n) + KERNEL - 1,) * 2, dtype),
    check=ConvolutionCheck(),
    answer=convolve_direct,
    small=(1, 31**2, 33**2),
    baseline="scipy_fft",
    variants=(
        cpu(convolve_fft, "SciPy, FFT, one thread", name="scipy_fft", allocates=True),
        cpu(
            convolve_fft_threads,
            "SciPy, FFT, all threads",
            THREADS,
            name="scipy_fft_threads",
            allocates=True,
        ),
        end_to_end(
            convolve_cupy, "CuPy, on the GPU", name="cupy", arrays="numba", allocates=True
        ),
        end_to_end(with_copies, "CuPy, pageable copies"),
        end_to_end(with_copies_pinned, "CuPy, pinned copies", arrays="pinned"),
    ),
)
