"""The segmented sieve in CUDA C++: emulated bit for bit, its plan, its checks."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import isqrt
from pathlib import Path

import numpy as np
import pytest
from spoiled import host_variant

from compile_lane import needs_compilers, raw_facts
from gpuguide.errors import MismatchError
from gpuguide.machine.device import EXAMPLE_DEVICE
from gpuguide.measure.session import current
from gpuguide.topics.primes.reference import small_primes
from gpuguide.topics.segmented_sieve import kernels
from gpuguide.topics.segmented_sieve import study as sieves
from kernel_emulator import needs_host_compiler
from warp_emulator import EmulatedKernel

SHARED_BYTES = EXAMPLE_DEVICE.shared_bytes_per_block_optin
LIMITS = (2, 3, 4, 5, 9, 10, 13, 17, 25, 26, 29, 30, 63, 64, 65, 66, 127, 128, 129, 841, 842, 961, 962)


PARAMETERS = "int limit, int root, int odds_per_block, int segment, unsigned* out"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> EmulatedKernel:
    folder = tmp_path_factory.mktemp("segmented")
    return EmulatedKernel(kernels.SOURCE, "segmented", PARAMETERS, folder)


def wrong_words(
    kernel: EmulatedKernel, limit: int, sm_count: int, shared_bytes: int, threads: int = 64
) -> list[int]:
    """Sieve, and say which words are wrong: of the answer, or written beyond its end."""
    guard = np.full(64, 0xDEADBEEF, np.uint32)
    right = np.concatenate([sieves.primes_in_words(limit), guard])
    out = np.full(right.size, 0xDEADBEEF, np.uint32)
    out[sieves.n_words(limit)] = 0  # as the launcher's memset leaves it
    blocks, odds_per_block, segment = kernels.segment_plan(limit, sm_count, shared_bytes)
    sizes = map(np.int32, (limit, isqrt(limit - 1), odds_per_block, segment))
    kernel(blocks, threads, *sizes, out)
    return np.flatnonzero(out != right).tolist()


def shared_for(segment: int) -> int:
    return kernels.TABLE_BYTES + kernels.STATIC_BYTES + segment


@needs_host_compiler()
def test_small_limits_are_right(kernel: EmulatedKernel) -> None:
    for limit in LIMITS:
        assert wrong_words(kernel, limit, 4, SHARED_BYTES) == [], limit


@needs_host_compiler()
@pytest.mark.parametrize("odds", [1024, 16 * 1024, 48 * 1024])
@pytest.mark.parametrize("offset", [-1, 0, 1, 3, 66])
def test_ends_of_segments_and_of_blocks_are_right(kernel: EmulatedKernel, odds: int, offset: int) -> None:
    assert wrong_words(kernel, 2 * odds + offset, 2, shared_for(16 * 1024)) == []


@needs_host_compiler()
@pytest.mark.parametrize("limit", [997**2, 997**2 + 1, 2**20 + 1, 1_194_649])
@pytest.mark.parametrize(("sm_count", "segment"), [(20, 200_000), (1, 16_384)])
def test_squares_primes_and_long_steps_are_right(
    kernel: EmulatedKernel, limit: int, sm_count: int, segment: int
) -> None:
    """Below 1 048 576 no base prime has a lane of its own; above, some have."""
    assert wrong_words(kernel, limit, sm_count, shared_for(segment), threads=256) == []


@needs_host_compiler()
def test_the_shape_of_the_real_launch_is_right(kernel: EmulatedKernel) -> None:
    """With all threads of a block, several segments a block, and base primes up to 2**13."""
    threads = sieves.BLOCK
    assert wrong_words(kernel, 2**26 + 12_345, 66, SHARED_BYTES, threads) == []


@needs_host_compiler()
@pytest.mark.parametrize("stretch", [24, 36])
def test_lanes_at_other_distances_find_the_same(tmp_path: Path, stretch: int) -> None:
    source = f"#define STRETCH {stretch}\n{kernels.SOURCE}"
    kernel = EmulatedKernel(source, "segmented", PARAMETERS, tmp_path)
    for limit in (1000, 2 * 16 * 1024 + 3, 997**2 + 1, 2**20 + 1):
        assert wrong_words(kernel, limit, 3, shared_for(16_384), threads=256) == []


@needs_compilers()
@pytest.mark.parametrize("stretch", [12, 24, 36])
def test_the_kernel_compiles_for_full_blocks(stretch: int) -> None:
    facts = raw_facts(f"#define STRETCH {stretch}\n{kernels.SOURCE}", "segmented")
    assert facts.spills == 0
    assert facts.registers <= 64, "so that a block can have 1024 threads"
    assert facts.shared_bytes <= kernels.STATIC_BYTES
    assert facts.count("st.shared.u8") >= 8 + 2 * stretch // 3, "both kinds of steps are unrolled"
    assert facts.count("atom.shared.or") == 0


@needs_compilers()
def test_the_tables_have_the_size_that_the_launcher_allows_for() -> None:
    source = kernels.SOURCE + (
        f"static_assert(sizeof(Tables) == {kernels.TABLE_BYTES});"
        f"static_assert(MAX_PRIMES >= {n_base_primes(2**15)} + 32);"
    )
    assert raw_facts(source, "segmented").registers


def n_base_primes(root: int) -> int:
    """Primes from 29 to a root."""
    return small_primes(root + 1).size - 9


@pytest.mark.parametrize("limit", [2, 1000, 10**7, 2**30])
@pytest.mark.parametrize("sm_count", [1, 46, 132])
@pytest.mark.parametrize("shared_bytes", [64 * 1024, SHARED_BYTES])
def test_plans_cover_all_numbers_and_fit(limit: int, sm_count: int, shared_bytes: int) -> None:
    blocks, odds_per_block, segment = kernels.segment_plan(limit, sm_count, shared_bytes)
    assert 1 <= blocks <= sm_count
    assert (blocks - 1) * odds_per_block < limit // 2 <= blocks * odds_per_block
    assert odds_per_block % 1024 == segment % 1024 == 0
    assert kernels.TABLE_BYTES + kernels.STATIC_BYTES + segment <= shared_bytes
    assert (isqrt(limit - 1) + 1) // 2 <= max(segment, 1024), "the base primes are found in a segment"
    if odds_per_block > segment:
        assert segment > isqrt(limit - 1) // 2, "a prime must not be crossed off in a later segment"


# The answer and its checks ----------------------------------------------------------------------------------


def by_trial(limit: int) -> list[int]:
    """Another way than all those that are tested."""
    return [n for n in range(2, limit) if all(n % d for d in range(2, isqrt(n) + 1))]


def test_the_reference_has_a_bit_for_each_odd_prime() -> None:
    for limit in (0, 1, *LIMITS):
        words = sieves.primes_in_words(limit)
        bits = np.unpackbits(words[:-1].view(np.uint8), bitorder="little")
        assert (2 * np.flatnonzero(bits) + 1).tolist() == by_trial(limit)[1:]
        assert words[-1] == len(by_trial(limit))


@pytest.mark.parametrize(
    ("word", "bit", "problem"), [(-1, 0, "there are 25"), (1, 0, "65 prime"), (1, 16, "97 not prime")]
)
def test_a_mismatch_names_the_number(word: int, bit: int, problem: str) -> None:
    out = sieves.primes_in_words(100)
    out[word] ^= np.uint32(1 << bit)
    with pytest.raises(MismatchError, match=problem):
        sieves.WordsCheck().compare(out, 100)


@pytest.mark.parametrize("limit", [2, 841, 842, 1000, 10**5])
def test_marks_are_counted(limit: int) -> None:
    """Odd multiples from 5 times a prime on, without those of 3."""
    steps = [p for p in by_trial(isqrt(limit - 1) + 1) if p > 23]
    assert sieves.marks(limit) == sum(k % 3 > 0 for p in steps for k in range(5, (limit - 1) // p + 1, 2))


@pytest.mark.parametrize("wrong", [-1, 1, None])
def test_a_count_that_is_off_or_that_nobody_wrote_is_rejected(wrong: int | None) -> None:
    def count(limit: int, out: np.ndarray) -> None:
        if wrong is not None:
            out[0] = len(by_trial(limit)) + wrong

    study = replace(sieves.count, variants=(host_variant(count),), baseline="")
    with pytest.raises(MismatchError, match="there are 16"):
        study.check_all([1000])


@pytest.mark.gpu
@pytest.mark.parametrize("stretch", [12, 24, 36])
def test_the_sieve_is_right_on_the_current_stream_of_a_gpu(stretch: int) -> None:
    import cupy as cp

    gpu = current().machine.gpu
    assert gpu is not None
    launch: Callable[..., None] = partial(sieves.primes_segmented, stretch=stretch)
    for limit in (0, 1, *LIMITS, 997**2, 997**2 + 1, 10**6, 10**6 + 3, 10**7 + 19):
        right = sieves.primes_in_words(limit)
        with gpu.use():
            out = cp.full(right.shape, 0xDEADBEEF, cp.uint32)
            launch(limit, out)
            assert bool((out == cp.asarray(right)).all()), limit
