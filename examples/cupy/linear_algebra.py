"""
Linear algebra: when CuPy wins
==============================

Which routines gain on the GPU, and from which size on?
"""
# %%
# Give a matrix of more than a few hundred rows to ``cp.linalg``, and leave a smaller one with NumPy. With
# 1024 rows, QR takes :measured:`qr[with_copies_pinned, 1024**2].time` on the GPU, pinned copies there and
# back included, and :measured:`qr[numpy, 1024**2].time` in NumPy on 16 virtual CPUs.
#
# .. headline:: A matrix with 1024 rows: QR gains the most, and an SVD the least
#
# .. drawn:: linear_algebra
#
#     import matplotlib.pyplot as plt
#     from gpuguide.charts.style import CPU, CUPY, INK, describe, style
#
#     pairs = {
#         "qr": (qr, "numpy", "cupy"),
#         "eigh": (eigh, "eigh_numpy", "eigh_cupy"),
#         "solve": (solve, "solve_numpy", "solve_cupy"),
#         "svd": (svd, "svd_numpy", "svd_cupy"),
#     }
#     words = []
#     with style():
#         ax = plt.subplots(figsize=(7.2, 2.4))[1]
#         for row, (routine, (study, *names)) in enumerate(pairs.items()):
#             times = [study.time(name, 1024**2) for name in names]
#             who = ("NumPy, 16 CPUs", "CuPy") if not row else ("", "")
#             for place, colour, time, library in zip((-0.2, 0.2), (CPU, CUPY), times, who, strict=True):
#                 ax.barh(row + place, time.value, height=0.36, color=colour)
#                 look = {"textcoords": "offset points", "va": "center", "color": INK}
#                 ax.annotate(f"{time}  {library}", (time.value, row + place), (6, 0), **look)
#             words.append(f"{routine}: NumPy {times[0]}, CuPy {times[1]}")
#         ax.set_yticks(range(len(pairs)), list(pairs))
#         ax.invert_yaxis()
#         ax.set_xticks([])
#         ax.set_xlim(0, 1.2 * ax.dataLim.x1)
#         ax.spines["bottom"].set_visible(False)
#         ax.grid(visible=False)
#         describe(ax, f"Bars of the time for a matrix with 1024 rows. {'; '.join(words)}.")

# %%
# The calls have NumPy's names
# ----------------------------
#
# Write ``cp`` for ``np``, and check what you get: Q times R must be the matrix again, and the matrix times
# the solution must be the right-hand side. The difference is called the :term:`residual`.

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
#    before the point, and ``float64`` ends at 10\ :sup:`308`. NumPy warns of it, but CuPy does not. Take
#    ``slogdet`` instead.

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
# From how many rows on?
# ----------------------
#
# Count the copies if the matrix comes from the host and the result goes back. At 128 rows the GPU and one
# thread of the CPU then take equally long. At 512 rows QR takes
# :measured:`qr[with_copies_pinned, 512**2].time` with pinned copies, and NumPy takes
# :measured:`qr[numpy, 512**2].time`.
#
# .. headline:: Copies included, the GPU wins QR from a few hundred rows on

# draw
ax = gg.plot_time(qr, variants=["numpy_one_thread", "numpy", "with_copies_pinned"])
ax.set(xlabel="rows of the matrix", ylabel="time, with copies")
_ = ax.xaxis.set_major_formatter(lambda n, _: f"{n**0.5:.0f}")

# %%
# More threads do not always help NumPy: up to 512 rows, one thread is as fast as all of them, or faster.
# Before you compare small matrices, set ``OPENBLAS_NUM_THREADS=1`` in the environment.
#
# .. dropdown:: Pageable copies, one thread, and NumPy's library
#
#     On all threads NumPy takes :measured:`qr[numpy, 128**2].time` for 128 rows. **CuPy, pinned copies**
#     overtakes it :measured:`qr.crossover(numpy, with_copies_pinned)`. With pageable copies, 512 rows take
#     :measured:`qr[with_copies, 512**2].time`, of which the factorisation is
#     :measured:`qr[cupy, 512**2].time`. With 1024 rows NumPy takes
#     :measured:`qr[numpy_one_thread, 1024**2].time` on one thread, and for the sign and logarithm of a
#     determinant :measured:`det[det_numpy, 1024**2].time` on all, where CuPy takes
#     :measured:`det[det_cupy, 1024**2].time`. NumPy's QR is computed by the LAPACK in its BLAS library, here
#     :measured:`blas`.

