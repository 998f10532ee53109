"""The product of 8.6 GB along the first axis, which has 2 MB: on the GPU, with copies, and on the CPU."""

from functools import cache, partial

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import has_gpu, is_device_array
from gpuguide.machine.cpu import cpu_info, in_threads, thread_pool
from gpuguide.measure import Study, cp, cpu, end_to_end, gpu
from gpuguide.measure.buffers import first_difference
from gpuguide.results.records import Traffic
from gpuguide.topics.transfers.numbers import (
    INPUT_NOTE,
    alone,
    most_bytes,
    on_gpu,
    pageable,
    registered,
    which,
)

LAYER = (512, 512)
PER_LAYER = LAYER[0] * LAYER[1]
THREADS = cpu_info().n_cpus


def layers_of(held, n_layers):
    """Return shared numbers as `n_layers` layers."""
    return held(n_layers * PER_LAYER).reshape(n_layers, *LAYER)


def product_numpy(n_layers, out_host):
    """Multiply layer by layer, on one thread."""
    out_host[...] = 1
    for layer in layers_of(pageable, n_layers):
        out_host *= layer


def product_numpy_threads(n_layers, out_host):
    """Multiply on all threads, each with its share of the layers, and then multiply their products."""
    layers = layers_of(pageable, n_layers)

    def multiply(first):
        part = np.ones(LAYER)
        for layer in layers[first::THREADS]:
            part *= layer
        return part

    out_host[...] = 1
    for part in thread_pool().map(multiply, range(THREADS)):
        out_host *= part


def product_cupy(n_layers):
    """Multiply with cp.prod what is on the GPU already."""
    return cp.prod(layers_of(on_gpu, n_layers), axis=0)


def product_with_copies(n_layers, out_host):
    """Copy the layers to the GPU, multiply there with cp.prod, and copy the products back."""
    copy_and_multiply(pageable, n_layers, out_host)


def product_with_copies_pinned(n_layers, out_host):
    """Do the same from an array that was pinned where it is, into one in pinned memory."""
    copy_and_multiply(registered, n_layers, out_host)


def copy_and_multiply(held, n_layers, out_host):
    if not n_layers:
        out_host[...] = 1  # no memory to register
        return
    x_host = layers_of(held, n_layers)
    x = cp.empty(x_host.shape)
    x.set(x_host, stream=cp.cuda.get_current_stream())
    cp.prod(x, axis=0).get(out=out_host)


@cache
def product_reference(n_layers):
    """Add up the exponents of all factors, which are powers of two, as whole numbers."""
    xp = cp if has_gpu() else np
    # In GPU memory one after the other, on the host in threads.
    parts = range(0, n_layers, 64)
    one = partial(_exponents, xp, n_layers)
    n_bytes = 8 * n_layers * PER_LAYER
    sums = [one(part) for part in parts] if has_gpu() else in_threads(one, parts, n_bytes)
    total = sum(sums, xp.zeros(PER_LAYER, np.int64))
    on_host = total.get() if is_device_array(total) else total
    return np.ldexp(1.0, on_host).reshape(LAYER)


def _exponents(xp, n_layers, first):
    last = min(first + 64, n_layers)
    kinds = which(xp, first * PER_LAYER, last * PER_LAYER).reshape(last - first, PER_LAYER)
    return (kinds == 3).sum(axis=0) - (kinds == 0).sum(axis=0)


class ProductCheck:
    """Every product equals the power of two that the exponents of its factors add up to."""

    def prepare(self, inputs):
        """Return the right products; the input is the number of layers."""
        return product_reference(int(inputs[0]))

    def compare(self, output, right):
        """Compare on the host, bit for bit."""
        on_host = output.get() if is_device_array(output) else output
        if on_host.shape != LAYER:
            raise MismatchError(
                f"The products should have shape {LAYER}; they have {on_host.shape}."
            )
        on_host, right = on_host.reshape(-1), right.reshape(-1)
        wrong = first_difference(on_host, right)
        if wrong is not None:
            raise MismatchError(
                f"The product at {wrong:,} is wrong: expected {right[wrong]}, got {on_host[wrong]}."
            )
        return 0.0, 0.0


product = Study(
    name="product",
    title="The product of 4096 layers of 512 x 512 numbers",
    sizes=(4096,),
    size_name="layers",
    dtype="float64",
    inputs=alone,
    input_note=INPUT_NOTE,
    output=lambda n, dtype: (LAYER, dtype),
    check=ProductCheck(),
    answer=product_reference,
    small=(0, 1, 3),
    baseline="numpy_threads",
    variants=(
        cpu(product_numpy_threads, "NumPy, all threads", THREADS, name="numpy_threads"),
        gpu(
            product_cupy,
            "CuPy, on the GPU",
            name="cupy",
            allocates=True,
            traffic=lambda n, dtype: Traffic(8 * n * PER_LAYER, 8 * PER_LAYER),
        ),
        end_to_end(
            product_with_copies_pinned,
            "CuPy, pinned copies",
            name="with_copies_pinned",
            arrays="pinned",
        ),
    ),
)


def layers_with_room():
    """Return how many layers are multiplied: 4096, or fewer on a GPU without the room."""
    return most_bytes(4096 * 8 * PER_LAYER) // (8 * PER_LAYER)
