"""Kepler's equation as a ufunc: where a planet stands, with much arithmetic for each byte."""

import math
from functools import partial

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import array_module
from gpuguide.measure import (
    Study,
    cpu,
    end_to_end,
    gpu,
    kernel,
    per_element,
    uniform,
    whole_numbers,
)
from gpuguide.topics.ufuncs.functions import STEPS, anomaly, anomaly_in_four
from gpuguide.topics.ufuncs.kernels import fastmath, sincos
from gpuguide.topics.ufuncs.kernels_cpu import (
    anomaly_cpu_loop,
    anomaly_numpy,
    anomaly_numpy_threads,
)
from gpuguide.topics.ufuncs.study import blocks_of, from_numpy, from_pinned, ufunc

MOST_ECCENTRIC = 0.8

# By the number of steps, per element: read off the machine code that ptxas 13.0 makes for compute
# capability 9.0, along the way that most threads take (angles far below 105 615, ordinary divisors). What
# it leaves out is the side path of the division: a thread whose planet is solved already divides zero,
# which takes more instructions, and the rest of its warp waits. The page counts in how many steps.
INSTRUCTIONS = {STEPS: 523, STEPS // 2: 285}
# Of these the additions and products, and twice the multiply-adds, in float32.
OPERATIONS = {STEPS: 393, STEPS // 2: 197}


def instructions(n, steps=STEPS):
    """Count the machine instructions of a launch, one thread per element, without the side path."""
    return n * INSTRUCTIONS[steps]


def issued_at_most(device):
    """Return how many instructions of threads a GPU can issue per second: one per scheduler and cycle."""
    # Four schedulers of a multiprocessor issue for the 32 threads of a warp each.
    return 4 * 32 * device.sm_count * device.sm_clock_hz


def counted(steps):
    """Return what a solution in so many steps moves and works out."""
    return {
        "traffic": per_element(reads=2, writes=1, flops=OPERATIONS[steps]),
        "work": {"instructions": partial(instructions, steps=steps)},
        "work_ceilings": {"instructions": issued_at_most},
    }


def anomaly_reference(mean, eccentricity):
    """Solve Kepler's equation by bisection: slow and sure."""
    mean, eccentricity = (np.asarray(x, np.float64) for x in (mean, eccentricity))
    low, high = mean.copy(), mean + eccentricity
    # More halvings than float64 has binary places.
    for _ in range(60):
        middle = (low + high) / 2
        too_high = middle - eccentricity * np.sin(middle) > mean
        high, low = np.where(too_high, middle, high), np.where(too_high, low, middle)
    return (low + high) / 2


class KeplerCheck:
    """Put back into Kepler's equation, the result is off by rounding alone."""

    times_rounding = 1

    def prepare(self, inputs):
        """Return the inputs."""
        return inputs

    def compare(self, output, prepared):
        """Put the result into the equation; what is missing, over the slope, is how far off it is."""
        xp = array_module(output)
        angle, mean, eccentricity = (x.astype("float64") for x in (output, *prepared))
        missing = angle - eccentricity * xp.sin(angle) - mean
        distances = xp.abs(missing) / (1 - eccentricity * xp.cos(angle))
        largest = float(distances.max()) if distances.size else 0.0
        if not math.isfinite(largest):
            raise MismatchError("An element of the result is no finite number.")
        # The equation is met to within rounding; the smallest slope says how far off that may be.
        rounding = 4 * float(np.finfo(np.float32).eps) / (1 - MOST_ECCENTRIC)
        return largest, self.times_rounding * rounding


class QuickCheck(KeplerCheck):
    """As `KeplerCheck`, with room for the error of a quick sine."""

    # The GPU's quick sine is off by up to 2**-20.5, which is six roundings.
    times_rounding = 4


def orbits(n, dtype, rng, exact):
    if exact:  # on a circle the result is the input
        return whole_numbers(rng, n, 4, dtype), np.zeros(n, dtype)
    half_turn, most = dtype.type(math.pi), dtype.type(MOST_ECCENTRIC)
    return uniform(rng, n, dtype) * half_turn, uniform(rng, n, dtype) * most


def solved(function, label, **options):
    """Return a variant that solves with a ufunc on arrays that lie on the GPU."""
    return gpu(partial(ufunc, function), label, arrays="numba", **options)


def planets():
    """Return what both studies share."""
    return {
        "inputs": orbits,
        "input_note": "uniform random orbits; circles and whole numbers for the exact check",
        "answer": anomaly_reference,
    }


MOVED = per_element(reads=2, writes=1)

kepler = Study(
    name="kepler",
    title="Kepler's equation",
    sizes=(32**3, 128**3),
    check=KeplerCheck(),
    baseline="numpy_threads",
    variants=(
        cpu(anomaly_numpy, "NumPy, one thread", name="numpy", allocates=True),
        cpu(anomaly_numpy_threads, "NumPy, all threads", "all", name="numpy_threads"),
        cpu(anomaly_cpu_loop, "CPU loop, all threads", "all", name="cpu_loop"),
        end_to_end(partial(from_numpy, anomaly), "GPU ufunc, pageable copies", allocates=True),
        end_to_end(partial(from_pinned, anomaly), "GPU ufunc, pinned copies", arrays="pinned"),
        solved(anomaly, "eight steps", name="eight_steps", **counted(STEPS)),
        solved(
            anomaly_in_four,
            "four steps",
            name="four_steps",
            note="Solve with a ufunc that takes half as many steps.",
            **counted(STEPS // 2),
        ),
        solved(
            sincos,
            "eight steps, sincos",
            name="sincos",
            note="Solve with a ufunc that works out sine and cosine together.",
            traffic=MOVED,
        ),
    ),
    **planets(),
)
quick = Study(
    name="quick",
    title="Kepler's equation with fastmath",
    sizes=(128**3,),
    check=QuickCheck(),
    variants=(kernel(fastmath, "eight steps, fastmath", blocks_of(256), traffic=MOVED),),
    **planets(),
)


def farthest(results, variant):
    """Return by how many millionths the random results of a variant are off at most."""
    off = [check.largest_difference for check in results.checks if check.variant == variant]
    return 1e6 * max(off)
