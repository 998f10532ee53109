"""The product of 4096 layers of 512 x 512 float64, 8.6 GB: in the output array, or in a register."""

from functools import cache, partial

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import cuda, raw_kernel, simulated
from gpuguide.measure import Study, cp, gpu
from gpuguide.measure.plan import generator
from gpuguide.measure.reference import Tolerance
from gpuguide.results.records import Traffic
from gpuguide.topics.registers import kernels
from gpuguide.topics.registers.layers import EXACT, FINE, held, layer_shape, product_reference

BLOCK, INDEX_BLOCK, SOURCE_BLOCK, PAIR_BLOCK = (32, 16), 256, 512, 64
MAX_REGISTERS = 32  # as many as each of 2048 threads has on a multiprocessor with 65 536


def grid(out):
    """Give each product a thread, with columns along x."""
    rows, cols = out.shape
    return (-(-cols // BLOCK[0]), -(-rows // BLOCK[1])), BLOCK


def as_is(n_layers, steps, out):
    """Multiply every factor into the output array."""
    kernels.as_is[grid(out)](held(n_layers, steps, view=True), out)


def in_register(n_layers, steps, out):
    """Multiply in a variable, and store the product at the end."""
    kernels.in_register[grid(out)](held(n_layers, steps, view=True), out)


def one_index(n_layers, steps, out):
    """Multiply in a variable, with one index for rows and columns."""
    x = held(n_layers, steps, view=True).reshape(n_layers, out.size)
    kernels.one_index[-(-out.size // INDEX_BLOCK), INDEX_BLOCK](x, out.reshape(out.size))


def fewer_registers(n_layers, steps, out):
    """Multiply in a variable, with at most 32 registers per thread."""
    limited(kernels.in_register)[grid(out)](held(n_layers, steps, view=True), out)


@cache
def limited(kernel):
    """Compile a kernel for at most 32 registers; the simulator has none."""
    return kernel if simulated() else cuda.jit(max_registers=MAX_REGISTERS)(kernel.py_func)


def launch_source(kernel, n_layers, steps, out):
    """Launch a kernel in CUDA C++, a thread for each product."""
    blocks, sizes = -(-out.size // SOURCE_BLOCK), (np.int32(n_layers), np.int32(out.size))
    kernel((blocks,), (SOURCE_BLOCK,), (held(n_layers, steps), out, *sizes))


pairs_kernel = raw_kernel(kernels.pairs_source, "product")


def pairs(n_layers, steps, out):
    """Load two factors at once, with a thread for each pair of neighbours."""
    n = out.size // 2
    blocks, sizes = -(-n // PAIR_BLOCK), (np.int32(n_layers), np.int32(n))
    pairs_kernel((blocks,), (PAIR_BLOCK,), (held(n_layers, steps), out, *sizes))


def cupy(n_layers, steps, out):
    """Multiply with cp.prod."""
    cp.prod(held(n_layers, steps), axis=0, out=out)


def stores_alone(n_layers):
    """Return a call that stores as many numbers as the kernel as it is, and loads nothing; it was checked."""
    out = cp.full(layer_shape(), np.nan)
    store = raw_kernel(kernels.stores_source, "stores").on(
        (-(-out.size // SOURCE_BLOCK),),
        (SOURCE_BLOCK,),
        (out, np.int32(n_layers), np.int32(out.size)),
    )
    store()
    if not (out == n_layers - 1).all():
        raise MismatchError("The last number stored is not everywhere that of the last turn.")
    return store


def traffic(n_layers, dtype):
    """Count each factor once, and each product once: other stores end in the L2 cache."""
    n = one_store(n_layers)
    return Traffic(8 * n_layers * n, 8 * n, n_layers * n, "fp64")


def stores(n_layers):
    """Count the numbers that are stored where every product goes to the output array."""
    return (n_layers + 1) * one_store(n_layers)


def eighth_of_stores(n_layers):
    """Count the numbers that are stored where every eighth product goes there, and the last."""
    return (-(-n_layers // 8) + 1) * one_store(n_layers)


def one_store(n_layers):
    """Count the numbers that are stored where each product is stored once."""
    rows, cols = layer_shape()
    return rows * cols


def numba(call, label, count):
    """Describe a way in Numba, on views."""
    return gpu(call, label, arrays="numba", simulatable=True, work={"stores": count})


def cpp(name, source, label, count, note):
    """Describe a way in CUDA C++."""
    call = partial(launch_source, raw_kernel(source, "product"))
    return gpu(call, label, name=name, note=note, work={"stores": count})


product = Study(
    name="product",
    title="Product of layers along the first axis",
    sizes=(4096,),
    size_name="layers",
    dtype="float64",
    # Not the layers themselves, which all variants share: they would not fit twice.
    inputs=lambda n, dtype, rng, exact: (n, EXACT if exact else FINE),
    input_note="powers of two within 2.2 % of one; one half, one and two for the exact check",
    reference=product_reference,
    output=lambda n, dtype: (layer_shape(), dtype),
    tolerance=Tolerance(c=2, serial=lambda n: max(n, 1)),
    traffic=traffic,
    small=(0, 33),
    baseline="as_is",
    variants=(
        numba(as_is, "in the output array", stores),
        numba(in_register, "in a variable", one_store),
        numba(one_index, "with one index", one_store),
        gpu(pairs, "two at a time, C++", work={"stores": one_store}),
        numba(fewer_registers, "at most 32 registers", one_store),
        cpp(
            "cpp",
            kernels.as_is_source,
            "in the output array, C++",
            stores,
            "Multiply every factor into the output array, in CUDA C++.",
        ),
        cpp(
            "volatile",
            kernels.volatile_source,
            "volatile, C++",
            stores,
            "Read the product from the output array in each turn, and write it back.",
        ),
        cpp(
            "one_load",
            kernels.one_load_source,
            "in a variable, one load, C++",
            one_store,
            "Multiply in a variable, and load one factor at a time.",
        ),
        cpp(
            "eighth",
            kernels.eighth_source,
            "every eighth stored, C++",
            eighth_of_stores,
            "Multiply in a variable, load one factor at a time, and store every eighth product.",
        ),
        cpp(
            "restrict",
            kernels.restrict_source,
            "__restrict__, C++",
            one_store,
            "Promise the compiler that nothing else points to the output array.",
        ),
        gpu(cupy, "cp.prod"),
    ),
)


def void_check(decimals=6, n_layers=4096):
    """Give the shares of products that are zero, and that a check to six decimals takes for zero."""
    # The layers are equal, and uniform from 0 to 1, as in the example that the page cites.
    layer = generator("registers", "void").random((512, 512))
    with np.errstate(under="ignore"):
        powers = layer**n_layers
    return float((powers == 0).mean()), float((powers < 1.5 * 10.0**-decimals).mean())
