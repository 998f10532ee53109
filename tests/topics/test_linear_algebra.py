"""Linear algebra: what the checks accept and reject, NumPy on one thread, residuals, and the copies."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from compile_lane import needs_compilers, raw_facts
from gpuguide.errors import ArgumentError, BackendError, MismatchError
from gpuguide.machine import backends
from gpuguide.topics.linear_algebra import checks, cpu, residuals
from gpuguide.topics.linear_algebra import study as linear_algebra


def judged(check: Any, output: np.ndarray, *inputs: np.ndarray) -> bool:
    """Whether a check accepts a result."""
    try:
        largest, tolerance = check.compare(output, check.prepare(inputs))
    except MismatchError:
        return False
    return bool(largest <= tolerance)


# Checks -----------------------------------------------------------------------------------------------------


def circulant(column: list[float]) -> np.ndarray:
    n = len(column)
    return np.array([[column[(row - col) % n] for col in range(n)] for row in range(n)])


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8, 64, 65])
@pytest.mark.parametrize("first", [-50.0, 0.1, 50.0])
def test_the_determinant_of_a_circulant_matrix_is_known(n: int, first: float) -> None:
    """Sign and logarithm, for an odd number of rows and an even one."""
    column = [first, *np.random.default_rng(n).standard_normal(n - 1)]
    a = circulant(column)
    right = linear_algebra.slogdet_numpy(a)
    check = checks.DeterminantCheck()
    assert judged(check, right, a)
    assert not judged(check, right * [-1, 1], a)
    assert not judged(check, right + np.array([0, 1e-6]), a)
    assert not judged(check, np.array([right[0], np.nan]), a)


def test_a_solution_that_is_slightly_off_is_rejected() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((64, 64)), rng.standard_normal(64)
    right = np.linalg.solve(a, b)
    assert judged(checks.SolutionCheck(), right, a, b)
    for spoiled in (right + 1e-9, right * (1 + 1e-10), right * np.nan, right * 0):
        assert not judged(checks.SolutionCheck(), spoiled, a, b)


@pytest.mark.parametrize("place", [0, 33, 40, 70])
def test_each_part_of_a_decomposition_is_checked(place: int) -> None:
    a = np.random.default_rng(2).standard_normal((33, 33))
    right = linear_algebra.svd_numpy(a)
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


@pytest.mark.parametrize("n", [1, 2, 17, 64])
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
@pytest.mark.parametrize("place", [(0, 0), (2, 1), (1, 2)])
def test_nan_is_as_far_off_as_can_be(of: int, place: tuple[int, int]) -> None:
    x = np.eye(3)
    x[place] = np.nan
    assert np.isnan(checks.largest_off(x, of=of))
    assert np.isnan(checks.largest_off(x, np.eye(3)))


@needs_compilers()
def test_the_kernel_of_the_checks_compiles() -> None:
    facts = raw_facts(checks.SOURCE, "largest_off")
    assert facts.spills == 0


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
    get, _ = cpu.openblas()
    before = get()
    with cpu.one_thread():
        assert get() == 1
    assert get() == before
    with pytest.raises(ZeroDivisionError), cpu.one_thread():
        _ = 1 / 0
    assert get() == before


def test_another_library_than_openblas_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "libraries", lambda: iter(()))
    cpu.openblas.cache_clear()
    with pytest.raises(BackendError, match="does not come from OpenBLAS"), cpu.one_thread():
        pass
    cpu.openblas.cache_clear()


# Residuals --------------------------------------------------------------------------------------------------


def test_numpy_computes_in_double_precision_whatever_it_gets() -> None:
    assert residuals.share_widened(64) == 1.0


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A CuPy of NumPy's arrays, and matrices that are small."""
    fake = SimpleNamespace(
        asarray=np.array,
        linalg=np.linalg,
        matmul=np.matmul,
        concatenate=np.concatenate,
        stack=np.stack,
        _core=SimpleNamespace(
            get_compute_type=lambda dtype: 1, set_compute_type=lambda dtype, kind: kinds.append(kind)
        ),
    )
    kinds: list[int] = []
    for module in (linear_algebra, residuals):
        monkeypatch.setattr(module, "cupy", lambda: fake)
    monkeypatch.setattr("gpuguide.topics.how_to_time.study.cp", fake)
    monkeypatch.setattr(residuals, "_LINES", 8)
    made = linear_algebra.Study.make_inputs
    monkeypatch.setattr(
        linear_algebra.Study,
        "make_inputs",
        lambda plan, size, **options: made(plan, 48**2, **options),
    )


