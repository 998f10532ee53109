"""Look-ups in a sparse dictionary: dictionaries of any size, all threads of the host, and sectors."""

import inspect
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from compile_lane import needs_compilers, numba_facts
from gpuguide.topics.sparse_lookup import dictionary, kernels, kernels_cpu, sectors

KERNELS = ("branching", "branchless", "four_per_thread", "shared_top", "bucket", "hash_table", "direct")


def test_kernels_find_every_key_in_dictionaries_of_any_size(fresh_python: Callable[..., str]) -> None:
    """One key, powers of two and their neighbours, and just around the samples in shared memory."""
    snippet = """
import numpy as np
from gpuguide.topics.sparse_lookup import dictionary, kernels, study as sparse_lookup
for m in (1, 3, 8, 1023, 1024, 1025, 2049):
    own = dictionary.SparseDictionary(np.arange(3, 3 + 2 * m, 2, dtype=np.int32))
    sparse_lookup.example_dictionary = lambda: own
    near = np.unique(np.linspace(-2, 2 * m + 200, 40).astype(np.int32))
    queries = np.concatenate([near, own.keys[:1], own.keys[-1:]])
    expected = dictionary.lookup_reference(np.where(queries < 0, 0, queries), own.keys, own.words)
    arrays = queries, own.keys, own.words, own.coarse, own.fine
    for variant in sparse_lookup.lookup.variants:
        if variant.grid:
            out = np.full(queries.size, 99, np.uint64)
            variant.on(queries.size, (*arrays, out))()
            assert (out == expected).all(), (variant.name, m, queries[out != expected])
    slots, slot_words = (np.zeros_like(x) for x in own.hashed)
    kernels.insert[-(-m // 32), 32](own.keys, own.words, slots, slot_words)
    out = np.full(queries.size, 99, np.uint64)
    kernels.hash_table[1, queries.size](queries, slots, slot_words, out)
    assert (out == expected).all(), ("insert", m)
print("all right")
"""
    assert fresh_python(snippet, timeout=300, NUMBA_ENABLE_CUDASIM="1") == "all right\n"


@pytest.mark.parametrize("n", [1, 6, 1009])
def test_the_look_up_on_all_threads_asks_for_every_query(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    monkeypatch.setattr(dictionary, "THREADS", 7)
    monkeypatch.setattr(dictionary, "ALONE_BELOW", 0)
    queries = np.arange(n, dtype=np.int32)
    keys, words = queries[::2], np.arange(1, 1 + -(-n // 2), dtype=np.uint64)
    out = np.full(n, 99, np.uint64)
    dictionary.numpy_threads(queries, keys, words, None, None, out)
    assert out.tolist() == [0 if q % 2 else q // 2 + 1 for q in range(n)]


@pytest.mark.parametrize("m", [1, 9, 1023])
def test_the_loops_on_the_cpu_find_every_key_and_nothing_else(m: int) -> None:
    """Queries below, between and beyond the keys, and the ends of every bucket."""
    own = dictionary.SparseDictionary(np.arange(3, 3 + 2 * m, 2, dtype=np.int32))
    queries = np.arange(-70, 2 * m + 200, dtype=np.int32)
    expected = dictionary.lookup_reference(np.where(queries < 0, 0, queries), own.keys, own.words)
    for loop, arrays in (
        (kernels_cpu.bucket_cpu_loop, (own.keys, own.words, own.coarse, own.fine)),
        (kernels_cpu.hash_table_loop, own.hashed),
        (kernels_cpu.direct_loop, own.by_number),
    ):
        out = np.full(queries.size, 99, np.uint64)
        loop(queries, *arrays, out)
        assert out.tolist() == expected.tolist()


@needs_compilers()
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_share_what_they_should(name: str) -> None:
    from numba import int32, int64, uint64

    words = uint64[::1]
    middle = {
        "branching": (int32[::1], words),
        "bucket": (int32[::1], words, int32[::1], int64),
        "hash_table": (int32[::1], words),
        "direct": (words,),
    }.get(name, (int32[::1], words, int64))
    facts = numba_facts(getattr(kernels, name), (int32[::1], *middle, words))
    assert facts.shared_bytes == (1023 * 4 if name == "shared_top" else 0)
    assert facts.count("cvt.rn.f64") == 0, "a word keeps all of its bits only as an integer"


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


def test_the_page_shows_the_kernel_that_is_measured() -> None:
    script = Path(__file__).parents[2] / "examples" / "first_kernels" / "sparse_lookup.py"
    assert inspect.getsource(kernels.branching.py_func).rstrip() in script.read_text(encoding="utf-8")
