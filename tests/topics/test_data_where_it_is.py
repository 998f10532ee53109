"""Scalar products and random numbers: what their checks accept and reject, and the copies they make."""

import sys
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpuguide.errors import MismatchError
from gpuguide.results.records import CheckResult
from gpuguide.topics.data_where_it_is import random_numbers, study


class OnDevice(np.ndarray):
    """As much of a CuPy array as the copies need."""

    def set(self, arr: Any, stream: Any = None) -> None:
        assert stream == "the current stream"
        self[...] = arr

    def get(self) -> Any:
        return np.array(self)


def on_device(function: Any) -> Any:
    return lambda *args, **options: np.asarray(function(*args, **options)).view(OnDevice)


def dot(a: Any, b: Any) -> Any:
    assert isinstance(a, OnDevice)
    assert isinstance(b, OnDevice)
    return on_device(np.dot)(np.asarray(a), np.asarray(b))


FAKE = SimpleNamespace(
    empty=on_device(np.empty),
    asarray=on_device(np.array),
    zeros=on_device(np.zeros),
    dot=dot,
    cublas=SimpleNamespace(dot=dot),
    cuda=SimpleNamespace(get_current_stream=lambda: "the current stream"),
)


@pytest.fixture
def with_fake_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "cp", FAKE)
    monkeypatch.setitem(sys.modules, "cupy", FAKE)


def vectors(n: int, *, exact: bool = True) -> tuple[Any, ...]:
    return study.dot.make_inputs(n, exact=exact)


@pytest.mark.usefixtures("with_fake_cupy")
@pytest.mark.parametrize("n", [0, 1, 33, 1009])
def test_each_variant_multiplies_all_pairs(n: int) -> None:
    a, b = vectors(n)
    right = float((a.astype(int) * b.astype(int)).sum())
    for variant in study.dot.variants:
        on_gpu = variant.space == "device"
        given = (a.view(OnDevice), b.view(OnDevice)) if on_gpu else (a, b)
        result = variant.call(*given)
        assert float(result) == right, variant.name
        assert result.dtype == np.float32, variant.name


@pytest.mark.parametrize("n", [0, 1, 6, 7, 1009])
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_no_thread_leaves_a_pair_out(monkeypatch: pytest.MonkeyPatch, n: int, threads: int) -> None:
    monkeypatch.setattr(study, "THREADS", threads)
    monkeypatch.setattr(study, "LEAST_PART", 1)
    a, b = vectors(n)
    assert study.numpy_threads(a, b) == (a * b).sum()


@pytest.mark.parametrize("exact", [True, False])
def test_wrong_products_are_rejected(exact: bool) -> None:
    """A single number cannot be shifted; one pair that is left out shows where sums are exact."""
    check = study.DotCheck()
    a, b = vectors(20_000, exact=exact)
    right, tolerance = prepared = check.prepare((a, b))
    assert tolerance == (0.0 if exact else 0.002 * right)
    off = check.compare(np.dot(a, b), prepared)[0]
    assert off <= tolerance
    wrongs = [right - 1, right + 1] if exact else [1.0045 * right, right / 2, 0]
    for wrong in map(np.float32, (*wrongs, np.nan)):
        assert not check.compare(wrong, prepared)[0] <= tolerance
    with pytest.raises(MismatchError, match=r"should be a single number; it has shape \(1,\)"):
        check.compare(np.ones(1, np.float32), prepared)


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 10_000])
def test_numbers_drawn_on_all_threads_reach_every_place(n: int) -> None:
    out = np.full(n, np.nan, np.float32)
    random_numbers.check_uniform(random_numbers.random_numpy_threads(n, out), n)
    assert n < 100 or len(np.unique(out)) > 0.99 * n


@pytest.mark.parametrize(
    "spoil",
    [
        lambda x: x[:-1],
        lambda x: x.astype(np.float64),
        lambda x: 2 * x,
        lambda x: x - 1,
        lambda x: x * np.float32(0.9),
        lambda x: np.full_like(x, 0.5),
        lambda x: np.repeat(x[::2], 2),
        lambda x: np.where(np.arange(x.size) == 7, np.float32(np.nan), x),
    ],
)
def test_numbers_that_are_not_uniform_are_rejected(spoil: Any) -> None:
    x = np.random.default_rng(1).random(10_000, dtype=np.float32)
    random_numbers.check_uniform(x, x.size)
    with pytest.raises(MismatchError):
        random_numbers.check_uniform(spoil(x), x.size)


def test_slow_draws_are_timed_less_often_and_all_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    made = np.random.default_rng(3)
    generator = SimpleNamespace(random=lambda n, dtype: on_device(made.random)(n, dtype=dtype))
    fake = SimpleNamespace(random=SimpleNamespace(rand=on_device(made.random)))
    gpu = SimpleNamespace(use=nullcontext, synchronize=lambda: None)
    monkeypatch.setattr(random_numbers, "cp", fake)
    monkeypatch.setattr(random_numbers, "cupy_generator", lambda: generator)
    monkeypatch.setattr(random_numbers, "gpu_clock", lambda: gpu)
    monkeypatch.setattr(random_numbers, "is_device_array", lambda x: isinstance(x, OnDevice))
    taken = random_numbers.time_drawing(10_000)
    assert {name: len(samples) for name, samples in taken.items()} == {
        "rand_numpy": 1,
        "random_numpy": 2,
        "random_numpy_threads": 10,
        "rand_cupy": 10,
        "random_cupy": 10,
    }
    monkeypatch.setattr(generator, "random", lambda n, dtype: np.zeros(n, dtype).view(OnDevice))
    with pytest.raises(MismatchError, match="The mean"):
        random_numbers.time_drawing(10_000)


def test_what_the_checks_found_is_the_rounding() -> None:
    def found(variant: str, kind: str, off: float, size: int = 1000) -> CheckResult:
        return CheckResult(variant, size, kind, off, 0.002 * 250 if kind == "random" else 0)

    checks = [found("numpy", "exact", 0), found("numpy", "random", 9, size=10)]
    off = {"numpy": 3, "numpy_threads": 2, "on_gpu": 1, "cublas_on_gpu": 4}
    checks += [found(name, "random", by) for name, by in off.items()]
    results: Any = SimpleNamespace(sizes=(10, 1000), checks=checks)
    expected = {"right": 250, "off_numpy": 3, "off_numpy_threads": 2, "off_cupy": 1, "off_cublas": 4}
    assert study.rounding(results) == pytest.approx(expected)


@pytest.mark.gpu
def test_all_products_and_random_numbers_pass_on_the_gpu() -> None:
    study.dot.check_all((0, 1, 257, 10**6))
    assert set(random_numbers.time_drawing(10**5)) == {draw.__name__ for draw in random_numbers.DRAWS}
