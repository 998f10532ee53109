"""Where the time goes: each step from a photo to its table, with a wait after it; and slow sums."""

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

    def ended(result):
        wait()
        marks.append(clock.now_ns())
        return result

    image = ended(copy(ended(photo)))
    labels, n = ended(label(ended(find_bright(image))))
    table = ended(back(ended(measure_all(image, labels, n))))
    return dict(zip(STEPS, map(float, np.diff(marks) / 1e9), strict=True)), table


def time_steps(n_turns=10):
    """Time each step of each way for one photo, in seconds; SciPy has no copies to make."""
    import cupyx

    photo = study.sky(N, 0)
    pinned = cupyx.empty_pinned(photo.shape, np.uint8)
    pinned[:] = photo
    room = cupyx.empty_pinned(*study.room(N))
    right = study.right_answer(photo)[1]
    n_stars = np.count_nonzero(right[:, 0])

    def back(table):
        study.fetch(table, room)
        return room

    label = study.cupyx_ndimage().label
    by_cupy = (
        study.on_gpu,
        study.bright_by_cupy,
        label,
        lambda image, labels, n: measure(image, labels, n, cp),
        back,
    )
    by_kernels = study.on_gpu, study.bright_in_one, label, study.measure_in_one, back
    by_scipy = (
        unchanged,
        study.bright_by_scipy,
        scipy.ndimage.label,
        lambda image, labels, n: measure(image, labels, n, np),
        unchanged,
    )
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
            taken = whole_turns(turn, 1 if name == "scipy" else n_turns)
        if not np.array_equal(tables[0], right[:n_stars]):
            raise MismatchError(f"The steps of {name!r} lead to a wrong table.")
        own = STEPS[1:-1] if name == "scipy" else STEPS
        samples |= {f"{name}_{step}": taken[step] for step in own}
    return samples


def time_sums(n_turns=3):
    """Time the light of each star in four ways, from labels that are there, and compare the sums."""
    clock, ndimage, wait = SystemClock(), study.cupyx_ndimage(), gpu_clock().synchronize
    photo = study.sky(N, 0).astype(np.float32)
    with gpu_clock().use():
        image = cp.asarray(photo)
        light = image.ravel().astype(np.float64)
        labels, n = ndimage.label(study.bright_by_cupy(image.astype(np.uint8)))
        index, labels_host, index_host = (
            cp.arange(1, n + 1),
            labels.get(),
            np.arange(1, n + 1),
        )

        def sums_of_bright():
            place = cp.flatnonzero(labels)
            return cp.bincount(labels.ravel()[place], light[place], n + 1)[1:]

        calls = {
            "searched_by_scipy": lambda: scipy.ndimage.sum_labels(
                photo, labels_host, index_host
            ),
            "searched": lambda: ndimage.sum_labels(image, labels, index),
            "with_sky": lambda: cp.bincount(labels.ravel(), light, n + 1)[1:],
            "without_sky": sums_of_bright,
        }
        sums = {}

        def turn():
            taken = {}
            for name, call in calls.items():
                wait()
                start = clock.now_ns()
                sums[name] = call()
                wait()
                taken[name] = (clock.now_ns() - start) / 1e9
            return taken

        taken = whole_turns(turn, n_turns)
        for name, result in sums.items():
            if not np.array_equal(cp.asnumpy(result), sums["searched_by_scipy"]):
                raise MismatchError(f"The sums {name!r} differ from SciPy's.")
    return taken
