"""What the compiler costs: each way to compile gives the right result; parts are those of the call."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gpuguide.errors import ArgumentError
from gpuguide.measure.first_call import FirstCallError
from gpuguide.topics.compile_cost import compile_parts, kernels, primes_search
from gpuguide.topics.compile_cost import study as compile_cost
from gpuguide.topics.primes.reference import small_primes


def test_the_sieve_knows_how_many_primes_there_are() -> None:
    assert small_primes(12).tolist() == [2, 3, 5, 7, 11]
    assert small_primes(10_000).size == 1229
    assert [small_primes(n).size for n in (0, 1, 2, 3, 4)] == [0, 0, 0, 1, 2]


def test_the_source_sizes_and_dtypes_are_among_those_measured() -> None:
    boxes, primes = compile_cost.study(), primes_search.study()
    assert (boxes.dtype, boxes.sizes) == ("float32", (32**3,))
    assert 10_000 in primes.sizes
    assert len(primes.sizes) >= 6
    assert primes.sizes[-1] >= 1000 * primes.sizes[0]


def test_the_second_function_with_a_cache_reads_what_the_first_wrote(tmp_path: Path) -> None:
    box = np.ones((2, 3, 4), np.float32)
    hits = []
    for _ in range(2):
        with compile_cost.caching_in(str(tmp_path)):
            loops = compile_cost.njit(cache=True)(kernels.larger_loops)
        loops(box, box, np.empty_like(box))
        hits.append(sum(loops.stats.cache_hits.values()))
    assert hits == [0, 1]


def test_the_cache_folder_is_put_back_after_an_error() -> None:
    before = vars(compile_cost.config)["CACHE_DIR"]
    with pytest.raises(KeyError), compile_cost.caching_in("elsewhere"):
        raise KeyError
    assert vars(compile_cost.config)["CACHE_DIR"] == before


def test_the_cache_folder_is_gone_when_the_process_ends(fresh_python: Callable[..., str]) -> None:
    printed = fresh_python("""
from pathlib import Path
from gpuguide.topics.compile_cost.study import cache_folder
print(Path(cache_folder()).is_dir(), cache_folder())
""")
    there, folder = printed.split(maxsplit=1)
    assert there == "True"
    assert not Path(folder.strip()).exists()


def test_a_fresh_process_compiles_and_the_next_one_reads(tmp_path: Path) -> None:
    """Two real processes; a GPU adds its parts to the second."""
    command = [
        sys.executable,
        "-c",
        "from gpuguide.topics.compile_cost.compile_parts import first_call; first_call()",
    ]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    said = []
    for _ in range(2):
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=120, check=True
        )
        said.append(json.loads(done.stdout))
    assert [each["hits"] for each in said] == [0, 1]
    for each in said:
        assert list(each["parts"])[:3] == ["imports", "first", "later"]


class Processes:
    """Stands in for processes: what each of them says, by its number; number 0 is not counted."""

    def __init__(self, hits: Callable[[int], int] = lambda n: 1 - n % 2, returncode: int = 0) -> None:
        self.hits, self.returncode, self.caches = hits, returncode, []

    def __call__(self, command: list[str], env: Mapping[str, str], **options: object) -> SimpleNamespace:
        assert command[-1] == "gpuguide.topics.compile_cost.compile_parts:first_call"
        n = len(self.caches)
        self.caches.append(env["NUMBA_CACHE_DIR"])
        parts = {"imports": n, "first": 10 * n, "later": 100 * n}
        parts |= {"context": 7 * n, "kernel_compile": 8 * n, "kernel_call": 9 * n} if n % 2 == 0 else {}
        said = [json.dumps({"hits": self.hits(n), "parts": parts}), json.dumps({"ns": n + 1})]
        return SimpleNamespace(stdout="\n".join(said) + "\n", stderr="it broke", returncode=self.returncode)


def test_each_empty_cache_is_filled_by_one_process_and_read_by_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    processes = Processes()
    monkeypatch.setattr(compile_parts.subprocess, "run", processes)
    taken = compile_parts.measure_fresh_processes(n_processes=2)
    assert processes.caches[1::2] == processes.caches[2::2]
    assert len(set(processes.caches)) == 3
    assert taken["first"] == pytest.approx([10e-9, 30e-9])
    assert taken["cached_imports"] == pytest.approx([2e-9, 4e-9])
    assert taken["cached"] == pytest.approx([20e-9, 40e-9])
    assert taken["kernel_compile"] == pytest.approx([16e-9, 32e-9])
    assert list(taken) == [
        "imports", "first", "later", "cached_imports", "cached", "context", "kernel_compile", "kernel_call",
    ]  # fmt: skip


@pytest.mark.parametrize("hits", [lambda n: 0, lambda n: 1], ids=["nothing was read", "nothing was empty"])
def test_a_cache_that_is_not_what_it_should_be_is_an_error(
    hits: Callable[[int], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compile_parts.subprocess, "run", Processes(hits))
    with pytest.raises(FirstCallError, match="functions from the cache on disk"):
        compile_parts.measure_fresh_processes(n_processes=1)


def test_a_process_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_parts.subprocess, "run", Processes(returncode=3))
    with pytest.raises(FirstCallError, match="exit status 3\nit broke"):
        compile_parts.measure_fresh_processes(n_processes=1)


def test_the_clock_gives_a_sample_for_each_turn_but_the_first() -> None:
    box = np.ones((2, 3, 4), np.float32)
    assert len(compile_parts.time_compiling(kernels.larger_loops, (box, box, box), 1)) == 1


def test_the_clock_wants_a_turn() -> None:
    with pytest.raises(ArgumentError, match="at least 1 turn; got 0"):
        compile_parts.time_compiling(abs, (1.0,), n_turns=0)


def test_sizes_say_what_they_count() -> None:
    names = [made().size_name for made in (compile_cost.study, primes_search.study)]
    assert names == ["elements", "numbers"]
