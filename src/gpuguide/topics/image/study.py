"""From a photo to a table of its stars, end to end and step by step; and the first steps in one kernel."""

from functools import cache
from importlib import import_module

import numpy as np
import scipy.ndimage
import scipy.sparse

from gpuguide.machine.backends import array_module, is_device_array, numba_view
from gpuguide.measure import Study, cp, cpu, end_to_end, gpu, kernel
from gpuguide.results.records import Traffic
from gpuguide.topics.grids_2d_3d.study import matrix_shape
from gpuguide.topics.image import cpu as loops
from gpuguide.topics.image import kernels
from gpuguide.topics.image.kernels import COLUMNS, LIMIT, NARROW, ROWS, THREADS, WIDE
from gpuguide.topics.image.photo import blur, measure, night_sky

SIZES = (1024**2, 4096**2)
PIXELS_A_STAR = 500  # of a photo there is room for a star to so many, and for a few more


@cache
def sky(n, seed):
    """Make a photo of n pixels once: to make a large one, and its table, takes seconds."""
    height, width = matrix_shape(n)
    return night_sky(height, width, np.random.default_rng(seed))


def photo(n, dtype, rng, exact):
    """Take one of two photos; their bytes are whole numbers, so that every sum is exact."""
    return (sky(n, int(exact)),)


