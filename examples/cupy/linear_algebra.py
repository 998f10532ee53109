"""
Linear algebra
==============

At what size does a GPU win, and is its answer as good?
"""
# %%
# Factorise on the GPU from a few hundred rows on. With pinned copies there and back, CuPy's QR takes about as
# long as NumPy on its best number of threads at 128 by 128. At 512 by 512 it is
# :measured:`qr[with_copies_pinned, 512**2].speedup(numpy)` as fast as NumPy on 16 virtual CPUs, at 1024 by
# 1024 :measured:`qr[with_copies_pinned, 1024**2].speedup(numpy)`, and its answers are nearly as good. ``svd``
# gains less: at 512 by 512, without copies, it is :measured:`svd[svd_cupy, 512**2].speedup(svd_numpy)` as
# fast. Jacobi's method makes that :measured:`svd[svd_jacobi, 512**2].speedup(svd_numpy)`, but is less exact.
#
# .. list-table:: Time in ``float64``, without copies
#    :header-rows: 1
#
#    * - routine, rows
#      - NumPy, one thread
#      - NumPy, 16 virtual CPUs
#      - CuPy
#    * - ``qr``, 1024
#      - :measured:`qr[numpy_one_thread, 1024**2].time`
#      - :measured:`qr[numpy, 1024**2].time`
#      - :measured:`qr[cupy, 1024**2].time`
#    * - ``solve``, 1024
#      - :measured:`solve[solve_numpy_one_thread, 1024**2].time`
#      - :measured:`solve[solve_numpy, 1024**2].time`
#      - :measured:`solve[solve_cupy, 1024**2].time`
#    * - ``slogdet``, 1024
#      - :measured:`det[det_numpy_one_thread, 1024**2].time`
#      - :measured:`det[det_numpy, 1024**2].time`
#      - :measured:`det[det_cupy, 1024**2].time`
#    * - ``svd``, 512
#      - :measured:`svd[svd_numpy_one_thread, 512**2].time`
#      - :measured:`svd[svd_numpy, 512**2].time`
#      - :measured:`svd[svd_cupy, 512**2].time`

# %%
# QR, solve, SVD and determinant in CuPy
# --------------------------------------
#
# ``cp.linalg`` has NumPy's names. Each answer below is put to the test: Q times R must be the matrix again,
# and the matrix times the solution must be the right-hand side. What they differ by is the :term:`residual`.

import cupy as cp
import numpy as np

a_host = np.random.default_rng(0).standard_normal((512, 512))
a = cp.asarray(a_host)
b = cp.ones(512)

q, r = cp.linalg.qr(a)
x = cp.linalg.solve(a, b)
u, s, vt = cp.linalg.svd(a)
sign, logarithm = cp.linalg.slogdet(a)  # the determinant is sign * exp(logarithm)

norm = cp.linalg.norm
print(f"QR:    {float(norm(q @ r - a) / norm(a)):.1e}")
print(f"solve: {float(norm(a @ x - b) / (norm(a) * norm(x))):.1e}")
print(f"SVD:   {float(norm((u * s) @ vt - a) / norm(a)):.1e}")
print(f"log |det|: {float(logarithm):.9f}, NumPy: {np.linalg.slogdet(a_host)[1]:.9f}")

# %%
# .. try-it::
#
#    Print ``cp.linalg.det(a)``. It is infinite, and so is NumPy's: this determinant has hundreds of digits
#    before the point, and ``float64`` ends at 10\ :sup:`308`. NumPy warns of it, CuPy does not. So take
#    ``slogdet``.

# %%

# record: The studies: QR from 64 to 4096, solve, determinant, SVD, eigh and products, and the residuals
import gpuguide as gg
from gpuguide.topics.linear_algebra import cpu, residuals, study

qr = study.qr.run()
qr_single = study.qr_single.run()
solve = study.solve.run()
det = study.det.run()
svd = study.svd.run()
eigh = study.eigh.run()
matmul = study.matmul.run()
double = study.double.run()
tf32 = study.tf32.run()

gg.fact("blas", cpu.blas(), unit="text")
for name, value in residuals.residuals().items():
    gg.fact(f"residual_{name}", value, unit="1", note="in units of eps")
_ = gg.fact("widened", residuals.share_widened(512), unit="share")

