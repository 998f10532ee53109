"""Look-ups in a sparse dictionary: every way against the table, small dictionaries, strings."""

import inspect
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from compile_lane import needs_compilers, numba_facts
from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.topics.sparse_lookup import dictionary, kernels, kernels_cpu, sectors
from gpuguide.topics.sparse_lookup import study as sparse_lookup

KERNELS = ("branching", "branchless", "four_per_thread", "shared_top", "bucket")


def test_kernels_find_every_key_in_dictionaries_of_any_size(fresh_python: Callable[..., str]) -> None:
    """One key, powers of two and their neighbours, and just around the samples in shared memory."""
    snippet = """
import numpy as np
from gpuguide.topics.sparse_lookup import study as sparse_lookup
from gpuguide.topics.sparse_lookup.dictionary import bucket_starts, lookup_reference
for m in (1, 3, 8, 1023, 1024, 1025, 2049):
    keys = np.arange(3, 3 + 2 * m, 2, dtype=np.int32)
    words = np.arange(10, 10 + m, dtype=np.uint64)
    near = np.unique(np.linspace(-2, 2 * m + 200, 40).astype(np.int32))
    queries = np.concatenate([near, keys[:1], keys[-1:]])
    expected = lookup_reference(np.where(queries < 0, 0, queries), keys, words)
    tables = bucket_starts(keys, 6), bucket_starts(keys, 3)
    for name in ("branching", "branchless", "four_per_thread", "shared_top", "bucket", "bucket_of_8"):
        out = np.full(queries.size, 99, np.uint64)
        getattr(sparse_lookup, f"lookup_{name}")(queries, keys, words, *tables, out)
        assert (out == expected).all(), (name, m, queries[out != expected])
print("all right")
"""
    assert fresh_python(snippet, timeout=300, NUMBA_ENABLE_CUDASIM="1") == "all right\n"


def test_the_values_are_strings_of_eight_characters() -> None:
    example = dictionary.example_dictionary()
    strings = example.words.view("S8")
    assert {len(text) for text in strings[:1000].tolist()} == {8}
    assert strings[0].startswith(b"v")
    assert example.words.min() > 0, "0 stands for a query that is no key"


def test_the_dictionary_is_sparse_and_sorted() -> None:
    keys = dictionary.example_dictionary().keys
    assert keys.size == 10**6
    assert 1 <= keys[0] < keys[-1] <= 10**7
    assert bool((np.diff(keys) > 0).all())


def test_the_table_of_buckets_says_where_keys_stand() -> None:
    example = dictionary.example_dictionary()
    keys, places = example.keys, np.arange(example.keys.size)
    for starts, bits in ((example.coarse, dictionary.COARSE_BITS), (example.fine, dictionary.FINE_BITS)):
        assert (starts[0], starts[-1]) == (0, keys.size)
        buckets = keys >> bits
        assert bool(((starts[buckets] <= places) & (places < starts[buckets + 1])).all())


