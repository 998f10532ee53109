"""Convolution of an image: all products, by transforms, and in two passes; on the CPU and the GPU."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from math import isqrt
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine import launch
from gpuguide.machine.backends import cupy
from gpuguide.machine.cpu import thread_pool
from gpuguide.measure.clocks import SystemClock
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant, cpu_variant, cupy_variant, end_to_end_variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.topics.convolution.check import ConvolutionCheck, convolved, same
from gpuguide.topics.convolution.cpu import (
    THREADS,
    direct_scipy,
    direct_threads,
    fft_scipy,
    fft_threads,
    separable_threads,
)

EDGE = 2048
"""Of the image that the source convolves."""
K = 15
SMALL = 256**2
# CuPy compiles three functions for each size of the kernel, which takes longer than all their samples.
KERNEL_SIZES = tuple(k * k for k in (3, K, 63))
INPUT_NOTE = "random pixels and weights; whole numbers for the exact check. The weights are an outer product"


@cache
def cupyx_scipy(name: str) -> Any:
    """Import a part of cupyx.scipy when it is first needed."""
    with warnings.catch_warnings():
        # Of cupyx.jit, which cupyx.scipy.signal imports: an experimental interface, not used here.
        warnings.simplefilter("ignore", FutureWarning)
        return import_module(f"cupyx.scipy.{name}")


def check_arrays(image: Any, weights: Any, column: Any, row: Any) -> bool:
    """Refuse what does not fit together; say whether the image has pixels."""
    launch.check(image=image, weights=weights, ndim=2, dtype="float32", same_shape=False)
    k, m = weights.shape
    launch.check(column=column, shape=(k,), dtype="float32")
    launch.check(row=row, shape=(m,), dtype="float32")
    return bool(image.size)


def convolve2d_same(image: Any, weights: Any, column: Any, row: Any) -> Any:
    """Add up all products with cupyx.scipy.signal.convolve2d."""
    if not check_arrays(image, weights, column, row):
        return image.copy()
    return cupyx_scipy("signal").convolve2d(image, weights, mode="same")


def convolve2d_full(image: Any, weights: Any, column: Any, row: Any) -> Any:
    """Do the same for every place where the kernel touches the image."""
    if not check_arrays(image, weights, column, row):
        return cupy().zeros([n + len(weights) - 1 for n in image.shape], image.dtype)
    return cupyx_scipy("signal").convolve2d(image, weights)


def correlate2d_turned(image: Any, weights: Any, column: Any, row: Any) -> Any:
    """Turn the weights around beforehand, and call cupyx.scipy.signal.correlate2d."""
    if not check_arrays(image, weights, column, row):
        return image.copy()
    turned = cupy().ascontiguousarray(weights[::-1, ::-1])
    return cupyx_scipy("signal").correlate2d(image, turned, mode="same")


def ndimage_convolve(image: Any, weights: Any, column: Any, row: Any) -> Any:
    """Add up all products with cupyx.scipy.ndimage.convolve."""
    if not check_arrays(image, weights, column, row):
        return image.copy()
    return cupyx_scipy("ndimage").convolve(image, weights, mode="constant")


def fftconvolve_same(image: Any, weights: Any, column: Any, row: Any) -> Any:
    """Transform, multiply, transform back with cupyx.scipy.signal.fftconvolve."""
    if not check_arrays(image, weights, column, row):
        return image.copy()
    return cupyx_scipy("signal").fftconvolve(image, weights, mode="same")


def two_passes(image: Any, weights: Any, column: Any, row: Any) -> Any:
    """Make a pass along each axis with cupyx.scipy.ndimage.convolve1d."""
    if not check_arrays(image, weights, column, row):
        return image.copy()
    convolve1d = cupyx_scipy("ndimage").convolve1d
    down = convolve1d(image, column, axis=0, mode="constant")
    return convolve1d(down, row, axis=1, mode="constant")


def with_copies(
    image_host: np.ndarray,
    weights_host: np.ndarray,
    column_host: np.ndarray,
    row_host: np.ndarray,
    out_host: np.ndarray,
) -> None:
    """Copy the image and the vectors to the GPU, make two passes there, and copy the result back."""
    if not check_arrays(image_host, weights_host, column_host, row_host):
        return
    image, column, row = (cupy().asarray(x) for x in (image_host, column_host, row_host))
    down = cupyx_scipy("ndimage").convolve1d(image, column, axis=0, mode="constant")
    out = cupyx_scipy("ndimage").convolve1d(down, row, axis=1, mode="constant")
    out.get(out=out_host)


def with_copies_pinned(
    image_host: np.ndarray,
    weights_host: np.ndarray,
    column_host: np.ndarray,
    row_host: np.ndarray,
    out_host: np.ndarray,
) -> None:
    """Do the same between images in pinned memory, which the GPU copies by itself."""
    if not check_arrays(image_host, weights_host, column_host, row_host):
        return
    image = cupy().empty(image_host.shape, np.float32)
    # asarray would first copy it into pinned memory of CuPy's own.
    image.set(image_host, stream=cupy().cuda.get_current_stream())
    column, row = cupy().asarray(column_host), cupy().asarray(row_host)
    down = cupyx_scipy("ndimage").convolve1d(image, column, axis=0, mode="constant")
    out = cupyx_scipy("ndimage").convolve1d(down, row, axis=1, mode="constant")
    out.get(out=out_host)


def compile_kernels() -> None:
    """Let CuPy compile, all at once, what the studies will call; one by one it takes as long as they do."""
    image = cupy().zeros((64, 64), np.float32)
    cupyx_scipy("ndimage")  # imported before the threads ask for it

    def one(way: Callable[..., Any], size: int) -> None:
        k = isqrt(size)
        vector = cupy().ones(k, np.float32)
        way(image, cupy().ones((k, k), np.float32), vector, vector)

    jobs = [(way, size) for size in KERNEL_SIZES for way in (ndimage_convolve, two_passes)]
    # list waits for the threads and raises their errors.
    list(thread_pool().map(one, *zip(*jobs, strict=True)))


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison for the image of the source and a kernel of 15 by 15."""
    return _study(
        "image",
        "An image of 2048 by 2048 and a kernel of 15 by 15",
        (EDGE**2,),
        kernels=kernels,
    )