# %%
# Residuals say how good both answers are
# ---------------------------------------
#
# A comparison with NumPy says that two answers differ; a residual says how good each of them is. We give it
# in *eps*, the distance from 1 to the next number: 2.2e-16 in ``float64``, 1.2e-7 in ``float32``.
#
# .. csv-table:: Residuals, in eps of the dtype
#    :header: routine, rows | dtype | NumPy | CuPy
#    :delim: |
#
#    ``qr``, 1024|``float64``|:measured:`residual_qr_numpy`|:measured:`residual_qr_cupy`
#    ``solve``, 1024|``float64``|:measured:`residual_solve_numpy`|:measured:`residual_solve_cupy`
#    ``svd``, 512|``float64``|:measured:`residual_svd_numpy`|:measured:`residual_svd_cupy`
#    product, 2048|``float64``|:measured:`residual_double_numpy`|:measured:`residual_double_cupy`
#    product, 2048|``float32``|:measured:`residual_matmul_numpy`|:measured:`residual_matmul_cupy`
#    ``qr``, 1024|``float32``|:measured:`residual_qr_single_numpy`|:measured:`residual_qr_single_cupy`
#
# CuPy's residuals are somewhat larger. Either way at most the last two digits are lost.
#
# The last row is odd: in ``float32`` NumPy's QR is better than eps. It computes in ``float64`` even then, and
# rounds at the end. The factors of a ``float32`` matrix equal the rounded ones of the same matrix in
# ``float64`` in :measured:`widened` of their elements. :evidence:`count widened` So
# ``float32`` saves NumPy no time: at 512 by 512 its QR takes
# :measured:`qr_single[qr_single_numpy, 512**2].time`, and :measured:`qr[numpy, 512**2].time` in ``float64``.
# CuPy computes in the dtype of the array. Its residual shows it, but its time hardly does: at 2048 by 2048
# QR takes :measured:`qr_single[qr_single_cupy, 2048**2].time` in ``float32``, and
# :measured:`qr[cupy, 2048**2].time` in ``float64``.
#
# .. kernel:: gpuguide.topics.linear_algebra.residuals
#    :names: of_factors, of_solution, of_singular_values, of_eigenvalues, of_product, share_widened
#    :fold: How the residuals are worked out, and how elements are compared

# %%
# Matmul on tensor cores: float64, float32 and TF32
# -------------------------------------------------
#
# How fast a product is depends on which units of the GPU compute it, and that depends on the dtype. Both
# factors are 4096 by 4096, and their random numbers are made before the clock starts.

a = cp.random.standard_normal((4096, 4096))
b = cp.random.standard_normal((4096, 4096))
c = a @ b  # float64
c_single = a.astype(cp.float32) @ b.astype(cp.float32)
print(f"float32 is off by {float(norm(c_single - c) / norm(c)):.1e}")

# %%
# .. csv-table:: Product of two matrices with CuPy, 4096 by 4096
#    :header: dtype | time | operations per second
#    :delim: |
#
#    float64|:measured:`double[double_cupy, 4096**2].time`|:measured:`double[double_cupy, 4096**2].flop_rate`
#    float32|:measured:`matmul[matmul_cupy, 4096**2].time`|:measured:`matmul[matmul_cupy, 4096**2].flop_rate`
#    TF32|:measured:`tf32[tf32, 4096**2].time`|:measured:`tf32[tf32, 4096**2].flop_rate`
#
# In ``float64`` CuPy computes :measured:`over_fp64` as fast as the ordinary FP64 units of this GPU can. So it
# is the :term:`tensor cores <tensor core>` that multiply. :evidence:`count operations` Nothing has to be
# switched on, and nothing is lost: they compute in ``float64``.
#
# In ``float32`` the tensor cores stay off, and this dtype, elsewhere the faster one, is the slower one here.
# They would round the factors to *TF32*, ten bits after the point instead of 23. You allow that with
# ``CUPY_TF32=1`` in the environment; the residual then grows from :measured:`residual_matmul_cupy` to
# :measured:`residual_tf32_cupy` eps.
#
# For the product in ``float32`` NumPy takes :measured:`matmul[matmul_numpy, 4096**2].time` on all threads. If
# the factors come from the host and the product goes back, CuPy takes
# :measured:`matmul[matmul_copied, 4096**2].time` with pageable copies, and
# :measured:`matmul[matmul_copied_pinned, 4096**2].time` with pinned ones.
#
# Small products are another matter. In a loop of 182 products of 25 by 25 the GPU waits for Python: each call
# is a launch of its own, and its arithmetic is over long before the next one arrives. Stack the matrices
# instead: one ``cp.matmul`` of two arrays of shape ``(182, 25, 25)`` computes all of them.
# :doc:`Launch overhead </gallery/first_kernels/launch_overhead>` shows what a launch costs.
#
# .. kernel:: gpuguide.topics.linear_algebra.study
#    :names: product, matmul_tf32, operations
#    :fold: The products, and how operations are counted

