"""Jacobi steps that smooth a noisy signal: a step per launch, and all steps in one launch."""

import numpy as np
from numba import cuda, float32, njit


@cuda.jit
def jacobi_step(noisy, now, then):
    """Each thread computes one number anew, from the noisy one and from its neighbours."""
    i = cuda.grid(1)
    if i > 0 and i < now.size - 1:
        beside = now[i - 1] + now[i + 1]
        then[i] = (noisy[i] + float32(16) * beside) * float32(1 / 33)
    elif i < now.size:
        then[i] = noisy[i]  # both ends stay as they are


@cuda.jit
def all_steps(noisy, a, b, steps):
    """Do all steps in one launch: after each, every block waits for all others."""
    grid = cuda.cg.this_grid()
    now, then = noisy, a
    for _ in range(steps):
        for i in range(cuda.grid(1), now.size, cuda.gridsize(1)):
            if i > 0 and i < now.size - 1:
                beside = now[i - 1] + now[i + 1]
                then[i] = (noisy[i] + float32(16) * beside) * float32(1 / 33)
            else:
                then[i] = noisy[i]
        grid.sync()
        a, b = b, a
        now, then = b, a


jacobi_source = r"""
extern "C" __global__ void jacobi_step(const float* noisy, const float* now, float* then, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) then[i] = (noisy[i] + 16.0f * (now[i - 1] + now[i + 1])) * (1.0f / 33);
    else if (i < n) then[i] = noisy[i];
}
"""

# As many threads as a step, which do nothing.
empty_source = r"""
extern "C" __global__ void empty_step(const float* noisy, const float* now, float* then, int n) {}
"""

# The two statements in PTX take compute capability 9.0. CUDA C++ calls them, in a header that NVRTC does not
# bring, cudaTriggerProgrammaticLaunchCompletion and cudaGridDependencySynchronize.
early_source = r"""
// Why two arrays are enough, although steps overlap: a thread touches them only after its wait,
// when the step before has ended and its numbers are visible. As every thread waits, no step ends
// before the one before it, so that by then all earlier steps have ended. One of them wrote, and
// one read, what this step overwrites. Ahead of the wait a thread reads noisy alone, which no step
// writes. The next step starts only after all blocks of this one have started, so that blocks
// which wait never keep out the blocks that they wait for.
extern "C" __global__ void early_step(const float* noisy, const float* now, float* then, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile("griddepcontrol.launch_dependents;");  // the next step may start
    const float own = i < n ? noisy[i] : 0;
    asm volatile("griddepcontrol.wait;" ::: "memory");  // until the step before has ended
    if (i > 0 && i < n - 1) then[i] = (own + 16.0f * (now[i - 1] + now[i + 1])) * (1.0f / 33);
    else if (i < n) then[i] = own;
}
"""

# The last kernel of a round decides whether the graph does another one.
decide_source = r"""
typedef unsigned long long cudaGraphConditionalHandle;
extern "C" __device__ void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value);

extern "C" __global__ void largest_change(const float* a, const float* b, unsigned* change, int n) {
    float most = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        most = fmaxf(most, fabsf(a[i] - b[i]));
    for (int d = 16; d; d /= 2) most = fmaxf(most, __shfl_down_sync(~0u, most, d));
    // Of numbers that are not negative, the bits are in the same order.
    if (threadIdx.x % 32 == 0) atomicMax(change, __float_as_uint(most));
}

extern "C" __global__ void decide(
    cudaGraphConditionalHandle again, unsigned* change, float enough, int* rounds, int most_rounds) {
    rounds[0] += 1;
    cudaGraphSetConditional(again, __uint_as_float(change[0]) >= enough && rounds[0] < most_rounds);
    change[0] = 0;
}
"""


@njit
def cpu_steps(noisy, a, b, steps):
    """Do all steps in compiled loops on one thread of the CPU, from one array into the other."""
    for i in range(noisy.size):
        a[i] = b[i] = noisy[i]
    own = noisy[1:-1]
    for _ in range(steps):
        # Indices that begin at 0 need no test for negative ones, so that the loop uses SIMD.
        left, right, middle = a[:-2], a[2:], b[1:-1]
        for i in range(middle.size):
            middle[i] = (own[i] + np.float32(16) * (left[i] + right[i])) * np.float32(1 / 33)
        a, b = b, a
