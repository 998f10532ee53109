"""The softmax of rows with cupyx.jit, which turns Python into CUDA C++."""

import cupy as cp
from cupyx import jit


@jit.rawkernel()
def jit_kernel(x, out, cols):
    numbers = jit.shared_memory(cp.float32, 8192)
    parts = jit.shared_memory(cp.float32, 32)
    row = jit.blockIdx.x
    thread = jit.threadIdx.x
    largest = x[row, 0]
    for col in range(thread, cols, 512):
        numbers[col] = x[row, col]
        largest = max(largest, numbers[col])
    for k in range(5):
        largest = max(largest, jit.shfl_xor_sync(0xFFFFFFFF, largest, 16 >> k))
    if thread % 32 == 0:
        parts[thread // 32] = largest
    jit.syncthreads()
    for warp in range(16):
        largest = max(largest, parts[warp])
    total = cp.float32(0)
    for col in range(thread, cols, 512):
        numbers[col] = cp.exp(numbers[col] - largest)
        total += numbers[col]
    for k in range(5):
        total += jit.shfl_xor_sync(0xFFFFFFFF, total, 16 >> k)
    if thread % 32 == 0:
        parts[16 + thread // 32] = total
    jit.syncthreads()
    total = cp.float32(0)
    for warp in range(16):
        total += parts[16 + warp]
    for col in range(thread, cols, 512):
        out[row, col] = numbers[col] / total
