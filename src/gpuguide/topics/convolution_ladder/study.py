"""A convolution with 15 by 15 weights, step by step, and with 3 by 3 to 31 by 31, beside cupyx and FFT."""

from functools import cache
from math import isqrt

import numpy as np

from gpuguide.machine.backends import raw_kernel
from gpuguide.machine.cpu import thread_pool
from gpuguide.measure import Study, cp, cpu, gpu, kernel, uniform, whole_numbers
from gpuguide.results.records import Traffic
from gpuguide.topics.convolution.check import ConvolutionCheck, right
from gpuguide.topics.convolution.kernels import separable_simd
from gpuguide.topics.convolution.study import fft, fused, ndimage, separable
from gpuguide.topics.convolution_ladder import kernels
from gpuguide.topics.convolution_ladder.kernels import K
from gpuguide.topics.grids_2d_3d.study import matrix_shape

EDGE = 2048  # of the image for kernels of several sizes
SIZES = (3, 7, 15, 31)
PASS_THREADS = 128  # of a block of the kernel with both passes


@cache
def vectors(k):
    """Return a column and a row of k whole weights; those of 15 are what Numba's kernel has inside."""
    if k == K:
        return kernels.COLUMN, kernels.ROW
    return tuple(
        np.random.default_rng(k + axis).integers(1, 4, k).astype(np.float32)
        for axis in range(2)
    )


def image_of(n, dtype, rng, exact):
    """Draw an image."""
    values = whole_numbers(rng, n, 2, dtype, low=-1) if exact else uniform(rng, n, dtype)
    return values.reshape(matrix_shape(n))


def with_weights(image, k):
    column, row = vectors(k)
    return image, np.outer(column, row), column, row


# Our own kernels --------------------------------------------------------------------------------------------


def with_constants(kernel, **constants):
    """Put arrays where a kernel looks for its constants, and return the kernel."""
    for name, values in constants.items():
        kernel.constant(name, values.shape, np.float32)[...] = cp.asarray(values)
    cp.cuda.get_current_stream().synchronize()
    return kernel


@cache
def quads_kernel(k):
    """Compile the kernel for so many weights, and hand it the weights, turned."""
    compiled = raw_kernel(kernels.quads_source, "convolve", (f"-DK={k}",))
    return with_constants(compiled, weights=np.outer(*vectors(k))[::-1, ::-1].copy())


