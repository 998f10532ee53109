"""The product of 8.6 GB along the first axis, which has 2 MB: on the GPU, with copies, and on the CPU."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuguide.errors import MismatchError
from gpuguide.machine import launch
from gpuguide.machine.backends import cupy, has_gpu, is_device_array
from gpuguide.machine.cpu import cpu_info, in_threads, thread_pool
from gpuguide.measure.buffers import first_difference
from gpuguide.topics.transfers.numbers import on_gpu, pageable, registered, which

__all__ = [
    "LAYER",
    "ProductCheck",
    "product_cupy",
    "product_numpy",
    "product_numpy_threads",
    "product_reference",
    "product_with_copies",
    "product_with_copies_pinned",
]

LAYER = (512, 512)
_PER_LAYER = LAYER[0] * LAYER[1]
THREADS = cpu_info().n_cpus


def layers_of(held: Any, n_layers: int) -> Any:
    """Return shared numbers as `n_layers` layers."""
    return held(n_layers * _PER_LAYER).reshape(n_layers, *LAYER)


def product_numpy(n_layers: int, out_host: NDArray[Any]) -> None:
    """Multiply layer by layer, on one thread."""
    check_products(out_host)
    out_host[...] = 1
    for layer in layers_of(pageable, n_layers):
        out_host *= layer


def product_numpy_threads(n_layers: int, out_host: NDArray[Any]) -> None:
    """Multiply on all threads, each with its share of the layers, and then multiply their products."""
    check_products(out_host)
    layers = layers_of(pageable, n_layers)

    def multiply(first: int) -> Any:
        part = np.ones(LAYER)
        for layer in layers[first::THREADS]:
            part *= layer
        return part

    out_host[...] = 1
    for part in thread_pool().map(multiply, range(THREADS)):
        out_host *= part


def product_cupy(n_layers: int) -> Any:
    """Multiply with cp.prod what is on the GPU already."""
    return cupy().prod(layers_of(on_gpu, n_layers), axis=0)


def product_with_copies(n_layers: int, out_host: NDArray[Any]) -> None:
    """Copy the layers to the GPU, multiply there with cp.prod, and copy the products back."""
    copy_and_multiply(pageable, n_layers, out_host)


def product_with_copies_pinned(n_layers: int, out_host: NDArray[Any]) -> None:
    """Do the same from an array that was pinned where it is, into one in pinned memory."""
    copy_and_multiply(registered, n_layers, out_host)


def copy_and_multiply(held: Any, n_layers: int, out_host: NDArray[Any]) -> None:
    check_products(out_host)
    if not n_layers:
        out_host[...] = 1  # no memory to register
        return
    x_host = layers_of(held, n_layers)
    cp = cupy()
    x = cp.empty(x_host.shape)
    x.set(x_host, stream=cp.cuda.get_current_stream())
    cp.prod(x, axis=0).get(out=out_host)


def check_products(out_host: Any) -> None:
    launch.check(out_host=out_host, shape=LAYER, dtype="float64")


@cache
def product_reference(n_layers: int) -> NDArray[Any]:
    """Add up the exponents of all factors, which are powers of two, as whole numbers.

    >>> product_reference(3)[0, :2].tolist()
    [2.0, 1.0]
    """
    xp = cupy() if has_gpu() else np
    # In GPU memory one after the other, on the host in threads.
    parts = range(0, n_layers, 64)
    one = partial(_exponents, xp, n_layers)
    n_bytes = 8 * n_layers * _PER_LAYER
    sums = [one(part) for part in parts] if has_gpu() else in_threads(one, parts, n_bytes)
    total = sum(sums, xp.zeros(_PER_LAYER, np.int64))
    on_host = total.get() if is_device_array(total) else total
    products: NDArray[Any] = np.ldexp(1.0, on_host).reshape(LAYER)
    return products


def _exponents(xp: Any, n_layers: int, first: int) -> Any:
    last = min(first + 64, n_layers)
    kinds = which(xp, first * _PER_LAYER, last * _PER_LAYER).reshape(last - first, _PER_LAYER)
    return (kinds == 3).sum(axis=0) - (kinds == 0).sum(axis=0)


class ProductCheck:
    """Every product equals the power of two that the exponents of its factors add up to."""

    def prepare(self, inputs: tuple[Any, ...]) -> NDArray[Any]:
        """Return the right products; the input is the number of layers."""
        (n_layers,) = inputs
        return product_reference(int(n_layers))

    def compare(self, output: Any, right: NDArray[Any]) -> tuple[float, float]:
        """Compare on the host, bit for bit."""
        on_host = output.get() if is_device_array(output) else output
        if on_host.shape != LAYER:
            raise MismatchError(
                f"The products should have shape {LAYER}; they have {on_host.shape}."
            )
        wrong = first_difference(on_host.reshape(-1), right.reshape(-1))
        if wrong is not None:
            expected, got = right.reshape(-1)[wrong], on_host.reshape(-1)[wrong]
            raise MismatchError(
                f"The product at {wrong:,} is wrong: expected {expected}, got {got}."
            )
        return 0.0, 0.0
