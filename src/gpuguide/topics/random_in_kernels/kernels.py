"""Random numbers made where they are used: with a state per thread, or computed from a counter."""

from numba import cuda, float32, njit, prange, uint32, uint64
from numba.cuda.random import xoroshiro128p_next, xoroshiro128p_uniform_float32


@cuda.jit
def own_state(states, points, counts):
    """Each thread throws points, and counts those within a quarter of a circle."""
    i = cuda.grid(1)
    if i < counts.size:
        inside = 0
        for _ in range(points):
            x = xoroshiro128p_uniform_float32(states, i)
            y = xoroshiro128p_uniform_float32(states, i)
            if x * x + y * y < float32(1):
                inside += 1
        counts[i] = inside


@cuda.jit(device=True)
def unit(bits):
    """Return a number from 0 to below 1, made of the upper 24 of 32 bits."""
    return float32(uint32(bits) >> uint32(8)) * float32(2**-24)


@cuda.jit
def one_draw(states, points, counts):
    """Each thread makes both coordinates of a point out of the 64 bits of one number."""
    i = cuda.grid(1)
    if i < counts.size:
        inside = 0
        for _ in range(points):
            bits = xoroshiro128p_next(states, i)
            x, y = unit(bits >> uint64(32)), unit(bits)
            if x * x + y * y < float32(1):
                inside += 1
        counts[i] = inside


@cuda.jit(device=True)
def philox(count, thread, seed):
    """Return four numbers of 32 bits that follow from the three alone: Philox 4x32 with ten rounds."""
    a, b, c, d = uint32(count), uint32(0), uint32(thread), uint32(0)
    key, key_2 = uint32(seed), uint32(0)
    for _ in range(10):
        ab, cd = uint64(0xD2511F53) * uint64(a), uint64(0xCD9E8D57) * uint64(c)
        a, b, c, d = (
            uint32(cd >> uint64(32)) ^ b ^ key,
            uint32(cd),
            uint32(ab >> uint64(32)) ^ d ^ key_2,
            uint32(ab),
        )
        key = uint32(uint64(key) + uint64(0x9E3779B9))
        key_2 = uint32(uint64(key_2) + uint64(0xBB67AE85))
    return a, b, c, d


@cuda.jit
def no_state(seed, points, counts):
    """Each thread computes its points, two by two, from the seed, its index and a counter."""
    i = cuda.grid(1)
    if i < counts.size:
        inside = 0
        for pair in range(points // 2):
            a, b, c, d = philox(pair, i, seed)
            x, y = unit(a), unit(b)
            if x * x + y * y < float32(1):
                inside += 1
            x, y = unit(c), unit(d)
            if x * x + y * y < float32(1):
                inside += 1
        counts[i] = inside


@cuda.jit
def count_stored(x, y, counts):
    """Each thread adds to its count those of the stored points that lie within a quarter of a circle."""
    i = cuda.grid(1)
    if i < counts.size:
        inside = 0
        for k in range(i, x.size, counts.size):
            if x[k] * x[k] + y[k] * y[k] < float32(1):
                inside += 1
        counts[i] += inside


@cuda.jit(device=True)
def next_crossing(states, i, x, y):
    """Return where one of four ways leads, by the upper two bits of a random number."""
    way = xoroshiro128p_next(states, i) >> uint64(62)
    if way == 0:
        return x + 1, y
    if way == 1:
        return x - 1, y
    if way == 2:
        return x, y + 1
    return x, y - 1


@cuda.jit
def walk(states, steps, ends):
    """Each thread walks on a grid of streets, and stores where it ends."""
    i = cuda.grid(1)
    if i < ends.shape[0]:
        x = y = 0
        for _ in range(steps):
            x, y = next_crossing(states, i, x, y)
        ends[i, 0] = x
        ends[i, 1] = y


@cuda.jit
def whole_walk(states, places):
    """Each thread walks, and stores every crossing that it comes to."""
    i = cuda.grid(1)
    if i < places.shape[0]:
        x = y = 0
        for step in range(places.shape[1]):
            places[i, step, 0] = x
            places[i, step, 1] = y
            x, y = next_crossing(states, i, x, y)


@cuda.jit
def same_in_blocks(seed, points, counts):
    """Wrong: a thread's place in its block is the same in all blocks."""
    i = cuda.grid(1)
    if i < counts.size:
        inside = 0
        for pair in range(points // 2):
            a, b, c, d = philox(pair, cuda.threadIdx.x, seed)
            x, y = unit(a), unit(b)
            if x * x + y * y < float32(1):
                inside += 1
            x, y = unit(c), unit(d)
            if x * x + y * y < float32(1):
                inside += 1
        counts[i] = inside


@cuda.jit
def count_ones(states, draws, counts):
    """Each thread counts how often a number from 0 to below 1 is 1 all the same."""
    i = cuda.grid(1)
    if i < counts.size:
        ones = 0
        for _ in range(draws):
            if xoroshiro128p_uniform_float32(states, i) == 1:
                ones += 1
        counts[i] = ones


# The same functions on the CPU. Only if Numba inlines them, the loop below computes several points at once.
philox_on_cpu = njit(inline="always")(philox.py_func)
unit_on_cpu = njit(inline="always")(unit.py_func)


@njit(parallel=True)
def cpu_threads(seed, points, counts):
    """Share the same points out among all threads of the CPU."""
    for i in prange(counts.size):
        inside = 0
        for pair in range(points // 2):
            a, b, c, d = philox_on_cpu(pair, i, seed)
            x, y = unit_on_cpu(a), unit_on_cpu(b)
            if x * x + y * y < float32(1):
                inside += 1
            x, y = unit_on_cpu(c), unit_on_cpu(d)
            if x * x + y * y < float32(1):
                inside += 1
        counts[i] = inside