# draw: Eleven claims, and float64 beside the ordinary units
gg.claim(qr, "cupy", faster_than="numpy", at=1024**2, by=5)
gg.claim(
    qr, "with_copies_pinned", faster_than=("numpy", "numpy_one_thread"), at=1024**2, by=5
)
gg.claim(
    qr, "with_copies_pinned", faster_than=("numpy", "numpy_one_thread"), at=512**2, by=3
)
gg.claim(qr, "numpy_one_thread", faster_than="with_copies_pinned", at=64**2)
gg.claim(solve, "solve_cupy", faster_than="solve_numpy", at=1024**2, by=3)
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

# %%
# Judge an answer by its residual
# -------------------------------
#
# NumPy's answer and CuPy's differ in their last digits, and comparing them does not say which one is better.
# The residual of each does. It is given in *eps*, the distance from 1 to the next number, which is 2.2e-16 in
# ``float64``. At these sizes a few dozen eps are as good as you can expect.
#
# .. csv-table:: Residuals in ``float64``, in eps
#    :header: routine, rows | NumPy | CuPy
#    :delim: |
#
#    ``qr``, 1024|:measured:`residual_qr_numpy`|:measured:`residual_qr_cupy`
#    ``solve``, 1024|:measured:`residual_solve_numpy`|:measured:`residual_solve_cupy`
#    ``svd``, 512|:measured:`residual_svd_numpy`|:measured:`residual_svd_cupy`
#
# CuPy's residuals are somewhat larger. With either library at most the last two of 16 digits are lost.
#
# .. dropdown:: Products and float32
#
#     .. csv-table:: More residuals, in eps of the dtype
#        :header: routine, rows | dtype | NumPy | CuPy
#        :delim: |
#
#        product, 2048|``float64``|:measured:`residual_double_numpy`|:measured:`residual_double_cupy`
#        product, 2048|``float32``|:measured:`residual_matmul_numpy`|:measured:`residual_matmul_cupy`
#        ``qr``, 1024|``float32``|:measured:`residual_qr_single_numpy`|:measured:`residual_qr_single_cupy`
#
#     In ``float32``, where eps is 1.2e-7, NumPy's QR is better than eps. It computes in ``float64`` even
#     then, and rounds at the end: the factors of a ``float32`` matrix equal the rounded ones of the same
#     matrix in ``float64`` in :measured:`widened` of their elements. :evidence:`count widened` This saves no
#     time: at 512 by 512 its QR takes :measured:`qr_single[qr_single_numpy, 512**2].time` in ``float32``, and
#     :measured:`qr[numpy, 512**2].time` in ``float64``. CuPy computes in the dtype of the array, in about the
#     same time: at 2048 by 2048 QR takes :measured:`qr_single[qr_single_cupy, 2048**2].time` in ``float32``,
#     and :measured:`qr[cupy, 2048**2].time` in ``float64``.
#
# .. kernel:: gpuguide.topics.linear_algebra.residuals
#    :names: of_factors, of_solution, of_singular_values, of_eigenvalues, of_product, share_widened
#    :fold: How the residuals are worked out, and how elements are compared

# %%
# Matmul: stay with float64, or allow TF32
# ----------------------------------------
#
# Do not convert to ``float32`` to save time on a GPU such as an A100, an H100 or this H200: their
# :term:`tensor cores <tensor core>` multiply in ``float64`` as well, and CuPy uses them for that without
# being asked. On a graphics card ``float32`` is much faster, for such cards have few units for ``float64``.

a = cp.random.standard_normal((4096, 4096))
b = cp.random.standard_normal((4096, 4096))
c = a @ b  # float64
c_single = a.astype(cp.float32) @ b.astype(cp.float32)
print(f"float32 is off by {float(norm(c_single - c) / norm(c)):.1e}")

