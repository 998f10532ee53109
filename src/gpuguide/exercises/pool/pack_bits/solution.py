from numba import cuda, uint8


@cuda.jit
def pack_kernel(crossed, words):
    """Bring the bytes of a block into shared memory, and pack a word in each thread."""
    tile = cuda.shared.array(2048, uint8)
    t = cuda.threadIdx.x
    first = 2048 * cuda.blockIdx.x
    for i in range(t, min(2048, crossed.size - first), 64):
        tile[i] = crossed[first + i]
    cuda.syncthreads()  # all bytes are there
    w = cuda.grid(1)
    if w < words.size:
        bits = 0
        for k in range(32):
            place = (k + t) % 32  # threads of a warp begin in different banks
            if tile[32 * t + place] == 0:
                bits |= 1 << place
        words[w] = bits
