"""Where the time goes: each step from a photo to its table, with a wait after it; and slow sums."""

from functools import partial

import numpy as np
import scipy.ndimage

from gpuguide.errors import MismatchError
from gpuguide.measure import cp
from gpuguide.measure.clocks import SystemClock
from gpuguide.measure.turns import gpu_clock, whole_turns
from gpuguide.topics.image import study
from gpuguide.topics.image.photo import measure

N = 4096**2
STEPS = ("copy", "mask", "label", "measure", "back")


def unchanged(array):
    return array


def take_steps(photo, copy, find_bright, label, measure_all, back):
    """Go from a photo to its table; return how long each step took, and the table."""
    clock, wait, marks = SystemClock(), gpu_clock().synchronize, []

    def mark(result):
        wait()
        marks.append(clock.now_ns())
        return result

    image = mark(copy(mark(photo)))
    labels, n = mark(label(mark(find_bright(image))))
    table = mark(back(mark(measure_all(image, labels, n))))
    return dict(zip(STEPS, map(float, np.diff(marks) / 1e9), strict=True)), table


def time_steps(n_turns=10):
    """Time each step of each way for one photo, in seconds; SciPy has no copies to make."""
    import cupyx

    photo = study.sky(N, 0)
    pinned = cupyx.empty_pinned(photo.shape, np.uint8)
    pinned[:] = photo
    room = cupyx.empty_pinned(*study.room(N))
    answer = study.right_answer(photo)[1]
    n_stars = np.count_nonzero(answer[:, 0])

    def back(table):
        study.fetch(table, room)
        return room

    def measure_by(xp):
        return lambda image, labels, n: measure(image, labels, n, xp)

    label = study.cupyx_ndimage().label
    by_scipy = unchanged, study.bright_by_scipy, scipy.ndimage.label, measure_by(np), unchanged
    by_cupy = study.on_gpu, study.bright_by_cupy, label, measure_by(cp), back
    by_kernels = study.on_gpu, study.bright_in_one, label, study.measure_in_one, back
    ways = {
        "scipy": (photo, by_scipy),
        "pageable": (photo, by_cupy),
        "pinned": (pinned, by_cupy),
        "kernels": (pinned, by_kernels),
    }
    samples = {}
    for name, (host, steps) in ways.items():
        tables = []

        def turn(host=host, steps=steps, tables=tables):
            seconds, table = take_steps(host, *steps)
            tables[:] = [table[:n_stars]]
            return seconds

        with gpu_clock().use():
            columns = whole_turns(turn, 1 if name == "scipy" else n_turns)
        if not np.array_equal(tables[0], answer[:n_stars]):
            raise MismatchError(f"The steps of {name!r} lead to a wrong table.")
        timed = STEPS[1:-1] if name == "scipy" else STEPS
        samples |= {f"{name}_{step}": columns[step] for step in timed}
    return samples


def time_sums():
    """Time the light of each star in six ways, from labels that are there, and compare the sums."""
    clock, ndimage, wait = SystemClock(), study.cupyx_ndimage(), gpu_clock().synchronize
    photo = study.sky(N, 0).astype(np.float32)

    def bright_alone(light, labels, n, xp):
        place = xp.flatnonzero(labels)
        return xp.bincount(labels.ravel()[place], light.ravel()[place], n + 1)[1:]

    with gpu_clock().use():
        image = cp.asarray(photo)
        labels, n = ndimage.label(study.bright_by_cupy(image.astype(np.uint8)))
        index, labels_host, index_host = cp.arange(1, n + 1), labels.get(), np.arange(1, n + 1)
        # As many additions: those of the sky, of zeros, go to the stars at random.
        star, any_star = labels > 0, cp.random.randint(1, n + 1, labels.shape)
        spread, light = cp.where(star, labels, any_star.astype(labels.dtype)), image * star
        slow = {
            "sum_labels_scipy": lambda: scipy.ndimage.sum_labels(
                photo, labels_host, index_host
            ),
            "bincount_bright_numpy": lambda: bright_alone(photo, labels_host, n, np),
            "sum_labels_cupyx": lambda: ndimage.sum_labels(image, labels, index),
        }
        fast = {
            "bincount_all": lambda: cp.bincount(labels.ravel(), image.ravel(), n + 1)[1:],
            "bincount_spread": lambda: cp.bincount(spread.ravel(), light.ravel(), n + 1)[1:],
            "bincount_bright": lambda: bright_alone(image, labels, n, cp),
        }
        sums = {}

        def turn(calls):
            seconds = {}
            for name, call in calls.items():
                wait()
                start = clock.now_ns()
                sums[name] = call()
                wait()
                seconds[name] = (clock.now_ns() - start) / 1e9
            return seconds

        # Before the first turn that counts, one call of each fills the memory pool.
        samples = whole_turns(partial(turn, slow), 3) | whole_turns(partial(turn, fast), 20)
        for name, result in sums.items():
            if not np.array_equal(cp.asnumpy(result), sums["sum_labels_scipy"]):
                raise MismatchError(f"The sums {name!r} differ from SciPy's.")
    return samples