# %%
# .. csv-table:: Product of two matrices with CuPy, 4096 by 4096
#    :header: dtype | time
#    :delim: |
#
#    float64|:measured:`double[double_cupy, 4096**2].time`
#    float32|:measured:`matmul[matmul_cupy, 4096**2].time`
#    TF32|:measured:`tf32[tf32, 4096**2].time`
#
# If three digits are enough, set ``CUPY_TF32=1`` in the environment. Tensor cores round the factors of a
# ``float32`` product to *TF32*, with 10 bits after the point instead of 23, and CuPy leaves them off unless
# you allow that.
#
# Do not send small products one by one, for in a loop the GPU waits for Python at each call. Stack them
# instead: a single ``cp.matmul`` of two arrays of shape ``(1000, 25, 25)`` computes a thousand products.
# :doc:`Many short kernels </gallery/first_kernels/launch_overhead>` shows what a launch costs.
#
# .. dropdown:: Operations per second, the price of TF32, and the copies
#
#     In ``float64`` CuPy does :measured:`double[double_cupy, 4096**2].flop_rate`, which is
#     :measured:`over_fp64` as fast as the ordinary FP64 units of this GPU can. So it is the tensor cores that
#     multiply. :evidence:`count operations` Nothing is lost: they compute in ``float64``. In ``float32`` it
#     is :measured:`matmul[matmul_cupy, 4096**2].flop_rate`, and in TF32
#     :measured:`tf32[tf32, 4096**2].flop_rate`, but there the residual grows from
#     :measured:`residual_matmul_cupy` to :measured:`residual_tf32_cupy` eps.
#
#     For the product in ``float32`` NumPy takes :measured:`matmul[matmul_numpy, 4096**2].time` on all
#     threads. If the factors come from the host and the product goes back, CuPy takes
#     :measured:`matmul[matmul_copied, 4096**2].time` with pageable copies, and
#     :measured:`matmul[matmul_copied_pinned, 4096**2].time` with pinned ones.
#
# .. kernel:: gpuguide.topics.linear_algebra.study
#    :names: product, matmul_tf32, operations
#    :fold: The products, and how operations are counted

# %%
# Instead of an SVD, take eigh if you can
# ---------------------------------------
#
# If the matrix is symmetric, its eigenvalues and eigenvectors may be all you need. With 1024 rows ``eigh``
# takes :measured:`eigh[eigh_cupy, 1024**2].time`, and ``cp.linalg.svd`` takes
# :measured:`svd[svd_cupy, 1024**2].time`.
#
# If you need an SVD and can spare a digit or two, call Jacobi's method yourself: ``cupyx.cusolver.gesvdj(a)``
# takes :measured:`svd[svd_jacobi, 1024**2].time`. It returns U, S and V, and this V is not transposed. For
# 128 rows stay with NumPy.
#
# .. dropdown:: SVD and eigh at three sizes
#
#     .. list-table:: Time in ``float64``, without copies; NumPy on 16 virtual CPUs
#        :header-rows: 1
#
#        * - rows
#          - ``svd``, NumPy
#          - ``svd``, CuPy
#          - ``gesvdj``
#          - ``eigh``, NumPy
#          - ``eigh``, CuPy
#        * - 128
#          - :measured:`svd[svd_numpy, 128**2].time`
#          - :measured:`svd[svd_cupy, 128**2].time`
#          - :measured:`svd[svd_jacobi, 128**2].time`
#          - :measured:`eigh[eigh_numpy, 128**2].time`
#          - :measured:`eigh[eigh_cupy, 128**2].time`
#        * - 512
#          - :measured:`svd[svd_numpy, 512**2].time`
#          - :measured:`svd[svd_cupy, 512**2].time`
#          - :measured:`svd[svd_jacobi, 512**2].time`
#          - :measured:`eigh[eigh_numpy, 512**2].time`
#          - :measured:`eigh[eigh_cupy, 512**2].time`
#        * - 1024
#          - :measured:`svd[svd_numpy, 1024**2].time`
#          - :measured:`svd[svd_cupy, 1024**2].time`
#          - :measured:`svd[svd_jacobi, 1024**2].time`
#          - :measured:`eigh[eigh_numpy, 1024**2].time`
#          - :measured:`eigh[eigh_cupy, 1024**2].time`
#
#     On one thread NumPy's ``svd`` takes :measured:`svd[svd_numpy_one_thread, 128**2].time` at 128 by 128.
#     ``cp.linalg.svd`` calls ``gesvd`` of NVIDIA's library cuSOLVER, which iterates QR steps, and takes
#     ``gesvdj`` only for stacks of matrices of at most 32 by 32. You pay for ``gesvdj`` with a digit or more:
#     at 512 by 512 its residual is :measured:`residual_svd_jacobi` eps, against
#     :measured:`residual_svd_cupy`. That of ``eigh`` is :measured:`residual_eigh_cupy` eps, and
#     :measured:`residual_eigh_numpy` with NumPy.

