"""A kernel as long and as wide as one likes: each thread makes steps that need the one before."""

steps_source = r"""
extern "C" __global__ void steps(const unsigned* x, unsigned* out, int n, int n_steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned number = x[i];
    #pragma unroll 1  // or the compiler makes one step of several
    for (int k = 0; k < n_steps; k++)
        number = 1664525u * number + 1013904223u;
    out[i] = number;
}"""
