"""How far the answers of NumPy and CuPy are from right, in units of eps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gpuguide.machine.backends import array_module, cupy, is_device_array
from gpuguide.measure.plan import generator
from gpuguide.topics.how_to_time.study import qr_cupy, qr_numpy
from gpuguide.topics.linear_algebra import study

Answer = Callable[..., Any]
# Of each axis of a product: all of it in extended precision would take minutes.
_LINES = 32


def residuals() -> dict[str, float]:
    """Return the residuals of each routine on both sides, for the inputs that are timed."""
    found = {}
    for plan, size, residual, numpy, cupy_ in (
        (study.qr_study(), 1024**2, of_factors, qr_numpy, qr_cupy),
        (study.qr_single_study(), 1024**2, of_factors, qr_numpy, qr_cupy),
        (study.solve_study(), 1024**2, of_solution, study.solve_numpy, study.solve_cupy),
        (study.svd_study(), 512**2, of_singular_values, study.svd_numpy, study.svd_cupy),
        (study.single_study(), 2048**2, of_product, study.matmul_numpy, study.matmul_cupy),
        (study.double_study(), 2048**2, of_product, study.matmul_numpy, study.matmul_cupy),
        (study.tf32_study(), 2048**2, of_product, None, study.matmul_tf32),
    ):
        inputs = plan.make_inputs(size, exact=False)
        eps = float(np.finfo(plan.dtype).eps)
        in_place = residual is of_product
        sides = {"numpy": (numpy, inputs), "cupy": (cupy_, [cupy().asarray(x) for x in inputs])}
        for side, (call, given) in sides.items():
            if call:
                answer = _answer(call, given, in_place=in_place)
                found[f"{plan.name}_{side}"] = residual(answer, *inputs) / eps
    return found


def _answer(call: Answer, given: Sequence[Any], *, in_place: bool) -> np.ndarray:
    if in_place:
        answer = array_module(given[0]).empty_like(given[0])
        call(*given, answer)
    else:
        answer = call(*given)
    host: np.ndarray = answer.get() if is_device_array(answer) else answer
    return host.astype(np.float64)


def of_factors(factors: np.ndarray, a: np.ndarray) -> float:
    """Return the norm of A - Q R over that of A.

    >>> of_factors(np.array([[1.0], [2.0]]), np.array([[2.5]]))
    0.2
    """
    n = len(a)
    return _size(factors[:n] @ factors[n:] - a) / _size(a)


def of_solution(x: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """Return the norm of A x - b over those of A and x.

    >>> of_solution(np.array([2.0]), np.array([[1.0]]), np.array([3.0]))
    0.5
    """
    return _size(a @ x - b) / (_size(a) * _size(x))


def of_singular_values(parts: np.ndarray, a: np.ndarray) -> float:
    """Return the norm of A - U S V over that of A.

    >>> of_singular_values(np.array([[1.0], [3.0], [1.0]]), np.array([[2.0]]))
    0.5
    """
    n = len(a)
    return _size((parts[:n] * parts[n]) @ parts[n + 1 :] - a) / _size(a)


def of_product(c: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """Return the norm of the error in some elements of a product over that of these elements.

    >>> of_product(np.array([[3.0]]), np.array([[1.0]]), np.array([[2.0]]))
    0.5
    """
    rows, columns = (slice(None, None, max(1, n // _LINES)) for n in c.shape)
    some = b[:, columns].astype(np.longdouble)
    exact = np.stack(
        [(row[:, None] * some).sum(axis=0) for row in a[rows].astype(np.longdouble)]
    )
    return _size(c[rows, columns] - exact) / _size(exact)


def _size(x: np.ndarray) -> float:
    return float(np.linalg.norm(x.astype(np.float64)))


def share_widened(rows: int = 512) -> float:
    """Return the share of elements of NumPy's factors in float32 that are rounded ones of float64.

    >>> share_widened(8)
    1.0
    """
    a = generator("widened", rows).standard_normal((rows, rows), dtype=np.float32)
    rounded = qr_numpy(a.astype(np.float64)).astype(np.float32)
    return float((qr_numpy(a) == rounded).mean())
