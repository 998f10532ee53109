"""
Transfers
=========

What does this page answer?
"""
# %%
# .. The answer: one or two sentences with the finding and its numbers, at most 50 words. A ladder shows the
#    table of its rungs below them: .. rungs:: transfers
#
# A GPU doubles 2\ :sup:`24` numbers in :measured:`transfers[one_element, 2**24].time`.

# %%
# One element per thread
# ----------------------
#
# .. The idea in one sentence. The cell is complete: readers can paste it, and need nothing of this guide.
#
# Each thread doubles the number that has its own index.
#
# .. rung:: one_element

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit
def one_element(x, out):
    i = cuda.grid(1)
    if i < x.size:  # the last block is seldom full
        out[i] = 2 * x[i]


x = cp.arange(1_000_000, dtype=cp.float32)
out = cp.empty_like(x)
one_element[(x.size + 255) // 256, 256](x, out)
print("GPU:  ", out[:4])
print("NumPy:", 2 * np.arange(4))

# %%
# .. try-it::
#
#    Replace ``2 * x[i]`` with ``x[i] + x[i]`` and run the cell again. Say here what then happens.
#
# .. What the numbers say. A sentence that names a cause ends with its evidence.

# %%

# record: The study: NumPy and the kernel at six sizes, every result compared
import gpuguide as gg
from gpuguide.topics.transfers.study import study

results = study().run()

# %%
# The next rung or case
# ---------------------
#
# .. Its idea, its kernel or call, its numbers, and a sentence or two on what they say. A kernel in kernels.py
#    is shown by the directive rung above the cell that launches it.

# %%
# Result: NumPy wins at small sizes
# ---------------------------------
#
# .. One or two charts, each with a finding, and what limits it now.

# draw
gg.plot_time(results)

# %%
# .. finding::
#
#    The kernel overtakes NumPy :measured:`transfers.crossover(numpy, one_element)`.
#
# .. kernel:: gpuguide.topics.transfers.study
#    :names: numpy
#    :fold: What NumPy does
#
# .. results:: transfers

# draw
gg.claim(results, "numpy", faster_than="one_element", at=2**10)
gg.claim(results, "one_element", faster_than="numpy", at=2**24)

# %%
# Your turn
# ---------
#
# .. One exercise: .. exercise:: NAME

# %%
# Next
# ----
#
# .. Two links, one page onward and one sideways.
