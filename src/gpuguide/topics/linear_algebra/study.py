"""QR, products, determinants, solutions, singular values and eigenvalues by NumPy and by CuPy."""

from functools import partial
from math import isqrt

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import is_device_array
from gpuguide.machine.cpu import cpu_info
from gpuguide.measure import Study, cp, cpu, end_to_end, gpu, uniform, whole_numbers
from gpuguide.results.records import Traffic
from gpuguide.topics.linear_algebra.checks import (
    IDENTITY,
    TF32_EPS,
    DeterminantCheck,
    FactorsCheck,
    ProductCheck,
    SingularValuesCheck,
    SolutionCheck,
    largest_off,
    where_it_is_fast,
)
from gpuguide.topics.linear_algebra.cpu import one_thread

COMPUTE_TYPE_TF32 = 7  # as CuPy numbers it


# Routines ---------------------------------------------------------------------------------------------------
# xp is NumPy or CuPy.


def factorisation(xp, a):
    """Factorise a matrix, and stack Q and R."""
    return xp.concatenate(xp.linalg.qr(a))


def solution(xp, a, b):
    """Solve a system of equations."""
    return xp.linalg.solve(a, b)


def solve_checked(a, b):
    """Solve with cp.linalg.solve, and let it raise an error if the matrix is singular."""
    import cupyx

    with cupyx.errstate(linalg="raise"):
        return cp.linalg.solve(a, b)


def determinant(xp, a):
    """Return sign and logarithm of a determinant."""
    return xp.stack(xp.linalg.slogdet(a))


def singular_values(xp, a):
    """Decompose a matrix, and stack U, S and V."""
    u, s, vt = xp.linalg.svd(a)
    return xp.concatenate([u, s[None], vt])


def svd_jacobi(a):
    """Decompose with cuSOLVER's gesvdj, which is Jacobi's method, and stack U, S and V."""
    from cupyx import cusolver

    u, s, v = cusolver.gesvdj(a)
    return cp.concatenate([u, s[None], v.T])


def eigenvalues(xp, a):
    """Decompose a symmetric matrix, and stack its eigenvalues and their vectors."""
    values, vectors = xp.linalg.eigh(a)
    return xp.concatenate([values[None], vectors])


def product(xp, a, b, out=None):
    """Multiply two matrices."""
    return xp.matmul(a, b, out=out)


def matmul_tf32(a, b, out=None):
    """Multiply with cp.matmul while CuPy may round the factors to TF32."""
    # The variable CUPY_TF32 does the same, but for a whole process.
    before = cp._core.get_compute_type(np.float32)
    cp._core.set_compute_type(np.float32, COMPUTE_TYPE_TF32)
    try:
        return cp.matmul(a, b, out=out)
    finally:
        cp._core.set_compute_type(np.float32, before)


def with_copies(routine, *arrays):
    """Copy the inputs of a routine to the GPU, call it there, and copy its result back."""
    *inputs, out = arrays
    routine(cp, *map(cp.asarray, inputs)).get(out=out)


def with_copies_pinned(routine, *arrays):
    """Do the same between arrays in pinned memory, which the GPU copies by itself."""
    *inputs, out = arrays
    routine(cp, *map(to_gpu, inputs)).get(out=out)


def to_gpu(x):
    """Copy straight from pinned memory; asarray would first copy it into pinned memory of CuPy's own."""
    x_device = cp.empty(x.shape, x.dtype)
    x_device.set(x, stream=cp.cuda.get_current_stream())
    return x_device


def operations(n):
    """Count the multiplications and additions of a product of two square matrices with n elements."""
    return 2 * isqrt(n) ** 3


class EigenvaluesCheck:
    """V is orthonormal, the values W rise, and V W V^T is the matrix."""

    def prepare(self, inputs):
        """Return the matrix."""
        return inputs[0]

    def compare(self, output, prepared):
        """Check the three properties."""
        if not prepared.size:
            return 0.0, 0.0
        output, a = where_it_is_fast(output, prepared)
        w, v = output[0], output[1:]
        values = w.get() if is_device_array(w) else w
        if not (values[1:] >= values[:-1]).all():
            raise MismatchError("The eigenvalues do not rise.")
        off = (
            largest_off(v.T @ v, of=IDENTITY),
            largest_off((v * w) @ v.T, a) / (float(abs(values).max()) or 1.0),
        )
        # NaN if one of them is.
        return float(np.max(off)), 8.0 * len(a) * float(np.finfo(a.dtype).eps)


