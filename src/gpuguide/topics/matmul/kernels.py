"""A product of matrices: from global memory, from tiles in shared memory, from tiles in registers."""

from numba import cuda, float32, uint32


@cuda.jit
def one_element(a, b, c):
    """Each thread walks along a row of a and down a column of b."""
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        c[row, col] = total


@cuda.jit
def one_element_unsigned(a, b, c):
    """Walk in the same way with while, by indices without a sign."""
    x, y = cuda.grid(2)
    row, col = uint32(y), uint32(x)
    m, n, p = uint32(a.shape[0]), uint32(a.shape[1]), uint32(b.shape[1])
    if row < m and col < p:
        total = float32(0)
        k = uint32(0)
        while k < n:
            total += a[row, k] * b[k, col]
            k += uint32(1)
        c[row, col] = total


@cuda.jit
def signed_while(a, b, c):
    """Change the loop alone."""
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = float32(0)
        k = 0
        while k < a.shape[1]:
            total += a[row, k] * b[k, col]
            k += 1
        c[row, col] = total


@cuda.jit
def unsigned_range(a, b, c):
    """Change the indices alone."""
    x, y = cuda.grid(2)
    row, col = uint32(y), uint32(x)
    m, n, p = uint32(a.shape[0]), uint32(a.shape[1]), uint32(b.shape[1])
    if row < m and col < p:
        total = float32(0)
        for k in range(n):
            total += a[row, k] * b[k, col]
        c[row, col] = total


@cuda.jit
def tile_in_shared(a, b, c):
    """Fetch a tile of each factor by the 32 by 32 threads of a block, which all use it."""
    tile_a = cuda.shared.array((32, 32), float32)
    tile_b = cuda.shared.array((32, 32), float32)
    m, n, p = uint32(a.shape[0]), uint32(a.shape[1]), uint32(b.shape[1])
    x, y = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    row, col = uint32(32 * cuda.blockIdx.y) + y, uint32(32 * cuda.blockIdx.x) + x
    total = float32(0)
    start = uint32(0)
    while start < n:
        tile_a[y, x] = tile_b[y, x] = float32(0)  # what lies outside counts as 0
        if row < m and start + x < n:
            tile_a[y, x] = a[row, start + x]
        if start + y < n and col < p:
            tile_b[y, x] = b[start + y, col]
        cuda.syncthreads()  # both tiles are complete
        for k in range(32):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()  # all threads have read them
        start += uint32(32)
    if row < m and col < p:
        c[row, col] = total


@cuda.jit
def one_barrier(a, b, c):
    """Wrong: nothing lies between the last read of a tile and the next write."""
    tile_a = cuda.shared.array((8, 8), float32)
    tile_b = cuda.shared.array((8, 8), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, a.shape[1], 8):
        tile_a[y, x] = a[row, start + x]
        tile_b[y, x] = b[start + y, col]
        cuda.syncthreads()
        for k in range(8):
            total += tile_a[y, k] * tile_b[k, x]
    c[row, col] = total


@cuda.jit
def tile_in_registers(a, b, c):
    """Compute 128 by 128 elements by 256 threads, each of which has 8 by 8 sums."""
    tile_a = cuda.shared.array((2, 16, 132), float32)  # 16 columns of a, each along a row
    tile_b = cuda.shared.array((2, 16, 128), float32)  # two of each: one is read, one is filled
    total = cuda.local.array((8, 8), float32)  # these four stay in registers
    from_a, from_b = cuda.local.array(8, float32), cuda.local.array(8, float32)
    next_a, next_b = cuda.local.array(8, float32), cuda.local.array(8, float32)
    for i in range(8):
        for j in range(8):
            total[i, j] = float32(0)

    m, n, p = uint32(a.shape[0]), uint32(a.shape[1]), uint32(b.shape[1])
    thread = uint32(cuda.threadIdx.x)
    x, y = thread % uint32(16), thread // uint32(16)  # its place among 16 by 16 threads
    row0, col0 = uint32(cuda.blockIdx.y * 128), uint32(cuda.blockIdx.x * 128)
    column, line = thread % uint32(128), thread // uint32(128)  # its place in tile_b

    full = uint32(0)  # the buffer to fill next
    start = uint32(0)
    while start < n + uint32(16):  # once more than there are tiles
        if start < n:  # the next two tiles are on their way while the last are multiplied
            for i in range(8):  # beyond an edge, what is there is loaded once more
                row, k = row0 + y + uint32(16 * i), start + x
                next_a[i] = a[min(row, m - uint32(1)), min(k, n - uint32(1))]
                k, col = start + line + uint32(2 * i), col0 + column
                next_b[i] = b[min(k, n - uint32(1)), min(col, p - uint32(1))]
        if start > uint32(0):
            for k in range(16):
                for i in range(8):
                    from_a[i] = tile_a[uint32(1) - full, uint32(k), y + uint32(16 * i)]
                    from_b[i] = tile_b[uint32(1) - full, uint32(k), x + uint32(16 * i)]
                for i in range(8):
                    for j in range(8):
                        total[i, j] += from_a[i] * from_b[j]
        for i in range(8):  # and here it becomes 0
            k = start + line + uint32(2 * i)
            a_i = next_a[i] if start + x < n else float32(0)
            b_i = next_b[i] if k < n else float32(0)
            tile_a[full, x, y + uint32(16 * i)] = a_i
            tile_b[full, line + uint32(2 * i), column] = b_i
        cuda.syncthreads()  # these tiles are complete, and the others have been read
        full = uint32(1) - full
        start += uint32(16)

    for i in range(8):
        for j in range(8):
            row, col = row0 + y + uint32(16 * i), col0 + x + uint32(16 * j)
            if row < m and col < p:
                c[row, col] = total[i, j]


