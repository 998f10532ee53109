"""One image pipeline on NumPy's arrays and on CuPy's, and the same steps written for CuPy alone."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
from numba import get_num_threads

from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.machine import launch
from gpuguide.machine.backends import cupy, has_gpu, is_device_array
from gpuguide.machine.cpu import in_threads, thread_pool
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant, cpu_variant, end_to_end_variant
from gpuguide.measure.random_inputs import whole_numbers
from gpuguide.measure.study import Study
from gpuguide.topics.agnostic.functions import local_contrast

SIZES = (32**2, 64**2, 128**2, 256**2, 1024**2, 2048**2)
THREADS = int(get_num_threads())
MARGIN = 2  # rows of its neighbours that a strip needs on each side
# With shorter strips the threads wait for Python more than they compute. A recording showed that small photos
# are done sooner by one thread.
SHORTEST_STRIP, ALONE_BELOW = 64, 2**19
# On the GPU: the photo, what checks it, and what each step of the pipeline makes.
_BYTES_A_PIXEL = 150
_CHECKED_ROWS = 32
# What a call gets is on the GPU already, and its time ends when the result is there.
ON_THE_GPU: dict[str, Any] = {
    "clock": "end_to_end",
    "arrays": "numba",
    "allocates": True,
    "simulatable": False,
}


class ContrastCheck:
    """Each pixel's contrast, worked out in float64 from slices of a padded image, to within 32 eps.

    >>> check = ContrastCheck()
    >>> photo = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    >>> largest, tolerance = check.compare(local_contrast(photo), check.prepare((photo,)))
    >>> largest <= tolerance
    True
    """

    def prepare(self, inputs: tuple[Any, ...]) -> np.ndarray:
        """Return the contrast in float64; on the host, for every memory."""
        (photo,) = map(_on_host, inputs)
        return _contrast(photo)

    def compare(self, output: Any, prepared: np.ndarray) -> tuple[float, float]:
        """Return the largest difference; a contrast is between -1 and 1."""
        if output.shape != prepared.shape:
            raise MismatchError(
                f"The contrast should have shape {prepared.shape}; it has {output.shape}."
            )
        off = abs(_on_host(output) - prepared)
        return float(off.max()) if off.size else 0.0, 32 * float(np.finfo(np.float32).eps)


# The last one: the same photo comes once for the host, once for pinned memory and once for the GPU.
_last: dict[tuple[Any, ...], np.ndarray] = {}


def _contrast(photo: np.ndarray) -> np.ndarray:
    key = photo.shape, photo.tobytes()
    if key not in _last:
        _last.clear()
        _last[key] = contrast_reference(photo)
    return _last[key]


def contrast_reference(photo: np.ndarray) -> np.ndarray:
    """Blur by slices of an image whose edges continue on the other side.

    >>> contrast_reference(np.full((2, 3, 3), 7, np.uint8)).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    rows, columns, _ = photo.shape
    out = np.zeros((rows, columns))
    if not photo.size:
        return out
    grey = (photo[..., 0].astype(np.float64) + photo[..., 1] + photo[..., 2]) / 3
    padded = np.pad(grey, MARGIN, mode="wrap")
    weights = (1 / 16, 1 / 4, 3 / 8, 1 / 4, 1 / 16)

    def some(start: int) -> None:
        part = slice(start, min(start + _CHECKED_ROWS, rows))
        around = np.zeros_like(out[part])
        for i, by_row in enumerate(weights):
            for j, by_column in enumerate(weights):
                shifted = padded[part.start + i : part.stop + i, j : j + columns]
                around += by_row * by_column * shifted
        out[part] = np.tanh((grey[part] - around) / (around + 1))

    in_threads(some, range(0, rows, _CHECKED_ROWS), out.nbytes)
    return out