# Inputs -----------------------------------------------------------------------------------------------------


def matrix(n, dtype, rng, exact):
    rows = isqrt(n)
    if exact:
        return (whole_numbers(rng, n, 4, dtype, low=-3).reshape(rows, rows),)
    # In threads, which normally distributed numbers would not be.
    return ((2 * uniform(rng, n, dtype) - 1).reshape(rows, rows),)


def factors(n, dtype, rng, exact):
    return *matrix(n, dtype, rng, exact), *matrix(n, dtype, rng, exact)


def symmetric(n, dtype, rng, exact):
    (a,) = matrix(n, dtype, rng, exact)
    return (a + a.T,)


def system(n, dtype, rng, exact):
    rows = isqrt(n)
    (a,) = matrix(n, dtype, rng, exact)
    if exact:  # small whole numbers may well be singular
        a[np.diag_indices(rows)] += 4 * rows
    return a, rng.standard_normal(rows, dtype=dtype)


def circulant(n, dtype, rng, exact):
    rows = isqrt(n)
    if exact:
        column = whole_numbers(rng, rows, 4, dtype, low=-3)
        column[:1] += 4 * rows
    else:
        column = rng.standard_normal(rows, dtype=dtype)
    place = np.arange(rows)
    return (column[(place[:, None] - place) % max(rows, 1)],)


# Studies ----------------------------------------------------------------------------------------------------

THREADS = cpu_info().threads
ALL = "on the threads that NumPy's library takes"
in_numpy = partial(cpu, label="NumPy, all threads", threads=THREADS)
in_cupy = partial(gpu, label="CuPy", batchable=False)  # one call is many kernels


def rivals(prefix, routine, what, end=".", *, one_thread_up_to=None, up_to=None):
    """Return the variants of a routine: NumPy on one thread, NumPy on all, and CuPy."""
    numpy, cupy = what.format("np"), what.format("cp")
    return (
        cpu(
            partial(one_thread()(routine), np),
            "NumPy, one thread",
            name=f"{prefix}numpy_one_thread",
            note=f"{numpy} while its library may use one thread.",
            allocates=True,
            up_to=one_thread_up_to or up_to,
        ),
        in_numpy(
            partial(routine, np),
            name=f"{prefix}numpy",
            note=f"{numpy} {ALL}{end}",
            allocates=True,
            up_to=up_to,
        ),
        in_cupy(
            partial(routine, cp), name=f"{prefix}cupy", note=f"{cupy}{end}", allocates=True
        ),
    )


def multiply(unit, call, name, note="Multiply with cp.matmul.", **options):
    """Return the variant of a product that these units of the GPU compute."""

    def traffic(n, dtype):
        n_bytes = n * dtype.itemsize
        return Traffic(2 * n_bytes, n_bytes, operations(n), unit)

    return in_cupy(call, name=name, note=note, traffic=traffic, **options)


MATRICES = {
    "dtype": "float64",
    "size_name": "matrix elements",
    "inputs": matrix,
    "input_note": "uniform random numbers from -1 to 1; whole numbers from -3 to 3 for the exact check",
    "small": (0, 1, 4, 9, 64, 33**2),
}
SINGLE = {"dtype": "float32"}
FACTORS = MATRICES | {
    "check": FactorsCheck(),
    "answer": partial(factorisation, np),
    "output": lambda n, dtype: ((2 * isqrt(n), isqrt(n)), dtype),
}
PRODUCT = MATRICES | {"sizes": (4096**2,), "inputs": factors, "answer": np.matmul}
QR = "Factorise with {}.linalg.qr", ", and stack Q and R."

