"""Where the time goes: each step from a photo to its table, with a wait after each; and sums by search."""

import numpy as np
import scipy.ndimage

from gpuguide.errors import MismatchError
from gpuguide.measure import cp
from gpuguide.measure.clocks import SystemClock
from gpuguide.measure.turns import gpu_clock, whole_turns
from gpuguide.topics.image import study
from gpuguide.topics.image.kernels import measure, night_sky

EDGE = 4096
STEPS = ("copy", "mask", "label", "measure", "back")


def measure_by_numpy(image, labels, n):
    return measure(image, labels, n, np)


def measure_by_cupy(image, labels, n):
    return measure(image, labels, n, cp)


def take_steps(photo, copy, find_bright, label, measure_all, back):
    """Go from a photo to its table; return how long each step took, and the table."""
    clock, wait, marks = SystemClock(), gpu_clock().synchronize, []

    def ended(result):
        wait()
        marks.append(clock.now_ns())
        return result

    image = copy(ended(photo))
    mask = find_bright(ended(image))
    labels, n = label(ended(mask))
    table = measure_all(image, ended(labels), n)
    table = ended(back(ended(table)))
    return dict(zip(STEPS, map(float, np.diff(marks) / 1e9), strict=True)), table


def time_steps(n_turns=10):
    """Time each step of each way for one photo, in seconds; SciPy has no copies to make."""
    import cupyx

    photo = night_sky(EDGE, EDGE, np.random.default_rng(0))
    pinned = cupyx.empty_pinned(photo.shape, np.uint8)
    pinned[:] = photo
    expected = study.right_answer(photo)[1]
    room = cupyx.empty_pinned(*study.room(photo.size))

    def fetch(table):
        study.filled_in(room, table)
        return room

    def unchanged(array):
        return array

    label = study.cupyx_ndimage().label
    by_cupy = study.on_gpu, study.bright_by_cupy, label, measure_by_cupy, fetch
    by_kernels = study.on_gpu, study.bright_in_one, label, study.measure_in_one, fetch
    by_scipy = (
        unchanged, study.bright_by_scipy, scipy.ndimage.label, measure_by_numpy, unchanged
    )  # fmt: skip
    samples = {}
    for name, host, steps, n in (
        ("scipy", photo, by_scipy, 3),
        ("pageable", photo, by_cupy, n_turns),
        ("pinned", pinned, by_cupy, n_turns),
        ("kernels", pinned, by_kernels, n_turns),
    ):
        table = None

        def turn(host=host, steps=steps):
            nonlocal table
            seconds, table = take_steps(host, *steps)
            return seconds

        with gpu_clock().use():
            taken = whole_turns(turn, n)
        n_stars = np.count_nonzero(expected[:, 0])
        if not np.array_equal(table[:n_stars], expected[:n_stars]):
            raise MismatchError(f"The steps of {name!r} lead to a wrong table.")
        samples.update({f"{name}_{step}": seconds for step, seconds in taken.items()})
    return samples


def time_search(n_turns=3):
    """Time the light of each star by sum_labels, with SciPy and with cupyx, and by bincount with CuPy."""
    photo = night_sky(EDGE, EDGE, np.random.default_rng(0)).astype(np.float32)
    clock, ndimage = SystemClock(), study.cupyx_ndimage()
    with gpu_clock().use() as _:
        image = cp.asarray(photo)
        labels, n = ndimage.label(study.bright_by_cupy(image))
        index, labels_host = cp.arange(1, n + 1), labels.get()

        def bincount():
            place = cp.flatnonzero(labels)
            weights = image.ravel()[place].astype(np.float64)
            return cp.bincount(labels.ravel()[place], weights, n + 1)[1:]

        calls = {
            "search_scipy": lambda: scipy.ndimage.sum_labels(
                photo, labels_host, np.arange(1, n + 1)
            ),
            "search_cupy": lambda: ndimage.sum_labels(image, labels, index),
            "bincount_cupy": bincount,
        }
        sums = {}

        def turn():
            taken = {}
            for name, call in calls.items():
                gpu_clock().synchronize()
                start = clock.now_ns()
                sums[name] = call()
                gpu_clock().synchronize()
                taken[name] = (clock.now_ns() - start) / 1e9
            return taken

        taken = whole_turns(turn, n_turns)
        for name, light in sums.items():
            if not np.array_equal(cp.asnumpy(light), sums["search_scipy"]):
                raise MismatchError(f"The sums of {name!r} differ from SciPy's.")
    return taken
