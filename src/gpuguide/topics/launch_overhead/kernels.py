"""Kernels with next to nothing to do, so that their launches show: in Numba and in CUDA C++."""

from numba import cuda


@cuda.jit
def add_one(x):
    """Each thread adds one to its element of a matrix."""
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        x[row, col] += 1


@cuda.jit
def one_launch(x):
    """Each thread adds one a hundred times, and reads and writes its element once."""
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        value = x[row, col]
        for _ in range(100):
            value += 1
        x[row, col] = value


add_one_source = r"""
extern "C" __global__ void add_one(double* x, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) x[row * cols + col] += 1;
}
"""


@cuda.jit
def one_array(out):
    """Each element becomes its own index."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = i


@cuda.jit
def three_arrays(a, b, out):
    """Each thread takes the larger of two numbers."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = max(a[i], b[i])


@cuda.jit
def eight_arrays(a, b, c, d, e, f, g, out):
    """Each thread takes the largest of seven numbers."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = max(a[i], b[i], c[i], d[i], e[i], f[i], g[i])


arrays_source = r"""
extern "C" __global__ void one_array(float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;
}
extern "C" __global__ void three_arrays(const float* a, const float* b, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = fmaxf(a[i], b[i]);
}
extern "C" __global__ void eight_arrays(
    const float* a, const float* b, const float* c, const float* d, const float* e,
    const float* f, const float* g, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float left = fmaxf(fmaxf(a[i], b[i]), fmaxf(c[i], d[i]));
        out[i] = fmaxf(left, fmaxf(fmaxf(e[i], f[i]), g[i]));
    }
}
"""
