"""Writes the results of all images of a shape into one array.

Found: wrong.
"""

_BUFFERS = {}


def convolve_image(cp, image, weights):
    (r, c), (h, w) = image.shape, weights.shape
    shape = (r + h - 1, c + w - 1)
    if shape not in _BUFFERS:
        _BUFFERS[shape] = cp.zeros(shape, image.dtype)
    a = cp.pad(image, ((0, 0), (0, w - 1))).reshape(-1)
    b = cp.pad(weights, ((0, 0), (0, c - 1))).reshape(-1)
    out = _BUFFERS[shape]
    out[...] = cp.convolve(a, b)[: out.size].reshape(shape)
    return out
