"""An addition and a sum with Numba, and the same in CUDA C++."""

import numpy as np
from numba import cuda


@cuda.jit
def add_one(a, b, out):
    """Each thread takes the element that has its own index."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


@cuda.jit
def add_four(a, b, out):
    """Each thread takes four elements: eight loads before the first store."""
    width = cuda.blockDim.x
    i = cuda.blockIdx.x * width * 4 + cuda.threadIdx.x
    if i + 3 * width < out.size:
        a0, a1, a2, a3 = a[i], a[i + width], a[i + 2 * width], a[i + 3 * width]
        b0, b1, b2, b3 = b[i], b[i + width], b[i + 2 * width], b[i + 3 * width]
        out[i] = a0 + b0
        out[i + width] = a1 + b1
        out[i + 2 * width] = a2 + b2
        out[i + 3 * width] = a3 + b3
    else:
        while i < out.size:  # the last block
            out[i] = a[i] + b[i]
            i += width


add_source = r"""
extern "C" __global__ void add_single(const float* a, const float* b, float* out, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

extern "C" __global__ void add_quads(const float4* a, const float4* b, float4* out, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        float4 x = a[i], y = b[i];  // 16 bytes each
        out[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
    long long rest = n / 4 * 4 + i;  // up to three elements behind the last four
    if (rest < n) ((float*)out)[rest] = ((const float*)a)[rest] + ((const float*)b)[rest];
}
"""


@cuda.jit
def sum_blocks(x, out):
    """Each block adds up a part of the array, 16 elements per thread in a turn, and leaves one sum."""
    sums = cuda.shared.array(256, np.float32)
    thread = cuda.threadIdx.x
    total = np.float32(0)
    start = cuda.blockIdx.x * 4096
    while start + 4096 <= x.size:
        for k in range(16):
            total += x[start + thread + k * 256]
        start += cuda.gridDim.x * 4096
    if start < x.size:  # one block has a part of 4096 left
        for i in range(start + thread, x.size, 256):
            total += x[i]
    sums[thread] = total
    half = 128
    while half > 0:
        cuda.syncthreads()  # the sums of the round before are all there
        if thread < half:
            sums[thread] += sums[thread + half]
        half //= 2
    if thread == 0:  # it wrote the last sum itself, so no barrier is needed here
        out[cuda.blockIdx.x] = sums[0]


sum_source = r"""
__device__ float block_sum(float value) {  // of 512 threads; the first one gets it
    __shared__ float sums[16];
    for (int step = 16; step; step /= 2) value += __shfl_down_sync(~0u, value, step);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int warp = 1; warp < 16; ++warp) value += sums[warp];
    return value;
}

__device__ float quad_sum(float4 q) { return (q.x + q.y) + (q.z + q.w); }

extern "C" __global__ void __launch_bounds__(512, 4)  // so few registers that four blocks fit
sum_quads(const float4* x, long long n, float* parts, unsigned* done, float* out) {
    __shared__ bool is_last;
    const long long quads = n / 4, tile = 4 * 512;
    float total = 0;
    for (long long start = blockIdx.x * tile; start < quads; start += gridDim.x * tile) {
        long long i = start + threadIdx.x;
        if (start + tile <= quads) {  // four loads of 16 bytes are on their way
            const float4 p = x[i], q = x[i + 512], r = x[i + 1024], s = x[i + 1536];
            total += quad_sum(p);
            total += quad_sum(q);
            total += quad_sum(r);
            total += quad_sum(s);
        } else {
#pragma unroll 1
            for (; i < quads; i += 512) total += quad_sum(x[i]);
        }
    }
    if (blockIdx.x == 0 && threadIdx.x < n % 4)  // up to three numbers behind the last four
        total += ((const float*)x)[4 * quads + threadIdx.x];
    total = block_sum(total);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = total;
        __threadfence();  // the part is there before it is counted
        is_last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;  // then it starts at 0 again
    }
    __syncthreads();
    if (is_last) {
        total = 0;
#pragma unroll 1
        for (int k = threadIdx.x; k < gridDim.x; k += 512) total += __ldcg(&parts[k]);
        total = block_sum(total);
        if (threadIdx.x == 0) *out = total;
    }
}
"""
