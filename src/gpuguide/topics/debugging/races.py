"""How many numbers a missing barrier spoils: with the same data each time, with new data, in one warp."""

from numba import cuda, float32

from gpuguide.measure import cp

N_LAUNCHES, N_BLOCKS = 40, 100


def mirroring(width):
    """Return a kernel that mirrors parts of some width, without a barrier."""

    @cuda.jit
    def mirror(x, out):
        part = cuda.shared.array(width, float32)
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        part[t] = x[i]
        out[i] = part[width - 1 - t]

    return mirror


def shares_wrong(width, new_data):
    """Return the share of wrong numbers in each launch after the first, which compiles."""
    kernel = mirroring(width)
    x = cp.random.random((N_BLOCKS, width), dtype=cp.float32)
    shares = []
    for _ in range(N_LAUNCHES + 1):
        if new_data:
            x = cp.random.random((N_BLOCKS, width), dtype=cp.float32)
        out = cp.full_like(x, -1)
        kernel[N_BLOCKS, width](x.ravel(), out.ravel())
        shares.append(float((out != x[:, ::-1]).mean()))
    return shares[1:]
