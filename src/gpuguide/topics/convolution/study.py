"""Convolution of an image: all products, by transforms, and in two passes; on the CPU and the GPU."""

import warnings
from functools import cache
from importlib import import_module
from math import isqrt

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import raw_kernel
from gpuguide.machine.cpu import thread_pool
from gpuguide.measure import Study, cp, cpu, end_to_end, gpu, uniform, whole_numbers
from gpuguide.measure.clocks import SystemClock
from gpuguide.results.records import Traffic
from gpuguide.topics.convolution.check import ConvolutionCheck, convolved, right, same
from gpuguide.topics.convolution.cpu import (
    THREADS,
    direct_scipy,
    direct_threads,
    direct_torch,
    fft_scipy,
    fft_threads,
    separable_threads,
    separable_torch,
    without_torch,
)
from gpuguide.topics.convolution.kernels import (
    ROWS,
    THREADS_PER_BLOCK,
    blur_source,
    separable_simd,
)

EDGE = 2048
"""Of the image that the source convolves."""
K = 15
LARGE = 6000
"""Of an image that does not fit into the GPU's cache."""
# CuPy compiles three functions for each size of the kernel, which takes longer than all their samples.
KERNEL_SIZES = tuple(k * k for k in (3, K, 63))


@cache
def cupyx_scipy(name):
    """Import a part of cupyx.scipy when it is first needed."""
    with warnings.catch_warnings():
        # Of cupyx.jit, which cupyx.scipy.signal imports: an experimental interface, not used here.
        warnings.simplefilter("ignore", FutureWarning)
        return import_module(f"cupyx.scipy.{name}")


def convolve2d(image, weights, column, row):
    """Add up all products with cupyx.scipy.signal.convolve2d."""
    return cupyx_scipy("signal").convolve2d(image, weights, mode="same")


def convolve2d_full(image, weights, *vectors):
    """Do the same for every place where the kernel touches the image."""
    return cupyx_scipy("signal").convolve2d(image, weights)


def correlate2d(image, weights, column, row):
    """Turn the weights around beforehand, and call cupyx.scipy.signal.correlate2d."""
    turned = cp.ascontiguousarray(weights[::-1, ::-1])
    return cupyx_scipy("signal").correlate2d(image, turned, mode="same")


def ndimage(image, weights, column, row):
    """Add up all products with cupyx.scipy.ndimage.convolve."""
    return cupyx_scipy("ndimage").convolve(image, weights, mode="constant")


def fft(image, weights, column, row):
    """Transform, multiply, transform back with cupyx.scipy.signal.fftconvolve."""
    return cupyx_scipy("signal").fftconvolve(image, weights, mode="same")


def separable(image, weights, column, row):
    """Make a pass along each axis with cupyx.scipy.ndimage.convolve1d."""
    convolve1d = cupyx_scipy("ndimage").convolve1d
    down = convolve1d(image, column, axis=0, mode="constant")
    return convolve1d(down, row, axis=1, mode="constant")


@cache
def blur_kernel(k):
    """Describe the kernel for a number of weights along each axis."""
    options = f"-DK={k}", f"-DROWS={ROWS}", f"-DTHREADS={THREADS_PER_BLOCK}"
    return raw_kernel(blur_source, "blur", options)


