"""QR, products, determinants, solutions and singular values: NumPy on one thread and on all, and CuPy."""

from __future__ import annotations

from importlib import import_module
from math import isqrt
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine import launch
from gpuguide.machine.backends import cupy
from gpuguide.machine.cpu import cpu_info
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant, cpu_variant, cupy_variant, end_to_end_variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.how_to_time.study import qr_cupy, qr_numpy
from gpuguide.topics.linear_algebra.checks import (
    TF32_EPS,
    DeterminantCheck,
    FactorsCheck,
    ProductCheck,
    SingularValuesCheck,
    SolutionCheck,
)
from gpuguide.topics.linear_algebra.cpu import one_thread

QR_SIZES = tuple(rows**2 for rows in (64, 128, 512, 1024, 2048, 4096))

COMPUTE_TYPE_TF32 = 7  # as CuPy numbers it
RANDOM = "uniform random numbers from -1 to 1; whole numbers from -3 to 3 for the exact check"


# QR ---------------------------------------------------------------------------------------------------------


def qr_numpy_one_thread(a: np.ndarray) -> np.ndarray:
    """Factorise with np.linalg.qr while its library may use one thread."""
    with one_thread():
        return qr_numpy(a)


def qr_copied(a: np.ndarray, out: np.ndarray) -> None:
    """Copy a matrix to the GPU, factorise it there, and copy Q and R back."""
    launch.check(a=a, ndim=2)
    if a.size:
        qr_cupy(cupy().asarray(a)).get(out=out)


def qr_copied_pinned(a: np.ndarray, out: np.ndarray) -> None:
    """Do the same between arrays in pinned memory, which the GPU copies by itself."""
    launch.check(a=a, ndim=2)
    if a.size:
        qr_cupy(to_gpu(a)).get(out=out)


def qr_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of QR factorisations in double precision, with the copies and without."""
    return Study(
        name="qr",
        title="QR factorisation of a square matrix",
        variants=(
            _numpy("numpy_one_thread", qr_numpy_one_thread, 1, **_up_to(1024)),
            _numpy("numpy", qr_numpy, **_up_to(1024)),
            cupy_variant("cupy", qr_cupy, "CuPy", allocates=True, batchable=False),
            end_to_end_variant(
                "with_copies", qr_copied, "CuPy, pageable copies", **_up_to(512)
            ),
            end_to_end_variant(
                "with_copies_pinned",
                qr_copied_pinned,
                "CuPy, pinned copies",
                arrays="pinned",
                **_up_to(2048),
            ),
        ),
        sizes=QR_SIZES,
        inputs=_matrix,
        check=FactorsCheck(),
        output=_two_matrices,
        dtype="float64",
        size_name="matrix elements",
        input_note=RANDOM,
        baseline="numpy",
        kernels=kernels,
    )


def qr_single_study(kernels: Kernels = None) -> Study:
    """Describe the same comparison in single precision, which NumPy widens and CuPy does not."""
    return Study(
        name="qr_single",
        title="QR factorisation in single precision",
        variants=(
            _numpy("qr_single_numpy", qr_numpy, **_up_to(512)),
            cupy_variant("qr_single_cupy", qr_cupy, "CuPy", allocates=True, batchable=False),
        ),
        sizes=(512**2, 2048**2),
        inputs=_matrix,
        check=FactorsCheck(),
        output=_two_matrices,
        dtype="float32",
        size_name="matrix elements",
        input_note=RANDOM,
        baseline="qr_single_numpy",
        kernels=kernels,
    )


def _two_matrices(n: int, dtype: np.dtype) -> tuple[tuple[int, int], np.dtype]:
    return (2 * isqrt(n), isqrt(n)), dtype


# A system of equations --------------------------------------------------------------------------------------


def solve_numpy(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solve with np.linalg.solve on the threads that NumPy's library takes."""
    return np.linalg.solve(a, b)


