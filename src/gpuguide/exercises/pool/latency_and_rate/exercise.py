"""Two numbers that describe how long copies take: their latency, and the rate at which bytes cross."""

import numpy as np

from gpuguide.exercises.judging import is_number, near, require, seconds, shown
from gpuguide.exercises.model import Case, HostExercise, Mistake

CLOSE = 0.05
SIZES = [2**k for k in range(8, 34)]
NOISE = np.random.default_rng(26).uniform(-0.02, 0.02, len(SIZES))
# Noise for which neither the ends nor a few rows give the line, only the shares of all do.
ENDS_FAR_OFF = [0.09, *np.random.default_rng(1651).uniform(-0.04, 0.04, len(SIZES))[1:-1], -0.09]
# In words, seconds of latency, bytes per second, noise, sizes. Made up, and not round.
MACHINES = (
    ("a table without noise", 1.46e-5, 5e10, 0, [2**k for k in range(10, 31, 4)]),
    ("a short table", 2.47e-6, 4e9, 0, [1000, 1_000_000]),
    ("a noisy table", 9e-6, 5.5e10, NOISE, SIZES),
    ("a noisy table in no order", 4e-5, 1.2e10, NOISE, SIZES[::2] + SIZES[1::2]),
    ("a table whose ends are far off", 9e-6, 5.5e10, ENDS_FAR_OFF, SIZES),
    ("a noisy table from the largest size down", 4.6e-7, 4e11, NOISE, SIZES[::-1]),
)


def cases():
    for title, latency_s, rate, noise, sizes in MACHINES:
        times_s = ((latency_s + np.array(sizes) / rate) * (1 + np.array(noise))).tolist()
        rows = "; ".join(f"{n} bytes in {seconds(s)}" for n, s in zip(sizes[:3], times_s, strict=False))
        about = f"For {title}, {len(sizes)} rows, {rows}{'; ...' * (len(sizes) > 3)}"
        yield Case(about, ([*sizes], times_s), extra=(latency_s, rate))


def judge(case, result):
    true_s, true_rate = case.extra
    pair = isinstance(result, tuple | list | np.ndarray) and len(result) == 2 and all(map(is_number, result))
    require(pair, f"Two numbers were expected, latency and rate; got {shown(result)}.")
    latency_s, rate = map(float, result)
    swapped = near(latency_s, true_rate, CLOSE) and near(rate, true_s, CLOSE)
    require(not swapped, "The two numbers are swapped: the latency comes first.")
    message = f"The latency must be {seconds(true_s)} within 5 %; got {seconds(latency_s)}."
    require(near(latency_s, true_s, CLOSE), message)
    message = f"The rate must be {true_rate:.3g} bytes per second within 5 %; got {rate:.3g}"
    inverse = ", which is one divided by it" if near(rate, 1 / true_rate, CLOSE) else ""
    require(near(rate, true_rate, CLOSE), f"{message}{inverse}.")


EXERCISE = HostExercise(
    name="latency_and_rate",
    title="Latency and rate from a table",
    level="beginner",
    minutes=15,
    teaches="A line fitted to shares, and not to seconds, finds the latency of copies as well as their rate.",
    pages=("transfers", "slicing", "overlap"),
    tags=("measuring", "copies", "latency", "bandwidth"),
    cases=cases,
    judge=judge,
)

MISTAKES = (
    Mistake(", w=1 / times", "", "wrong"),
    Mistake("w=1 / times", "w=times", "wrong"),
    Mistake("w=1 / times", "w=1 / times**2", "wrong"),
    Mistake("w=1 / times", "w=1 / np.sqrt(times)", "wrong"),
    Mistake("float(1 / slope)", "float(slope)", "wrong"),
    Mistake("float(latency_s), float(1 / slope)", "float(1 / slope), float(latency_s)", "wrong"),
    Mistake("slope, latency_s = np", "latency_s, slope = np", "wrong"),
    Mistake(
        "    times = np.array(times_s)",
        "    sizes.sort()\n    times_s.sort()\n    times = np.array(times_s)",
        "input_changed",
    ),
)
