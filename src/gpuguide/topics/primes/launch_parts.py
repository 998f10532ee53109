"""Where the time goes when every number has a launch of its own: launch, work, copy back."""

from itertools import pairwise

import numpy as np

from gpuguide.measure import cp
from gpuguide.measure.clocks import SystemClock
from gpuguide.measure.turns import gpu_clock, whole_turns
from gpuguide.topics.primes.kernels import launch_per_number

PARTS = ("launch", "work", "copy back")
# They stand for all below 10 000: even and odd ones, small and large.
NUMBERS = range(2, 10_000, 41)


def time_launch_per_number(numbers=NUMBERS, n_turns=7):
    """Time the test of some numbers, one launch each, as a whole and in parts, in turns."""
    gpu, clock = gpu_clock(), SystemClock()
    result = cp.empty(1, np.bool_)

    def parts_ns(number):
        marks = []
        check_alone(number, result, gpu.synchronize, lambda: marks.append(clock.now_ns()))
        return [stop - start for start, stop in pairwise(marks)]

    def turn():
        begin = clock.now_ns()
        for number in numbers:
            # Without a clock between the steps, so that the whole holds nothing else.
            check_alone(number, result, gpu.synchronize, lambda: None)
        spent_ns = [clock.now_ns() - begin]
        spent_ns += np.sum([parts_ns(number) for number in numbers], axis=0).tolist()
        return {
            name: ns / len(numbers) / 1e9
            for name, ns in zip(("whole", *PARTS), spent_ns, strict=True)
        }

    with gpu.use():
        return {name: tuple(taken) for name, taken in whole_turns(turn, n_turns).items()}


def check_alone(number, result, synchronize, mark):
    """Test one number as the study does, and call `mark` before and after each part."""
    mark()
    launch_per_number[1, 1](number, result)
    mark()
    synchronize()
    mark()
    is_prime = bool(result.get()[0])
    mark()
    return is_prime
