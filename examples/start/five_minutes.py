"""
Five minutes
============

What does CuPy change in a NumPy program, and how long does the GPU really take?
"""
# %%
# You need a GPU and CuPy (:doc:`Install </start/install>`), and nothing of this guide. The code below runs in
# a plain notebook and on Colab as it stands. It writes a matrix as the product of two others, and takes the
# time in four ways: with NumPy, with CuPy and a clock that is wrong, with CuPy and a clock that is right, and
# with the copies to the GPU and back.

# %%
# First a matrix of random numbers, and its copy in the memory of the GPU. CuPy has most functions of NumPy
# under the same names. So the name of the module changes, and little else.

from time import perf_counter

import cupy as cp
import numpy as np

a = np.random.default_rng(0).standard_normal((512, 512))
a_gpu = cp.asarray(a)

# %%
# NumPy finds the two matrices, called Q and R. The clock around it is the ordinary one.

start = perf_counter()
q, r = np.linalg.qr(a)
print(f"NumPy:             {(perf_counter() - start) * 1e3:8.2f} ms")

# %%
# CuPy does the same on the GPU. Its first call is slow, because libraries are loaded and code is compiled. So
# it is called once before any clock starts. The second line waits until the GPU is done.

cp.linalg.qr(a_gpu)
cp.cuda.Device().synchronize()

# %%
# Then the clock goes wrong all the same. Python only *asks* the GPU to work. The call returns once the work
# is in the queue of the GPU, and the clock is read while the GPU is still busy.

# wrong: the clock stops before the GPU does
start = perf_counter()
q_gpu, r_gpu = cp.linalg.qr(a_gpu)
print(f"CuPy, wrong clock: {(perf_counter() - start) * 1e3:8.2f} ms")

# %%
# The line that waits makes it right: it stands before the clock is read. To wait like this is to
# :term:`synchronise`. The line stands before the clock starts, too, so that no older work is counted.

cp.cuda.Device().synchronize()
start = perf_counter()
q_gpu, r_gpu = cp.linalg.qr(a_gpu)
cp.cuda.Device().synchronize()
print(f"CuPy, right clock: {(perf_counter() - start) * 1e3:8.2f} ms")

# %%
# The matrix was on the GPU already. If it comes from the :term:`host` and the result is wanted there, the
# copies count as well, here from and to :term:`pageable memory`, which is what NumPy has. No extra line is
# needed: a copy back waits for the work by itself.

start = perf_counter()
q_back, r_back = (cp.asnumpy(x) for x in cp.linalg.qr(cp.asarray(a)))
print(f"CuPy with copies:  {(perf_counter() - start) * 1e3:8.2f} ms")

# %%
# A fast answer must also be the right one. Q and R are unique only up to signs, so it is their product that
# is held against the matrix.

print("NumPy is right:", np.allclose(q @ r, a))
print("CuPy is right: ", np.allclose(q_back @ r_back, a))

# %%
# Run it all twice in the same notebook. NumPy's first call may be slow as well, and here nothing went before
# it, so only the second turn is fair to NumPy. Even then one call is one sample, and the next one differs.
# :doc:`How we measure </method>` says how this guide takes figures that can be relied on.
#
# Three ways on from here:
#
# - :doc:`Why a GPU </gallery/start/why_gpu>`: from which size on a GPU is worth it.
# - :doc:`How to time a GPU </gallery/measuring/how_to_time>`: what the wrong clock saw.
# - :doc:`First kernel </gallery/first_kernels/first_kernel>`: when no function of NumPy does what you want.