def fused(image, weights, column, row, out):
    """Make both passes in one kernel, which keeps the result of the first in shared memory."""
    (height, width), k = image.shape, column.size
    blocks = -(-width // (THREADS_PER_BLOCK - k + 1)), -(-height // ROWS)
    arguments = image, column, row, out, np.int32(height), np.int32(width)
    blur_kernel(k)(blocks, (THREADS_PER_BLOCK,), arguments)


def with_copies(image_host, weights_host, column_host, row_host, out_host):
    """Copy the image and the vectors to the GPU, make two passes there, and copy the result back."""
    image, column, row = (cp.asarray(x) for x in (image_host, column_host, row_host))
    separable(image, None, column, row).get(out=out_host)


def with_copies_pinned(image_host, weights_host, column_host, row_host, out_host):
    """Do the same between images in pinned memory, which the GPU copies by itself."""
    image = cp.empty(image_host.shape, np.float32)
    # asarray would first copy it into pinned memory of CuPy's own.
    image.set(image_host, stream=cp.cuda.get_current_stream())
    column, row = cp.asarray(column_host), cp.asarray(row_host)
    separable(image, None, column, row).get(out=out_host)


def compile_kernels():
    """Let CuPy compile, all at once, what the studies will call; one by one it takes as long as they do."""
    image = cp.zeros((64, 64), np.float32)
    cupyx_scipy("ndimage")  # imported before the threads ask for it

    def one(way, size):
        k = isqrt(size)
        vector = cp.ones(k, np.float32)
        way(image, cp.ones((k, k), np.float32), vector, vector)

    jobs = [(way, size) for size in KERNEL_SIZES for way in (ndimage, separable)]
    # list waits for the threads and raises their errors.
    list(thread_pool().map(one, *zip(*jobs, strict=True)))


# Studies ----------------------------------------------------------------------------------------------------


def edge_of(n, what):
    """Return the edge of a square of pixels, or of weights with one in the middle."""
    edge = isqrt(n)
    if edge * edge != n or (what == "weights" and edge % 2 == 0):
        odd = " of an odd number" if what == "weights" else ""
        raise ArgumentError(f"expected a number of {what} that is the square{odd}; got {n}.")
    return edge


def edges(n, what):
    """Return the edges of image and kernel at a size, which is the number of pixels or of weights."""
    return (EDGE, edge_of(n, what)) if what == "weights" else (edge_of(n, what), K)


def squares(what):
    """Return a function that makes an image and weights for a number of pixels or of weights."""

    def inputs(n, dtype, rng, exact):
        edge, k = edges(n, what)
        # The vectors differ, or a kernel with swapped axes would pass.
        if exact:
            image = whole_numbers(rng, edge * edge, 2, np.float32, low=-1)
            column, row = (whole_numbers(rng, k, 4, np.float32, low=1) for _ in range(2))
        else:
            image = uniform(rng, edge * edge, np.float32)
            column, row = (uniform(rng, k, np.float32) for _ in range(2))
        return image.reshape(edge, edge), np.outer(column, row), column, row

    return inputs


def cost(what, products, images=2):
    """Return the work and the traffic of a way: `products(k)` for a pixel, `images` read or written."""

    def multiply_adds(n):
        edge, k = edges(n, what)
        return edge * edge * products(k)

    def traffic(n, dtype):
        n_bytes = images // 2 * edges(n, what)[0] ** 2 * np.dtype(dtype).itemsize
        return Traffic(n_bytes, n_bytes, 2 * multiply_adds(n))

    return {"traffic": traffic, "work": {"multiply_adds": multiply_adds}}


def ways(what, *names):
    """Return the variants of these names, or all."""
    direct = cost(what, lambda k: k * k)
    passes = cost(what, lambda k: 2 * k)
    # Of a transform, only image and result are counted.
    image_alone = {"traffic": cost(what, lambda k: 0)["traffic"]}
    new = {"allocates": True}
    by_torch = {"threads": THREADS, "missing": without_torch, **new}
    # Of these only the work is counted: ceilings are the GPU's.
    direct_cpu, passes_cpu = ({"work": way["work"]} for way in (direct, passes))
    variants = (
        cpu(direct_threads, "ndimage direct, all threads", THREADS, **direct_cpu),
        cpu(direct_torch, "PyTorch conv2d, all threads", **by_torch, **direct_cpu),
        cpu(fft_scipy, "SciPy FFT, one thread", **new),
        cpu(fft_threads, "SciPy FFT, all threads", THREADS, **new),
        cpu(separable_threads, "two passes, all threads", THREADS, **passes_cpu),
        cpu(separable_torch, "two passes, PyTorch, all threads", **by_torch, **passes_cpu),
        cpu(separable_simd, "two passes, SIMD, all threads", "all", **passes_cpu),
        gpu(convolve2d, "cupyx convolve2d", **new, **direct),
        gpu(convolve2d_full, "cupyx convolve2d, full", output=full_output, **new),
        gpu(correlate2d, "cupyx correlate2d, weights turned", **new, **direct),
        gpu(ndimage, "cupyx ndimage", **new, **direct),
        gpu(fft, "cupyx FFT", **new, **image_alone),
        # What lies between the passes is written and read, too.
        gpu(separable, "cupyx, two passes", **new, **cost(what, lambda k: 2 * k, images=4)),
        gpu(fused, "one kernel, both passes", **passes),
        end_to_end(with_copies, "two passes, pageable copies"),
        end_to_end(with_copies_pinned, "two passes, pinned copies", arrays="pinned"),
    )
    return tuple(variant for variant in variants if variant.name in (names or {variant.name}))


def full_output(n, dtype):
    """Return shape and dtype of a result that is wider and higher than the image."""
    return (edge_of(n, "pixels") + K - 1,) * 2, dtype


def of_images(what="pixels"):
    """Return what the studies share."""
    return {
        "inputs": squares(what),
        "check": ConvolutionCheck(),
        "answer": right,
        "size_name": what,
        "input_note": "random pixels and weights; whole numbers for the exact check. "
        "The weights are an outer product",
    }


image = Study(
    name="image",
    title="An image of 2048 by 2048 and a kernel of 15 by 15",
    sizes=(EDGE**2,),
    small=(1, 9, 33**2, 64**2),
    baseline="separable_simd",
    variants=ways("pixels"),
    **of_images(),
)
small = Study(
    name="small",
    title="An image of 256 by 256 and a kernel of 15 by 15",
    sizes=(256**2,),
    small=(9, 33**2),
    variants=ways("pixels", "fft_scipy", "fft", "with_copies", "with_copies_pinned"),
    **of_images(),
)
large = Study(
    name="large",
    title="An image of 6000 by 6000 and a kernel of 15 by 15",
    sizes=(LARGE**2,),
    small=(),
    variants=ways("pixels", "fft", "separable", "fused"),
    **of_images(),
)
by_kernel = Study(
    name="by_kernel",
    title="An image of 2048 by 2048 and a kernel that grows",
    sizes=KERNEL_SIZES,
    small=(),
    variants=ways("weights", "ndimage", "fft", "separable", "fused"),
    **of_images("weights"),
)


def time_scipy(n_calls=1):
    """Time scipy.signal.convolve2d on the image of the source; a study would leave out calls so long."""
    inputs = image.make_inputs(EDGE**2, exact=False)
    clock, seconds = SystemClock(), []
    check = ConvolutionCheck()
    prepared = check.prepare(inputs)
    for _ in range(n_calls):
        begin = clock.now_ns()
        out = direct_scipy(*inputs)
        seconds.append((clock.now_ns() - begin) / 1e9)
        check.compare(out, prepared)
    return seconds


def rounding_errors(edge=512, k=15):
    """Return how far each way is off at most, in parts of the largest pixel of the result.

    The image is random in its left half and black in its right half, and the kernel a Gaussian, all in
    single precision. Names with ``dark`` are for the pixels that should be zero.
    """
    gauss = np.exp(-(np.linspace(-2, 2, k) ** 2)).astype(np.float32)
    pixels = uniform(np.random.default_rng(0), edge * edge, np.float32).reshape(edge, edge)
    pixels[:, edge // 2 :] = 0
    inputs = [cp.asarray(x) for x in (pixels, np.outer(gauss, gauss), gauss, gauss)]
    exact = same(convolved(pixels, gauss, gauss), pixels.shape)
    errors = {}
    for way in (ndimage, fft, separable):
        off = abs(way(*inputs).get() - exact) / exact.max()
        errors[way.__name__] = float(off.max())
        errors[f"dark_{way.__name__}"] = float(off[exact == 0].max())
    return errors
