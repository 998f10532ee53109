"""Primes: what the check takes and rejects, the host's ways, trial division and the sieves in Numba."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import isqrt
from pathlib import Path

import numpy as np
import pytest
from spoiled import host_variant

from compile_lane import needs_compilers, numba_facts
from gpuguide.errors import ArgumentError, BackendError, MismatchError
from gpuguide.measure.session import current
from gpuguide.topics.primes import bits as primes_bits
from gpuguide.topics.primes import cpu as primes_cpu
from gpuguide.topics.primes import kernels, kernels_cpu
from gpuguide.topics.primes import segmented as primes_segmented
from gpuguide.topics.primes import sieve as primes_sieve
from gpuguide.topics.primes import study as primes
from gpuguide.topics.primes import trial as primes_trial

# None, few, words that are just full, primes and their neighbours, squares of primes.
LIMITS = (0, 1, 2, 3, 4, 5, 9, 10, 13, 14, 17, 25, 26, 63, 64, 65, 66, 127, 128, 129, 130, 257, 961, 962)
HOST = (primes_trial.primes_python, primes_trial.primes_njit, primes_cpu.primes_cpu)
KERNELS = ("thread_a_number", "odd_candidates", "to_square_root", "sieve_global", "sieve_shared")
LAUNCHERS = [
    getattr(primes_sieve if "sieve" in name else primes_trial, f"primes_{name}") for name in KERNELS
] + [primes_segmented.primes_segmented]


def by_trial(limit: int) -> list[int]:
    """Another way than all those that are tested."""
    return [n for n in range(2, limit) if all(n % d for d in range(2, isqrt(n) + 1))]


def answer(call: Callable[[int, np.ndarray], None], limit: int) -> np.ndarray:
    out = np.full(primes_bits.answer_spec(limit)[0], 0xDEADBEEF, np.uint32)
    call(limit, out)
    return out


@pytest.mark.parametrize("limit", LIMITS)
def test_the_reference_lists_the_primes(limit: int) -> None:
    reference = primes_bits.primes_reference(limit)
    assert reference.shape == primes_bits.answer_spec(limit)[0]
    assert primes_bits.listed_primes(reference).tolist() == by_trial(limit)


def test_the_reference_counts_what_is_published() -> None:
    for limit in (10**4, 10**6):
        assert primes_bits.primes_reference(limit)[-1] == primes_bits.COUNTS[limit]
    assert primes_bits.COUNTS == {10**4: 1229, 10**6: 78_498, 10**9: 50_847_534}


def test_a_reference_that_counts_wrongly_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(primes_bits.COUNTS, 1000, 169)
    primes_bits._expected.cache_clear()
    with pytest.raises(MismatchError, match="counts 168 primes below 1,000; 169 are known"):
        primes_bits.PrimesCheck().compare(np.zeros(17, np.uint32), 1000)


@pytest.mark.parametrize("call", HOST, ids=lambda call: call.__name__)
@pytest.mark.parametrize("limit", LIMITS)
def test_the_host_s_ways_are_right(call: Callable[..., None], limit: int) -> None:
    assert (answer(call, limit) == primes_bits.primes_reference(limit)).all()


@pytest.mark.parametrize("offset", [-1, 0, 1, 2, 64, 65])
def test_the_cpu_sieve_is_right_at_the_ends_of_its_segments(offset: int) -> None:
    limit = 4 * kernels_cpu.SEGMENT + offset
    assert limit > primes_cpu.ALONE_BELOW
    assert (answer(primes_cpu.primes_cpu, limit) == primes_bits.primes_reference(limit)).all()


def test_the_cpu_sieve_on_all_threads_is_right_for_small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(primes_cpu, "ALONE_BELOW", 0)
    for limit in (3, 4, 12, 13, 64, 65, 66, 168, 169, 170, 10**4):
        assert (answer(primes_cpu.primes_cpu, limit) == primes_bits.primes_reference(limit)).all()


_SIMULATED = """
import numpy as np
from gpuguide.topics.primes import bits as primes_bits, kernels, sieve as primes_sieve, trial as primes_trial
small = {"SEGMENT": 128, "THREADS_PER_BLOCK": 32, "SHORT_STEPS": 3, "BLOCKS_PER_STEP": 2}
for name, value in small.items():
    homes = [module for module in (kernels, primes_sieve) if hasattr(module, name)]
    assert homes
    for home in homes:
        setattr(home, name, value)