# %%
# SVD: QR iteration, Jacobi's method, or eigh
# -------------------------------------------
#
# An SVD can be computed in several ways. ``cp.linalg.svd`` calls ``gesvd`` of NVIDIA's library cuSOLVER,
# which iterates QR steps. cuSOLVER also has Jacobi's method, ``gesvdj``, but CuPy takes it only for stacks
# of matrices of at most 32 by 32. For a larger one you can call it yourself: ``cupyx.cusolver.gesvdj(a)``
# returns U, S and V, and this V is not transposed. If the matrix is symmetric, its eigenvalues and
# eigenvectors may be all you need, and ``eigh`` computes them.
#
# .. list-table:: Time in ``float64``, without copies; NumPy on 16 virtual CPUs
#    :header-rows: 1
#
#    * - rows
#      - ``svd``, NumPy
#      - ``svd``, CuPy
#      - ``gesvdj``
#      - ``eigh``, NumPy
#      - ``eigh``, CuPy
#    * - 128
#      - :measured:`svd[svd_numpy, 128**2].time`
#      - :measured:`svd[svd_cupy, 128**2].time`
#      - :measured:`svd[svd_jacobi, 128**2].time`
#      - :measured:`eigh[eigh_numpy, 128**2].time`
#      - :measured:`eigh[eigh_cupy, 128**2].time`
#    * - 512
#      - :measured:`svd[svd_numpy, 512**2].time`
#      - :measured:`svd[svd_cupy, 512**2].time`
#      - :measured:`svd[svd_jacobi, 512**2].time`
#      - :measured:`eigh[eigh_numpy, 512**2].time`
#      - :measured:`eigh[eigh_cupy, 512**2].time`
#    * - 1024
#      - :measured:`svd[svd_numpy, 1024**2].time`
#      - :measured:`svd[svd_cupy, 1024**2].time`
#      - :measured:`svd[svd_jacobi, 1024**2].time`
#      - :measured:`eigh[eigh_numpy, 1024**2].time`
#      - :measured:`eigh[eigh_cupy, 1024**2].time`
#
# At 128 by 128 stay with NumPy: on one thread its ``svd`` takes
# :measured:`svd[svd_numpy_one_thread, 128**2].time`, and ``eigh`` gains nothing on the GPU. At 1024 by 1024
# ``eigh`` is :measured:`eigh[eigh_cupy, 1024**2].speedup(eigh_numpy)` as fast as NumPy's, and ``gesvdj``
# :measured:`svd[svd_jacobi, 1024**2].speedup(svd_cupy)` as fast as ``cp.linalg.svd``. You pay for ``gesvdj``
# with a digit or more: at 512 by 512 its residual is :measured:`residual_svd_jacobi` eps, against
# :measured:`residual_svd_cupy`. That of ``eigh`` is :measured:`residual_eigh_cupy` eps, and
# :measured:`residual_eigh_numpy` with NumPy.

# %%
# SVD and eigh hold the host, QR and solve do not
# -----------------------------------------------
#
# Most calls of CuPy return before the GPU is done, and Python goes on. For how much of its time does a call
# hold Python? The matrices are 1024 by 1024, except for ``svd`` and ``gesvdj``, where it is 512 by 512.

# draw
from gpuguide.charts.shapes import plot_ratios

held, spans = {}, []
for label, results, name, rows in (
    ("qr", qr, "cupy", 1024),
    ("slogdet", det, "det_cupy", 1024),
    ("solve", solve, "solve_cupy", 1024),
    ("solve, checked", solve, "solve_checked", 1024),
    ("svd", svd, "svd_cupy", 512),
    ("gesvdj", svd, "svd_jacobi", 512),
    ("eigh", eigh, "eigh_cupy", 1024),
):
    share = (
        results.time(name, rows**2, "launch").value / results.time(name, rows**2).value
    )
    held[label] = gg.fact(
        f"held_{name}", min(1.0, share), unit="share", note="launch / whole"
    )
    spans += [label] if results.measurement(name, rows**2).host_bound else []
_ = plot_ratios(held, "Python is held for", spans=spans)

# %%
# .. finding::
#
#    ``svd``, ``gesvdj`` and ``eigh`` hold Python to the end, ``qr`` for :measured:`held_cupy` of its time,
#    ``solve`` for :measured:`held_solve_cupy`. A hollow dot is a span.
#
# At 512 by 512 ``eigh`` returns after :measured:`eigh[eigh_cupy, 512**2].launch` of
# :measured:`eigh[eigh_cupy, 512**2].time`.
#
# A call consists of many steps on the GPU. If it waits for one of them, or if Python cannot hand them over as
# fast as the GPU does them, then its time contains Python's work as well. We call such a time a *span*.
#
# That ``solve`` does not wait has a price. If the matrix is singular, NumPy raises ``LinAlgError``, while
# CuPy returns ``nan`` or ``inf``. To find out, it would have to look at a number that is still on the GPU.
# You can ask for that:

