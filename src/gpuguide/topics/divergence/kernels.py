"""Kernels whose threads go separate ways: smallest divisors, two recipes, steps of the Mandelbrot set."""

import numpy as np
from numba import cuda


@cuda.jit(device=True)
def odd_divisor(number, d, last):
    """Try odd numbers from d to last; give number if it is prime, and 0 if that is open."""
    while d * d <= number:
        if d > last:
            return np.uint32(0)
        if number % d == 0:
            return d
        d = np.uint32(d + 2)
    return number


@cuda.jit(device=True)
def first_divisor(number, last):
    """Try 2, and then the odd numbers up to last."""
    if number % np.uint32(2) == 0:
        return np.uint32(2)
    return odd_divisor(number, np.uint32(3), last)


@cuda.jit
def in_order(divisors):
    """Thread i takes the number i + 2."""
    i = cuda.grid(1)
    if i < divisors.size:
        number = np.uint32(i + 2)
        divisors[i] = first_divisor(number, number)


@cuda.jit
def by_cost(order, divisors):
    """Each thread takes the number that the list names."""
    k = cuda.grid(1)
    if k < divisors.size:
        i = order[k]
        number = np.uint32(i + 2)
        divisors[i] = first_divisor(number, number)


NUMBERS_PER_BLOCK = 2048


@cuda.jit
def regrouped(divisors):
    """Each block tries small divisors, lists what is open, and deals the list out anew."""
    is_open = cuda.shared.array(NUMBERS_PER_BLOCK, np.int32)
    n_open = cuda.shared.array(1, np.int32)
    thread, width = cuda.threadIdx.x, cuda.blockDim.x
    if thread == 0:
        n_open[0] = 0
    cuda.syncthreads()  # the counter is 0 before anybody counts
    first = cuda.blockIdx.x * NUMBERS_PER_BLOCK
    for i in range(first + thread, min(first + NUMBERS_PER_BLOCK, divisors.size), width):
        found = first_divisor(np.uint32(i + 2), np.uint32(31))
        if found > 0:
            divisors[i] = found
        else:
            is_open[cuda.atomic.add(n_open, 0, 1)] = i
    cuda.syncthreads()  # the list is complete before anybody reads it
    for k in range(thread, n_open[0], width):
        i = is_open[k]
        number = np.uint32(i + 2)
        divisors[i] = odd_divisor(number, np.uint32(33), number)


@cuda.jit
def regrouped_often(divisors):
    """Each block deals out anew what is open, before each stage of larger divisors."""
    is_open = cuda.shared.array((2, NUMBERS_PER_BLOCK), np.int32)
    n_open = cuda.shared.array(8, np.int32)
    thread, width = cuda.threadIdx.x, cuda.blockDim.x
    first = cuda.blockIdx.x * NUMBERS_PER_BLOCK
    n = min(NUMBERS_PER_BLOCK, divisors.size - first)
    for k in range(thread, n, width):
        is_open[0, k] = first + k
    if thread < 8:
        n_open[thread] = n if thread == 0 else 0
    cuda.syncthreads()  # list and counters are set before anybody uses them
    stage, d, last = 0, np.uint32(3), np.uint32(31)
    while n_open[stage] > 0:
        for k in range(thread, n_open[stage], width):
            i = is_open[stage % 2, k]
            number = np.uint32(i + 2)
            found = first_divisor(number, last) if stage == 0 else odd_divisor(number, d, last)
            if found > 0:
                divisors[i] = found
            else:
                is_open[(stage + 1) % 2, cuda.atomic.add(n_open, stage + 1, 1)] = i
        cuda.syncthreads()  # the next list is complete before anybody reads it
        stage, d, last = stage + 1, np.uint32(last + 2), np.uint32(4 * last + 3)


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
    """Scramble the bits of a number by rotating them."""
    for _ in range(128):
        v = np.uint32(~v ^ (v >> 9))
        v = np.uint32((v << 7) | (v >> 25))
        v = np.uint32(v ^ (v >> 11))
    return v


@cuda.jit
def branch(x, kind, order, out):
    """Each thread takes the element that the order names, and goes one of two ways."""
    k = cuda.grid(1)
    if k < out.size:
        i = order[k]
        if kind[i] == 0:
            out[i] = shift_recipe(x[i])
        else:
            out[i] = turn_recipe(x[i])


@cuda.jit
def both_sides(x, kind, order, out):
    """Each thread goes both ways, and chooses in the end."""
    k = cuda.grid(1)
    if k < out.size:
        i = order[k]
        shifted = shift_recipe(x[i])
        turned = turn_recipe(x[i])
        out[i] = shifted if kind[i] == 0 else turned


@cuda.jit
def group(kind, ones, order):
    """Each thread places its element: ones counts those of kind 1 so far."""
    i = cuda.grid(1)
    if i < order.size:
        zeros = order.size - ones[order.size - 1]
        place = i - ones[i] if kind[i] == 0 else zeros + ones[i] - 1
        order[place] = i


# Fixed-point numbers, 20 binary places: with integers every machine counts alike.
LEFT, TOP, SPAN = -9 * 2**18, -3 * 2**19, 3 * 2**20


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
def one_pixel(order, width, steps):
    """Each thread takes the pixel that the order names."""
    k = cuda.grid(1)
    if k < steps.size:
        pixel = int(order[k])
        row, col = pixel // width, pixel % width
        edge = SPAN // width  # of a pixel
        steps[pixel] = steps_inside(LEFT + col * edge, TOP + row * edge)