def small_study(kernels: Kernels = None) -> Study:
    """Describe the comparison for a small image and the same kernel."""
    chosen = ("fft_scipy", "fft", "with_copies", "with_copies_pinned")
    return _study(
        "small", "An image of 256 by 256 and a kernel of 15 by 15", (SMALL,), chosen, kernels
    )


def by_kernel_study(kernels: Kernels = None) -> Study:
    """Describe the comparison for the image of the source and three kernels, of 3 by 3 to 63 by 63."""
    chosen = ("ndimage", "fft", "separable")
    title = "An image of 2048 by 2048 and a kernel that grows"
    return _study("by_kernel", title, KERNEL_SIZES, chosen, kernels)


def _study(
    name: str,
    title: str,
    sizes: tuple[int, ...],
    chosen: tuple[str, ...] = (),
    kernels: Kernels = None,
) -> Study:
    """Describe a comparison of some of the ways, or of all; its sizes are pixels or weights."""
    grows = name == "by_kernel"

    def products(n: int) -> int:
        return n * (EDGE**2 if grows else K * K)

    def products_of_two_passes(n: int) -> int:
        return 2 * isqrt(n) * EDGE**2 if grows else 2 * K * n

    direct: dict[str, Any] = {"work": {"multiply_adds": products}}
    passes: dict[str, Any] = {"work": {"multiply_adds": products_of_two_passes}}
    variants = (
        cpu_variant(
            "direct_threads", direct_threads, "ndimage direct, all threads", THREADS, **direct
        ),
        cpu_variant("fft_scipy", fft_scipy, "SciPy FFT, one thread", allocates=True),
        cpu_variant(
            "fft_threads", fft_threads, "SciPy FFT, all threads", THREADS, allocates=True
        ),
        cpu_variant(
            "separable_threads", separable_threads, "two passes, all threads", THREADS, **passes
        ),
        _on_gpu("convolve2d", convolve2d_same, "cupyx convolve2d", **direct),
        _on_gpu(
            "convolve2d_full", convolve2d_full, "cupyx convolve2d, full", output=_full_output
        ),
        _on_gpu(
            "correlate2d", correlate2d_turned, "cupyx correlate2d, weights turned", **direct
        ),
        _on_gpu("ndimage", ndimage_convolve, "cupyx ndimage", **direct),
        _on_gpu("fft", fftconvolve_same, "cupyx FFT"),
        _on_gpu("separable", two_passes, "cupyx, two passes", **passes),
        end_to_end_variant("with_copies", with_copies, "two passes, pageable copies"),
        end_to_end_variant(
            "with_copies_pinned",
            with_copies_pinned,
            "two passes, pinned copies",
            arrays="pinned",
        ),
    )

    def inputs(
        n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
    ) -> tuple[np.ndarray, ...]:
        edge, k = (EDGE, _edge_of(n, "weights")) if grows else (_edge_of(n, "pixels"), K)
        return _inputs(edge, k, rng, exact)

    return Study(
        name=name,
        title=title,
        variants=tuple(each for each in variants if not chosen or each.name in chosen),
        sizes=sizes,
        inputs=inputs,
        check=ConvolutionCheck(),
        dtype="float32",
        size_name="weights" if grows else "pixels",
        input_note=INPUT_NOTE,
        baseline="" if chosen else "separable_threads",
        kernels=kernels,
    )


