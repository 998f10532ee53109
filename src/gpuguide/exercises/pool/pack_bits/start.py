from numba import cuda


@cuda.jit
def pack_kernel(crossed, words):
    """Read the bytes of one word from global memory, and pack them."""
    w = cuda.grid(1)
    if w < words.size:
        bits = 0
        for k in range(32):
            if crossed[32 * w + k] == 0:
                bits |= 1 << k
        words[w] = bits
