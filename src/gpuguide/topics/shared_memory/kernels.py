"""A sum over neighbours, and a matrix transposed, with and without shared memory."""

from numba import cuda, float32, uint32

RADIUS, BLOCK = 16, 256
WIDTH = BLOCK + 2 * RADIUS  # a block's elements, and their neighbours on both sides


@cuda.jit
def neighbours_direct(x, out):
    """Each thread adds up its element and 16 on either side, all from global memory."""
    i = cuda.grid(1)
    if i < x.size:
        total = float32(0)
        for j in range(max(i - RADIUS, 0), min(i + RADIUS + 1, x.size)):
            total += x[j]
        out[i] = total


@cuda.jit
def neighbours_constant(x, out):
    """Add up the same numbers from global memory; away from both ends, there are always 33."""
    i = cuda.grid(1)
    if i < x.size:
        total = float32(0)
        first, last = i - RADIUS, i + RADIUS
        if first >= 0 and last < x.size:
            for k in range(2 * RADIUS + 1):
                total += x[first + k]
        else:
            for j in range(max(first, 0), min(last + 1, x.size)):
                total += x[j]
        out[i] = total


@cuda.jit
def neighbours_shared(x, out):
    """Copy what the threads of a block need into shared memory once, and read it there."""
    near = cuda.shared.array(WIDTH, float32)
    thread = uint32(cuda.threadIdx.x)
    i = cuda.grid(1)
    j = i - RADIUS  # the element that this thread fetches
    near[thread] = x[j] if 0 <= j < x.size else float32(0)
    if thread < 2 * RADIUS:  # these fetch a second one
        j += BLOCK
        near[BLOCK + thread] = x[j] if j < x.size else float32(0)
    cuda.syncthreads()  # until all threads of the block are here
    if i < x.size:
        total = float32(0)
        for k in range(2 * RADIUS + 1):
            total += near[thread + k]  # mostly what other threads have written
        out[i] = total


@cuda.jit
def transpose_naive(a, out):
    """Neighbouring threads read along a row, and write a whole row apart."""
    col, row = cuda.grid(2)
    if row < a.shape[0] and col < a.shape[1]:
        out[col, row] = a[row, col]


@cuda.jit
def transpose_tile(a, out):
    """Move tiles through shared memory, so that reads and writes both run along rows."""
    tile = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row0, col0 = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    for j in range(0, 32, 8):  # 32 by 8 threads: each moves four elements
        row, col = row0 + y + j, col0 + x
        if row < a.shape[0] and col < a.shape[1]:
            tile[y + j, x] = a[row, col]
    cuda.syncthreads()  # the tile is complete
    for j in range(0, 32, 8):
        row, col = col0 + y + j, row0 + x  # of the result
        if row < out.shape[0] and col < out.shape[1]:
            out[row, col] = tile[x, y + j]  # down a column: 32 threads want one bank


