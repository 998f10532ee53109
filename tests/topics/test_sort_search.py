"""Sorting: what the checks accept and reject, and the variants on the host and on the GPU."""

import numpy as np
import pytest
from spoiled import assert_rejects

from compile_lane import needs_compilers, raw_facts
from gpuguide.errors import MismatchError
from gpuguide.topics.sort_search import checks, cpu
from gpuguide.topics.sort_search import study as sort_search


def test_the_sort_study_rejects_wrong_variants_beyond_the_reach_of_the_python_sort() -> None:
    assert_rejects(sort_search.study(), np.sort, checks.COMPARED_WITH_PYTHON + 1)


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("n", [0, 1, 6, 7, 1009, 20_000])
@pytest.mark.parametrize("values", [3, 2**24])
def test_the_sort_on_all_threads_is_right_where_parts_are_uneven(
    monkeypatch: pytest.MonkeyPatch, threads: int, n: int, values: int
) -> None:
    """With fewer numbers than threads, with many equal ones, and with a part whose values are all its own."""
    monkeypatch.setattr(cpu, "THREADS", threads)
    monkeypatch.setattr(cpu, "SORTED_ALONE_BELOW", 1)
    x = np.random.default_rng(0).integers(0, values, n).astype(np.float32)
    x[: n // 3] += values
    before, out = x.copy(), np.full(n, np.nan, np.float32)
    cpu.sort_numpy_threads(x, out)
    assert out.tolist() == sorted(x.tolist())
    assert (x == before).all()


@pytest.mark.parametrize("alone_below", [0, 10**6])
@pytest.mark.parametrize("n", [0, 1, 6, 1009])
def test_searches_and_rows_on_all_threads_leave_none_out(
    monkeypatch: pytest.MonkeyPatch, n: int, alone_below: int
) -> None:
    monkeypatch.setattr(cpu, "THREADS", 7)
    monkeypatch.setattr(cpu, "SORTED_ALONE_BELOW", alone_below)
    monkeypatch.setattr(cpu, "SEARCHED_ALONE_BELOW", alone_below)
    rng = np.random.default_rng(0)
    queries, keys = rng.random(n, dtype=np.float32), np.arange(8, dtype=np.float32) / 8
    places = np.full(n, -9)
    cpu.search_numpy_threads(queries, keys, places)
    assert places.tolist() == np.ceil(queries * 8).astype(int).tolist()
    rows = rng.random((n, 5), dtype=np.float32)
    out = np.full_like(rows, np.nan)
    cpu.sort_rows_numpy_threads(rows, out)
    assert out.tolist() == [sorted(row) for row in rows.tolist()]


def sorted_check(x: np.ndarray, output: np.ndarray) -> tuple[float, float]:
    check = checks.SortedCheck()
    return check.compare(output, check.prepare((x,)))


@pytest.mark.parametrize("n", [0, 1, 2, 4097, 10_007])
def test_a_right_sort_passes(n: int) -> None:
    x = np.random.default_rng(0).random(n, dtype=np.float32)
    assert sorted_check(x, np.sort(x)) == (0.0, 0.0)


@pytest.mark.parametrize("chunk", [1, 2, 7, 40])
def test_the_check_sees_across_the_edges_of_its_pieces(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(checks, "CHUNK", chunk)
    monkeypatch.setattr(checks, "COMPARED_WITH_PYTHON", 0)
    x = np.random.default_rng(0).random(40, dtype=np.float32)
    right = np.sort(x)
    assert sorted_check(x, right) == (0.0, 0.0)
    for place in range(39):
        wrong = right.copy()
        wrong[[place, place + 1]] = wrong[[place + 1, place]]
        with pytest.raises(MismatchError, match="not in order"):
            sorted_check(x, wrong)


def test_a_sort_that_loses_one_and_doubles_another_is_seen() -> None:
    x = np.random.default_rng(0).random(10_000, dtype=np.float32)
    wrong = np.sort(x)
    wrong[5000] = wrong[4999]
    with pytest.raises(MismatchError, match="not those of the input"):
        sorted_check(x, wrong)


def test_the_fingerprint_differs_where_one_bit_differs() -> None:
    x = np.zeros(5000, dtype=np.float32)
    wrong = x.copy()
    wrong[-1] = np.float32(1e-45)
    with pytest.raises(MismatchError, match="not those of the input"):
        sorted_check(x, wrong)


def test_not_a_number_is_never_in_order() -> None:
    x = np.array([1, np.nan, 2], np.float32)
    with pytest.raises(MismatchError, match="not in order"):
        sorted_check(x, np.array([1, np.nan, 2], np.float32))


def test_a_result_of_another_size_is_rejected() -> None:
    with pytest.raises(MismatchError, match=r"should have shape \(3,\); it has \(4,\)"):
        sorted_check(np.arange(3, dtype=np.float32), np.arange(4, dtype=np.float32))


@pytest.mark.parametrize(
    ("order", "problem"),
    [
        ([0, 0, 1], "twice"),
        ([0, 1, 3], "from 0 to 2"),
        ([0, 1, -1], "from 0 to 2"),
        ([0, 1, 2], "not sorted"),
    ],
)
def test_wrong_orders_are_rejected(order: list[int], problem: str) -> None:
    check = checks.ArgsortCheck()
    prepared = check.prepare((np.array([3, 1, 2], np.float32),))
    with pytest.raises(MismatchError, match=problem):
        check.compare(np.array(order), prepared)


def test_each_row_is_held_against_its_own_elements() -> None:
    """Rows that swapped an element are in order, and so is the whole."""
    x = np.random.default_rng(0).random((3, 2000), dtype=np.float32)
    check = checks.SortedCheck()
    prepared, right = check.prepare((x,)), np.sort(x, axis=1)
    assert check.compare(right, prepared) == (0.0, 0.0)
    for wrong, problem in (
        (np.sort(x, axis=None).reshape(x.shape), "not those of the input"),
        (np.sort(x, axis=0), "not in order"),
        (right[::-1], "not those of the input"),
        (right.ravel(), "should have shape"),
    ):
        with pytest.raises(MismatchError, match=problem):
            check.compare(wrong, prepared)


@pytest.mark.parametrize("chunk", [1, 2, 7, 40])
def test_rows_may_end_anywhere_in_a_piece(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    x = np.random.default_rng(0).random((5, 8), dtype=np.float32)
    whole = checks.order_and_fingerprint(np.sort(x, axis=1))
    assert whole[0]
    monkeypatch.setattr(checks, "CHUNK", chunk)
    assert checks.order_and_fingerprint(np.sort(x, axis=1)) == whole
    assert checks.order_and_fingerprint(x) == (False, whole[1])


def test_rows_packed_with_their_number_are_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    """With NumPy in CuPy's place: bits of numbers that are not negative rise as the numbers do."""
    monkeypatch.setattr(sort_search, "cupy", lambda: np)
    for x in sort_search.rows_study().make_inputs(33**2, exact=False):
        x[3, :7] = 0, np.inf, 1e-45, 3.4e38, 0, 1, 2
        assert (sort_search.sort_rows_packed(x) == np.sort(x, axis=1)).all()


@pytest.mark.parametrize("place", [-1, 0, 1, 3, 5, 99])
def test_a_place_between_the_wrong_keys_is_rejected(place: int) -> None:
    check = checks.SearchCheck()
    queries, keys = np.array([3, 3], np.float32), np.array([1, 2, 3, 4], np.float32)
    prepared = check.prepare((queries, keys))
    assert check.compare(np.array([2, 2]), prepared) == (0.0, 0.0)
    with pytest.raises(MismatchError, match=rf"the first at 1: 3.0 does not belong at {place}"):
        check.compare(np.array([2, place]), prepared)
    with pytest.raises(MismatchError, match="should be 2 places"):
        check.compare(np.array([2]), prepared)


def test_the_traffic_counts_each_number_once_each_way() -> None:
    assert sort_search.sort_traffic(10, np.dtype("float32")).bytes_total == 80
    assert sort_search.argsort_traffic(10, np.dtype("float32")).bytes_total == 120
    assert sort_search.search_traffic(10, np.dtype("float32")).bytes_total == 10 * (4 + 20 * 4 + 8)


def test_the_source_size_and_dtype_are_among_those_measured() -> None:
    study = sort_search.study()
    assert study.dtype == "float32"
    assert {10**3, 4096**2} <= set(study.sizes)
    assert max(study.sizes) <= 10**8
    assert sort_search.rows_study().sizes == (4096**2,)


@needs_compilers()
def test_the_kernel_of_the_check_compiles_and_spills_nothing() -> None:
    assert raw_facts(checks.SOURCE, "order_and_fingerprint").spills == 0


@pytest.mark.gpu
@pytest.mark.parametrize("n", [0, 1, 2, 257, 100_003])
def test_the_kernel_of_the_check_agrees_with_numpy(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    x = np.random.default_rng(0).random(n, dtype=np.float32)
    on_gpu = [checks.order_and_fingerprint(y) for y in (x, np.sort(x))]
    monkeypatch.setattr(checks, "has_gpu", lambda: False)
    on_host = [checks.order_and_fingerprint(y) for y in (x, np.sort(x))]
    assert on_gpu == on_host


@pytest.mark.gpu
def test_the_check_rejects_on_the_gpu_what_it_rejects_on_the_host() -> None:
    import cupy as cp

    check = checks.SortedCheck()
    x = cp.random.random(10**6, dtype=cp.float32)
    right = cp.sort(x)
    prepared = check.prepare((x,))
    assert prepared == check.prepare((x.get(),))
    assert check.compare(right, prepared) == (0.0, 0.0)
    wrong = right.copy()
    wrong[500] = wrong[499]
    with pytest.raises(MismatchError):
        check.compare(wrong, prepared)