import cupyx

singular = cp.ones((3, 3))
print("solve:  ", cp.linalg.solve(singular, cp.arange(3.0)))
try:
    with cupyx.errstate(linalg="raise"):
        cp.linalg.solve(singular, cp.arange(3.0))
except np.linalg.LinAlgError as error:
    print("checked:", str(error).partition(".")[0])

# %%
# **Checked** like this, ``solve`` holds Python for :measured:`solve[solve_checked, 1024**2].launch` instead
# of :measured:`solve[solve_cupy, 1024**2].launch`, because it waits for the factorisation.
# :evidence:`variant solve_checked`
#
# .. kernel:: gpuguide.topics.linear_algebra.study
#    :names: solution, solve_checked, determinant, singular_values, svd_jacobi, eigenvalues
#    :fold: The calls: xp is NumPy or CuPy

# %%
# Result: QR with copies, from 64 rows to 2048
# --------------------------------------------

# draw
gg.plot_time(qr, variants=["numpy_one_thread", "numpy", "with_copies_pinned"])

# %%
# .. finding::
#
#    From host memory to host memory, **CuPy, pinned copies** overtakes **NumPy, all threads**
#    :measured:`qr.crossover(numpy, with_copies_pinned)`. For 512 rows **NumPy, all threads** takes
#    :measured:`qr[numpy, 512**2].time`, and CuPy :measured:`qr[with_copies_pinned, 512**2].time`.
#
# A matrix with 2\ :sup:`12` elements has 64 rows, one with 2\ :sup:`22` has 2048. More threads do not always
# help NumPy. For 128 rows it takes :measured:`qr[numpy, 128**2].time` on all of them, and
# :measured:`qr[numpy_one_thread, 128**2].time` on one, much like CuPy with its
# :measured:`qr[with_copies_pinned, 128**2].time`; 512 rows take about as long on one thread as on all. So
# compare small matrices with one thread:
# ``OPENBLAS_NUM_THREADS=1`` in the environment sets that for a process. NumPy's QR is computed by the LAPACK
# in its BLAS library, here :measured:`blas`.
#
# Of CuPy's time for 512 rows, the factorisation is :measured:`qr[cupy, 512**2].time`. With
# **CuPy, pageable copies** the whole takes :measured:`qr[with_copies, 512**2].time`.

# draw: Ten claims, and float64 beside the ordinary units
gg.claim(qr, "cupy", faster_than="numpy", at=1024**2, by=5)
gg.claim(
    qr, "with_copies_pinned", faster_than=("numpy", "numpy_one_thread"), at=1024**2, by=5
)
gg.claim(
    qr, "with_copies_pinned", faster_than=("numpy", "numpy_one_thread"), at=512**2, by=3
)
gg.claim(qr, "numpy_one_thread", faster_than="with_copies_pinned", at=64**2)
gg.claim(svd, "svd_numpy_one_thread", faster_than=("svd_jacobi", "svd_cupy"), at=128**2)
gg.claim(svd, "svd_cupy", faster_than=("svd_numpy", "svd_numpy_one_thread"), at=512**2)
gg.claim(svd, "svd_jacobi", faster_than="svd_cupy", at=1024**2, by=1.2)
gg.claim(eigh, "eigh_cupy", faster_than="eigh_numpy", at=1024**2, by=3)
gg.claim(matmul, "matmul_cupy", faster_than="matmul_numpy", at=4096**2, by=5)
gg.claim(matmul, "matmul_copied_pinned", faster_than="matmul_copied", at=4096**2, by=2)

over = (
    double.quantity("double_cupy", 4096**2, "flop_rate").value
    / ceilings.get("fp64").value
)
_ = gg.fact("over_fp64", over, unit="ratio", note="product / ceiling of ordinary units")

# %%
# .. kernel:: gpuguide.topics.linear_algebra.study
#    :names: factorisation, with_copies, with_copies_pinned, to_gpu
#    :fold: What is timed: xp is NumPy or CuPy; and the copies
#
# .. kernel:: gpuguide.topics.linear_algebra.cpu
#    :names: one_thread
#    :fold: How NumPy is told to use one thread
#
# .. results:: qr

# %%
# Your turn: find the crossover in a table
# ----------------------------------------
#
# The sizes at which the GPU overtakes the CPU were read from measured times. Write the function that reads
# them, also where the times are noisy. It needs no GPU.
#
# .. exercise:: crossing_point

# %%
# Next
# ----
#
# Onward: :doc:`Sort and search </gallery/cupy/sort_search>`, with the same question for data without
# arithmetic. Sideways: :doc:`Know your GPU </gallery/measuring/know_your_gpu>`, on the ceilings of tensor
# cores and ordinary units.
