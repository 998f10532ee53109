"""Kepler's equation as a ufunc: where a planet stands, with much arithmetic for each byte."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine import launch
from gpuguide.machine.backends import array_module, current_stream
from gpuguide.machine.device import DeviceInfo
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import (
    cpu_variant,
    end_to_end_variant,
    kernel_variant,
    streaming_traffic,
)
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.topics.ufuncs.functions import STEPS, anomaly, anomaly_in_four
from gpuguide.topics.ufuncs.kernels_cpu import THREADS, anomaly_cpu_loop
from gpuguide.topics.ufuncs.study import gpu_ufunc

MOST_ECCENTRIC = 0.8
SIZES = (32**3, 128**3)

# By the number of steps, per element: read off the machine code that ptxas 13.0 makes for compute
# capability 9.0, along the way that most threads take (angles far below 105 615, ordinary divisors). What
# it leaves out is the side path of the division: a thread whose planet is solved already divides zero,
# which takes more instructions, and the rest of its warp waits. The page counts in how many steps.
INSTRUCTIONS = {STEPS: 523, STEPS // 2: 285}
# Of these the additions and products, and twice the multiply-adds, in float32.
OPERATIONS = {STEPS: 393, STEPS // 2: 197}


def instructions(n: int, steps: int = STEPS) -> int:
    """Count the machine instructions of a launch, one thread per element, without the side path.

    >>> instructions(1), instructions(1, 4)
    (523, 285)
    """
    return n * INSTRUCTIONS[steps]


def issued_at_most(device: DeviceInfo) -> float:
    """Return how many instructions of threads a GPU can issue per second.

    Each of the four schedulers of a multiprocessor issues one per cycle, for the 32 threads of a warp.
    """
    return 4 * 32 * device.sm_count * device.sm_clock_hz


def anomaly_reference(mean: np.ndarray, eccentricity: np.ndarray) -> np.ndarray:
    """Solve Kepler's equation by bisection: slow and sure.

    >>> float(anomaly_reference(np.array([3.0]), np.array([0.0]))[0])
    3.0
    """
    mean, eccentricity = (np.asarray(x, np.float64) for x in (mean, eccentricity))
    low, high = mean.copy(), mean + eccentricity
    # More halvings than float64 has binary places.
    for _ in range(60):
        middle = (low + high) / 2
        too_high = middle - eccentricity * np.sin(middle) > mean
        high, low = np.where(too_high, middle, high), np.where(too_high, low, middle)
    return (low + high) / 2


class KeplerCheck:
    """Put back into Kepler's equation, the result is off by rounding alone.

    The equation is ``anomaly - eccentricity * sin(anomaly) = mean``. What is missing, divided by the
    slope, is how far the result lies from the solution; the slope is at least 0.2 here.

    >>> check = KeplerCheck()
    >>> mean, eccentricity = np.array([1.0]), np.array([0.5])
    >>> right = anomaly_reference(mean, eccentricity)
    >>> largest, tolerance = check.compare(right, check.prepare((mean, eccentricity)))
    >>> largest <= tolerance
    True
    """

    def prepare(self, inputs: tuple[Any, ...]) -> Any:
        """Return the inputs."""
        return inputs

    def compare(self, output: Any, prepared: Any) -> tuple[float, float]:
        """Put the result into the equation, in float64."""
        xp = array_module(output)
        anomaly, mean, eccentricity = (x.astype("float64") for x in (output, *prepared))
        missing = anomaly - eccentricity * xp.sin(anomaly) - mean
        slope = 1 - eccentricity * xp.cos(anomaly)
        distances = xp.abs(missing) / slope
        largest = float(distances.max()) if distances.size else 0.0
        if not math.isfinite(largest):
            raise MismatchError("An element of the result is no finite number.")
        # The equation is met to within rounding; the smallest slope says how far off that may be.
        return largest, 4 * float(np.finfo(np.float32).eps) / (1 - MOST_ECCENTRIC)


def anomaly_numpy(mean: np.ndarray, eccentricity: np.ndarray) -> np.ndarray:
    """Solve with NumPy on one thread: each operator works through whole arrays."""
    angle: np.ndarray = mean + eccentricity
    for _ in range(STEPS):
        missing = angle - eccentricity * np.sin(angle) - mean
        angle = angle - missing / (1 - eccentricity * np.cos(angle))
    return angle


def anomaly_ufunc(mean: Any, eccentricity: Any, out: Any) -> None:
    """Solve with the GPU's ufunc on arrays that lie on the GPU."""
    if launch.check(mean=mean, eccentricity=eccentricity, out=out, ndim=1, dtype="float32"):
        gpu_ufunc(anomaly)(mean, eccentricity, out=out, stream=current_stream())


def anomaly_four_steps(mean: Any, eccentricity: Any, out: Any) -> None:
    """Solve with a ufunc that takes half as many steps."""
    if launch.check(mean=mean, eccentricity=eccentricity, out=out, ndim=1, dtype="float32"):
        gpu_ufunc(anomaly_in_four)(mean, eccentricity, out=out, stream=current_stream())


def anomaly_from_numpy(mean_host: np.ndarray, eccentricity_host: np.ndarray) -> np.ndarray:
    """Solve with the GPU's ufunc on NumPy arrays: it copies them there, and the result back."""
    result: np.ndarray = gpu_ufunc(anomaly)(mean_host, eccentricity_host)
    return result


def anomaly_from_pinned(
    mean_host: np.ndarray, eccentricity_host: np.ndarray, out_host: np.ndarray
) -> None:
    """Do the same between arrays in pinned memory, which the GPU copies by itself."""
    gpu_ufunc(anomaly)(mean_host, eccentricity_host, out=out_host, stream=current_stream())


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of two CPU versions with the GPU ufunc, with and without copies."""
    eight, four = (
        streaming_traffic(reads=2, writes=1, flops=OPERATIONS[steps])
        for steps in (STEPS, STEPS // 2)
    )
    return Study(
        name="kepler",
        title="Kepler's equation",
        variants=(
            cpu_variant("numpy", anomaly_numpy, "NumPy, one thread", allocates=True),
            cpu_variant("cpu_loop", anomaly_cpu_loop, "CPU loop, all threads", THREADS),
            end_to_end_variant(
                "from_numpy", anomaly_from_numpy, "GPU ufunc, pageable copies", allocates=True
            ),
            end_to_end_variant(
                "from_pinned", anomaly_from_pinned, "GPU ufunc, pinned copies", arrays="pinned"
            ),
            kernel_variant(
                "eight_steps",
                anomaly_ufunc,
                "eight steps",
                traffic=eight,
                simulatable=False,
                work={"instructions": instructions},
                work_ceilings={"instructions": issued_at_most},
            ),
            kernel_variant(
                "four_steps",
                anomaly_four_steps,
                "four steps",
                traffic=four,
                simulatable=False,
                work={"instructions": partial(instructions, steps=STEPS // 2)},
                work_ceilings={"instructions": issued_at_most},
            ),
        ),
        sizes=SIZES,
        inputs=_inputs,
        check=KeplerCheck(),
        input_note="uniform random orbits; circles and whole numbers for the exact check",
        baseline="cpu_loop",
        kernels=kernels,
    )


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    if exact:  # on a circle the result is the input
        return whole_numbers(rng, n, 4, dtype), np.zeros(n, dtype)
    half_turn = dtype.type(math.pi)
    return uniform(rng, n, dtype) * half_turn, uniform(rng, n, dtype) * dtype.type(
        MOST_ECCENTRIC
    )