product_source = r"""
// A block of 256 threads computes 256 by 128 elements, and each thread 16 by 8 of them.
const int ROWS = 256, COLS = 128, DEEP = 8;

// Four elements that follow one another, with zeros for those that lie outside.
template<bool QUADS> __device__ __forceinline__
float4 four(const float* x, int row, int col, int rows, int cols) {
    float4 q = make_float4(0, 0, 0, 0);
    const float* at = x + (size_t)row * cols + col;
    if (QUADS) {
        if (row < rows && col < cols) q = *(const float4*)at;  // 16 bytes at once
    } else if (row < rows) {
        if (col < cols) q.x = at[0];
        if (col + 1 < cols) q.y = at[1];
        if (col + 2 < cols) q.z = at[2];
        if (col + 3 < cols) q.w = at[3];
    }
    return q;
}

template<bool QUADS> __device__ __forceinline__
void product(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
             int m, int n, int p) {
    __shared__ float tile_a[2][DEEP][ROWS + 4], tile_b[2][DEEP][COLS];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    const int row0 = blockIdx.y * ROWS, col0 = blockIdx.x * COLS;
    // A warp has 4 by 8 threads, which read few different words at once; 4 by 2 warps are a block.
    const int y = warp / 2 * 4 + lane / 8, x = warp % 2 * 8 + lane % 8;
    const int row_a = t / 2, deep_a = t % 2 * 4;          // what it brings of a, twice,
    const int deep_b = t / 32, col_b = t % 32 * 4;        // and of b
    float total[16][8] = {};
    float4 next_a[2], next_b;
    int filled = 0;

    for (int start = 0; start < n + DEEP; start += DEEP) {  // once more than there are tiles
        if (start < n) {
            for (int i = 0; i < 2; i++)
                next_a[i] = four<QUADS>(a, row0 + row_a + i * 128, start + deep_a, m, n);
            next_b = four<QUADS>(b, start + deep_b, col0 + col_b, n, p);
        }
        if (start > 0)
            #pragma unroll
            for (int k = 0; k < DEEP; k++) {
                float from_a[16], from_b[8];
                #pragma unroll
                for (int i = 0; i < 4; i++)
                    *(float4*)&from_a[4 * i] = *(float4*)&tile_a[filled][k][i * 64 + y * 4];
                #pragma unroll
                for (int j = 0; j < 2; j++)
                    *(float4*)&from_b[4 * j] = *(float4*)&tile_b[filled][k][j * 64 + x * 4];
                #pragma unroll
                for (int i = 0; i < 16; i++)
                    #pragma unroll
                    for (int j = 0; j < 8; j++) total[i][j] += from_a[i] * from_b[j];
            }
        filled ^= 1;
        #pragma unroll
        for (int i = 0; i < 2; i++) {
            float* at = &tile_a[filled][deep_a][row_a + i * 128];
            at[0] = next_a[i].x;
            at[ROWS + 4] = next_a[i].y;
            at[2 * (ROWS + 4)] = next_a[i].z;
            at[3 * (ROWS + 4)] = next_a[i].w;
        }
        *(float4*)&tile_b[filled][deep_b][col_b] = next_b;
        __syncthreads();
    }

    #pragma unroll
    for (int i = 0; i < 16; i++) {
        const int row = row0 + i / 4 * 64 + y * 4 + i % 4;
        #pragma unroll
        for (int j = 0; j < 8; j += 4) {
            const int col = col0 + j / 4 * 64 + x * 4;
            float* at = c + (size_t)row * p + col;
            if (QUADS) {
                if (row < m && col < p) *(float4*)at = *(float4*)&total[i][j];
            } else {
                #pragma unroll
                for (int k = 0; k < 4; k++)
                    if (row < m && col + k < p) at[k] = total[i][j + k];
            }
        }
    }
}

// Rows that begin at a multiple of 16 bytes are read and written four elements at a time.
extern "C" __global__ void __launch_bounds__(256)
product_quads(const float* a, const float* b, float* c, int m, int n, int p) {
    product<true>(a, b, c, m, n, p);
}

extern "C" __global__ void __launch_bounds__(256)
product_singles(const float* a, const float* b, float* c, int m, int n, int p) {
    product<false>(a, b, c, m, n, p);
}
"""
