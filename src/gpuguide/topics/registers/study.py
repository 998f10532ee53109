"""The product of 4096 layers of 512 x 512 float64, 8.6 GB: in the output array, or in a register."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.machine import launch
from gpuguide.machine.backends import cuda, cupy, raw_kernel, simulated
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant, cupy_variant, generator, kernel_variant
from gpuguide.measure.reference import Tolerance
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.registers.kernels import (
    as_is,
    as_is_source,
    eighth_source,
    in_register,
    one_index,
    one_load_source,
    pairs_source,
    restrict_source,
    stores_source,
    volatile_source,
)
from gpuguide.topics.registers.layers import (
    EXACT,
    FINE,
    held,
    layer_shape,
    most_layers,
    product_reference,
)

BLOCK = (32, 16)
THREADS, INDEX_THREADS, PAIR_THREADS = 512, 256, 64
MAX_REGISTERS = 32
"""As many registers as each of 2048 threads has on a multiprocessor with 65 536."""


def check_layers(x: Any, out: Any) -> None:
    """Raise ValueError unless both are float64, with the axes of x but the first for out."""
    launch.check(x=x, ndim=3, dtype="float64")
    launch.check(out=out, shape=tuple(x.shape[1:]), dtype="float64")


def product_as_is(x: Any, out: Any) -> None:
    """Multiply every factor into the output array."""
    check_layers(x, out)
    as_is[launch.grid_2d(out.shape, BLOCK), BLOCK](x, out)


def product_in_register(x: Any, out: Any) -> None:
    """Multiply in a variable, and store the product at the end."""
    check_layers(x, out)
    in_register[launch.grid_2d(out.shape, BLOCK), BLOCK](x, out)


def product_fewer_registers(x: Any, out: Any) -> None:
    """Multiply in a variable, with at most 32 registers per thread."""
    check_layers(x, out)
    limited(in_register)[launch.grid_2d(out.shape, BLOCK), BLOCK](x, out)


@cache
def limited(kernel: Any) -> Any:
    """Compile a kernel for at most 32 registers; the simulator has none."""
    return kernel if simulated() else cuda.jit(max_registers=MAX_REGISTERS)(kernel.py_func)


def product_one_index(x: Any, out: Any) -> None:
    """Multiply in a variable, with one index for rows and columns."""
    check_layers(x, out)
    if out.size:
        flat = x.reshape(x.shape[0], out.size), out.reshape(out.size)
        one_index[launch.blocks_1d(out.size, INDEX_THREADS), INDEX_THREADS](*flat)


def product_cpp(x: Any, out: Any) -> None:
    """Multiply every factor into the output array, in CUDA C++."""
    launch_source(as_is_source, x, out)


def product_volatile(x: Any, out: Any) -> None:
    """Read the product from the output array in each turn, and write it back."""
    launch_source(volatile_source, x, out)


def product_one_load(x: Any, out: Any) -> None:
    """Multiply in a variable, and load one factor at a time."""
    launch_source(one_load_source, x, out)


def product_eighth(x: Any, out: Any) -> None:
    """Multiply in a variable, load one factor at a time, and store every eighth product."""
    launch_source(eighth_source, x, out)


def product_restrict(x: Any, out: Any) -> None:
    """Promise the compiler that nothing else points to the output array."""
    launch_source(restrict_source, x, out)


def launch_source(source: str, x: Any, out: Any) -> None:
    """Launch a kernel in CUDA C++, a thread for each product."""
    check_layers(x, out)
    if out.size:
        sizes = np.int32(x.shape[0]), np.int32(out.size)
        compiled(source)((launch.blocks_1d(out.size, THREADS),), (THREADS,), (x, out, *sizes))


def product_pairs(x: Any, out: Any) -> None:
    """Load two factors at once, with a thread for each pair of neighbours."""
    check_layers(x, out)
    if out.size % 2:
        raise ArgumentError(f"out must have an even number of elements; got shape {out.shape}.")
    if n := out.size // 2:
        sizes = np.int32(x.shape[0]), np.int32(n)
        blocks = launch.blocks_1d(n, PAIR_THREADS)
        compiled(pairs_source)((blocks,), (PAIR_THREADS,), (x, out, *sizes))


@cache
def compiled(source: str, name: str = "product") -> Any:
    """Keep what is compiled."""
    return raw_kernel(source, name)


def stores_alone(n_layers: int) -> Callable[[], None]:
    """Return a call that stores as many numbers as `product_cpp` does, and loads nothing; it was checked."""
    out = cupy().full(layer_shape(), np.nan)
    sizes = np.int32(n_layers), np.int32(out.size)

    def call() -> None:
        blocks = launch.blocks_1d(out.size, THREADS)
        compiled(stores_source, "stores")((blocks,), (THREADS,), (out, *sizes))

    call()
    if n_layers and not bool((out == n_layers - 1).all()):
        raise MismatchError("The last number stored is not everywhere that of the last turn.")
    return call


def product_cupy(x: Any, out: Any) -> None:
    """Multiply with cp.prod."""
    check_layers(x, out)
    cupy().prod(x, axis=0, out=out)


def on_layers(
    call: Callable[..., None], view: bool, n_layers: int, steps: int, out: Any
) -> None:
    """Make a call on layers that lie in the GPU's memory, where all variants share them."""
    call(held(n_layers, steps, view=view), out)