def _on_gpu(name: str, call: Callable[..., Any], label: str, **options: Any) -> Variant:
    return cupy_variant(name, call, label, allocates=True, **options)


def _full_output(n: int, dtype: np.dtype) -> tuple[tuple[int, int], np.dtype]:
    edge = _edge_of(n, "pixels") + K - 1
    return (edge, edge), dtype


def _edge_of(n: int, what: str) -> int:
    edge = isqrt(n)
    if edge * edge != n or (what == "weights" and edge % 2 == 0):
        odd = " of an odd number" if what == "weights" else ""
        raise ArgumentError(f"expected a number of {what} that is the square{odd}; got {n}.")
    return edge


def _inputs(edge: int, k: int, rng: np.random.Generator, exact: bool) -> tuple[np.ndarray, ...]:
    """Make an image and weights; the vectors differ, or a kernel with swapped axes would pass."""
    if exact:
        image = whole_numbers(rng, edge * edge, 2, np.float32, low=-1)
        column, row = (whole_numbers(rng, k, 4, np.float32, low=1) for _ in range(2))
    else:
        image = uniform(rng, edge * edge, np.float32)
        column, row = (uniform(rng, k, np.float32) for _ in range(2))
    return image.reshape(edge, edge), np.outer(column, row), column, row


def time_scipy(n_calls: int = 1) -> list[float]:
    """Time scipy.signal.convolve2d on the image of the source; a study would leave out calls so long."""
    inputs = study().make_inputs(EDGE**2, exact=False)
    clock, seconds = SystemClock(), []
    check = ConvolutionCheck()
    prepared = check.prepare(inputs)
    for _ in range(n_calls):
        begin = clock.now_ns()
        out = direct_scipy(*inputs)
        seconds.append((clock.now_ns() - begin) / 1e9)
        check.compare(out, prepared)
    return seconds


def rounding_errors(edge: int = 512, k: int = 15) -> dict[str, float]:
    """Return how far each way is off at most, in parts of the largest pixel of the result.

    The image is random in its left half and black in its right half, and the kernel a Gaussian, all in
    single precision. Names with ``dark`` are for the pixels that should be zero.
    """
    gauss = np.exp(-(np.linspace(-2, 2, k) ** 2)).astype(np.float32)
    image = uniform(np.random.default_rng(0), edge * edge, np.float32).reshape(edge, edge)
    image[:, edge // 2 :] = 0
    inputs = [cupy().asarray(x) for x in (image, np.outer(gauss, gauss), gauss, gauss)]
    exact = same(convolved(image, gauss, gauss), image.shape)
    ways = {"ndimage": ndimage_convolve, "fft": fftconvolve_same, "separable": two_passes}
    errors = {}
    for name, way in ways.items():
        off = abs(way(*inputs).get() - exact) / exact.max()
        errors[name] = float(off.max())
        errors[f"dark_{name}"] = float(off[exact == 0].max())
    return errors
