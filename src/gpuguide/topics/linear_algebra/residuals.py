"""How far the answers of NumPy and CuPy are from right, in units of eps."""

import numpy as np

from gpuguide.measure import cp
from gpuguide.measure.plan import generator
from gpuguide.topics.linear_algebra import study

# Of each axis of a product: all of it in extended precision would take minutes.
LINES = 32


def residuals():
    """Return the residuals of each routine on both sides, for the inputs that are timed."""
    found = {}
    for plan, size, residual, routine, others in (
        (study.qr, 1024**2, of_factors, study.factorisation, {}),
        (study.qr_single, 1024**2, of_factors, study.factorisation, {}),
        (study.solve, 1024**2, of_solution, study.solution, {}),
        (
            study.svd,
            512**2,
            of_singular_values,
            study.singular_values,
            {"jacobi": study.svd_jacobi},
        ),
        (study.eigh, 512**2, of_eigenvalues, study.eigenvalues, {}),
        (study.matmul, 2048**2, of_product, study.product, {}),
        (study.double, 2048**2, of_product, study.product, {}),
        (study.tf32, 2048**2, of_product, None, {"cupy": study.matmul_tf32}),
    ):
        inputs = plan.make_inputs(size, exact=False)
        inputs_device = [cp.asarray(x) for x in inputs]
        answers = {name: call(*inputs_device) for name, call in others.items()}
        if routine:
            answers |= {"numpy": routine(np, *inputs), "cupy": routine(cp, *inputs_device)}
        for name, answer in answers.items():
            off = residual(cp.asnumpy(answer).astype(np.float64), *inputs)
            found[f"{plan.name}_{name}"] = off / float(np.finfo(plan.dtype).eps)
    return found


def of_factors(factors, a):
    """Return the norm of A - Q R over that of A."""
    n = len(a)
    return norm(factors[:n] @ factors[n:] - a) / norm(a)


def of_solution(x, a, b):
    """Return the norm of A x - b over those of A and x."""
    return norm(a @ x - b) / (norm(a) * norm(x))


def of_singular_values(parts, a):
    """Return the norm of A - U S V over that of A."""
    n = len(a)
    return norm((parts[:n] * parts[n]) @ parts[n + 1 :] - a) / norm(a)


def of_eigenvalues(parts, a):
    """Return the norm of A - V W V^T over that of A."""
    return norm((parts[1:] * parts[0]) @ parts[1:].T - a) / norm(a)


def of_product(c, a, b):
    """Return the norm of the error in some elements of a product over that of these elements."""
    rows, columns = (slice(None, None, max(1, n // LINES)) for n in c.shape)
    some = b[:, columns].astype(np.longdouble)
    exact = np.stack(
        [(row[:, None] * some).sum(axis=0) for row in a[rows].astype(np.longdouble)]
    )
    return norm(c[rows, columns] - exact) / norm(exact)


def norm(x):
    return float(np.linalg.norm(x.astype(np.float64)))


def share_widened(rows=512):
    """Return the share of elements of NumPy's factors in float32 that are rounded ones of float64."""
    a = generator("widened", rows).standard_normal((rows, rows), dtype=np.float32)
    wide = study.factorisation(np, a.astype(np.float64))
    return float((study.factorisation(np, a) == wide.astype(np.float32)).mean())
