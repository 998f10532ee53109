"""Products of matrices: own kernels step by step, cuBLAS, and cuBLAS with shorter numbers."""

from functools import partial

import numpy as np

from gpuguide.machine.backends import cublas, raw_kernel
from gpuguide.machine.cpu import cpu_info
from gpuguide.measure import Study, cp, cpu, gpu, kernel, uniform, whole_numbers
from gpuguide.results.records import Traffic
from gpuguide.topics.matmul import kernels
from gpuguide.topics.matmul.check import ProductCheck, of_bfloat16

COMPUTE_TYPE_TF32 = 7  # as CuPy numbers it
COMPUTE_IN_FLOAT32 = 68  # as cuBLAS numbers it


# The shapes -------------------------------------------------------------------------------------------------


def square(n):
    """Return rows and columns of a, and columns of b."""
    return n, n, n


def odd(n):
    """Return the same where nothing is square: 1000 by 777 times 777 by 513."""
    return n, -(-777 * n // 1000), -(-513 * n // 1000)


def tiles(rows, cols, threads, shape=square):
    """Return the launch of a block for every tile of the product."""

    def grid(n):
        m, _, p = shape(n)
        return (-(-p // cols), -(-m // rows)), threads

    return grid


def factors(n, dtype, rng, exact, shape=square, largest=3):
    m, k, p = shape(n)

    def numbers(size):
        if exact:
            return whole_numbers(rng, size, largest + 1, dtype, low=-largest)
        return (2 * uniform(rng, size, np.float32) - 1).astype(dtype)

    return numbers(m * k).reshape(m, k), numbers(k * p).reshape(k, p)


def operations(n, shape=square):
    """Count multiplications and additions."""
    m, k, p = shape(n)
    return 2 * m * k * p


def moved(unit="fp32", stored=None, shape=square):
    """Return the traffic of a product that reads and writes each element once."""

    def traffic(n, dtype):
        (m, k, p), wide = shape(n), np.dtype(dtype).itemsize
        written = np.dtype(stored or dtype).itemsize * m * p
        return Traffic(wide * (m * k + k * p), written, operations(n, shape), unit)

    return traffic


# The ways ---------------------------------------------------------------------------------------------------

raw_quads = raw_kernel(kernels.product_source, "product_quads")
raw_singles = raw_kernel(kernels.product_source, "product_singles")


def in_cuda(a, b, c):
    """Launch the same idea in CUDA C++, which loads four elements at once where rows begin at 16 bytes."""
    (m, n), p = a.shape, b.shape[1]
    if c.size:
        launch = raw_quads if n % 4 == p % 4 == 0 else raw_singles
        sizes = np.int32(m), np.int32(n), np.int32(p)
        launch((-(-p // 128), -(-m // 256)), (256,), (a, b, c, *sizes))


def with_cublas(a, b, c):
    """Call cp.matmul, which hands the work to cuBLAS."""
    cp.matmul(a, b, out=c)


def with_numpy(a, b, c):
    """Call np.matmul, on the threads that its library takes."""
    np.matmul(a, b, out=c)


def with_tf32(a, b, c):
    """Call cp.matmul while CuPy may round the factors to TF32."""
    before = cp._core.get_compute_type(np.float32)
    cp._core.set_compute_type(np.float32, COMPUTE_TYPE_TF32)
    try:
        cp.matmul(a, b, out=c)
    finally:
        cp._core.set_compute_type(np.float32, before)


def with_bfloat16(a_bits, b_bits, c):
    """Call cuBLAS for the upper 16 bits of float32 numbers; the product is in float32."""
    (m, n), p = a_bits.shape, b_bits.shape[1]
    if not c.size:
        return
    short, wide = cp.cuda.runtime.CUDA_R_16BF, cp.cuda.runtime.CUDA_R_32F
    one, zero = np.ones(1, np.float32), np.zeros(1, np.float32)
    # cuBLAS counts down columns, so it sees all matrices transposed, and b comes first.
    cublas().gemmEx(
        cp.cuda.device.get_cublas_handle(), 0, 0, p, m, n,
        one.ctypes.data, b_bits.data.ptr, short, p, a_bits.data.ptr, short, n,
        zero.ctypes.data, c.data.ptr, wide, p, COMPUTE_IN_FLOAT32, -1,
    )  # fmt: skip


def bits_of_bfloat16(x):
    """Round float32 numbers to bfloat16, halves to even, and return their 16 bits."""
    bits = x.view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    return (rounded >> np.uint32(16)).astype(np.uint16)


def bfloat16_factors(n, dtype, rng, exact):
    return tuple(map(bits_of_bfloat16, factors(n, np.float32, rng, exact, largest=1)))


# Studies ----------------------------------------------------------------------------------------------------


def global_loads(n, of_256, shape=square):
    """Count the elements loaded from global memory: so many 256ths for each multiplication."""
    return operations(n, shape) // 2 * of_256 // 256


def shared_loads(n, of_256, shape=square):
    """Count the elements loaded from shared memory in the same way."""
    return operations(n, shape) // 2 * of_256 // 256


def loads(of_global, of_shared, shape):
    """Return both counts as the work of a variant."""
    return {
        "global_loads": partial(global_loads, of_256=of_global, shape=shape),
        "shared_loads": partial(shared_loads, of_256=of_shared, shape=shape),
    }


def ladder(shape):
    """Return the steps from a plain kernel to cuBLAS."""
    return (
        cpu(with_numpy, "NumPy, all threads", cpu_info().threads),
        kernel(
            kernels.one_element,
            "one element per thread",
            tiles(8, 32, (32, 8), shape),
            work=loads(512, 0, shape),
        ),
        kernel(
            kernels.one_element_unsigned,
            "while, unsigned indices",
            tiles(8, 32, (32, 8), shape),
            work=loads(512, 0, shape),
        ),
        kernel(
            kernels.tile_in_shared,
            "tiles in shared memory",
            tiles(32, 32, (32, 32), shape),
            work=loads(16, 512, shape),
        ),
        kernel(
            kernels.tile_in_registers,
            "tiles in registers",
            tiles(128, 128, 256, shape),
            work=loads(4, 64, shape),
        ),
        gpu(in_cuda, "the same in CUDA C++", work=loads(3, 48, shape)),
        gpu(with_cublas, "cuBLAS"),
    )


def products(shape, largest=3):
    """Return what studies of products share."""
    return {
        "dtype": "float32",
        "size_name": "rows",
        "inputs": partial(factors, shape=shape, largest=largest),
        "input_note": f"uniform random numbers from -1 to 1; whole numbers from -{largest} to {largest} "
        "for the exact check",
        "answer": np.matmul,
        "output": lambda n, dtype: ((shape(n)[0], shape(n)[2]), dtype),
    }


product = Study(
    name="product",
    title="The product of two square matrices in float32",
    # 4093 is a prime.
    sizes=(257, 1024, 2048, 4093, 4096),
    check=ProductCheck(),
    traffic=moved(),
    small=(0, 1, 17),
    baseline="one_element",
    variants=ladder(square),
    **products(square),
)
odd_product = Study(
    name="odd_product",
    title="1000 by 777 times 777 by 513",
    sizes=(1000,),
    check=ProductCheck(),
    traffic=moved(shape=odd),
    small=(1, 33),
    variants=ladder(odd),
    **products(odd),
)
loops = Study(
    name="loops",
    title="One element per thread, with two loops and two kinds of indices",
    sizes=(2048, 4096),
    check=ProductCheck(),
    traffic=moved(),
    small=(0, 1, 17),
    variants=tuple(
        kernel(function, label, tiles(8, 32, (32, 8)))
        for function, label in (
            (kernels.one_element, "range, signed"),
            (kernels.unsigned_range, "range, unsigned"),
            (kernels.signed_while, "while, signed"),
            (kernels.one_element_unsigned, "while, unsigned"),
        )
    ),
    **products(square),
)
tf32 = Study(
    name="tf32",
    title="The product in TF32",
    sizes=(4096,),
    check=ProductCheck(2.0**-10),
    traffic=moved("tf32"),
    variants=(gpu(with_tf32, "TF32", name="tf32"),),
    **products(square),
)
half = Study(
    name="half",
    title="The product in float16",
    sizes=(4096,),
    # Sums are in float32, and the result is rounded to float16.
    check=ProductCheck(stored=2.0**-9),
    traffic=moved("fp16_tensor"),
    variants=(gpu(with_cublas, "float16", name="float16"),),
    # More would not be exact in float16.
    **products(square, largest=1) | {"dtype": "float16"},
)
brain = Study(
    name="brain",
    title="The product in bfloat16, with the result in float32",
    sizes=(4096,),
    check=ProductCheck(widen=of_bfloat16),
    traffic=moved("bf16_tensor", stored="float32"),
    variants=(gpu(with_bfloat16, "bfloat16", name="bfloat16"),),
    **products(square, largest=1)
    | {
        "dtype": "uint16",  # NumPy has no bfloat16
        "inputs": bfloat16_factors,
        "answer": lambda a, b: (of_bfloat16(a) @ of_bfloat16(b)).astype(np.float32),
        "output": lambda n, dtype: ((n, n), np.dtype(np.float32)),
    },
)
