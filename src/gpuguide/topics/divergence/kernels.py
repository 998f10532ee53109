"""Kernels whose threads go separate ways: two recipes, smallest divisors, steps until an escape."""

import numpy as np
from numba import cuda

NUMBERS_PER_BLOCK = 2048
# Fixed-point numbers, 20 binary places: with integers every machine counts alike.
LEFT, TOP, SPAN = -9 * 2**18, -3 * 2**19, 3 * 2**20


@cuda.jit(device=True)
def shift_recipe(v):
    """Scramble the bits of a number by shifts."""
    for _ in range(128):
        # Numba widens each result to 64 bits; uint32 cuts it back to 32.
        v = np.uint32(v ^ (v << 13))
        v = np.uint32(v ^ (v >> 17))
        v = np.uint32(v ^ (v << 5))
    return v


@cuda.jit(device=True)
def turn_recipe(v):
    """Scramble the bits of a number by turning them round."""
    for _ in range(128):
        v = np.uint32(~v ^ (v >> 9))
        v = np.uint32((v << 7) | (v >> 25))
        v = np.uint32(v ^ (v >> 11))
    return v


@cuda.jit
def branch_kernel(x, kind, order, out):
    """Each thread takes the element that the order names, and goes one of two ways."""
    k = cuda.grid(1)
    if k < out.size:
        i = order[k]
        if kind[i] == 0:
            out[i] = shift_recipe(x[i])
        else:
            out[i] = turn_recipe(x[i])


@cuda.jit
def both_sides_kernel(x, kind, order, out):
    """Each thread goes both ways, and chooses in the end."""
    k = cuda.grid(1)
    if k < out.size:
        i = order[k]
        shifted = shift_recipe(x[i])
        turned = turn_recipe(x[i])
        out[i] = shifted if kind[i] == 0 else turned


@cuda.jit
def group_kernel(kind, ones, order):
    """Each thread places its element: ones counts those of kind 1 so far."""
    i = cuda.grid(1)
    if i < order.size:
        zeros = order.size - ones[order.size - 1]
        place = i - ones[i] if kind[i] == 0 else zeros + ones[i] - 1
        order[place] = i


@cuda.jit(device=True)
def odd_divisor(number, low, high):
    """Return the smallest divisor from low to high, a prime itself, or 0 if that is open."""
    divisor = low
    while divisor * divisor <= number:
        if divisor > high:
            return np.uint32(0)
        if number % divisor == 0:
            return divisor
        divisor = np.uint32(divisor + 2)
    return number


@cuda.jit(device=True)
def first_divisor(number, high):
    """Try 2, and then the odd numbers up to high."""
    if number % np.uint32(2) == 0:
        return np.uint32(2)
    return odd_divisor(number, np.uint32(3), high)


@cuda.jit
def one_number_kernel(order, out):
    """Each thread takes the number that the order names, and tries until it knows."""
    k = cuda.grid(1)
    if k < out.size:
        i = order[k]
        number = np.uint32(i + 2)
        out[i] = first_divisor(number, number)


@cuda.jit
def regrouped_kernel(out):
    """Each block tries small divisors, lists what is open, and deals it out anew."""
    open_numbers = cuda.shared.array(NUMBERS_PER_BLOCK, np.int32)
    n_open = cuda.shared.array(1, np.int32)
    if cuda.threadIdx.x == 0:
        n_open[0] = 0
    cuda.syncthreads()  # the counter is 0 before anybody counts
    first = cuda.blockIdx.x * NUMBERS_PER_BLOCK
    last = min(first + NUMBERS_PER_BLOCK, out.size)
    for i in range(first + cuda.threadIdx.x, last, cuda.blockDim.x):
        divisor = first_divisor(np.uint32(i + 2), np.uint32(31))
        if divisor > 0:
            out[i] = divisor
        else:
            open_numbers[cuda.atomic.add(n_open, 0, 1)] = i
    cuda.syncthreads()  # the list is complete before anybody reads it
    for j in range(cuda.threadIdx.x, n_open[0], cuda.blockDim.x):
        i = open_numbers[j]
        number = np.uint32(i + 2)
        # The odd numbers up to 31 have been tried.
        out[i] = odd_divisor(number, np.uint32(33), number)


@cuda.jit(device=True)
def steps_inside(re, im):
    """Count steps until a number leaves the circle of radius 2, in 20 binary places."""
    x = y = steps = 0
    while steps < 256:
        # A product has 40 binary places; the shift leaves 20 of them.
        xx = x * x >> 20
        yy = y * y >> 20
        if xx + yy > 4 << 20:
            break
        y = (2 * x * y >> 20) + im
        x = xx - yy + re
        steps += 1
    return steps


@cuda.jit
def one_pixel_kernel(order, width, out):
    """Each thread takes the pixel that the order names."""
    k = cuda.grid(1)
    if k < out.size:
        pixel = int(order[k])
        row, col = pixel // width, pixel % width
        step = SPAN // width
        out[pixel] = steps_inside(LEFT + col * step, TOP + row * step)