def test_residuals_of_both_sides_are_a_few_roundings(small: None) -> None:
    found = residuals.residuals()
    assert len(found) == 13
    assert all(0 < value < 100 for value in found.values())
    assert found["qr_single_numpy"] < 1


def test_tf32_is_switched_off_again(small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    core = linear_algebra.cupy()._core
    kinds: list[int] = []
    monkeypatch.setattr(core, "set_compute_type", lambda dtype, kind: kinds.append(kind))
    out = np.empty((2, 2), np.float32)
    linear_algebra.matmul_tf32(np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32), out)
    assert kinds == [linear_algebra.COMPUTE_TYPE_TF32, 1]
    with pytest.raises(ValueError, match="mismatch"):
        linear_algebra.matmul_tf32(np.eye(2), np.eye(3), out)
    assert kinds[-1] == 1


# Copies -----------------------------------------------------------------------------------------------------


class OnDevice(np.ndarray):
    """As much of a CuPy array as the copies need."""

    def set(self, arr: Any, stream: Any = None) -> None:
        assert stream == "the current stream"
        self[...] = arr

    def get(self, out: Any) -> None:
        assert not isinstance(out, OnDevice)
        out[...] = self


def _seen(x: Any) -> Any:
    assert isinstance(x, OnDevice)
    return np.array(x)


FAKE = SimpleNamespace(
    empty=lambda shape, dtype: np.empty(shape, dtype).view(OnDevice),
    asarray=lambda x: np.array(x).view(OnDevice),
    concatenate=lambda parts: np.concatenate(parts).view(OnDevice),
    matmul=lambda a, b: np.matmul(_seen(a), _seen(b)).view(OnDevice),
    linalg=SimpleNamespace(
        qr=lambda a: np.linalg.qr(_seen(a)),
    ),
    cuda=SimpleNamespace(get_current_stream=lambda: "the current stream"),
)


@pytest.mark.parametrize("make", ["qr_study", "single_study"])
@pytest.mark.parametrize("n", [0, 9 * 9])
def test_what_copies_computes_on_the_device(make: str, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear_algebra, "cupy", lambda: FAKE)
    monkeypatch.setattr("gpuguide.topics.how_to_time.study.cp", FAKE)
    plan = getattr(linear_algebra, make)()
    copying = [variant for variant in plan.variants if "copies" in variant.label]
    assert len(copying) == 2
    for variant in copying:
        inputs = plan.make_inputs(n, exact=True)
        out = np.full(*plan.output_spec(n, inputs)[:1], np.nan, plan.dtype)
        variant.call(*inputs, out)
        assert judged(plan.check, out, *inputs)


# What is counted, and what is refused -----------------------------------------------------------------------


def test_operations_of_a_product() -> None:
    assert linear_algebra.operations(2 * 2) == 2 * 8


def test_matrices_are_square() -> None:
    with pytest.raises(ArgumentError, match="17 elements are none"):
        linear_algebra.qr_study().make_inputs(17, exact=False)


def test_the_sources_sizes_and_dtypes_are_among_those_measured() -> None:
    assert 512**2 in linear_algebra.qr_study().sizes
    assert linear_algebra.qr_study().dtype == "float64"
    assert linear_algebra.qr_single_study().sizes[-1] == 2048**2
    assert linear_algebra.single_study().sizes[-1] == 4096**2
    assert linear_algebra.single_study().dtype == linear_algebra.qr_single_study().dtype == "float32"
