"""The softmax of rows in one kernel, with Numba and in CUDA C++; and in five."""

import math

from numba import cuda, float32, uint32

BLOCK = 512
PER_THREAD = 16  # a row has at most 512 * 16 numbers
WARPS = BLOCK // 32
LEAST = float32(-math.inf)


@cuda.jit(device=True)
def largest_of_block(value, parts):
    """Return the largest value of a block to all of its threads."""
    for distance in (16, 8, 4, 2, 1):
        value = max(value, cuda.shfl_xor_sync(0xFFFFFFFF, value, distance))
    if cuda.threadIdx.x % 32 == 0:
        parts[cuda.threadIdx.x // 32] = value
    cuda.syncthreads()  # the parts of all warps are there
    for warp in range(WARPS):
        value = max(value, parts[warp])
    return value


@cuda.jit(device=True)
def sum_of_block(value, parts):
    """Return the sum over a block to all of its threads."""
    for distance in (16, 8, 4, 2, 1):
        value += cuda.shfl_xor_sync(0xFFFFFFFF, value, distance)
    if cuda.threadIdx.x % 32 == 0:
        parts[cuda.threadIdx.x // 32] = value
    cuda.syncthreads()  # the parts of all warps are there
    total = float32(0)
    for warp in range(WARPS):
        total += parts[warp]
    return total


@cuda.jit
def numba_kernel(x, out):
    """Each block turns one row into shares; each thread keeps 16 numbers of it in registers."""
    numbers = cuda.local.array(PER_THREAD, float32)
    maxima = cuda.shared.array(WARPS, float32)
    sums = cuda.shared.array(WARPS, float32)  # its own, so that no thread waits once more
    row, thread = uint32(cuda.blockIdx.x), uint32(cuda.threadIdx.x)
    cols = uint32(x.shape[1])
    largest = LEAST
    for k in range(PER_THREAD):
        col = thread + uint32(k * BLOCK)
        numbers[k] = x[row, col] if col < cols else LEAST
        largest = max(largest, numbers[k])
    largest = largest_of_block(largest, maxima)
    total = float32(0)
    for k in range(PER_THREAD):
        numbers[k] = math.exp(numbers[k] - largest)
        total += numbers[k]
    share = float32(1) / sum_of_block(total, sums)
    for k in range(PER_THREAD):
        col = thread + uint32(k * BLOCK)
        if col < cols:
            out[row, col] = numbers[k] * share


# In five kernels, as CuPy's functions make it, each as busy as the one above.

AT_ONCE = 4  # numbers that a thread fetches before it works on any


@cuda.jit
def largest_of_rows(x, largest):
    """Each block finds the largest number of one row."""
    numbers = cuda.local.array(AT_ONCE, float32)
    parts = cuda.shared.array(WARPS, float32)
    row, thread, cols = uint32(cuda.blockIdx.x), uint32(cuda.threadIdx.x), uint32(x.shape[1])
    value = LEAST
    for first in range(thread, cols, uint32(AT_ONCE * BLOCK)):
        for k in range(AT_ONCE):
            col = first + uint32(k * BLOCK)
            numbers[k] = x[row, col] if col < cols else LEAST
        for k in range(AT_ONCE):
            value = max(value, numbers[k])
    value = largest_of_block(value, parts)
    if thread == 0:
        largest[row] = value


@cuda.jit
def differences(x, largest, out):
    """Each block subtracts the largest number of one row."""
    numbers = cuda.local.array(AT_ONCE, float32)
    row, thread, cols = uint32(cuda.blockIdx.x), uint32(cuda.threadIdx.x), uint32(x.shape[1])
    value = largest[row]
    for first in range(thread, cols, uint32(AT_ONCE * BLOCK)):
        for k in range(AT_ONCE):
            col = first + uint32(k * BLOCK)
            numbers[k] = x[row, col] if col < cols else LEAST
        for k in range(AT_ONCE):
            col = first + uint32(k * BLOCK)
            if col < cols:
                out[row, col] = numbers[k] - value


@cuda.jit
def powers(x, out):
    """Each block raises e to the numbers of one row."""
    numbers = cuda.local.array(AT_ONCE, float32)
    row, thread, cols = uint32(cuda.blockIdx.x), uint32(cuda.threadIdx.x), uint32(x.shape[1])
    for first in range(thread, cols, uint32(AT_ONCE * BLOCK)):
        for k in range(AT_ONCE):
            col = first + uint32(k * BLOCK)
            numbers[k] = x[row, col] if col < cols else LEAST
        for k in range(AT_ONCE):
            col = first + uint32(k * BLOCK)
            if col < cols:
                out[row, col] = math.exp(numbers[k])


@cuda.jit
def sums_of_rows(x, totals):
    """Each block adds up one row."""
    numbers = cuda.local.array(AT_ONCE, float32)
    parts = cuda.shared.array(WARPS, float32)
    row, thread, cols = uint32(cuda.blockIdx.x), uint32(cuda.threadIdx.x), uint32(x.shape[1])
    total = float32(0)
    for first in range(thread, cols, uint32(AT_ONCE * BLOCK)):
        for k in range(AT_ONCE):
            col = first + uint32(k * BLOCK)
            numbers[k] = x[row, col] if col < cols else float32(0)
        for k in range(AT_ONCE):
            total += numbers[k]
    total = sum_of_block(total, parts)
    if thread == 0:
        totals[row] = total


@cuda.jit
def quotients(x, totals, out):
    """Each block divides one row by its sum."""
    numbers = cuda.local.array(AT_ONCE, float32)
    row, thread, cols = uint32(cuda.blockIdx.x), uint32(cuda.threadIdx.x), uint32(x.shape[1])
    total = totals[row]
    for first in range(thread, cols, uint32(AT_ONCE * BLOCK)):
        for k in range(AT_ONCE):
            col = first + uint32(k * BLOCK)
            numbers[k] = x[row, col] if col < cols else LEAST
        for k in range(AT_ONCE):
            col = first + uint32(k * BLOCK)
            if col < cols:
                out[row, col] = numbers[k] / total


raw_source = r"""
#define LEAST __int_as_float(0xff800000)  // minus infinity
const int BLOCK = 512, PER_THREAD = 16, WARPS = BLOCK / 32;

__device__ float largest_of_block(float value) {
    __shared__ float parts[WARPS];
    for (int distance = 16; distance; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(~0u, value, distance));
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();  // the parts of all warps are there
    for (int warp = 0; warp < WARPS; warp++) value = fmaxf(value, parts[warp]);
    return value;
}

__device__ float sum_of_block(float value) {
    __shared__ float parts[WARPS];
    for (int distance = 16; distance; distance /= 2)
        value += __shfl_xor_sync(~0u, value, distance);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();  // the parts of all warps are there
    float total = 0;
    for (int warp = 0; warp < WARPS; warp++) total += parts[warp];
    return total;
}

extern "C" __global__ void softmax(const float* x, float* out, int cols) {
    x += (long long)blockIdx.x * cols;
    out += (long long)blockIdx.x * cols;
    float numbers[PER_THREAD], largest = LEAST, total = 0;
    #pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        int col = threadIdx.x + k * BLOCK;
        numbers[k] = col < cols ? x[col] : LEAST;
        largest = fmaxf(largest, numbers[k]);
    }
    largest = largest_of_block(largest);
    #pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        numbers[k] = expf(numbers[k] - largest);
        total += numbers[k];
    }
    float share = 1 / sum_of_block(total);
    #pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        int col = threadIdx.x + k * BLOCK;
        if (col < cols) out[col] = numbers[k] * share;
    }
}
"""