qr = Study(
    name="qr",
    title="QR factorisation of a square matrix",
    sizes=tuple(rows**2 for rows in (64, 128, 512, 1024, 2048, 4096)),
    baseline="numpy",
    variants=(
        *rivals("", factorisation, *QR, up_to=1024**2),
        end_to_end(
            partial(with_copies, factorisation),
            "CuPy, pageable copies",
            note="Copy a matrix to the GPU, factorise it there, and copy Q and R back.",
            up_to=512**2,
        ),
        end_to_end(
            partial(with_copies_pinned, factorisation),
            "CuPy, pinned copies",
            arrays="pinned",
            up_to=2048**2,
        ),
    ),
    **FACTORS,
)
qr_single = Study(
    name="qr_single",
    title="QR factorisation in single precision",
    sizes=(512**2, 2048**2),
    baseline="qr_single_numpy",
    variants=rivals("qr_single_", factorisation, *QR, up_to=512**2)[1:],
    **FACTORS | SINGLE,
)
solve = Study(
    name="solve",
    title="Solving a system of equations",
    sizes=(1024**2,),
    check=SolutionCheck(),
    answer=np.linalg.solve,
    output=lambda n, dtype: ((isqrt(n),), dtype),
    baseline="solve_numpy",
    variants=(
        *rivals("solve_", solution, "Solve with {}.linalg.solve"),
        in_cupy(solve_checked, label="CuPy, checked", allocates=True),
    ),
    **MATRICES | {"inputs": system},
)
det = Study(
    name="det",
    title="Sign and logarithm of a determinant",
    sizes=(1024**2,),
    check=DeterminantCheck(),
    answer=partial(determinant, np),
    output=lambda n, dtype: ((2,), dtype),
    baseline="det_numpy",
    variants=rivals("det_", determinant, "Return sign and logarithm by {}.linalg.slogdet"),
    **MATRICES
    | {
        "inputs": circulant,
        "input_note": "circulant matrices, whose determinant is known, of random numbers; "
        "of whole ones for the exact check",
    },
)
svd = Study(
    name="svd",
    title="Singular value decomposition",
    sizes=(128**2, 512**2, 1024**2),
    check=SingularValuesCheck(),
    answer=partial(singular_values, np),
    output=lambda n, dtype: ((2 * isqrt(n) + 1, isqrt(n)), dtype),
    baseline="svd_numpy",
    variants=(
        *rivals(
            "svd_",
            singular_values,
            "Decompose with {}.linalg.svd",
            ", and stack U, S and V.",
            one_thread_up_to=512**2,
        ),
        in_cupy(svd_jacobi, label="CuPy, gesvdj", allocates=True),
    ),
    **MATRICES,
)
eigh = Study(
    name="eigh",
    title="Eigenvalues and eigenvectors of a symmetric matrix",
    sizes=svd.sizes,
    check=EigenvaluesCheck(),
    answer=partial(eigenvalues, np),
    output=lambda n, dtype: ((isqrt(n) + 1, isqrt(n)), dtype),
    baseline="eigh_numpy",
    variants=rivals("eigh_", eigenvalues, "Decompose with {}.linalg.eigh")[1:],
    **MATRICES
    | {
        "inputs": symmetric,
        "input_note": "uniform random numbers plus the same ones transposed; whole ones for the exact check",
    },
)
matmul = Study(
    name="matmul",
    title="Product of two matrices in single precision",
    check=ProductCheck(),
    baseline="matmul_numpy",
    variants=(
        in_numpy(
            partial(product, np), name="matmul_numpy", note=f"Multiply with np.matmul {ALL}."
        ),
        multiply("fp32", partial(product, cp), "matmul_cupy"),
        end_to_end(
            partial(with_copies, product),
            "CuPy, pageable copies",
            name="matmul_copied",
            note="Copy both factors to the GPU, multiply there, and copy the product back.",
        ),
        end_to_end(
            partial(with_copies_pinned, product),
            "CuPy, pinned copies",
            name="matmul_copied_pinned",
            arrays="pinned",
        ),
    ),
    **PRODUCT | SINGLE,
)
double = Study(
    name="double",
    title="Product of two matrices in double precision",
    check=ProductCheck(),
    variants=(
        multiply(
            "fp64_tensor", partial(product, cp), "double_cupy", work={"operations": operations}
        ),
    ),
    **PRODUCT,
)
tf32 = Study(
    name="tf32",
    title="Product of two matrices rounded to TF32",
    check=ProductCheck(TF32_EPS),
    variants=(multiply("tf32", matmul_tf32, "tf32", "", label="CuPy, TF32"),),
    **PRODUCT | SINGLE,
)
