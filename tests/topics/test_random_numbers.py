"""Random numbers: what the check accepts and rejects, threads with generators of their own, calls of CuPy."""

from types import SimpleNamespace

import numpy as np
import pytest

from compile_lane import needs_compilers, raw_facts
from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.topics.random_numbers import check
from gpuguide.topics.random_numbers import study as random_numbers

RNG = np.random.default_rng(3)


def judged(x: np.ndarray, n: int | None = None) -> bool:
    judge = check.UniformCheck()
    largest, tolerance = judge.compare(x, judge.prepare((x.size if n is None else n,)))
    return largest <= tolerance


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 2, 31, 5119, 5120, 10**6, 3 * 10**6 + 1])
def test_random_numbers_pass(n: int, dtype: type) -> None:
    assert judged(RNG.random(n, dtype=dtype))


def test_numbers_outside_and_numbers_that_were_not_written_are_rejected() -> None:
    for wrong in (1.0, -1e-9, np.nan, np.inf):
        x = RNG.random(1000)
        x[500] = wrong
        with pytest.raises(MismatchError, match="1 numbers do not lie from 0 to below 1"):
            judged(x)
    with pytest.raises(MismatchError, match="There should be 9 numbers"):
        judged(RNG.random(8), 9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_two_parts_of_one_seed_are_rejected(dtype: type) -> None:
    part = np.random.default_rng(1).random(1000, dtype=dtype)
    for repeated in (np.tile(part, 2), np.tile(part, 16), np.full(100, 0.5, dtype)):
        with pytest.raises(MismatchError, match="come again"):
            judged(repeated)


def test_other_distributions_and_orders_are_rejected() -> None:
    x = RNG.random(10**6)
    assert not judged(np.sort(x))
    assert not judged(x**1.02)
    assert not judged(np.where(x < 0.01, x / 2, x))
    assert not judged((np.arange(10**6) * 0.6180339887) % 1)  # as even as nothing that is random


@pytest.mark.parametrize("chunk", [1, 2, 7, 40])
def test_the_counts_do_not_depend_on_the_pieces(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    x = np.random.default_rng(0).integers(0, 8, 41) / 8.0
    whole = check.look_at(x)
    assert whole[2] == int((x[1:] > x[:-1]).sum())
    assert whole[3] == int((x[:20] == x[20:40]).sum())
    monkeypatch.setattr(check, "_CHUNK", chunk)
    pieces = check.look_at(x)
    assert (pieces[0] == whole[0]).all()
    assert pieces[1:] == whole[1:]


@pytest.mark.parametrize("n", [0, 1, 5, 1000, 2**16, 10**6 + 3])
def test_numpy_fills_everything_on_one_thread_and_on_all(n: int) -> None:
    for fill in (random_numbers.numpy_random, random_numbers.numpy_threads):
        out = np.full(n, np.nan)
        fill(n, out)
        assert judged(out)
    with pytest.raises(ArgumentError, match="out must be an array of shape"):
        random_numbers.numpy_threads(n + 1, np.empty(n))


def test_each_thread_has_numbers_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    generators = np.random.default_rng(1).spawn(7)
    monkeypatch.setattr(random_numbers, "numpy_generators", lambda: generators)
    out = np.empty(2**16 + 11)
    random_numbers.numpy_threads(out.size, out)
    assert np.unique(out).size == out.size


def test_studies_reject_wrong_generators() -> None:
    """One that writes nothing, one number outside, constants, and an array too short."""
    from dataclasses import replace

    from spoiled import host_variant

    def filled(value: float) -> None:
        def call(n: int, out: np.ndarray) -> None:
            out[:] = value

        study = replace(random_numbers.study(), variants=(host_variant(call),), baseline="")
        study.check_all([10_000])

    for value in (np.nan, 1.0, 0.5):
        with pytest.raises(MismatchError):
            filled(value)


def test_sizes_and_dtypes_are_those_of_the_source() -> None:
    assert random_numbers.LENGTH == 5 * 10**7
    assert random_numbers.study().dtype == random_numbers.add_study().dtype == "float64"
    for study in (random_numbers.study(), random_numbers.float32_study(), random_numbers.add_study()):
        assert study.sizes[-1] == random_numbers.LENGTH


def test_the_calls_of_cupy_hand_on_length_and_dtype(monkeypatch: pytest.MonkeyPatch) -> None:
    """With NumPy's generators in the place of CuPy's."""
    made = []

    def generator(bits: str) -> np.random.Generator:
        made.append(bits)
        return np.random.default_rng(1)

    monkeypatch.setattr(random_numbers, "cupy_generator", generator)
    random = SimpleNamespace(random=lambda n, dtype: np.random.default_rng(2).random(n, dtype=dtype))
    monkeypatch.setattr(random_numbers, "cupy", lambda: SimpleNamespace(random=random))
    for study in (random_numbers.study(), random_numbers.float32_study()):
        for name in ("cupy_random", "xorwow", "philox", "mrg"):
            x = study.variant(name).call(6000)
            assert x.dtype == study.dtype
            assert judged(x)
    assert made[:3] == ["XORWOW", "Philox4x3210", "MRG32k3a"]


def test_errors_of_pi_are_those_of_random_points(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = SimpleNamespace(random=np.random, float32=np.float32, count_nonzero=np.count_nonzero)
    monkeypatch.setattr(random_numbers, "cupy", lambda: fake)
    monkeypatch.setattr(random_numbers, "PIECE", 3000)
    errors = random_numbers.pi_errors(range(2, 6), 32)
    assert errors.shape == (4, 32)
    expected = np.sqrt(np.pi * (4 - np.pi) / 10.0 ** np.arange(2, 6))
    np.testing.assert_allclose(np.sqrt((errors**2).mean(axis=1)), expected, rtol=0.5)


def test_the_sum_counts_what_it_moves() -> None:
    traffic = random_numbers.add_study().variant("elementwise").traffic
    assert traffic is not None
    assert traffic(10, np.dtype("float64")).bytes_total == 240


@needs_compilers()
@pytest.mark.parametrize("name", ["look_at_float32", "look_at_float64"])
def test_the_kernels_of_the_check_compile_and_spill_nothing(name: str) -> None:
    assert raw_facts(check.SOURCE, name).spills == 0


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [0, 1, 2, 257, 100_003])
def test_the_kernel_of_the_check_agrees_with_numpy(n: int, dtype: str) -> None:
    import cupy as cp

    x = np.random.default_rng(0).random(n, dtype=np.dtype(dtype))
    x[n // 3 : n // 2] = x[: n // 2 - n // 3]
    on_gpu, on_host = check.look_at(cp.asarray(x)), check.look_at(x)
    assert (on_gpu[0] == on_host[0]).all()
    assert on_gpu[1:] == on_host[1:]
