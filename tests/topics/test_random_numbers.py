"""Random numbers: what the check accepts and rejects, threads with generators of their own."""

from dataclasses import replace

import numpy as np
import pytest
from spoiled import host_variant

from gpuguide.errors import MismatchError
from gpuguide.topics.random_numbers import check
from gpuguide.topics.random_numbers import study as random_numbers

RNG = np.random.default_rng(3)


def passes(x: np.ndarray, n: int | None = None) -> bool:
    judge = check.UniformCheck()
    largest, tolerance = judge.compare(x, judge.prepare((x.size if n is None else n,)))
    return largest <= tolerance


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 2, 5119, 5120, 10**6])
def test_random_numbers_pass(n: int, dtype: type) -> None:
    assert passes(RNG.random(n, dtype=dtype))


def test_numbers_outside_and_numbers_that_were_not_written_are_rejected() -> None:
    for wrong in (1.0, -1e-9, np.nan, np.inf):
        x = RNG.random(1000)
        x[500] = wrong
        with pytest.raises(MismatchError, match="1 numbers do not lie from 0 to below 1"):
            passes(x)
    with pytest.raises(MismatchError, match="There should be 9 numbers"):
        passes(RNG.random(8), 9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_two_parts_of_one_seed_are_rejected(dtype: type) -> None:
    part = np.random.default_rng(1).random(1000, dtype=dtype)
    for repeated in (np.tile(part, 2), np.tile(part, 16), np.full(100, 0.5, dtype)):
        with pytest.raises(MismatchError, match="come again"):
            passes(repeated)


def test_other_distributions_and_orders_are_rejected() -> None:
    x = RNG.random(10**6)
    assert not passes(np.sort(x))
    assert not passes(x**1.02)
    assert not passes(np.where(x < 0.01, x / 2, x))
    assert not passes((np.arange(10**6) * 0.6180339887) % 1)  # as even as nothing that is random


@pytest.mark.parametrize("chunk", [1, 2, 7, 40])
def test_the_counts_do_not_depend_on_the_pieces(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    x = np.random.default_rng(0).integers(0, 8, 41) / 8.0
    *whole, counts = check.look_at(x)
    assert whole == [0, int((x[1:] > x[:-1]).sum()), int((x[:20] == x[20:40]).sum())]
    monkeypatch.setattr(check, "CHUNK", chunk)
    *pieces, again = check.look_at(x)
    assert pieces == whole
    assert (again == counts).all()


def test_each_thread_has_numbers_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    generators = np.random.default_rng(1).spawn(7)
    monkeypatch.setattr(random_numbers, "numpy_generators", lambda: generators)
    out = np.empty(random_numbers.ALONE_BELOW + 11)
    random_numbers.numpy_threads(out.size, out)
    assert np.unique(out).size == out.size
    assert passes(out)


@pytest.mark.parametrize("value", [np.nan, 1.0, 0.5])
def test_studies_reject_wrong_generators(value: float) -> None:
    """One that writes nothing, numbers outside, and constants."""

    def call(n: int, out: np.ndarray) -> None:
        out[:] = value

    with pytest.raises(MismatchError):
        replace(random_numbers.float64, variants=(host_variant(call),), baseline="").check_all([10_000])


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [0, 1, 2, 257, 100_003])
def test_the_check_counts_on_the_gpu_what_it_counts_on_the_host(n: int, dtype: str) -> None:
    import cupy as cp

    x = np.random.default_rng(0).random(n, dtype=np.dtype(dtype))
    x[n // 3 : n // 2] = x[: n // 2 - n // 3]
    *on_gpu, counts_on_gpu = check.look_at(cp.asarray(x))
    *on_host, counts = check.look_at(x)
    assert on_gpu == on_host
    assert (counts_on_gpu == counts).all()
