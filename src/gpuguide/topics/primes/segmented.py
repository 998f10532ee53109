"""Launches the fastest sieve of the guide, `kernels_segmented`: shares the numbers out, sizes segments."""

from __future__ import annotations

from functools import lru_cache
from math import isqrt
from typing import Any

import numpy as np

from gpuguide.machine.backends import cupy
from gpuguide.machine.device import current
from gpuguide.topics.primes.bits import checked_limit, n_words
from gpuguide.topics.primes.kernels_segmented import (
    segmented_kernel,
)

THREADS_PER_BLOCK = 1024
GRANULE = 1024
"""Odd numbers that a block's share and a segment are multiples of: a warp packs as many at a time."""

# The size of Tables in `kernels_segmented`, and room for its other shared variables; tests compare both.
TABLE_BYTES = 28_480
STATIC_BYTES = 256


def segment_plan(limit: int, sm_count: int, shared_bytes: int) -> tuple[int, int, int]:
    """Share the odd numbers out among one block a multiprocessor, and cut the shares.

    >>> segment_plan(10**9, sm_count=132, shared_bytes=227 * 1024)
    (132, 3788800, 199680)
    >>> segment_plan(10**6, sm_count=132, shared_bytes=227 * 1024)
    (123, 4096, 4096)
    """
    n_odds = limit // 2
    odds_per_block = round_up(-(-n_odds // sm_count))
    room = (shared_bytes - TABLE_BYTES - STATIC_BYTES) // GRANULE * GRANULE
    n_segments = -(-odds_per_block // room)
    return (
        -(-n_odds // odds_per_block),
        odds_per_block,
        round_up(-(-odds_per_block // n_segments)),
    )


def round_up(n: int) -> int:
    """Round up to whole granules."""
    return -(-n // GRANULE) * GRANULE


def primes_segmented(limit: int, out: Any) -> None:
    """Sieve segments in shared memory, a block on each multiprocessor, and count them."""
    checked_limit(limit, out)
    # The blocks add to the last word, the number of primes.
    (out.data + 4 * n_words(limit)).memset_async(0, 4)
    if limit < 2:
        return
    blocks_per_grid, odds_per_block, segment = segment_plan(limit, *sm_count_and_shared_bytes())
    sizes = (limit, isqrt(limit - 1), odds_per_block, segment)
    segmented_kernel()(
        (blocks_per_grid,),
        (THREADS_PER_BLOCK,),
        (*map(np.int32, sizes), out),
        shared_bytes=TABLE_BYTES + segment,
    )


def sm_count_and_shared_bytes() -> tuple[int, int]:
    """Count the multiprocessors of the GPU in use, and the shared bytes that a block can have."""
    return _of_device(int(cupy().cuda.runtime.getDevice()))


# Asked at each launch, so the driver's answer is kept.
@lru_cache(maxsize=16)
def _of_device(device_id: int) -> tuple[int, int]:
    info = current()
    return info.sm_count, info.shared_bytes_per_block_optin
