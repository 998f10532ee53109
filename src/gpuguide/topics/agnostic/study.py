"""One image pipeline on NumPy's arrays and on CuPy's, and the same steps written for CuPy alone."""

from functools import lru_cache
from math import isqrt

import numpy as np
from numba import get_num_threads

from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.machine.backends import is_device_array
from gpuguide.machine.cpu import in_threads, thread_pool
from gpuguide.measure import Study, cp, cpu, end_to_end, whole_numbers
from gpuguide.topics.agnostic.functions import local_contrast

THREADS = int(get_num_threads())
MARGIN = 2  # rows of its neighbours that a strip needs on each side
# With shorter strips the threads wait for Python more than they compute. A recording showed that small photos
# are done sooner by one thread.
SHORTEST_STRIP, ALONE_BELOW = 64, 2**19
CHECKED_ROWS = 32


def numpy_threads(photo):
    """Hand the same function a strip of the photo for each thread, with two rows of its neighbours."""
    rows, columns, _ = photo.shape
    if rows * columns < ALONE_BELOW:
        return local_contrast(photo)
    out = np.empty((rows, columns), np.float32)
    height = max(SHORTEST_STRIP, -(-rows // THREADS))

    def one(start):
        stop = min(start + height, rows)
        strip = photo.take(range(start - MARGIN, stop + MARGIN), axis=0, mode="wrap")
        out[start:stop] = local_contrast(strip)[MARGIN:-MARGIN]

    list(thread_pool().map(one, range(0, rows, height)))
    return out


def cupy(photo):
    """Hand the same function a photo on the GPU."""
    return local_contrast(cp.asarray(photo))


def cupy_by_hand(photo):
    """Take the same steps with CuPy's own functions and methods."""
    grey = cp.asarray(photo).astype(cp.float32).mean(axis=2)
    around = grey
    for axis in (0, 1):
        a, b, c, d, e = (cp.roll(around, shift, axis=axis) for shift in (-2, -1, 0, 1, 2))
        around = (a + 4 * b + 6 * c + 4 * d + e) / 16
    return cp.tanh((grey - around) / (around + 1))


def with_copies(photo, out):
    """Copy the photo to the GPU, call the same function, and copy the result back."""
    local_contrast(cp.asarray(photo)).get(out=out)


def with_copies_pinned(photo, out):
    """Do the same between arrays in pinned memory, which the GPU copies by itself."""
    on_gpu = cp.empty(photo.shape, photo.dtype)
    # asarray would first copy it into pinned memory of CuPy's own.
    on_gpu.set(photo, stream=cp.cuda.get_current_stream())
    local_contrast(on_gpu).get(out=out)


def reference(photo):
    """Blur by slices of an image whose edges continue on the other side."""
    rows, columns, _ = photo.shape
    out = np.zeros((rows, columns))
    if not photo.size:
        return out
    grey = (photo[..., 0].astype(np.float64) + photo[..., 1] + photo[..., 2]) / 3
    padded = np.pad(grey, MARGIN, mode="wrap")
    weights = (1 / 16, 1 / 4, 3 / 8, 1 / 4, 1 / 16)

    def some(start):
        part = slice(start, min(start + CHECKED_ROWS, rows))
        around = np.zeros_like(out[part])
        for i, by_row in enumerate(weights):
            for j, by_column in enumerate(weights):
                shifted = padded[part.start + i : part.stop + i, j : j + columns]
                around += by_row * by_column * shifted
        out[part] = np.tanh((grey[part] - around) / (around + 1))

    in_threads(some, range(0, rows, CHECKED_ROWS), out.nbytes)
    return out


# The last one: the same photo comes once for the host, once for pinned memory and once for the GPU.
@lru_cache(maxsize=1)
def _contrast(shape, pixels):
    return reference(np.frombuffer(pixels, np.uint8).reshape(shape))


class ContrastCheck:
    """Each pixel's contrast, worked out in float64 from slices of a padded image, to within 32 eps."""

    def prepare(self, inputs):
        """Return the contrast in float64; on the host, for every memory."""
        photo = to_host(inputs[0])
        return _contrast(photo.shape, photo.tobytes())

    def compare(self, output, prepared):
        """Return the largest difference; a contrast is between -1 and 1."""
        if output.shape != prepared.shape:
            raise MismatchError(
                f"The contrast should have shape {prepared.shape}; it has {output.shape}."
            )
        difference = abs(to_host(output) - prepared).max(initial=0)
        return float(difference), 32 * float(np.finfo(np.float32).eps)


def to_host(x):
    return x.get() if is_device_array(x) else x


def inputs(n, dtype, rng, exact):
    edge = isqrt(n)
    if edge * edge != n:
        raise ArgumentError(f"The photo is square; {n} is no square of a whole number.")
    return (whole_numbers(rng, 3 * n, 4 if exact else 256, dtype).reshape(edge, edge, 3),)


contrast = Study(
    name="contrast",
    title="The local contrast of a photo in colour",
    sizes=(32**2, 64**2, 128**2, 256**2, 1024**2, 2048**2),
    size_name="pixels",
    dtype="uint8",
    inputs=inputs,
    input_note="square photos of random colours; few colours for the exact check",
    check=ContrastCheck(),
    answer=reference,
    output=lambda n, dtype: ((isqrt(n), isqrt(n)), np.dtype(np.float32)),
    small=(0, 1, 4, 31**2, 33**2),
    baseline="numpy",
    variants=(
        cpu(local_contrast, "NumPy, one thread", name="numpy", allocates=True),
        cpu(numpy_threads, "NumPy, all threads", "all", allocates=True),
        # The photo is on the GPU already, and the time ends when the result is there.
        end_to_end(cupy, "CuPy", arrays="numba", allocates=True),
        end_to_end(cupy_by_hand, "CuPy, by hand", arrays="numba", allocates=True),
        end_to_end(with_copies, "CuPy, pageable copies"),
        end_to_end(with_copies_pinned, "CuPy, pinned copies", arrays="pinned"),
    ),
)
