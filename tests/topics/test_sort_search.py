"""Sorting: what the checks accept and reject, and the variants on the host and on the GPU."""

import numpy as np
import pytest
from spoiled import assert_rejects

from compile_lane import needs_compilers, raw_facts
from gpuguide.errors import MismatchError
from gpuguide.topics.sort_search import cpu, sort_checks
from gpuguide.topics.sort_search import study as sort_search


def test_the_sort_study_rejects_wrong_variants_beyond_the_reach_of_the_python_sort() -> None:
    assert_rejects(sort_search.study(), np.sort, sort_checks.COMPARED_WITH_PYTHON + 1)


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
@pytest.mark.parametrize("n", [1, 6, 1009])
def test_the_look_up_on_all_threads_asks_for_every_query(
    monkeypatch: pytest.MonkeyPatch, n: int, alone_below: int
) -> None:
    monkeypatch.setattr(cpu, "THREADS", 7)
    monkeypatch.setattr(cpu, "LOOKED_UP_ALONE_BELOW", alone_below)
    queries = np.arange(n, dtype=np.int32)
    keys, words = queries[::2], np.arange(1, 1 + -(-n // 2), dtype=np.uint64)
    out = np.full(n, 99, np.uint64)
    cpu.lookup_numpy_threads(queries, keys, words, None, out)
    assert out.tolist() == [0 if q % 2 else q // 2 + 1 for q in range(n)]


def sorted_check(x: np.ndarray, output: np.ndarray) -> tuple[float, float]:
    check = sort_checks.SortedCheck()
    return check.compare(output, check.prepare((x,)))


@pytest.mark.parametrize("n", [0, 1, 2, 4097, 10_007])
def test_a_right_sort_passes(n: int) -> None:
    x = np.random.default_rng(0).random(n, dtype=np.float32)
    assert sorted_check(x, np.sort(x)) == (0.0, 0.0)


@pytest.mark.parametrize("chunk", [1, 2, 7, 40])
def test_the_check_sees_across_the_edges_of_its_pieces(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(sort_checks, "CHUNK", chunk)
    monkeypatch.setattr(sort_checks, "COMPARED_WITH_PYTHON", 0)
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
    with pytest.raises(MismatchError, match="should have 3 elements"):
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
    check = sort_checks.ArgsortCheck()
    prepared = check.prepare((np.array([3, 1, 2], np.float32),))
    with pytest.raises(MismatchError, match=problem):
        check.compare(np.array(order), prepared)


def test_the_traffic_counts_each_number_once_each_way() -> None:
    assert sort_search.sort_traffic(10, np.dtype("float32")).bytes_total == 80
    assert sort_search.argsort_traffic(10, np.dtype("float32")).bytes_total == 120


def test_the_source_size_and_dtype_are_among_those_measured() -> None:
    study = sort_search.study()
    assert study.dtype == "float32"
    assert {10**3, 4096**2, 10**8} <= set(study.sizes)


@needs_compilers()
def test_the_kernel_of_the_check_compiles_and_spills_nothing() -> None:
    assert raw_facts(sort_checks.SOURCE, "order_and_fingerprint").spills == 0


@pytest.mark.gpu
@pytest.mark.parametrize("n", [0, 1, 2, 257, 100_003])
def test_the_kernel_of_the_check_agrees_with_numpy(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    x = np.random.default_rng(0).random(n, dtype=np.float32)
    on_gpu = [(sort_checks._in_order(y), sort_checks._fingerprint(y)) for y in (x, np.sort(x))]
    monkeypatch.setattr(sort_checks, "has_gpu", lambda: False)
    on_host = [(sort_checks._in_order(y), sort_checks._fingerprint(y)) for y in (x, np.sort(x))]
    assert on_gpu == on_host


@pytest.mark.gpu
def test_the_check_rejects_on_the_gpu_what_it_rejects_on_the_host() -> None:
    import cupy as cp

    check = sort_checks.SortedCheck()
    x = cp.random.random(10**6, dtype=cp.float32)
    right = cp.sort(x)
    prepared = check.prepare((x,))
    assert prepared == check.prepare((x.get(),))
    assert check.compare(right, prepared) == (0.0, 0.0)
    wrong = right.copy()
    wrong[500] = wrong[499]
    with pytest.raises(MismatchError):
        check.compare(wrong, prepared)
