"""The segmented sieve in CUDA C++: emulated on the CPU bit for bit, its plan, and what the compiler says."""

from math import isqrt
from pathlib import Path

import numpy as np
import pytest

from compile_lane import needs_compilers, raw_facts
from gpuguide.machine.device import EXAMPLE_DEVICE
from gpuguide.topics.primes import bits as primes_bits
from gpuguide.topics.primes import kernels_segmented
from gpuguide.topics.primes import segmented as primes_segmented
from kernel_emulator import needs_host_compiler
from warp_emulator import EmulatedKernel

SHARED_BYTES = EXAMPLE_DEVICE.shared_bytes_per_block_optin
LIMITS = (2, 3, 4, 5, 9, 10, 13, 17, 25, 26, 29, 30, 63, 64, 65, 66, 127, 128, 129, 841, 842, 961, 962)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> EmulatedKernel:
    return EmulatedKernel(
        kernels_segmented.segmented_kernel().source,
        "segmented",
        "int limit, int root, int odds_per_block, int segment, unsigned* out",
        tmp_path_factory.mktemp("segmented"),
    )


def wrong_words(
    kernel: EmulatedKernel, limit: int, sm_count: int, shared_bytes: int, threads: int = 64
) -> list[int]:
    """Sieve, and say which words are wrong: of the answer, or written beyond its end."""
    guard = np.full(64, 0xDEADBEEF, np.uint32)
    right = np.concatenate([primes_bits.primes_reference(limit), guard])
    out = np.full(right.size, 0xDEADBEEF, np.uint32)
    out[primes_bits.n_words(limit)] = 0  # as the launcher's memset leaves it
    blocks, odds_per_block, segment = primes_segmented.segment_plan(limit, sm_count, shared_bytes)
    sizes = map(np.int32, (limit, isqrt(limit - 1), odds_per_block, segment))
    kernel(blocks, threads, *sizes, out)
    return np.flatnonzero(out != right).tolist()


def shared_for(segment: int) -> int:
    return primes_segmented.TABLE_BYTES + primes_segmented.STATIC_BYTES + segment


@needs_host_compiler()
@pytest.mark.parametrize("limit", LIMITS)
def test_small_limits_are_right(kernel: EmulatedKernel, limit: int) -> None:
    assert wrong_words(kernel, limit, 4, SHARED_BYTES) == []


@needs_host_compiler()
@pytest.mark.parametrize("odds", [1024, 2048, 16 * 1024, 32 * 1024, 48 * 1024])
@pytest.mark.parametrize("offset", [-3, -1, 0, 1, 2, 3, 66])
def test_ends_of_segments_and_of_blocks_are_right(kernel: EmulatedKernel, odds: int, offset: int) -> None:
    assert wrong_words(kernel, 2 * odds + offset, 2, shared_for(16 * 1024)) == []


@needs_host_compiler()
@pytest.mark.parametrize("limit", [997**2, 997**2 + 1, 10**6, 10**6 + 3, 1_048_574, 2**20 + 1, 1_194_649])
@pytest.mark.parametrize(("sm_count", "segment"), [(20, 200_000), (3, 65_536), (1, 16_384)])
def test_squares_primes_and_long_steps_are_right(
    kernel: EmulatedKernel, limit: int, sm_count: int, segment: int
) -> None:
    """Below 1 048 576 no base prime has a lane of its own; above, some have."""
    assert wrong_words(kernel, limit, sm_count, shared_for(segment), threads=256) == []


@needs_host_compiler()
def test_the_shape_of_the_real_launch_is_right(kernel: EmulatedKernel) -> None:
    """With all threads of a block, several segments a block, and base primes up to 2**13."""
    threads = primes_segmented.THREADS_PER_BLOCK
    assert wrong_words(kernel, 2**26 + 12_345, 66, SHARED_BYTES, threads) == []


@needs_host_compiler()
@pytest.mark.parametrize("place", range(3))
def test_the_emulator_sees_a_spoiled_kernel(tmp_path: Path, place: int) -> None:
    """A barrier that not all reach, a wheel without 23, and a step that begins one multiple late."""
    old, new = (
        ("__syncwarp();", "if (threadIdx.x % 32) __syncwarp();"),
        (" | multiples<23>(i)", ""),
        ("while (at > 0) at -= 3 * p;", "while (at > 3 * p) at -= 3 * p;"),
    )[place]
    source = kernels_segmented.segmented_kernel().source
    assert source.count(old) == 1
    parameters = "int limit, int root, int odds_per_block, int segment, unsigned* out"
    spoiled = EmulatedKernel(source.replace(old, new), "segmented", parameters, tmp_path)
    if place == 0:
        with pytest.raises(AssertionError, match="barrier"):
            wrong_words(spoiled, 10**5, 1, shared_for(16_384))
    else:
        assert wrong_words(spoiled, 10**5, 1, shared_for(16_384))


@needs_compilers()
def test_the_kernel_compiles_for_full_blocks() -> None:
    facts = raw_facts(kernels_segmented.segmented_kernel().source, "segmented")
    assert facts.spills == 0
    assert facts.registers <= 64, "so that a block can have 1024 threads"
    assert facts.shared_bytes <= primes_segmented.STATIC_BYTES
    assert facts.count("st.shared.u8") >= 16, "both kinds of steps are unrolled"
    assert facts.count("atom.shared.or") == 0


@needs_compilers()
def test_the_tables_have_the_size_that_the_launcher_allows_for() -> None:
    source = kernels_segmented.segmented_kernel().source + (
        f"static_assert(sizeof(Tables) == {primes_segmented.TABLE_BYTES});"
        f"static_assert(MAX_PRIMES >= {n_base_primes(2**15)} + 32);"
    )
    assert raw_facts(source, "segmented").registers


def n_base_primes(root: int) -> int:
    """Primes from 29 to a root."""
    return int(primes_bits.primes_reference(root + 1)[-1]) - 9


@pytest.mark.parametrize("limit", [2, 1000, 10**6, 10**7, 10**8, 10**9, 2**30])
@pytest.mark.parametrize("sm_count", [1, 46, 132])
@pytest.mark.parametrize("shared_bytes", [64 * 1024, 99 * 1024, 163 * 1024, SHARED_BYTES])
def test_plans_cover_all_numbers_and_fit(limit: int, sm_count: int, shared_bytes: int) -> None:
    blocks, odds_per_block, segment = primes_segmented.segment_plan(limit, sm_count, shared_bytes)
    assert 1 <= blocks <= sm_count
    assert (blocks - 1) * odds_per_block < limit // 2 <= blocks * odds_per_block
    assert odds_per_block % primes_segmented.GRANULE == segment % primes_segmented.GRANULE == 0
    assert primes_segmented.TABLE_BYTES + primes_segmented.STATIC_BYTES + segment <= shared_bytes
    assert (isqrt(limit - 1) + 1) // 2 <= max(segment, 1024), "the base primes are found in a segment"
    if odds_per_block > segment:
        assert segment > isqrt(limit - 1) // 2, "a prime must not be crossed off in a later segment"
