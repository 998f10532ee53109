"""Functions of single numbers and of rows, of which decorators make ufuncs."""

import math

import numpy as np

SIGNATURES = ["float32(float32, float32)"]
ROW_SIGNATURES, LAYOUT = ["void(float32[:], float32[:], float32[:])"], "(d),(d)->()"
ONE, ZERO = np.float32(1), np.float32(0)  # a bare 1.0 would turn everything into float64
STEPS = 8


def larger(a, b):
    """Return the larger of two numbers, and `b` where one of them is NaN.

    >>> larger(2.0, 3.0), larger(float("nan"), 3.0)
    (3.0, 3.0)
    """
    return a if a > b else b


def anomaly(mean, eccentricity):
    """Solve Kepler's equation by eight steps of Newton's method.

    >>> round(float(anomaly(np.float32(1), np.float32(0.5))), 4)
    1.4987
    """
    angle = mean + eccentricity
    for _ in range(STEPS):
        missing = angle - eccentricity * math.sin(angle) - mean
        angle = angle - missing / (ONE - eccentricity * math.cos(angle))
    return angle


def anomaly_in_four(mean, eccentricity):
    """Solve Kepler's equation by half as many steps.

    >>> round(float(anomaly_in_four(np.float32(1), np.float32(0.5))), 4)
    1.4987
    """
    angle = mean + eccentricity
    for _ in range(STEPS // 2):
        missing = angle - eccentricity * math.sin(angle) - mean
        angle = angle - missing / (ONE - eccentricity * math.cos(angle))
    return angle


def squared_distance(a, b, out):
    """Fill one number from two rows: what @guvectorize makes a ufunc of."""
    total = ZERO
    for k in range(a.shape[0]):
        difference = a[k] - b[k]
        total += difference * difference
    out[0] = total
