"""The product of layers: in the output array or in a variable, in Numba, and in CUDA C++ in four ways."""

from numba import cuda


@cuda.jit
def as_is(x, out):
    """Multiply every factor into the output array."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = 1.0
        for z in range(x.shape[0]):
            out[row, col] *= x[z, row, col]


@cuda.jit
def in_register(x, out):
    """Multiply in a variable, and store the product at the end."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        product = 1.0
        for z in range(x.shape[0]):
            product *= x[z, row, col]
        out[row, col] = product


as_is_source = r"""
extern "C" __global__ void product(const double* x, double* out, int n_layers, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = 1.0;
    for (int z = 0; z < n_layers; z++)
        out[i] *= x[(long long)z * n + i];
}"""

# What `out` points to may change at any time, so it is read and written each time.
volatile_source = as_is_source.replace("double* out", "volatile double* out")
# Nothing else points to what `out` points to.
restrict_source = as_is_source.replace("double* out", "double* __restrict__ out")

loads_first_source = r"""
extern "C" __global__ void product(const double* x, volatile double* out, int n_layers, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double product = 1.0;
    out[i] = product;
    #pragma unroll 1  // four loads at a time, and not sixteen
    for (int z = 0; z < n_layers; z += 4) {
        double factor[4];
        for (int k = 0; k < 4; k++)  // four loads, which can wait together
            factor[k] = z + k < n_layers ? x[(long long)(z + k) * n + i] : 1.0;
        for (int k = 0; k < 4; k++)  // and four stores, as many as before
            out[i] = product *= factor[k];
    }
}"""

one_load_source = r"""
extern "C" __global__ void product(const double* x, double* out, int n_layers, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double product = 1.0;
    #pragma unroll 1  // one load at a time, and not four
    for (int z = 0; z < n_layers; z++)
        product *= x[(long long)z * n + i];
    out[i] = product;
}"""