for limit in %s:
    for name in ("thread_a_number", "odd_candidates", "to_square_root", "sieve_global", "sieve_shared"):
        launcher = getattr(primes_sieve if "sieve" in name else primes_trial, f"primes_{name}")
        out = np.full(primes_bits.answer_spec(limit)[0], 0xDEADBEEF, np.uint32)
        launcher(limit, out)
        right = primes_bits.primes_reference(limit)
        assert (out == right).all(), (name, limit, out, right)
print("all right")
"""


@pytest.mark.parametrize("limits", [LIMITS[:19], LIMITS[19:], (255, 256, 257, 258, 511, 512, 513, 1370)])
def test_kernels_equal_the_reference_in_the_simulator(
    fresh_python: Callable[..., str], limits: tuple[int, ...]
) -> None:
    """Segments of 128 odd numbers, so that their ends are met; the simulator is slow."""
    snippet = _SIMULATED % (limits,)
    assert fresh_python(snippet, timeout=300, NUMBA_ENABLE_CUDASIM="1") == "all right\n"


def test_the_study_runs_in_the_simulator(fresh_python: Callable[..., str]) -> None:
    snippet = """
from gpuguide.topics.primes import kernels, sieve as primes_sieve, study as primes
kernels.SEGMENT = primes_sieve.SEGMENT = 128
primes_sieve.THREADS_PER_BLOCK = 32
print(sorted({result.variant for result in primes.study().check_all((0, 2, 100, 300))}))
"""
    names = sorted([*KERNELS, "python", "njit", "cpu_sieve"])
    assert fresh_python(snippet, timeout=300, NUMBA_ENABLE_CUDASIM="1") == f"{names}\n"


@pytest.mark.parametrize("wrong", [-1, 0, 1, None])
def test_the_study_of_counts_takes_the_right_one_only(wrong: int | None) -> None:
    """A single number cannot be shifted; the next ones to it and an output that nobody wrote are rejected."""

    def count(limit: int, out: np.ndarray) -> None:
        if wrong is not None:
            out[0] = len(by_trial(limit)) + wrong

    study = replace(primes.count_study(), variants=(host_variant(count),), baseline="")
    if wrong == 0:
        assert len(study.check_all([1000])) == 2
        return
    with pytest.raises(MismatchError, match="there are 16"):
        study.check_all([1000])


def test_a_study_that_counts_1_as_a_prime_is_rejected() -> None:
    out = primes_bits.primes_reference(100)
    out[0] |= 1
    out[-1] += 1
    with pytest.raises(MismatchError, match=r"calls 1 prime, which is wrong \(word 0\)"):
        primes_bits.PrimesCheck().compare(out, 100)


@pytest.mark.parametrize("number", [2, 64, 97])
def test_a_mismatch_names_the_number(number: int) -> None:
    out = primes_bits.primes_reference(100)
    if number == 2:
        out[-1] -= 1
        problem = "counts 24 primes below 100; there are 25"
    else:
        out[number // 64] ^= np.uint32(1 << (number % 64 // 2))
        problem = {64: "calls 65 prime", 97: "calls 97 not prime"}[number]
    with pytest.raises(MismatchError, match=problem):
        primes_bits.PrimesCheck().compare(out, 100)
    with pytest.raises(MismatchError, match="shape"):
        primes_bits.PrimesCheck().compare(out[:-1], 100)


@pytest.mark.parametrize("n", [10**3, 10**6, 65, 66, 2, 1, 0])
def test_the_smaller_limit_of_the_exact_check_has_an_answer_as_long(n: int) -> None:
    for seed in range(20):
        (limit,) = primes.limit_input(n, None, np.random.default_rng(seed), exact=True)
        assert 0 <= limit <= n
        assert primes_bits.n_words(limit) == primes_bits.n_words(n)


@pytest.mark.parametrize("launcher", [*LAUNCHERS, primes_cpu.primes_cpu], ids=lambda call: call.__name__)
@pytest.mark.parametrize(
    ("limit", "array", "problem"),
    [
        (-1, np.zeros(1, np.uint32), "from 0 to 1073741824; got -1"),
        (2**30 + 1, np.zeros(1, np.uint32), "from 0 to 1073741824"),
        (10.0, np.zeros(2, np.uint32), "an integer"),
        (10, np.zeros(3, np.uint32), r"out must be a uint32 array of shape \(2,\)"),
    ],
)
def test_launchers_say_what_they_take(
    launcher: Callable[..., None], limit: int, array: np.ndarray, problem: str
) -> None:
    with pytest.raises(ArgumentError, match=problem):
        launcher(limit, array)


@needs_compilers()
@pytest.mark.parametrize("name", ["thread_a_number", "odd_candidates", "to_square_root"])
def test_trial_division_compiles(name: str) -> None:
    """One division a step: on 32 bits where both numbers fit, which the compiler tests at run time."""
    from numba import int64, uint32

    facts = numba_facts(getattr(primes_trial, f"{name}_kernel"), (int64, uint32[::1]))
    assert facts.spills == 0
    assert facts.registers <= 32
    assert (facts.count("rem.s64"), facts.count("rem.u32")) == (1, 1)
    assert facts.count("atom.global.or") == 1


@needs_compilers()
@pytest.mark.parametrize(
    ("name", "n_integers", "n_flags"),
    [("all_odd", 1, 0), ("cross_off", 1, 0), ("start_count", 1, 0), ("count", 0, 0), ("segment", 2, 1)],
)
def test_sieves_compile(name: str, n_integers: int, n_flags: int) -> None:
    from numba import boolean, int64, uint32

    signature = (*[int64] * n_integers, *[boolean] * n_flags, uint32[::1])
    facts = numba_facts(getattr(primes_sieve, f"{name}_kernel"), signature)
    assert facts.spills == 0
    assert facts.registers <= 64, "so that 1024 threads fit on a multiprocessor"
    assert facts.shared_bytes == (kernels.SEGMENT if name == "segment" else 0)
    assert facts.count("call") == 0, "device functions are inlined"
    atomics = {"cross_off": "atom.global.and", "count": "atom.global.add"}
    assert facts.count("atom") == (facts.count(atomics[name]) if name in atomics else 0)


def test_the_number_of_steps_is_that_of_odd_numbers_up_to_the_root() -> None:
    for limit in range(2000):
        expected = sum(step * step < limit for step in range(3, 60, 2))
        assert primes_sieve.n_steps_below(limit) == expected


def test_the_traffic_is_the_answer_written_once() -> None:
    traffic = primes_bits.primes_traffic(10**9, np.dtype("int32"))
    assert (traffic.bytes_read, traffic.bytes_written) == (0, 62_500_004)


def test_the_source_s_sizes_are_among_those_measured() -> None:
    study = primes.study()
    assert study.dtype == "int32"
    assert {10**4, 10**6, 10**9} <= set(study.sizes)
    assert len(study.sizes) >= 6
    reach = [study.variant(name).max_size for name in ("python", "one_launch", "ufunc", "segmented")]
    assert reach == [10**4, 10**4, 10**6, None]


def test_without_primesieve_there_is_a_row_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(primes, "primesieve", lambda: None)
    results = primes.count_study().run(quick=True, sizes=(100,), variants=["primesieve", "primesieve_alone"])
    assert [cell.reason for cell in results.measurements] == [primes_cpu.NO_PRIMESIEVE] * 2


def test_counts_come_from_primesieve_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Library:
        def primesieve_set_num_threads(self, threads: int) -> None:
            asked.append(threads)

        def primesieve_count_primes(self, start: int, stop: int) -> int:
            return len(by_trial(stop + 1)) - len(by_trial(start))

    monkeypatch.setattr(primes_cpu, "primesieve", lambda: Library())
    out = np.zeros(1, np.uint32)
    primes_cpu.count_by_primesieve(98, out)
    assert (out[0], asked) == (25, [primes_cpu.THREADS])
    primes_cpu.count_by_primesieve_alone(97, out)
    assert (out[0], asked[1:]) == (24, [1])


C_SOURCE = """
unsigned long long primesieve_count_primes(unsigned long long a, unsigned long long b) { return b - a; }
void primesieve_set_num_threads(int n) {}
const char* primesieve_version(void) { return "12.3"; }
"""


@pytest.fixture
def looked_for(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    primes_cpu.primesieve.cache_clear()
    yield monkeypatch
    primes_cpu.primesieve.cache_clear()


@pytest.mark.skipif(shutil.which("cc") is None, reason="This needs a C compiler.")
def test_the_library_that_was_brought_along_goes_first(
    looked_for: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "sieve.c").write_text(C_SOURCE)
    made = str(tmp_path / "libprimesieve.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", made, str(tmp_path / "sieve.c")], check=True)
    looked_for.setenv("GPUGUIDE_PRIMESIEVE", made)
    out = np.zeros(1, np.uint32)
    primes_cpu.count_by_primesieve(2**32, out)  # as unsigned 64-bit numbers
    assert out[0] == 2**32 - 1
    notes = [variant.note for variant in primes.count_study().variants[:2]]
    assert all("primesieve 12.3 on" in note for note in notes)


def test_a_library_that_cannot_be_loaded_is_named(looked_for: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "no_library.so").write_text("no library")
    looked_for.setenv("GPUGUIDE_PRIMESIEVE", str(tmp_path / "no_library.so"))
    with pytest.raises(BackendError, match=r"GPUGUIDE_PRIMESIEVE should name .*no_library\.so.* Unset it"):
        primes_cpu.primesieve()


def test_an_empty_variable_names_no_library(looked_for: pytest.MonkeyPatch) -> None:
    """As make sets it where nothing was brought along."""
    looked_for.setenv("GPUGUIDE_PRIMESIEVE", "")
    looked_for.setattr(primes_cpu, "find_library", lambda name: None)
    assert primes_cpu.primesieve() is None
    assert primes_cpu.version() == ""


GPU_LIMITS = (
    *LIMITS,
    *(2 * kernels.SEGMENT + offset for offset in (-1, 0, 1)),
    997**2,
    997**2 + 1,
    10**6,
    10**6 + 3,
    10**7 + 19,
)


@pytest.mark.gpu
@pytest.mark.parametrize("launcher", LAUNCHERS, ids=lambda call: call.__name__)
def test_launchers_are_right_on_the_current_stream_of_a_gpu(launcher: Callable[..., None]) -> None:
    import cupy as cp

    gpu = current().machine.gpu
    assert gpu is not None
    for limit in GPU_LIMITS:
        if limit > 20_000 and launcher in LAUNCHERS[:2]:
            continue
        right = primes_bits.primes_reference(limit)
        with gpu.use():
            out = cp.full(right.shape, 0xDEADBEEF, cp.uint32)
            launcher(limit, out)
            assert bool((out == cp.asarray(right)).all()), limit


@pytest.mark.gpu
def test_the_reference_is_the_same_on_the_gpu() -> None:
    import cupy as cp

    for limit in (0, 1, 2, 3, 64, 65, 66, 10**6 + 3):
        on_host, on_gpu = (primes_bits.primes_reference(limit, xp) for xp in (np, cp))
        assert bool((on_gpu.get() == on_host).all())


@pytest.mark.gpu
@pytest.mark.slow
def test_a_billion_numbers_are_sieved_right() -> None:
    names = ["sieve_global", "sieve_shared", "segmented", "with_copy", "cpu_sieve"]
    report = primes.study().check_all((10**8, 10**9, 2**30), variants=names)
    assert len(report) == 3 * 2 * len(names)