@pytest.mark.parametrize("alone_below", [0, 10**6])
@pytest.mark.parametrize("n", [1, 6, 1009])
def test_the_look_up_on_all_threads_asks_for_every_query(
    monkeypatch: pytest.MonkeyPatch, n: int, alone_below: int
) -> None:
    monkeypatch.setattr(dictionary, "THREADS", 7)
    monkeypatch.setattr(dictionary, "ALONE_BELOW", alone_below)
    queries = np.arange(n, dtype=np.int32)
    keys, words = queries[::2], np.arange(1, 1 + -(-n // 2), dtype=np.uint64)
    out = np.full(n, 99, np.uint64)
    dictionary.lookup_numpy_threads(queries, keys, words, None, None, out)
    assert out.tolist() == [0 if q % 2 else q // 2 + 1 for q in range(n)]


@pytest.mark.parametrize("m", [1, 2, 9, 1023])
def test_the_loop_on_the_cpu_finds_every_key_and_nothing_else(m: int) -> None:
    """Queries below, between and beyond the keys, and the ends of every bucket."""
    keys = np.arange(3, 3 + 2 * m, 2, dtype=np.int32)
    words = np.arange(10, 10 + m, dtype=np.uint64)
    queries = np.arange(-70, 2 * m + 200, dtype=np.int32)
    tables = dictionary.bucket_starts(keys, 6), dictionary.bucket_starts(keys, 3)
    out = np.full(queries.size, 99, np.uint64)
    kernels_cpu.bucket_cpu_loop(queries, keys, words, *tables, out)
    expected = dictionary.lookup_reference(np.where(queries < 0, 0, queries), keys, words)
    assert out.tolist() == expected.tolist()
    for arrays in ((words, out[:-1]), (words[:-1], out)):
        with pytest.raises(ValueError, match="a word for each key, and an output for each query"):
            kernels_cpu.bucket_cpu_loop(queries, keys, arrays[0], *tables, arrays[1])


def test_the_gpu_is_held_against_numpy_and_against_the_best_loop_on_all_cpu_threads() -> None:
    study = sparse_lookup.study()
    sides = {v.name: (v.label, v.threads) for v in study.variants if v.device == "cpu"}
    assert sides.pop("python_dict") == ("Python dict", 1)
    assert sides == {
        "numpy": ("NumPy, one thread", 1),
        "numpy_threads": ("NumPy, all threads", dictionary.THREADS),
        "cpu_buckets": ("CPU buckets of 8, all threads", dictionary.THREADS),
    }
    assert study.variant("numpy").max_size == 10**6


def test_about_half_of_the_queries_are_keys() -> None:
    study = sparse_lookup.study()
    queries, keys, *_ = study.make_inputs(10**4, exact=False)
    assert 0.5 <= np.isin(queries, keys).mean() <= 0.6


def test_a_dictionary_has_at_least_one_key() -> None:
    ints, words = np.zeros(3, np.int32), np.zeros(3, np.uint64)
    with pytest.raises(ArgumentError, match="at least one key"):
        sparse_lookup.lookup_bucket(ints, ints[:0], words[:0], ints, ints, words)


def test_a_mismatch_names_the_first_wrong_look_up() -> None:
    check = dictionary.LookupCheck()
    prepared = check.prepare((np.array([7, 8]), np.array([7]), np.array([42], np.uint64)))
    with pytest.raises(MismatchError, match="1 of 2 look-ups are wrong, the first at 1: expected 0, got 5"):
        check.compare(np.array([42, 5], np.uint64), prepared)
    with pytest.raises(MismatchError, match="shape"):
        check.compare(np.array([42], np.uint64), prepared)


@needs_compilers()
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_share_what_they_should(name: str) -> None:
    from numba import int32, int64, uint64

    words = uint64[::1]
    middle = {"branching": (), "bucket": (int32[::1], int64)}.get(name, (int64,))
    facts = numba_facts(getattr(kernels, name), (int32[::1], int32[::1], words, *middle, words))
    assert facts.shared_bytes == (1023 * 4 if name == "shared_top" else 0)


def test_the_traffic_is_no_more_than_the_whole_dictionary() -> None:
    few, many = (sparse_lookup.lookup_traffic(n, np.dtype("int32")) for n in (10, 10**8))
    assert few.bytes_read == 10 * 4 + 20 * 10 * 4 + 10 * 8
    assert many.bytes_read == 10**8 * 4 + 10**6 * 12
    assert many.bytes_written == 8 * 10**8


def test_sectors_of_a_warp_are_counted_once_for_each_load() -> None:
    """Eight keys to a sector, four words to one; all of a warp's first loads meet the middle key."""
    keys = np.arange(1, 1025, dtype=np.int32)
    first = np.full(32, 513, np.int32)  # met at once
    assert sectors.sectors_per_query(first, keys) * 32 == 2
    none = np.full(32, 2000, np.int32)  # eleven steps to the end, for 1024 is no power of two less one
    assert sectors.sectors_per_query(none, keys) * 32 == 10
    starts = dictionary.bucket_starts(keys, 6)
    # Two loads of the table, then the search among the 64 keys of the last whole bucket: nine to a sector.
    assert sectors.sectors_per_query(np.full(32, 992, np.int32), keys, starts, 6) * 32 == 2 + 1 + 1


def test_sorted_queries_touch_fewer_sectors_and_so_do_buckets() -> None:
    queries, keys, _, coarse, fine = sparse_lookup.study().make_inputs(10**6, exact=False)
    some, in_order = queries[: 2**12], np.sort(queries)[: 2**12]
    scattered = sectors.sectors_per_query(some, keys)
    assert 14 < scattered < 16
    in_coarse = sectors.sectors_per_query(some, keys, coarse, dictionary.COARSE_BITS)
    assert sectors.sectors_per_query(some, keys, fine, dictionary.FINE_BITS) < in_coarse < scattered / 2
    assert sectors.sectors_per_query(in_order, keys) < scattered / 3


def test_a_word_keeps_all_of_its_bits() -> None:
    """Numba would make a float64 of a word that begins as a bare 0, and lose the lowest bits."""
    for name in KERNELS:
        assert "word = 0" not in inspect.getsource(getattr(kernels, name).py_func)


def test_the_page_shows_the_kernel_that_is_measured() -> None:
    script = Path(__file__).parents[2] / "examples" / "first_kernels" / "sparse_lookup.py"
    assert inspect.getsource(kernels.branching.py_func).rstrip() in script.read_text(encoding="utf-8")
