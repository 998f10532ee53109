"""The product of layers: in the output array or in a variable, in Numba, and in CUDA C++ in several ways."""

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


@cuda.jit
def one_index(x, out):
    """Multiply in a variable, with one index for rows and columns."""
    i = cuda.grid(1)
    if i < out.size:
        product = 1.0
        for z in range(x.shape[0]):
            product *= x[z, i]
        out[i] = product


as_is_source = r"""
extern "C" __global__ void product(const double* x, double* out, int n_layers, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = 1.0;
    for (int z = 0; z < n_layers; z++)
        out[i] *= x[(long long)z * n + i];
}"""

# What `out` points to may change at any time, so it is read and written in each turn.
volatile_source = as_is_source.replace("double* out", "volatile double* out")
# Nothing else points to what `out` points to.
restrict_source = as_is_source.replace("double* out", "double* __restrict__ out")

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

# The same, but it stores every eighth product, too.
eighth_source = one_load_source.replace(
    "product *= x[(long long)z * n + i];",
    "{\n"
    "        product *= x[(long long)z * n + i];\n"
    "        if (z % 8 == 0) out[i] = product;\n"
    "    }",
)

stores_source = r"""
extern "C" __global__ void stores(volatile double* out, int n_layers, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int z = 0; z < n_layers; z++)
        out[i] = z;  // nothing is loaded
}"""

pairs_source = r"""
extern "C" __global__ void product(const double2* x, double2* out, int n_layers, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;  // of a pair
    if (i >= n) return;
    double2 product = make_double2(1.0, 1.0);
    for (int z = 0; z < n_layers; z++) {
        double2 factors = x[(long long)z * n + i];  // one load of 16 bytes
        product.x *= factors.x;
        product.y *= factors.y;
    }
    out[i] = product;
}"""
