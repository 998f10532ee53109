"""A photo of stars, and how NumPy and SciPy, or CuPy and cupyx, blur it and measure them."""

import numpy as np


def night_sky(height, width, rng):
    """Make a photo in bytes: stars, most of them faint, a band of light across the sky, and noise."""
    from scipy import ndimage

    sky = np.zeros((height, width), np.float32)
    n_stars = sky.size // 600
    brightness = 400 / (1 - rng.random(n_stars, np.float32)) ** 0.9
    sky.flat[rng.integers(0, sky.size, n_stars)] = brightness
    sky = ndimage.gaussian_filter(sky, 1.6)
    row, col = np.ogrid[:height, :width]
    sky += 20 + 60 * np.exp(-(((row - col) / 300) ** 2)).astype(np.float32)
    sky += 5 * rng.standard_normal(sky.shape, np.float32)
    return sky.clip(0, 255).astype(np.uint8)


def blur(image, weights, ndimage):
    """Blur in two passes, down the columns and along the rows."""
    down = ndimage.convolve1d(image, weights, axis=0, output=np.float32)
    return ndimage.convolve1d(down, weights, axis=1)


def measure(image, labels, n, xp):
    """Add up pixels, light, light times row and light times column of each star."""
    place = xp.flatnonzero(labels)
    label, light = labels.ravel()[place], image.ravel()[place].astype(np.float64)
    row, col = place // image.shape[1], place % image.shape[1]
    quantities = xp.ones_like(light), light, light * row, light * col
    sums = [xp.bincount(label, weights, n + 1)[1:] for weights in quantities]
    return xp.stack(sums, axis=1)
