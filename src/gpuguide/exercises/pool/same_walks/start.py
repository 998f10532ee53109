from numba import cuda


@cuda.jit(device=True)
def mixed(x):
    """Mix the bits of a whole number: the result looks random, and is always the same."""
    x = (x ^ (x >> 16)) * 0x7FEB352D & 0xFFFFFFFF
    x = (x ^ (x >> 15)) * 0x846CA68B & 0xFFFFFFFF
    return x ^ (x >> 16)


@cuda.jit
def walk_kernel(seed, steps, ends):
    """Let each walker walk at random."""
    i = cuda.grid(1)
    if i < ends.size:
        x = 0
        for k in range(steps):
            x += 1 if mixed(seed + cuda.threadIdx.x * steps + k) & 1 else -1
        ends[i] = x