def room(n, dtype=None):
    """Return shape and dtype of the table: for each star pixels, light, light times row and column."""
    return (n // PIXELS_A_STAR + 16, 4), np.float64


of_photos = {
    "inputs": photo,
    "dtype": "uint8",
    "equal": True,
    "size_name": "pixels",
    "input_note": "stars on a photo in bytes, made at random",
    "small": (47 * 53, 131 * 257),
}


# The right answer, by other means ---------------------------------------------------------------------------


def weights_as_matrix(weights, n):
    """Return the matrix that blurs a column of n pixels, which is reflected at its ends."""
    matrix, reach = np.zeros((n, n), np.float32), weights.size // 2
    for k, weight in enumerate(weights):
        at = np.arange(n) + k - reach
        at = np.where(at < 0, -1 - at, np.where(at >= n, 2 * n - 1 - at, at))
        np.add.at(matrix, (np.arange(n), at), weight)
    return matrix


def blurred_by_matrices(image, weights):
    """Multiply from both sides; all sums are below 2**24, where float32 is exact."""
    height, width = image.shape
    return weights_as_matrix(weights, height) @ image @ weights_as_matrix(weights, width).T


_answers = {}


def right_answer(image):
    """Return the mask, and the table of stars, which SciPy's graphs join; each photo is asked for once."""
    key = image.shape, image.tobytes()
    if key not in _answers:
        floats = image.astype(np.float32)
        mask = blurred_by_matrices(floats, NARROW) - blurred_by_matrices(floats, WIDE) > LIMIT
        _answers[key] = mask, table_of(image, mask)
    return _answers[key]


def table_of(image, mask):
    """Join bright pixels that touch, and add up; stars are in the order of their first pixels."""
    place, width = np.flatnonzero(mask), image.shape[1]
    row, col = np.divmod(place, width)
    pairs = []  # of neighbours, side by side or one below the other, that are bright
    for step in (1, width):
        other = np.minimum(np.searchsorted(place, place + step), place.size - 1)
        joined = (place[other] == place + step) & ((step > 1) | (col < width - 1))
        pairs.append(np.stack([np.flatnonzero(joined), other[joined]]))
    ends = np.concatenate(pairs, axis=1)
    graph = scipy.sparse.coo_array((np.ones(ends.shape[1]), ends), (place.size,) * 2)
    _, star = scipy.sparse.csgraph.connected_components(graph, directed=False)
    _, first, star = np.unique(star, return_index=True, return_inverse=True)
    order = np.empty(first.size, np.int64)
    order[np.argsort(first)] = np.arange(first.size)
    light = image[mask].astype(np.float64)
    table = np.zeros(*room(image.size))
    np.add.at(table, order[star], np.stack([light**0, light, light * row, light * col], 1))
    return table


def reference(image, part):
    """Return the right mask or table in the memory that the image lies in."""
    host = image.get() if is_device_array(image) else image
    return array_module(image).asarray(right_answer(host)[part])


# From a photo to a table ------------------------------------------------------------------------------------


@cache
def cupyx_ndimage():
    """Import cupyx.scipy.ndimage when it is first needed."""
    return import_module("cupyx.scipy.ndimage")


@cache
def weights_on_gpu():
    """Copy the weights to the GPU once."""
    return cp.asarray(NARROW), cp.asarray(WIDE)


def bright_by_scipy(image):
    """Subtract a wide blur from a narrow one, and compare, with SciPy."""
    soft, glow = (blur(image, weights, scipy.ndimage) for weights in (NARROW, WIDE))
    return soft - glow > LIMIT


def bright_by_cupy(image):
    """Do the same with cupyx, in six kernels."""
    soft, glow = (blur(image, weights, cupyx_ndimage()) for weights in weights_on_gpu())
    return soft - glow > LIMIT


def tiles(shape):
    """Return a launch of stands_out with a thread for each column, and more on both sides."""
    height, width = shape
    return (-(-width // COLUMNS), -(-height // ROWS)), THREADS


def pixels(shape):
    """Return a launch with a thread for each pixel."""
    height, width = shape
    return (-(-width // 32), -(-height // 8)), (32, 8)


def bright_in_one(image):
    """Do the same in one kernel."""
    mask = cp.empty(image.shape, np.bool_)
    kernels.stands_out[tiles(image.shape)](numba_view(image), numba_view(mask))
    return mask


def measure_in_one(image, labels, n):
    """Add up all four sums in one kernel, by atomics."""
    table = cp.zeros((n, 4))
    if n:
        views = map(numba_view, (image, labels, table))
        kernels.add_up[pixels(image.shape)](*views)
    return table


def with_cupy(image):
    """Find and measure the stars of a photo on the GPU with CuPy and cupyx."""
    labels, n = cupyx_ndimage().label(bright_by_cupy(image))
    return measure(image, labels, n, cp)


def with_kernels(image):
    """Do the same with two kernels of one's own; cupyx labels."""
    labels, n = cupyx_ndimage().label(bright_in_one(image))
    return measure_in_one(image, labels, n)


def fetch(table, out):
    """Copy a table to the host, into the room for it, and clear the rest."""
    table.get(out=out[: len(table)])
    out[len(table) :] = 0


def scipy_alone(image, out):
    """Find and measure the stars with SciPy and NumPy, on one thread."""
    labels, n = scipy.ndimage.label(bright_by_scipy(image))
    out[:n], out[n:] = measure(image, labels, n, np), 0


@cache
def room_for_mask(shape):
    """Make room once, as CuPy's memory pool does."""
    return np.zeros(shape, np.bool_)


def cpu_threads(image, out):
    """Find runs of bright pixels on all threads, with SIMD, and join them on one."""
    mask = room_for_mask(image.shape)
    first = loops.bright_runs(image, NARROW, WIDE, mask)
    out[loops.join_runs(first, *loops.sum_runs(image, mask, first), out) :] = 0


def on_gpu(image_host):
    """Copy a photo to the GPU; from pinned memory the GPU fetches it by itself."""
    image = cp.empty(image_host.shape, np.uint8)
    image.set(image_host, stream=cp.cuda.get_current_stream())
    return image


def cupy_with_copies(image_host, out_host):
    """Copy the photo to the GPU, take all steps there with CuPy, and copy the table back."""
    fetch(with_cupy(on_gpu(image_host)), out_host)


def kernels_with_copies(image_host, out_host):
    """Do the same with two kernels of one's own."""
    fetch(with_kernels(on_gpu(image_host)), out_host)


count = Study(
    name="count",
    title="From a photo to a table of its stars",
    sizes=SIZES,
    reference=lambda image: reference(image, 1),
    output=room,
    baseline="cpu_threads",
    variants=(
        cpu(scipy_alone, "SciPy, one thread", name="scipy", up_to=1024**2),
        cpu(cpu_threads, "CPU, all threads", "all"),
        end_to_end(cupy_with_copies, "CuPy, pageable copies", name="cupy_pageable"),
        end_to_end(
            cupy_with_copies, "CuPy, pinned copies", name="cupy_pinned", arrays="pinned"
        ),
        end_to_end(
            kernels_with_copies,
            "own kernels, pinned copies",
            name="kernels_pinned",
            arrays="pinned",
        ),
    ),
    **of_photos,
)


# The first steps alone --------------------------------------------------------------------------------------


def mask_like(n, dtype):
    return matrix_shape(n), np.bool_


def bytes_moved(reads, writes):
    """Return the traffic of so many bytes for each pixel, and of the products of both blurs."""
    products = 2 * (NARROW.size + WIDE.size)
    return lambda n, dtype: Traffic(reads * n, writes * n, 2 * products * n)


bright = Study(
    name="bright",
    title="Which pixels of a photo stand out",
    sizes=SIZES[-1:],
    reference=lambda image: reference(image, 0),
    output=mask_like,
    baseline="six_kernels",
    traffic=bytes_moved(1, 1),
    variants=(
        # Four passes read 1, 4, 1 and 4 bytes and write 4; a difference, a comparison.
        gpu(
            bright_by_cupy,
            "cupyx, six kernels",
            name="six_kernels",
            allocates=True,
            traffic=bytes_moved(1 + 4 + 1 + 4 + 8 + 4, 4 + 4 + 4 + 4 + 4 + 1),
        ),
        kernel(kernels.stands_out, "one kernel", lambda n: tiles(matrix_shape(n))),
    ),
    **of_photos,
)