def quads(image, weights, column, row, out):
    """Keep eight pixels a thread in registers, and weights in the instructions: CUDA C++."""
    height, width = out.shape
    blocks = -(-width // 128), -(-height // 16)
    quads_kernel(column.size)(blocks, (32, 8), (image, out, np.int32(height), np.int32(width)))


@cache
def passes_kernel(k):
    """Compile the kernel with both passes for so many weights along each axis, and hand it the weights."""
    compiled = raw_kernel(kernels.passes_source, "blur", (f"-DK={k}",))
    column, row = vectors(k)
    return with_constants(compiled, column=column[::-1].copy(), row=row[::-1].copy())


def passes(image, weights, column, row, out):
    """Make both passes in one kernel that marches down the image: CUDA C++."""
    (height, width), k = out.shape, column.size
    rows = 72 if height <= 4096 else 144  # fewer begin anew, where there are blocks enough
    blocks = -(-width // ((PASS_THREADS - k + 1) // 4 * 4)), -(-height // rows)
    arguments = image, out, np.int32(height), np.int32(width), np.int32(rows)
    passes_kernel(k)(blocks, (PASS_THREADS,), arguments)


def tiles(n, wide=32, high=8):
    height, width = matrix_shape(n)
    return -(-width // wide), -(-height // high)


# Studies ----------------------------------------------------------------------------------------------------


def cost(products, of=matrix_shape, weights=lambda n: K, images=2):
    """Return the work and the traffic: `products(k)` for a pixel, `images` read or written."""

    def multiply_adds(n):
        height, width = of(n)
        return height * width * products(weights(n))

    def traffic(n, dtype):
        height, width = of(n)
        n_bytes = images // 2 * height * width * np.dtype(dtype).itemsize
        return Traffic(n_bytes, n_bytes, 2 * multiply_adds(n))

    return {"traffic": traffic, "work": {"multiply_adds": multiply_adds}}


def all_products(k):
    return k * k


def two_passes(k):
    return 2 * k


direct, split = cost(all_products), cost(two_passes)
through_memory = cost(two_passes, images=4)
image_alone = {"traffic": cost(lambda k: 0)["traffic"]}  # of a transform
direct_cpu, split_cpu = ({"work": way["work"]} for way in (direct, split))


def without_vectors(image, weights, column, row, out):
    return image, weights, out


def image_and_out(image, weights, column, row, out):
    return image, out


of_images = {
    "check": ConvolutionCheck(),
    "answer": right,
    "dtype": "float32",
    "input_note": "random pixels, whole weights from an outer product; whole pixels for the exact check",
}

ladder = Study(
    name="ladder",
    title="An image and a kernel of 15 by 15",
    # The middle one is 2003 by 3001, both primes.
    sizes=(EDGE**2, 2003 * 3001, 8192**2),
    size_name="pixels",
    inputs=lambda n, dtype, rng, exact: with_weights(image_of(n, dtype, rng, exact), K),
    small=(1, 7 * 13, 17 * 67),
    baseline="from_global",
    variants=(
        cpu(kernels.direct_simd, "CPU, direct, SIMD", "all", up_to=EDGE**2, **direct_cpu),
        cpu(separable_simd, "CPU, two passes, SIMD", "all", up_to=EDGE**2, **split_cpu),
        gpu(ndimage, "cupyx ndimage", allocates=True, **direct),
        gpu(fft, "cupyx FFT", allocates=True, **image_alone),
        gpu(separable, "cupyx, two passes", allocates=True, **through_memory),
        kernel(
            kernels.from_global,
            "from global memory",
            lambda n: (tiles(n), (32, 8)),
            arguments=without_vectors,
            **direct,
        ),
        kernel(
            kernels.from_tile,
            "from a tile",
            lambda n: (tiles(n), (32, 8)),
            arguments=without_vectors,
            **direct,
        ),
        kernel(
            kernels.from_window,
            "16 pixels per thread",
            lambda n: (tiles(n, high=64), (32, 4)),
            arguments=image_and_out,
            **direct,
        ),
        gpu(quads, "weights in the instructions, CUDA C++", **direct),
        gpu(fused, "both passes in one kernel", **split),
        gpu(passes, "both passes, marching down", **split),
    ),
    **of_images,
)


def of_weights(n, dtype, rng, exact):
    return with_weights(image_of(EDGE**2, dtype, rng, exact), isqrt(n))


def by_weights(products, images=2):
    return cost(products, of=lambda n: (EDGE, EDGE), weights=isqrt, images=images)


by_kernel = Study(
    name="by_kernel",
    title="An image of 2048 by 2048 and a kernel that grows",
    sizes=tuple(k * k for k in SIZES),
    size_name="weights",
    inputs=of_weights,
    small=(),
    baseline="ndimage",
    variants=(
        gpu(ndimage, "cupyx ndimage", allocates=True, **by_weights(all_products)),
        gpu(fft, "cupyx FFT", allocates=True, traffic=by_weights(lambda k: 0)["traffic"]),
        gpu(separable, "cupyx, two passes", allocates=True, **by_weights(two_passes, images=4)),
        gpu(quads, "direct, CUDA C++", **by_weights(all_products)),
        gpu(passes, "both passes, CUDA C++", **by_weights(two_passes)),
    ),
    **of_images,
)


def compile_kernels():
    """Let CuPy compile all at once what the studies will call; one by one it takes as long as they do."""
    image = cp.zeros((64, 64), np.float32)
    jobs = [(way, k) for k in SIZES for way in (ndimage, separable, quads, passes)]
    ndimage(
        image, cp.ones((3, 3), np.float32), None, None
    )  # imports, before the threads ask for them

    def one(job):
        way, k = job
        arguments = [image, *(cp.asarray(x) for x in with_weights(image, k)[1:])]
        way(*arguments) if way in (ndimage, separable) else way(
            *arguments, cp.empty_like(image)
        )

    list(thread_pool().map(one, jobs))  # list waits for the threads and raises their errors
