"""
Your first GPU program
======================

What does CuPy change in a NumPy program, and how long does the GPU really take?
"""
# %%
# Write ``cp`` for ``np``, and copy your arrays to the GPU: a 512 by 512 matrix is then factorised in
# :measured:`linear_algebra:qr[cupy, 512**2].time`, where NumPy takes
# :measured:`linear_algebra:qr[numpy, 512**2].time` on all threads of the CPU. Wait for the GPU before you
# read a clock, since a call returns before its work is done.
#
# .. headline:: A clock that does not wait stops long before the GPU is done
#
# .. drawing:: how_to_time
#
#     Two lanes of time. On the host lane a launch, then time free for other work, then waiting. On the device
#     lane the kernel starts after the launch and ends when the host has waited. Reading the clock without
#     waiting spans the launch only.

# %%
# From NumPy to CuPy
# ------------------
#
# You need a GPU and CuPy (:doc:`/start/install`), and nothing else of this guide. The code also runs on Colab
# as it stands.
#
# CuPy has most of NumPy's functions under the same names, for arrays in the memory of the GPU, and
# ``cp.asarray`` copies an array there. ``linalg.qr`` writes a matrix as the product of two others, Q and R.

import cupy as cp
import numpy as np

a = np.random.default_rng(0).standard_normal((512, 512))
q, r = np.linalg.qr(a)

a_gpu = cp.asarray(a)
q_gpu, r_gpu = cp.linalg.qr(a_gpu)

print("NumPy is right:", np.allclose(q @ r, a))
print("CuPy is right: ", cp.allclose(q_gpu @ r_gpu, a_gpu))

# %%
# .. try-it::
#
#    Add the line ``a_gpu + a``. It raises a TypeError: CuPy and NumPy arrays do not mix in an expression.
#
# NumPy and CuPy may differ in the signs of Q and R. That is why we compare the product with the matrix.

# %%
# Time it with a clock that waits
# -------------------------------
#
# To wait for the GPU is to :term:`synchronise`. Each line of the output is the median of ten calls, so a slow
# first call, which loads libraries, does not count. With ``wait=False`` the clock stops as soon as the call
# returns.

from statistics import median
from time import perf_counter


def milliseconds(call, wait=True):
    times = []
    for _ in range(10):
        cp.cuda.Device().synchronize()  # no older work is counted
        start = perf_counter()
        call()
        if wait:
            cp.cuda.Device().synchronize()
        times.append(1e3 * (perf_counter() - start))
    return f"{median(times):8.2f} ms"


def with_copies():
    q, r = cp.linalg.qr(cp.asarray(a))
    return cp.asnumpy(q), cp.asnumpy(r)


print("NumPy:            ", milliseconds(lambda: np.linalg.qr(a)))
print("CuPy, wrong clock:", milliseconds(lambda: cp.linalg.qr(a_gpu), wait=False))
print("CuPy, right clock:", milliseconds(lambda: cp.linalg.qr(a_gpu)))
print("CuPy with copies: ", milliseconds(with_copies))

# %%
# What the four numbers mean
# --------------------------
#
# - *NumPy* is the time to beat. It may use the whole CPU, and its time changes from run to run: the numbers
#   at the top of the page come from several runs.
# - *The wrong clock* shows how long Python took to hand the work to the GPU, and whatever CuPy itself waited
#   for. What was still to be done then is missing. Never compare this number with NumPy's.
# - *The right clock* waited for the result. This is the time if the matrix is on the GPU already, and Q and R
#   stay there.
# - *With copies* is the time if the matrix comes from NumPy, and Q and R go back to it. These are
#   :term:`pageable <pageable memory>` copies, from and to NumPy's ordinary memory.
#
# Compare the first number with the third if your data are on the GPU, and with the fourth if they are not.
#
# .. try-it::
#
#    Change the 512 to 64, and to 2048. Handing over the work takes time even for a small matrix, so with
#    small ones the GPU can lose.

# %%
# .. remember::
#
#    - Write ``cp`` for ``np``: most of NumPy's functions then run on the GPU as they stand. QR of a matrix of
#      512 rows takes :measured:`linear_algebra:qr[cupy, 512**2].time` instead of
#      :measured:`linear_algebra:qr[numpy, 512**2].time`.
#    - Count the copies in a comparison if the data come from NumPy and go back to it. Leave them out if the
#      data stay on the GPU.

# thumbnail
import gpuguide as gg
from gpuguide.charts import thumbnail

qr = gg.load("linear_algebra").studies["qr"]
times = {"NumPy, all threads": qr.time("numpy", 512**2), "CuPy": qr.time("cupy", 512**2)}
_ = thumbnail.bars(times, "time for QR of 512 rows")

# %%
# Next
# ----
#
# Next: :doc:`/gallery/cupy/numpy_to_cupy`, on what else of a NumPy program runs on the GPU. See also:
# :doc:`/gallery/start/why_gpu`, on the size at which the GPU wins, and :doc:`/gallery/measuring/how_to_time`,
# on clocks.