def solve_numpy_one_thread(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solve with np.linalg.solve while its library may use one thread."""
    with one_thread():
        return np.linalg.solve(a, b)


def solve_cupy(a: Any, b: Any) -> Any:
    """Solve with cp.linalg.solve."""
    return cupy().linalg.solve(a, b)


def solve_checked(a: Any, b: Any) -> Any:
    """Solve with cp.linalg.solve, and let it raise an error if the matrix is singular."""
    with import_module("cupyx").errstate(linalg="raise"):
        return cupy().linalg.solve(a, b)


def solve_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of solving one system of equations."""
    return Study(
        name="solve",
        title="Solving a system of equations",
        variants=(
            _numpy("solve_numpy_one_thread", solve_numpy_one_thread, 1),
            _numpy("solve_numpy", solve_numpy),
            cupy_variant("solve_cupy", solve_cupy, "CuPy", allocates=True, batchable=False),
            cupy_variant(
                "solve_checked", solve_checked, "CuPy, checked", allocates=True, batchable=False
            ),
        ),
        sizes=(1024**2,),
        inputs=_system,
        check=SolutionCheck(),
        output=lambda n, dtype: ((isqrt(n),), dtype),
        dtype="float64",
        size_name="matrix elements",
        input_note=RANDOM,
        baseline="solve_numpy",
        kernels=kernels,
    )


# A determinant ----------------------------------------------------------------------------------------------


def slogdet_numpy(a: np.ndarray) -> np.ndarray:
    """Return sign and logarithm by np.linalg.slogdet, on the threads that NumPy's library takes."""
    return np.stack(np.linalg.slogdet(a))


def slogdet_numpy_one_thread(a: np.ndarray) -> np.ndarray:
    """Return sign and logarithm while NumPy's library may use one thread."""
    with one_thread():
        return np.stack(np.linalg.slogdet(a))


def slogdet_cupy(a: Any) -> Any:
    """Return sign and logarithm by cp.linalg.slogdet."""
    return cupy().stack(cupy().linalg.slogdet(a))


def det_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of determinants, as sign and logarithm."""
    return Study(
        name="det",
        title="Sign and logarithm of a determinant",
        variants=(
            _numpy("det_numpy_one_thread", slogdet_numpy_one_thread, 1),
            _numpy("det_numpy", slogdet_numpy),
            cupy_variant("det_cupy", slogdet_cupy, "CuPy", allocates=True, batchable=False),
        ),
        sizes=(1024**2,),
        inputs=_circulant,
        check=DeterminantCheck(),
        output=lambda n, dtype: ((2,), dtype),
        dtype="float64",
        size_name="matrix elements",
        input_note="circulant matrices, whose determinant is known, of random numbers; of whole ones for the "
        "exact check",
        baseline="det_numpy",
        kernels=kernels,
    )


# Singular values --------------------------------------------------------------------------------------------


def svd_numpy(a: np.ndarray) -> np.ndarray:
    """Decompose with np.linalg.svd on the threads that NumPy's library takes, and stack U, S and V."""
    u, s, vt = np.linalg.svd(a)
    return np.concatenate([u, s[None], vt])


def svd_numpy_one_thread(a: np.ndarray) -> np.ndarray:
    """Decompose with np.linalg.svd while its library may use one thread."""
    with one_thread():
        return svd_numpy(a)


def svd_cupy(a: Any) -> Any:
    """Decompose with cp.linalg.svd, and stack U, S and V."""
    u, s, vt = cupy().linalg.svd(a)
    return cupy().concatenate([u, s[None], vt])


def svd_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of singular value decompositions."""
    return Study(
        name="svd",
        title="Singular value decomposition",
        variants=(
            _numpy("svd_numpy_one_thread", svd_numpy_one_thread, 1),
            _numpy("svd_numpy", svd_numpy),
            cupy_variant("svd_cupy", svd_cupy, "CuPy", allocates=True, batchable=False),
        ),
        sizes=(512**2,),
        inputs=_matrix,
        check=SingularValuesCheck(),
        output=lambda n, dtype: ((2 * isqrt(n) + 1, isqrt(n)), dtype),
        dtype="float64",
        size_name="matrix elements",
        input_note=RANDOM,
        baseline="svd_numpy",
        kernels=kernels,
    )


# Products ---------------------------------------------------------------------------------------------------


def matmul_numpy(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Multiply with np.matmul on the threads that NumPy's library takes."""
    np.matmul(a, b, out=out)


def matmul_cupy(a: Any, b: Any, out: Any) -> None:
    """Multiply with cp.matmul."""
    cupy().matmul(a, b, out=out)


def matmul_copied(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Copy both factors to the GPU, multiply there, and copy the product back."""
    launch.check(a=a, b=b, out=out, ndim=2)
    if a.size:
        cupy().matmul(cupy().asarray(a), cupy().asarray(b)).get(out=out)


def matmul_copied_pinned(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Do the same between arrays in pinned memory, which the GPU copies by itself."""
    launch.check(a=a, b=b, out=out, ndim=2)
    if a.size:
        cupy().matmul(to_gpu(a), to_gpu(b)).get(out=out)


def operations(n: int) -> int:
    """Count the multiplications and additions of a product of two square matrices with n elements."""
    return 2 * isqrt(n) ** 3


def single_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of products in single precision."""
    flops = _product_traffic("fp32")
    return Study(
        name="matmul",
        title="Product of two matrices in single precision",
        variants=(
            _numpy("matmul_numpy", matmul_numpy, allocates=False),
            cupy_variant("matmul_cupy", matmul_cupy, "CuPy", batchable=False, traffic=flops),
            end_to_end_variant("matmul_copied", matmul_copied, "CuPy, pageable copies"),
            end_to_end_variant(
                "matmul_copied_pinned",
                matmul_copied_pinned,
                "CuPy, pinned copies",
                arrays="pinned",
            ),
        ),
        sizes=(4096**2,),
        inputs=_two_factors,
        check=ProductCheck(),
        dtype="float32",
        size_name="matrix elements",
        input_note=RANDOM,
        baseline="matmul_numpy",
        kernels=kernels,
    )


def double_study(kernels: Kernels = None) -> Study:
    """Describe the timing of a product in double precision."""
    return Study(
        name="double",
        title="Product of two matrices in double precision",
        variants=(
            cupy_variant(
                "double_cupy",
                matmul_cupy,
                "CuPy",
                batchable=False,
                traffic=_product_traffic("fp64_tensor"),
                work={"operations": operations},
            ),
        ),
        sizes=(4096**2,),
        inputs=_two_factors,
        check=ProductCheck(),
        dtype="float64",
        size_name="matrix elements",
        input_note=RANDOM,
        kernels=kernels,
    )


def matmul_tf32(a: Any, b: Any, out: Any) -> None:
    """Multiply with cp.matmul while CuPy may round the factors to TF32."""
    # The variable CUPY_TF32 does the same, but for a whole process.
    core = cupy()._core
    before = core.get_compute_type(np.float32)
    core.set_compute_type(np.float32, COMPUTE_TYPE_TF32)
    try:
        cupy().matmul(a, b, out=out)
    finally:
        core.set_compute_type(np.float32, before)


def tf32_study(kernels: Kernels = None) -> Study:
    """Describe the timing of a product whose factors are rounded to TF32."""
    return Study(
        name="tf32",
        title="Product of two matrices rounded to TF32",
        variants=(
            cupy_variant(
                "tf32",
                matmul_tf32,
                "CuPy, TF32",
                batchable=False,
                traffic=_product_traffic("tf32"),
            ),
        ),
        sizes=(4096**2,),
        inputs=_two_factors,
        check=ProductCheck(TF32_EPS),
        dtype="float32",
        size_name="matrix elements",
        input_note=RANDOM,
        kernels=kernels,
    )


def _product_traffic(unit: str) -> Any:
    def traffic(n: int, dtype: Any) -> Traffic:
        n_bytes = n * np.dtype(dtype).itemsize
        return Traffic(
            bytes_read=2 * n_bytes, bytes_written=n_bytes, flops=operations(n), unit=unit
        )

    return traffic


# What they share --------------------------------------------------------------------------------------------


def _numpy(
    name: str, call: Any, threads: int = 0, *, allocates: bool = True, **options: Any
) -> Variant:
    label = "NumPy, one thread" if threads == 1 else "NumPy, all threads"
    return cpu_variant(
        name, call, label, threads or cpu_info().threads, allocates=allocates, **options
    )


def to_gpu(x: np.ndarray) -> Any:
    """Copy straight from pinned memory; asarray would first copy it into pinned memory of CuPy's own."""
    x_device = cupy().empty(x.shape, x.dtype)
    x_device.set(x, stream=cupy().cuda.get_current_stream())
    return x_device


def _up_to(rows: int) -> dict[str, Any]:
    """Limit a variant to matrices of so many rows."""
    why = f"left out above {rows} * {rows} elements to keep the run short"
    return {"max_size": rows**2, "max_size_reason": why}


def _rows(n: int) -> int:
    rows = isqrt(n)
    if rows * rows != n:
        raise ArgumentError(f"The matrices are square; {n} elements are none.")
    return rows


def _matrix(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    rows = _rows(n)
    if exact:
        return (whole_numbers(rng, n, 4, dtype, low=-3).reshape(rows, rows),)
    # In threads, which normally distributed numbers would not be.
    return ((2 * uniform(rng, n, dtype) - 1).reshape(rows, rows),)


def _two_factors(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    return *_matrix(n, dtype, rng, exact), *_matrix(n, dtype, rng, exact)


def _system(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    rows = _rows(n)
    (a,) = _matrix(n, dtype, rng, exact)
    if exact:  # small whole numbers may well be singular
        a[np.diag_indices(rows)] += 4 * rows
    return a, rng.standard_normal(rows, dtype=dtype)


def _circulant(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    rows = _rows(n)
    column = (
        whole_numbers(rng, rows, 4, dtype, low=-3)
        if exact
        else rng.standard_normal(rows, dtype=dtype)
    )
    if exact and rows:
        column[0] += 4 * rows
    place = np.arange(rows)
    return (column[(place[:, None] - place) % max(rows, 1)],)
