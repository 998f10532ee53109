"""Functions as readers write them, in a file of their own: how their source is found."""

import math

import numpy as np
from numba import cuda, float32, int32

WIDTH = 16
MARGIN = (1, 2.5)
WEIGHTS = np.array([0.25, 0.5, 0.25], dtype=np.float32)
ONE = np.float32(1)
TABLE = {"a": 1}
LONG = np.zeros(100_000)


def helper(x):
    return float32(x) + ONE


@cuda.jit(device=True)
def step(x):
    return float32(x) + ONE


@cuda.jit(device=True)
def deep_helper(x):
    return step(x) * WEIGHTS[1]


@cuda.jit
def decorated(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = max(a[i], b[i])  # the larger one


def plain(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = max(a[i], b[i])


@cuda.jit(fastmath=True)
def rich(a, b, out):
    part = cuda.local.array(WIDTH, int32)
    i = cuda.grid(1)
    part[0] = MARGIN[0]
    if i < out.size:
        out[i] = math.sqrt(deep_helper(a[i])) + b[i]


@cuda.jit
def with_dictionary(a, b, out):
    out[0] = TABLE["a"]


@cuda.jit
def with_long_array(a, b, out):
    out[0] = LONG[0]


@cuda.jit(device=True)
def device_function(a, b, out):
    return a


def make(scale):
    """A kernel that takes a number from the function around it."""

    @cuda.jit
    def inner(a, b, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = scale * a[i]

    return inner


class Guard:
    """No function at all."""


anonymous = lambda a, b, out: None  # noqa: E731