def product_traffic(n_layers: int, dtype: Any) -> Traffic:
    """Count each factor once, and each product once: other stores end in the L2 cache."""
    rows, cols = layer_shape()
    size = np.dtype(dtype).itemsize * rows * cols
    return Traffic(
        bytes_read=n_layers * size,
        bytes_written=size,
        flops=n_layers * rows * cols,
        unit="fp64",
    )


def stores(n_layers: int) -> int:
    """Count the numbers that are stored where every product goes to the output array.

    >>> stores(0) == one_store(0)
    True
    """
    return (n_layers + 1) * one_store(n_layers)


def eighth_of_stores(n_layers: int) -> int:
    """Count the numbers that are stored where every eighth product goes there, and the last."""
    return (-(-n_layers // 8) + 1) * one_store(n_layers)


def one_store(n_layers: int) -> int:
    """Count the numbers that are stored where each product is stored once."""
    rows, cols = layer_shape()
    return rows * cols


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of one product in eleven ways, by what holds it and what is stored."""
    return Study(
        name="product",
        title="Product of layers along the first axis",
        variants=(
            _numba("as_is", product_as_is, "in the output array", stores),
            _numba("in_register", product_in_register, "in a variable", one_store),
            _numba("one_index", product_one_index, "with one index", one_store),
            _cupy("pairs", product_pairs, "two at a time, C++", one_store),
            _numba(
                "fewer_registers", product_fewer_registers, "at most 32 registers", one_store
            ),
            _cupy("cpp", product_cpp, "in the output array, C++", stores),
            _cupy("volatile", product_volatile, "volatile, C++", stores),
            _cupy("one_load", product_one_load, "in a variable, one load, C++", one_store),
            _cupy("eighth", product_eighth, "every eighth stored, C++", eighth_of_stores),
            _cupy("restrict", product_restrict, "__restrict__, C++", one_store),
            cupy_variant(
                "cupy",
                partial(on_layers, product_cupy, False),
                "cp.prod",
                traffic=product_traffic,
                note="Multiply with cp.prod.",
            ),
        ),
        sizes=(most_layers(),),
        inputs=lambda n, dtype, rng, exact: (n, EXACT if exact else FINE),
        reference=product_reference,
        output=lambda n, dtype: (layer_shape(), dtype),
        tolerance=Tolerance(c=2, serial=lambda n: max(n, 1)),
        dtype="float64",
        size_name="layers",
        input_note="powers of two within 2.2 % of one; one half, one and two for the exact check",
        baseline="as_is",
        kernels=kernels,
    )


def _numba(name: str, call: Callable[..., None], label: str, stored: Any) -> Variant:
    return kernel_variant(
        name,
        partial(on_layers, call, True),
        label,
        traffic=product_traffic,
        work={"stores": stored},
        note=_note(call),
    )


def _cupy(name: str, call: Callable[..., None], label: str, stored: Any) -> Variant:
    return cupy_variant(
        name,
        partial(on_layers, call, False),
        label,
        traffic=product_traffic,
        work={"stores": stored},
        note=_note(call),
    )


def _note(call: Callable[..., None]) -> str:
    return (call.__doc__ or "").strip()


# What the source checked --------------------------------------------------------------------------------


def void_check(decimals: int = 6, n_layers: int = 4096) -> tuple[float, float]:
    """Give the shares of products that are zero, and that a check to six decimals takes for zero.

    The layers are equal, and uniform from 0 to 1, as in a well-known example.

    >>> zero, small = void_check()
    >>> zero < small
    True
    """
    layer = generator("registers", "void").random((512, 512))
    with np.errstate(under="ignore"):
        product = layer**n_layers
    return float((product == 0).mean()), float((product < 1.5 * 10.0**-decimals).mean())
