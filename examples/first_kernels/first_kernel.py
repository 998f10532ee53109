"""
First kernel: a thread for every element
========================================

How do you turn a loop into a kernel, and what does it gain?
"""
# %%
# Give every element a thread of its own: take ``i = cuda.grid(1)`` as its index, guard it with
# ``if i < x.size``, and launch enough blocks of 256 threads to cover the array. For a million numbers in the
# memory of the GPU this takes :measured:`increment[grid, 2**20].time`, where NumPy takes
# :measured:`increment[numpy, 2**20].time` and a compiled loop on all threads of the CPU
# :measured:`increment[cpu_threads, 2**20].time`. Keep the array on the GPU: a NumPy array is copied there and
# back at every launch, which takes :measured:`with_numpy_array`.
#
# .. headline:: One thread is slower than NumPy; a thread for every number is far faster
#
# .. drawn:: first_kernel
#
#    from gpuguide.charts.shapes import plot_bars
#
#    plot_bars(results, ["one_block", "numpy", "cpu_threads", "grid"], at=2**20)

# %%
# A kernel, and its launch
# ------------------------
#
# A kernel is a function that runs on the GPU, once in every thread. The brackets of the launch say how many
# threads there are: so many blocks, of so many threads each. CuPy makes the array in the memory of the GPU,
# so nothing has to be copied.
#
# .. rung:: grid

import cupy as cp
from numba import cuda


@cuda.jit
def grid(x):
    """Each thread adds one to the element with its own index."""
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


x = cp.ones(50_000)
threads_per_block = 256
blocks_per_grid = (x.size + threads_per_block - 1) // threads_per_block  # rounded up
grid[blocks_per_grid, threads_per_block](x)
print(blocks_per_grid, "blocks:", x[:3], "...", x[-3:])

# %%
# .. try-it::
#
#    Launch only ``150`` blocks. The last numbers remain 1, because 150 blocks of 256 threads cover 38 400
#    elements, and nothing complains. Then launch the right grid twice: a kernel changes its array, so
#    the numbers are 3.

# %%

# record: The kernels, and how many multiprocessors there are
import gpuguide as gg
from gpuguide.topics.first_kernel.kernels import grid_stride, one_block, one_thread

_ = gg.fact("multiprocessors", gg.require_gpu().sm_count, unit="1")

# %%
# What one thread, or one block, would take
# -----------------------------------------
#
# The same loop could run in a single thread, as it does on a CPU.
#
# .. rung:: one_thread

from numba import config

config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # Numba warns of so small a launch, and is right

x = cp.ones(50_000)
one_thread[1, 1](x)  # one block of one thread
print(x[:3], "...", x[-3:])

# %%
# A block can share the loop.
#
# .. rung:: one_block

x = cp.ones(50_000)
one_block[1, 256](x)  # one block of 256 threads
print(x[:3], "...", x[-3:])

# %%
# A grid-stride loop fits any size
# --------------------------------
#
# Here the size of the grid is fixed.
#
# .. rung:: grid_stride

x = cp.ones(50_000)
grid_stride[128, 256](x)  # fewer threads than numbers
print(x[:3], "...", x[-3:])

# %%
# What goes wrong: a NumPy array
# ------------------------------
#
# A kernel takes a NumPy array as well, and its result is right. But Numba copies the array to the GPU before
# the launch and back after it, at every launch, and warns of that:

import warnings

import numpy as np

x_host = np.ones(50_000)
with warnings.catch_warnings(record=True) as caught:  # to print the warning below
    grid[blocks_per_grid, threads_per_block](x_host)
print(x_host[:3], "...", x_host[-3:])
for warning in caught:
    print(f"{warning.category.__name__}: {warning.message}")

# %%

# record: What a launch takes with a NumPy array, and with an array on the GPU, until the result is there
from gpuguide.measure.clocks import SystemClock

clock = SystemClock()
config.CUDA_WARN_ON_IMPLICIT_COPY = 0


def from_launch_to_result(x):
    start_ns = clock.now_ns()
    grid[-(-x.size // 256), 256](x)
    cp.cuda.Device().synchronize()
    return (clock.now_ns() - start_ns) / 1e9


arrays = {"with_numpy_array": np.ones(2**20), "with_cupy_array": cp.ones(2**20)}
samples = {name: [] for name in arrays}
for _ in range(30):
    for name, x in arrays.items():
        samples[name].append(from_launch_to_result(x))
for name, times in samples.items():
    gg.fact(name, float(np.median(times[5:])), unit="s", samples=times[5:])

# %%

# record: The study: ten variants, six sizes, every result compared bit for bit
from gpuguide.topics.first_kernel.study import increment

results = increment.run()

# %%

# record: The first call in a fresh process, part by part
from gpuguide.topics.first_kernel.first_call_parts import measure_first_call

for name, samples in measure_first_call().items():
    gg.fact(f"first_{name}", float(np.median(samples)), unit="s", samples=samples)
