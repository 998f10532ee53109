"""Where the time goes when every number has a launch of its own: launch, work, copy back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import cupy
from gpuguide.machine.device import require_gpu
from gpuguide.measure.clocks import SystemClock
from gpuguide.measure.session import current
from gpuguide.measure.turns import whole_turns
from gpuguide.topics.primes.kernels import launch_per_number

PARTS = ("launch", "work", "copy back")
NUMBERS = range(2, 10_000, 41)
"""Numbers that stand for all below 10 000: even and odd ones, small and large."""


def time_launch_per_number(
    numbers: Sequence[int] = NUMBERS, n_turns: int = 7
) -> dict[str, tuple[float, ...]]:
    """Time the test of some numbers, one launch each, as a whole and in parts, in turns.

    Examples
    --------
    >>> try:
    ...     time_launch_per_number(())
    ... except ArgumentError as error:
    ...     print(error)
    time_launch_per_number expects at least one number and one turn; got 0 and 7.
    """
    if not numbers or n_turns < 1:
        raise ArgumentError(
            "time_launch_per_number expects at least one number and one turn; "
            f"got {len(numbers)} and {n_turns}."
        )
    gpu = current().machine.gpu
    if gpu is None:
        require_gpu()
    assert gpu is not None
    clock, result = SystemClock(), cupy().empty(1, np.bool_)

    def turn() -> dict[str, float]:
        begin = clock.now_ns()
        for number in numbers:
            # Without a clock between the steps, so that the whole holds nothing else.
            check_alone(number, result, gpu.synchronize, lambda: None)
        spent_ns = [clock.now_ns() - begin]
        spent_ns += np.sum(
            [_parts_ns(number, result, gpu.synchronize) for number in numbers], axis=0
        ).tolist()
        return {
            name: ns / len(numbers) / 1e9
            for name, ns in zip(("whole", *PARTS), spent_ns, strict=True)
        }

    with gpu.use():
        return {name: tuple(taken) for name, taken in whole_turns(turn, n_turns).items()}


def check_alone(
    number: int, result: Any, synchronize: Callable[[], None], mark: Callable[[], Any]
) -> bool:
    """Test one number as `primes_launch_per_number` does, and call `mark` before and after each part."""
    mark()
    launch_per_number[1, 1](number, result)
    mark()
    synchronize()
    mark()
    is_prime = bool(result.get()[0])
    mark()
    return is_prime


def _parts_ns(number: int, result: Any, synchronize: Callable[[], None]) -> list[int]:
    clock, marks = SystemClock(), []
    check_alone(number, result, synchronize, lambda: marks.append(clock.now_ns()))
    return [stop - start for start, stop in pairwise(marks)]
