"""Primes: the reference and its check, the host's ways, kernels on short segments, and the counts."""

from collections.abc import Callable
from itertools import takewhile
from math import isqrt

import numpy as np
import pytest

from compile_lane import needs_compilers, numba_facts
from gpuguide.errors import MismatchError
from gpuguide.machine.backends import numba_view
from gpuguide.measure.session import current
from gpuguide.topics.primes import counts, kernels, kernels_cpu, reference
from gpuguide.topics.primes import study as primes

# None, few, whole segments, primes and their neighbours, squares of primes.
LIMITS = (0, 1, 2, 3, 4, 5, 9, 10, 25, 26, 63, 64, 65, 255, 256, 257, 258, 259, 513, 514, 961, 962, 1370)
HOST = (primes.python, primes.numpy_sieve, primes.cpu_sieve)
KERNELS = (
    "thread_per_number",
    "odd_numbers",
    "to_square_root",
    "in_32_bits",
    "sieve_global",
    "sieve_shared",
)


def by_trial(limit: int) -> list[int]:
    """Another way than all those that are tested."""
    return [n for n in range(2, limit) if all(n % d for d in range(2, isqrt(n) + 1))]


def right(limit: int, name: str = "") -> np.ndarray:
    odd = reference.primes_reference(limit)
    return (reference.all_numbers(odd, limit) if name == "thread_per_number" else odd).view(np.uint8)


