"""Sorting: what the checks accept and reject, and the variants on all threads of the host."""

import numpy as np
import pytest

from gpuguide.errors import MismatchError
from gpuguide.topics.sort_search import checks, cpu
from gpuguide.topics.sort_search import study as sort_search


@pytest.mark.parametrize("n", [0, 6, 7, 20_000])
@pytest.mark.parametrize("values", [3, 2**24])
def test_the_sort_on_all_threads_is_right_where_parts_are_uneven(
    monkeypatch: pytest.MonkeyPatch, n: int, values: int
) -> None:
    """With fewer numbers than threads, with many equal ones, and with a part whose values are all its own."""
    monkeypatch.setattr(cpu, "THREADS", 7)
    monkeypatch.setattr(cpu, "SORTED_ALONE_BELOW", 1)
    x = np.random.default_rng(0).integers(0, values, n).astype(np.float32)
    x[: n // 3] += values
    before, out = x.copy(), np.full(n, np.nan, np.float32)
    cpu.numpy_threads(x, out)
    assert out.tolist() == sorted(x.tolist())
    assert (x == before).all()


@pytest.mark.parametrize("n", [0, 1, 6, 1009])
def test_searches_and_rows_on_all_threads_leave_none_out(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    monkeypatch.setattr(cpu, "THREADS", 7)
    monkeypatch.setattr(cpu, "SORTED_ALONE_BELOW", 0)
    monkeypatch.setattr(cpu, "SEARCHED_ALONE_BELOW", 0)
    rng = np.random.default_rng(0)
    queries, keys = rng.random(n, dtype=np.float32), np.arange(8, dtype=np.float32) / 8
    places = np.full(n, -9)
    cpu.search_numpy_threads(queries, keys, places)
    assert places.tolist() == np.ceil(queries * 8).astype(int).tolist()
    rows = rng.random((n, 5), dtype=np.float32)
    out = np.full_like(rows, np.nan)
    cpu.rows_numpy_threads(rows, out)
    assert out.tolist() == [sorted(row) for row in rows.tolist()]


def test_rows_packed_with_their_number_are_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    """With NumPy in CuPy's place: bits of numbers that are not negative rise as the numbers do."""
    monkeypatch.setattr(sort_search, "cp", np)
    for x in sort_search.rows.make_inputs(33**2, exact=False):
        x[3, :7] = 0, np.inf, 1e-45, 3.4e38, 0, 1, 2
        assert (sort_search.rows_packed(x) == np.sort(x, axis=1)).all()


def judge(x: np.ndarray, output: np.ndarray) -> tuple[float, float]:
    check = checks.SortedCheck()
    return check.compare(output, check.prepare((x,)))


def test_wrong_sorts_are_rejected() -> None:
    """One lost and another doubled, one bit changed, not a number, and another size."""
    x = np.random.default_rng(0).random(10_000, dtype=np.float32)
    doubled = np.sort(x)
    doubled[5000] = doubled[4999]
    zeros = np.zeros(5000, dtype=np.float32)
    one_bit = zeros.copy()
    one_bit[-1] = np.float32(1e-45)
    nan = np.array([1, np.nan, 2], np.float32)
    for given, wrong, problem in (
        (x, doubled, "not those of the input"),
        (zeros, one_bit, "not those of the input"),
        (nan, nan, "not in order"),
        (x, np.sort(x)[1:], r"should have shape \(10000,\); it has \(9999,\)"),
    ):
        with pytest.raises(MismatchError, match=problem):
            judge(given, wrong)


def test_each_row_is_held_against_its_own_elements() -> None:
    """Rows that swapped an element are in order, and so is the whole."""
    x = np.random.default_rng(0).random((3, 2000), dtype=np.float32)
    right = np.sort(x, axis=1)
    assert judge(x, right) == (0.0, 0.0)
    for wrong, problem in (
        (np.sort(x, axis=None).reshape(x.shape), "not those of the input"),
        (np.sort(x, axis=0), "not in order"),
        (right[::-1], "not those of the input"),
        (right.ravel(), "should have shape"),
    ):
        with pytest.raises(MismatchError, match=problem):
            judge(x, wrong)


@pytest.mark.parametrize("chunk", [1, 2, 7, 40])
def test_rows_may_end_anywhere_in_a_piece(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    x = np.random.default_rng(0).random((5, 8), dtype=np.float32)
    right = np.sort(x, axis=1)
    whole = checks.order_and_fingerprint(right)
    assert whole[0]
    monkeypatch.setattr(checks, "CHUNK", chunk)
    assert checks.order_and_fingerprint(right) == whole
    assert checks.order_and_fingerprint(x) == (False, whole[1])
    flat = np.sort(x, axis=None)
    for place in range(flat.size - 1):
        wrong = flat.copy()
        wrong[[place, place + 1]] = wrong[[place + 1, place]]
        assert not checks.order_and_fingerprint(wrong)[0]


@pytest.mark.parametrize(
    ("order", "problem"),
    [([0, 0, 1], "twice"), ([0, 1, 3], "0 to 2"), ([0, 1, -1], "0 to 2"), ([0, 1, 2], "not sorted")],
)
def test_wrong_orders_are_rejected(order: list[int], problem: str) -> None:
    check = checks.ArgsortCheck()
    prepared = check.prepare((np.array([3, 1, 2], np.float32),))
    with pytest.raises(MismatchError, match=problem):
        check.compare(np.array(order), prepared)


@pytest.mark.parametrize("place", [-1, 0, 1, 3, 5, 99])
def test_a_place_between_the_wrong_keys_is_rejected(place: int) -> None:
    check = checks.SearchCheck()
    queries, keys = np.array([3, 3], np.float32), np.array([1, 2, 3, 4], np.float32)
    prepared = check.prepare((queries, keys))
    assert check.compare(np.array([2, 2]), prepared) == (0.0, 0.0)
    with pytest.raises(MismatchError, match=rf"the first at 1: 3.0 does not belong at {place}"):
        check.compare(np.array([2, place]), prepared)


@pytest.mark.gpu
@pytest.mark.parametrize("n", [0, 1, 2, 257, 100_003])
def test_the_check_finds_on_the_gpu_what_it_finds_on_the_host(
    monkeypatch: pytest.MonkeyPatch, n: int
) -> None:
    import cupy as cp

    x = np.random.default_rng(0).random(n, dtype=np.float32)
    monkeypatch.setattr(checks, "has_gpu", lambda: False)
    for y in (x, np.sort(x)):
        assert checks.order_and_fingerprint(cp.asarray(y)) == checks.order_and_fingerprint(y)
