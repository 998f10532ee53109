"""One formula for very many numbers: NumPy, CuPy, all threads of the CPU, the GPU, and copies to it."""

import numpy as np

from gpuguide.machine.cpu import in_threads
from gpuguide.measure import (
    Study,
    cp,
    cpu,
    end_to_end,
    kernel,
    per_element,
    uniform,
    whole_numbers,
)
from gpuguide.measure.reference import Tolerance
from gpuguide.topics.why_gpu.kernels import COEFFICIENTS, cpu_threads, gpu_threads

BLOCK = 256
DEGREE = COEFFICIENTS.size - 1
# With more, the powers leave the CPU's cache; with less, the threads wait for Python.
PART = 1 << 17


def blocks(n):
    """Count the blocks that give each of n numbers a thread; CUDA knows no empty grid."""
    return max(1, -(-n // BLOCK))


def reference(x):
    """Add up coefficient times power, one power after the other."""
    out = np.zeros(x.size)

    def add_up(start):
        part = slice(start, start + PART)
        power = np.ones(out[part].size)
        for coefficient in COEFFICIENTS[::-1].astype(np.float64):
            out[part] += coefficient * power
            power *= x[part]

    in_threads(add_up, range(0, x.size, PART), out.nbytes)
    return out


def polynomial(x):
    """Work out the formula as one writes it; each operator makes an array."""
    return ((((((2 * x - 3) * x + 1) * x + 4) * x - 1) * x + 3) * x - 2) * x + 5


def numpy_out(x, out):
    """Do the same steps in an array that is there already."""
    np.multiply(x, 2, out=out)
    for coefficient in (-3, 1, 4, -1, 3, -2):
        np.add(out, coefficient, out=out)
        np.multiply(out, x, out=out)
    np.add(out, 5, out=out)


def cupy(x):
    """Hand the formula as one writes it an array of CuPy's."""
    return polynomial(cp.asarray(x))


def with_copies(x_host, out_host):
    """Copy the numbers to the GPU, launch there, and copy the results back."""
    x, out = cp.asarray(x_host), cp.empty(x_host.shape, np.float32)
    gpu_threads[blocks(x.size), BLOCK](x, out)
    out.get(out=out_host)


def with_copies_pinned(x_host, out_host):
    """Do the same between arrays in pinned memory, which the GPU copies by itself."""
    x, out = (cp.empty(x_host.shape, np.float32) for _ in range(2))
    # asarray would first copy it into pinned memory of CuPy's own.
    x.set(x_host, stream=cp.cuda.get_current_stream())
    gpu_threads[blocks(x.size), BLOCK](x, out)
    out.get(out=out_host)


def sum_of_coefficients(x):
    """Return a bound of the polynomial's terms, added up without signs, for numbers from 0 to 1."""
    return float(np.abs(COEFFICIENTS).sum())


def inputs(n, dtype, rng, exact):
    return (whole_numbers(rng, n, 4, dtype, low=-3) if exact else uniform(rng, n, dtype),)


def grid(n):
    return blocks(n), BLOCK


# NumPy moves more: each of its steps goes through all of the numbers.
once = per_element(reads=1, writes=1, flops=2 * DEGREE)

study = Study(
    name="polynomial",
    title="A polynomial of degree 7 for many numbers",
    sizes=(10**3, 10**4, 10**5, 10**6, 10**7, 10**8),
    size_name="numbers",
    inputs=inputs,
    input_note="uniform random numbers from 0 to 1; whole numbers from -3 to 3 for the exact check",
    reference=reference,
    # Each degree rounds twice: after a product and after a sum.
    tolerance=Tolerance(c=2, serial=2 * DEGREE, scale=sum_of_coefficients),
    baseline="numpy",
    variants=(
        cpu(polynomial, "NumPy, one thread", name="numpy", allocates=True, up_to=10**7),
        cpu(numpy_out, "NumPy with out=", up_to=10**7),
        cpu(cpu_threads, "CPU, all threads", "all", traffic=once),
        end_to_end(cupy, "CuPy", arrays="numba", allocates=True),
        kernel(gpu_threads, "GPU", grid, clock="end_to_end", traffic=once),
        kernel(gpu_threads, "GPU, kernel alone", grid, name="kernel_alone", traffic=once),
        end_to_end(with_copies, "GPU, pageable copies"),
        end_to_end(with_copies_pinned, "GPU, pinned copies", arrays="pinned"),
    ),
)