@cuda.jit
def transpose_padded(a, out):
    """Add a spare column, so that the elements of each column lie in different banks."""
    tile = cuda.shared.array((32, 33), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row0, col0 = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    for j in range(0, 32, 8):
        row, col = row0 + y + j, col0 + x
        if row < a.shape[0] and col < a.shape[1]:
            tile[y + j, x] = a[row, col]
    cuda.syncthreads()
    for j in range(0, 32, 8):
        row, col = col0 + y + j, row0 + x
        if row < out.shape[0] and col < out.shape[1]:
            out[row, col] = tile[x, y + j]


@cuda.jit
def transpose_unsigned(a, out):
    """Use indices without a sign, which need no test for being negative."""
    tile = cuda.shared.array((32, 33), float32)
    x, y = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    row0, col0 = uint32(32 * cuda.blockIdx.y), uint32(32 * cuda.blockIdx.x)
    rows, cols = uint32(a.shape[0]), uint32(a.shape[1])  # else compared in float64
    for j in range(uint32(0), uint32(32), uint32(8)):
        row, col = row0 + y + j, col0 + x
        if row < rows and col < cols:
            tile[y + j, x] = a[row, col]
    cuda.syncthreads()
    for j in range(uint32(0), uint32(32), uint32(8)):
        row, col = col0 + y + j, row0 + x
        if row < cols and col < rows:
            out[row, col] = tile[x, y + j]


@cuda.jit
def transpose_large(a, out):
    """Move tiles of 64 by 64; only blocks at the edge look where the matrix ends."""
    tile = cuda.shared.array((64, 65), float32)
    thread = uint32(cuda.threadIdx.x)  # of 512: each moves eight elements
    y, x = thread // uint32(64), thread % uint32(64)
    # x counts down the rows: blocks that run together write neighbouring pieces of the result.
    row0, col0 = uint32(64 * cuda.blockIdx.x), uint32(64 * cuda.blockIdx.y)
    rows, cols = uint32(a.shape[0]), uint32(a.shape[1])
    whole = row0 + 64 <= rows and col0 + 64 <= cols
    if whole:
        for j in range(0, 64, 8):
            tile[y + j, x] = a[row0 + y + j, col0 + x]
    else:
        for j in range(0, 64, 8):
            if row0 + y + j < rows and col0 + x < cols:
                tile[y + j, x] = a[row0 + y + j, col0 + x]
    cuda.syncthreads()
    if whole:
        for j in range(0, 64, 8):
            out[col0 + y + j, row0 + x] = tile[x, y + j]
    else:
        for j in range(0, 64, 8):
            if row0 + x < rows and col0 + y + j < cols:
                out[col0 + y + j, row0 + x] = tile[x, y + j]


@cuda.jit
def transpose_aligned(a, out):
    """Each write begins at a multiple of 32 bytes, wherever the rows of the result begin."""
    tile = cuda.shared.array((72, 65), float32)  # eight rows more than are written
    thread = uint32(cuda.threadIdx.x)
    y, x = thread // uint32(64), thread % uint32(64)
    eight, rows, cols = uint32(8), uint32(a.shape[0]), uint32(a.shape[1])
    # tile[8] is for row row0: seven rows above it may be needed, too.
    row0, col0 = uint32(64 * cuda.blockIdx.x), uint32(64 * cuda.blockIdx.y)
    whole = row0 >= 8 and row0 + 64 <= rows and col0 + 64 <= cols
    for j in range(uint32(0), uint32(72), eight):
        shifted = row0 + y + j  # the row and eight, so that it is never negative
        if whole or (shifted >= eight and shifted < rows + eight and col0 + x < cols):
            tile[y + j, x] = a[shifted - eight, col0 + x]
    cuda.syncthreads()
    for j in range(uint32(0), uint32(64), eight):
        col = col0 + y + j
        late = (col * rows) % eight  # elements from a multiple of 32 bytes to the row's begin
        shifted = row0 + x + eight - late
        if whole or (shifted >= eight and shifted < rows + eight and col < cols):
            out[col, shifted - eight] = tile[x + eight - late, y + j]


transpose_source = r"""
const int T = 64, H = 8;  // 512 threads move a tile of 64 by 64, eight rows at a time

extern "C" __global__ __launch_bounds__(T * H)
void transpose(const float* a, float* out, int rows, int cols) {
    __shared__ float tile[T + 8][T + 1];  // eight rows more, as each write is shifted to 32 bytes
    const int x = threadIdx.x % T, y = threadIdx.x / T;
    const int row0 = (int)blockIdx.x * T - 8, col0 = blockIdx.y * T;  // x down the rows
    const bool whole = row0 >= 0 && row0 + T + 8 <= rows && col0 + T <= cols;
    const float* from = a + ((long long)(row0 + y) * cols + col0 + x);
    if (whole) {
        float loaded[T / H + 1];  // all loads stand before the first store
        #pragma unroll
        for (int j = 0; j <= T / H; j++) loaded[j] = from[(size_t)j * H * cols];
        #pragma unroll
        for (int j = 0; j <= T / H; j++) tile[y + j * H][x] = loaded[j];
    } else {
        for (int j = 0; j < T + 8; j += H)
            if (row0 + y + j >= 0 && row0 + y + j < rows && col0 + x < cols)
                tile[y + j][x] = from[(size_t)j * cols];
    }
    __syncthreads();
    #pragma unroll
    for (int j = 0; j < T; j += H) {
        const int col = col0 + y + j;
        const int k = x + 8 - (unsigned)col * (unsigned)rows % 8, row = row0 + k;
        if (whole || (row >= 0 && row < rows && col < cols))
            out[(size_t)col * rows + row] = tile[k][y + j];
    }
}
"""