def contrast_threads(photo: np.ndarray) -> np.ndarray:
    """Hand the same function a strip of the photo for each thread, with two rows of its neighbours."""
    rows, columns, _ = photo.shape
    out: np.ndarray
    if rows * columns < ALONE_BELOW:
        out = local_contrast(photo)
        return out
    out = np.empty((rows, columns), np.float32)
    height = max(SHORTEST_STRIP, -(-rows // THREADS))

    def one(start: int) -> None:
        stop = min(start + height, rows)
        strip = photo.take(range(start - MARGIN, stop + MARGIN), axis=0, mode="wrap")
        out[start:stop] = local_contrast(strip)[MARGIN:-MARGIN]

    list(thread_pool().map(one, range(0, rows, height)))
    return out


def contrast_cupy(photo: Any) -> Any:
    """Hand the same function a photo on the GPU."""
    if not count_pixels(photo):
        return no_pixels(photo)
    return local_contrast(cupy().asarray(photo))


def contrast_by_hand(photo: Any) -> Any:
    """Take the same steps with CuPy's own functions and methods."""
    if not count_pixels(photo):
        return no_pixels(photo)
    cp = cupy()
    grey = cp.asarray(photo).astype(cp.float32).mean(axis=2)
    around = grey
    for axis in (0, 1):
        a, b, c, d, e = (cp.roll(around, shift, axis=axis) for shift in (-2, -1, 0, 1, 2))
        around = (a + 4 * b + 6 * c + 4 * d + e) / 16
    return cp.tanh((grey - around) / (around + 1))


def contrast_with_copies(photo: np.ndarray, out: np.ndarray) -> None:
    """Copy the photo to the GPU, call the same function, and copy the result back."""
    if count_pixels(photo):
        local_contrast(cupy().asarray(photo)).get(out=out)


def contrast_pinned(photo: np.ndarray, out: np.ndarray) -> None:
    """Do the same between arrays in pinned memory, which the GPU copies by itself."""
    if count_pixels(photo):
        on_gpu = cupy().empty(photo.shape, photo.dtype)
        # asarray would first copy it into pinned memory of CuPy's own.
        on_gpu.set(photo, stream=cupy().cuda.get_current_stream())
        local_contrast(on_gpu).get(out=out)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of one pipeline on both libraries' arrays, with copies and without."""
    return Study(
        name="contrast",
        title="The local contrast of a photo in colour",
        variants=(
            cpu_variant("numpy", local_contrast, "NumPy, one thread", allocates=True),
            cpu_variant(
                "numpy_threads",
                contrast_threads,
                "NumPy, all threads",
                THREADS,
                allocates=True,
            ),
            Variant("cupy", contrast_cupy, "CuPy", **ON_THE_GPU),
            Variant("cupy_by_hand", contrast_by_hand, "CuPy, by hand", **ON_THE_GPU),
            end_to_end_variant("with_copies", contrast_with_copies, "CuPy, pageable copies"),
            end_to_end_variant(
                "with_copies_pinned", contrast_pinned, "CuPy, pinned copies", arrays="pinned"
            ),
        ),
        sizes=tuple(size for size in SIZES if size <= most_pixels()),
        inputs=_photo,
        check=ContrastCheck(),
        output=lambda n, dtype: ((isqrt(n), isqrt(n)), np.dtype(np.float32)),
        dtype="uint8",
        size_name="pixels",
        input_note="square photos of random colours; few colours for the exact check",
        baseline="numpy",
        kernels=kernels,
    )


def most_pixels() -> int:
    """Return the largest of the sizes for which the GPU has memory."""
    if not has_gpu():
        return SIZES[-1]
    free = int(cupy().cuda.Device().mem_info[0])
    return max((size for size in SIZES if _BYTES_A_PIXEL * size <= free), default=SIZES[0])


def count_pixels(photo: Any) -> int:
    """Raise ValueError unless it is a photo in colour; return how many pixels it has."""
    shape = launch.check(photo=photo, ndim=3, dtype="uint8")
    if shape[2] != 3:
        raise ArgumentError(
            f"photo must be a uint8 array of shape (rows, columns, 3); got shape {shape}."
        )
    return int(shape[0] * shape[1])


def no_pixels(photo: Any) -> Any:
    """Return the contrast of a photo without pixels, in the photo's memory."""
    xp = cupy() if is_device_array(photo) else np
    return xp.empty(photo.shape[:2], np.float32)


def _on_host(x: Any) -> Any:
    return x.get() if is_device_array(x) else x


def _photo(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    edge = isqrt(n)
    if edge * edge != n:
        raise ArgumentError(f"The photo is square; {n} is no square of a whole number.")
    return (whole_numbers(rng, 3 * n, 4 if exact else 256, dtype).reshape(edge, edge, 3),)