# %%
# Call svd and eigh last: Python waits for them
# ---------------------------------------------
#
# Most calls of CuPy return before the GPU is done, so that Python can prepare the next one. ``svd`` and
# ``gesvdj`` do not, nor does ``eigh`` with a large matrix. First launch whatever does not need their result.
#
# .. headline:: svd and eigh hold Python to the end; qr and solve let it go early

# draw
from gpuguide.charts.shapes import plot_ratios

held = {}
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
_ = plot_ratios(held, "Python waits")

# %%
# What goes wrong: a singular matrix raises nothing
# -------------------------------------------------
#
# If a matrix is singular, NumPy raises ``LinAlgError``, while CuPy returns ``nan`` or ``inf`` without a word:
# to find out, it would have to wait for a number that is still on the GPU. Ask for that check with
# ``cupyx.errstate``:

import cupyx

singular = cp.ones((3, 3))
print("solve:  ", cp.linalg.solve(singular, cp.arange(3.0)))
try:
    with cupyx.errstate(linalg="raise"):
        cp.linalg.solve(singular, cp.arange(3.0))
except np.linalg.LinAlgError as error:
    print("checked:", str(error).partition(".")[0])

# %%
# Checked like this, ``solve`` holds Python to the end, because it waits for the factorisation.
# :evidence:`variant solve_checked`
#
# .. dropdown:: How long solve holds Python
#
#     With 1024 rows it holds Python for :measured:`solve[solve_cupy, 1024**2].launch`, and for
#     :measured:`solve[solve_checked, 1024**2].launch` if it is checked. At 512 by 512 ``eigh`` returns after
#     :measured:`eigh[eigh_cupy, 512**2].launch` of :measured:`eigh[eigh_cupy, 512**2].time`.
#
#     A call consists of many steps on the GPU. If it waits for one of them, or if Python cannot hand them
#     over as fast as the GPU does them, then its time contains Python's work as well.
#
# .. kernel:: gpuguide.topics.linear_algebra.study
#    :names: solution, solve_checked, determinant, singular_values, svd_jacobi, eigenvalues
#    :fold: The calls: xp is NumPy or CuPy

# %%
# .. remember::
#
#    - Use ``cp.linalg`` from a few hundred rows on: QR of 1024 rows is
#      :measured:`qr[with_copies_pinned, 1024**2].speedup(numpy)` as fast as NumPy on all threads, pinned
#      copies included.
#    - Write ``with cupyx.errstate(linalg="raise")`` around ``solve`` and ``inv``: without it, CuPy says
#      nothing of a singular matrix.

# %%
# Your turn: find the crossover in a table
# ----------------------------------------
#
# The sizes at which the GPU overtakes the CPU were read from measured times. Write the function that reads
# them, also where the times are noisy. It needs no GPU.
#
# .. exercise:: crossing_point

# thumbnail
from gpuguide.charts import thumbnail

names = {
    "NumPy, all threads": "numpy",
    "CuPy, pinned copies": "with_copies_pinned",
    "CuPy": "cupy",
}
times = {label: qr.time(name, 1024**2) for label, name in names.items()}
_ = thumbnail.bars(times, "time for QR of 1024 rows")

# %%
# Next
# ----
#
# Next: :doc:`Sort and search on the GPU </gallery/cupy/sort_search>` asks the same question for work without
# arithmetic. See also: :doc:`Know the limits of your GPU </gallery/measuring/know_your_gpu>` measures tensor
# cores and ordinary units.
