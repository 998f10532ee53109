"""Kernels that do what the page's ufuncs do, and Kepler's equation in fewer instructions."""

import math

import numpy as np
from numba import cuda
from numba.cuda import libdevice

ONE = np.float32(1)


@cuda.jit
def own_kernel(a, b, out):
    """Each thread takes one element: what @vectorize writes by itself."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] if a[i] > b[i] else b[i]


@cuda.jit
def distance_kernel(a, b, out):
    """Each thread walks along its own row."""
    i = cuda.grid(1)
    if i < out.size:
        total = np.float32(0)
        for k in range(a.shape[1]):
            difference = a[i, k] - b[i, k]
            total += difference * difference
        out[i] = total


def sincos(mean, eccentricity):
    """Solve Kepler's equation by steps that work out sine and cosine together."""
    angle = mean + eccentricity
    for _ in range(8):
        sine, cosine = libdevice.sincosf(angle)
        missing = angle - eccentricity * sine - mean
        angle = angle - missing / (ONE - eccentricity * cosine)
    return angle


@cuda.jit(fastmath=True)
def fastmath(mean, eccentricity, out):
    """Solve Kepler's equation with the GPU's approximations of sine, cosine and quotient."""
    i = cuda.grid(1)
    if i < out.size:
        angle = mean[i] + eccentricity[i]
        for _ in range(8):
            missing = angle - eccentricity[i] * math.sin(angle) - mean[i]
            angle = angle - missing / (ONE - eccentricity[i] * math.cos(angle))
        out[i] = angle
