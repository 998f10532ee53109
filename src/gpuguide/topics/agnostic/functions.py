"""A pipeline for images of any library that follows the array API standard."""

from array_api_compat import array_namespace


def local_contrast(photo):
    """Turn a photo in colour into grey, and tell how far each pixel differs from its surroundings.

    >>> import numpy as np
    >>> local_contrast(np.full((4, 4, 3), 200, np.uint8)).sum().item()
    0.0
    """
    xp = array_namespace(photo)
    grey = xp.mean(xp.astype(photo, xp.float32), axis=2)
    around = grey
    for axis in (0, 1):
        shifted = [xp.roll(around, shift, axis=axis) for shift in (-2, -1, 0, 1, 2)]
        around = (
            shifted[0] + 4 * shifted[1] + 6 * shifted[2] + 4 * shifted[3] + shifted[4]
        ) / 16
    return xp.tanh((grey - around) / (around + 1))