def answer(call: Callable[[int, np.ndarray], None], limit: int) -> np.ndarray:
    out = np.full(limit // 2, 0xA5, np.uint8)
    call(limit, out.view(bool))
    return out


def test_the_reference_knows_the_primes() -> None:
    for limit in LIMITS:
        odd = reference.primes_reference(limit)
        assert odd.shape == (limit // 2,)
        assert np.flatnonzero(reference.all_numbers(odd, limit)).tolist() == by_trial(limit)


@pytest.mark.parametrize("call", HOST, ids=lambda call: call.__name__)
def test_the_host_s_ways_are_right(call: Callable[..., None]) -> None:
    for limit in LIMITS:
        assert (answer(call, limit) == right(limit)).all(), limit


@pytest.mark.parametrize("offset", [-1, 0, 1, 2])
def test_the_cpu_sieve_is_right_at_the_ends_of_its_segments(offset: int) -> None:
    limit = 4 * kernels_cpu.SEGMENT + offset
    assert limit > primes.ALONE_BELOW
    assert (answer(primes.cpu_sieve, limit) == right(limit)).all()


_SIMULATED = """
import numpy as np
from gpuguide.topics.primes import kernels, reference, study as primes
small = {"SEGMENT": 128, "SHORT": 3, "DIVIDING_THREADS": 32, "SIEVING_THREADS": 32, "BLOCKS_PER_STEP": 2}
for name, value in small.items():
    homes = [module for module in (kernels, primes) if hasattr(module, name)]
    assert homes
    for home in homes:
        setattr(home, name, value)
for limit in (0, 2, 3, 26, 255, 256, 257, 258, 514, 1370):
    odd = reference.primes_reference(limit)
    for name in [variant.name for variant in primes.primes.variants if variant.clock == "device"]:
        right = reference.all_numbers(odd, limit) if name == "thread_per_number" else odd
        out = np.full(right.size, 0xA5, np.uint8)
        primes.primes.variant(name).on(limit, (limit, out.view(bool)))()
        assert (out == right.view(np.uint8)).all(), (name, limit)
print(sorted({result.variant for result in primes.primes.check_all((0, 2, 300))}))
"""


def test_kernels_and_the_study_are_right_in_the_simulator(fresh_python: Callable[..., str]) -> None:
    """Segments of 128 odd numbers, so that their ends are met; the simulator is slow."""
    names = sorted([*KERNELS, "python", "numpy_sieve", "cpu_sieve"])
    assert fresh_python(_SIMULATED, timeout=300, NUMBA_ENABLE_CUDASIM="1") == f"{names}\n"


@pytest.mark.parametrize(("number", "kind"), [(1, "prime"), (9, "prime"), (97, "not prime")])
def test_a_mismatch_names_the_number(number: int, kind: str) -> None:
    odd = reference.primes_reference(100)
    for out, place in ((odd.copy(), number // 2), (reference.all_numbers(odd, 100), number)):
        out[place] ^= True
        with pytest.raises(MismatchError, match=f"calls {number} {kind}, which is wrong"):
            reference.PrimesCheck().compare(out, 100)


def test_a_byte_that_was_not_written_is_not_taken_for_true() -> None:
    out = reference.primes_reference(100).view(np.uint8).copy()
    out[1] = 0xA5
    with pytest.raises(MismatchError, match="calls 3 neither prime nor not prime"):
        reference.PrimesCheck().compare(out.view(bool), 100)


@needs_compilers()
@pytest.mark.parametrize(
    ("name", "rem_s64"),
    [("thread_per_number", 1), ("odd_numbers", 1), ("to_square_root", 1), ("in_32_bits", 0)],
)
def test_trial_division_compiles(name: str, rem_s64: int) -> None:
    """One division a step, in 32 bits where both numbers fit: in 64 bits that is tested each time."""
    from numba import boolean

    facts = numba_facts(getattr(kernels, name), (boolean[::1],))
    assert facts.spills == 0
    assert facts.registers <= 32
    assert (facts.count("rem.s64"), facts.count("rem.u32"), facts.count("rem")) == (rem_s64, 1, rem_s64 + 1)


@needs_compilers()
def test_the_while_loop_leaves_out_what_the_text_says() -> None:
    """Beside the division, the loop over a range compares and selects about twice as often."""
    from numba import boolean

    steps = {}
    for name in ("odd_numbers", "to_square_root"):
        facts = numba_facts(getattr(kernels, name), (boolean[::1],))
        loop = facts.ptx[facts.ptx.index("$L__BB0_2:") : facts.ptx.index("st.global")]
        steps[name] = loop.count("setp.") + loop.count("selp.")
    assert steps["odd_numbers"] >= 1.8 * steps["to_square_root"]


# Counts -----------------------------------------------------------------------------------------------------


def tried(number: int, divisors: range) -> int:
    """Divide as a thread does, and count."""
    no = list(takewhile(lambda j: number % j, divisors))
    return min(len(no) + 1, len(divisors))


@pytest.mark.parametrize("limit", [0, 1, 3, 26, 1000])
def test_the_divisions_of_each_thread_are_counted(limit: int) -> None:
    odd = range(1, limit, 2)
    assert counts.turns_thread_per_number(limit).tolist() == [
        tried(number, range(2, number // 2 + 1)) for number in range(limit)
    ]
    assert counts.turns_odd_numbers(limit).tolist() == [
        tried(number, range(3, number // 2 + 1, 2)) for number in odd
    ]
    assert counts.turns_to_square_root(limit).tolist() == [
        tried(number, range(3, isqrt(number) + 1, 2)) for number in odd
    ]


@pytest.mark.parametrize("limit", [0, 1, 9, 10, 26, 1000, 10**5])
def test_marks_are_counted(limit: int) -> None:
    steps = [p for p in by_trial(isqrt(max(limit - 1, 0)) + 1) if p > 2]
    assert counts.marks(limit) == sum(len(range(p * p, limit, 2 * p)) for p in steps)


GPU_LIMITS = (*LIMITS, *(2 * kernels.SEGMENT + k for k in (-1, 0, 1, 2)), 997**2, 997**2 + 1, 10**7 + 19)


@pytest.mark.gpu
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_right_on_the_current_stream_of_a_gpu(name: str) -> None:
    import cupy as cp

    gpu = current().machine.gpu
    assert gpu is not None
    for limit in GPU_LIMITS:
        if limit > 200_000 and name in KERNELS[:2]:
            continue
        expected = right(limit, name)
        with gpu.use():
            out = cp.full(expected.shape, 0xA5, cp.uint8)
            primes.primes.variant(name).on(limit, (limit, numba_view(out.view(bool))))()
            assert bool((out == cp.asarray(expected)).all()), limit


@pytest.mark.gpu
def test_the_reference_is_the_same_on_the_gpu() -> None:
    import cupy as cp

    for limit in (0, 1, 2, 3, 64, 65, 66, 10**6 + 3):
        on_host, on_gpu = (reference.primes_reference(limit, xp) for xp in (np, cp))
        assert bool((on_gpu.get() == on_host).all())
