"""Linear algebra: what the checks accept and reject, and NumPy on one thread."""

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpuguide.errors import MismatchError
from gpuguide.machine import backends
from gpuguide.topics.linear_algebra import checks, cpu, study


def judged(check: Any, output: np.ndarray, *inputs: np.ndarray) -> bool:
    """Whether a check accepts a result."""
    try:
        largest, tolerance = check.compare(output, check.prepare(inputs))
    except MismatchError:
        return False
    return bool(largest <= tolerance)


# Checks -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "first"), [(1, -50.0), (2, 50.0), (7, -50.0), (64, 0.1)])
def test_the_determinant_of_a_circulant_matrix_is_known(n: int, first: float) -> None:
    """Sign and logarithm, for an odd number of rows and an even one."""
    column = [first, *np.random.default_rng(n).standard_normal(n - 1)]
    a = np.array([[column[(row - col) % n] for col in range(n)] for row in range(n)])
    right = study.determinant(np, a)
    check = checks.DeterminantCheck()
    assert judged(check, right, a)
    assert not judged(check, right * [-1, 1], a)
    assert not judged(check, right + np.array([0, 1e-6]), a)
    assert not judged(check, np.array([right[0], np.nan]), a)


@pytest.mark.parametrize("place", [0, 33, 40, 70])
def test_each_part_of_a_decomposition_is_checked(place: int) -> None:
    a = np.random.default_rng(2).standard_normal((33, 33))
    right = study.singular_values(np, a)
    assert judged(checks.SingularValuesCheck(), right, a)
    for by in (1e-9, np.nan):
        spoiled = right.copy()
        spoiled[place - 4 if place == 70 else place, 5] += by
        assert not judged(checks.SingularValuesCheck(), spoiled, a)


def test_singular_values_fall_and_are_not_negative() -> None:
    u, s, vt = np.linalg.svd(np.random.default_rng(3).standard_normal((8, 8)))
    a = (u * s) @ vt
    order = np.argsort(s)
    rising = np.concatenate([u[:, order], s[None, order], vt[order]])
    negative = np.concatenate([-u, -s[None], vt])
    for wrong in (rising, negative):
        with pytest.raises(MismatchError, match="falling order"):
            checks.SingularValuesCheck().compare(wrong, a)


@pytest.mark.parametrize("n", [1, 2, 33])
def test_eigenvalues_rise_and_each_part_is_checked(n: int) -> None:
    x = np.random.default_rng(n).standard_normal((n, n))
    a = x + x.T
    right = study.eigenvalues(np, a)
    assert judged(study.EigenvaluesCheck(), right, a)
    for row in (0, n):
        for by in (1e-9, np.nan):
            spoiled = right.copy()
            spoiled[row, -1] += by
            assert not judged(study.EigenvaluesCheck(), spoiled, a)
    falling = np.concatenate([right[:1, ::-1], right[1:, ::-1]])
    assert judged(study.EigenvaluesCheck(), falling, a) == (n == 1)


@pytest.mark.parametrize("n", [1, 17])
def test_every_single_element_of_an_exact_product_counts(n: int) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.integers(-3, 4, (2, n, n)).astype(np.float32)
    check = checks.ProductCheck()
    assert judged(check, a @ b, a, b)
    for row in range(n):
        wrong = a @ b
        wrong[row, (5 * row) % n] += 1
        assert not judged(check, wrong, a, b)


def test_a_product_in_half_the_digits_passes_only_as_one() -> None:
    """What TF32 keeps of a factor is far from float32, and near enough for TF32."""
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((2, 64, 64), dtype=np.float32)
    rounded = (a.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32) @ b
    assert judged(checks.ProductCheck(checks.TF32_EPS), rounded, a, b)
    assert not judged(checks.ProductCheck(), rounded, a, b)
    assert not judged(checks.ProductCheck(checks.TF32_EPS), rounded * 0, a, b)


@pytest.mark.parametrize("of", [checks.ZEROS, checks.IDENTITY, checks.UPPER])
def test_nan_is_as_far_off_as_can_be(of: int) -> None:
    for place in ((0, 0), (2, 1), (1, 2)):
        x = np.eye(3)
        x[place] = np.nan
        assert np.isnan(checks.largest_off(x, of=of))
        assert np.isnan(checks.largest_off(x, np.eye(3)))


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 33, 300])
def test_both_sides_find_the_same(n: int, dtype: str) -> None:
    cp = backends.cupy()
    x, y = np.random.default_rng(n).standard_normal((2, n, n)).astype(dtype)
    for of in (checks.ZEROS, checks.IDENTITY, checks.UPPER):
        assert checks.largest_off(cp.asarray(x), of=of) == checks.largest_off(x, of=of)
    assert checks.largest_off(cp.asarray(x), cp.asarray(y)) == checks.largest_off(x, y)
    x[n // 2, 0] = np.nan
    assert np.isnan(checks.largest_off(cp.asarray(x), cp.asarray(y)))


# NumPy on one thread ----------------------------------------------------------------------------------------


def test_numpy_takes_one_thread_and_then_all_of_them_again() -> None:
    get = cpu.openblas("get_num_threads")
    before = get()
    with cpu.one_thread():
        assert get() == 1
    assert get() == before
    with pytest.raises(ZeroDivisionError), cpu.one_thread():
        _ = 1 / 0
    assert get() == before
    assert cpu.blas().startswith("OpenBLAS 0.")
    assert cpu.blas().endswith(f", {before} threads")


def test_tf32_is_switched_off_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds: list[int] = []
    core = SimpleNamespace(
        get_compute_type=lambda dtype: 1, set_compute_type=lambda dtype, kind: kinds.append(kind)
    )
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(matmul=np.matmul, _core=core))
    with pytest.raises(ValueError, match="mismatch"):
        study.matmul_tf32(np.eye(2), np.eye(3))
    assert kinds == [study.COMPUTE_TYPE_TF32, 1]
