"""
Precision: which sums go wrong
==============================

Why is a sum of many float32 numbers wrong, and what do shorter numbers cost?
"""
# %%
# Never add many numbers to one ``float32``: a hundred million from 0 to 1 end at
# :measured:`sum_one_after_another`, where :measured:`sum_right` is right. ``cp.sum`` makes many partial sums
# and keeps seven digits, which is mostly enough. If you need more, add up in ``float64``: a kernel of your
# own takes no longer for it.
#
# .. headline:: A single float32 total stops growing at 2 to the power of 24
#
# .. drawn:: precision
#
#     import matplotlib.pyplot as plt
#
#     from gpuguide.charts.style import KERNEL, MUTED, describe, style
#
#     right, single = arrays["right_totals"], arrays["single_totals"]
#     added = np.arange(1, len(right) + 1) * (100 / len(right))
#     with style():
#         ax = plt.subplots(figsize=(7.2, 3.0))[1]
#         ax.plot(added, right / 1e6, "--", color=MUTED)
#         ax.plot(added, single / 1e6, color=KERNEL)
#         look = {"textcoords": "offset points", "ha": "right"}
#         ax.annotate("the right sum", (98, right[-1] / 1e6), (-12, -4), color=MUTED, **look)
#         ax.annotate(
#             "one float32 total", (99, single[-1] / 1e6), (0, -16), color=KERNEL, **look
#         )
#         ax.set(xlabel="numbers added, in millions", ylabel="total, in millions")
#         ax.set(xlim=(0, 100), ylim=(0, None))
#         words = f"The right sum reaches {right[-1]:.0f}, the single total {single[-1]:.0f}."
#         describe(ax, f"Totals of up to a hundred million numbers from 0 to 1. {words}")

# %%
# Five sums of the same numbers
# -----------------------------
#
# The numbers are random, from 0 to 1, so the sum must be about half of how many there are. ``np.cumsum``
# adds them one after another; the others make many partial sums.

import cupy as cp
import numpy as np
from numba import config, cuda, float32, float64, njit

x_host = np.random.default_rng(0).random(10**8, dtype=np.float32)
x = cp.asarray(x_host)

print("one after another:     ", np.cumsum(x_host)[-1])
print("NumPy:                 ", x_host.sum())
print("CuPy:                  ", cp.sum(x))
print("CuPy, float64:         ", cp.sum(x, dtype=cp.float64))
print("NumPy, float64:        ", x_host.sum(dtype=np.float64))

# %%
# .. try-it::
#
#    Use ``10**7`` numbers. The first sum has not stopped yet, but from its sixth digit on it is wrong: it has
#    begun to lose the last bits of all that it adds.

# %%

# record: The sums at two sizes, how they come out, and how a single total grows
import gpuguide as gg
from gpuguide.topics.precision import study as precision
from gpuguide.topics.precision import totals
from gpuguide.topics.precision.kernels import add_up, by_kahan, in_float64

results = precision.many_sums.run()
one_sum = precision.one_sum.run()

x_marks = totals.the_numbers()
right_totals = totals.exact_sums(x_marks)
gg.keep("right_totals", right_totals)
gg.keep("single_totals", totals.running_totals(x_marks, totals.MARKS))
right = right_totals[-1]
note = "of 10**8 random numbers; nothing is rounded"
gg.fact("sum_right", totals.shown(right), unit="text", note=note)
by_each_way = totals.results(x_marks)
one = totals.shown(by_each_way["one_after_another"])
gg.fact("sum_one_after_another", one, unit="text", note="of the same numbers")
for name, value in by_each_way.items():
    off = totals.shown(abs(value - right))
    gg.fact(f"off_{name}", off, unit="text", note="from the exact sum of 10**8 numbers")

# %%

# record: The rates of ordinary units
single = precision.single.run()
double = precision.double.run()

# %%

# draw: What the page says of the sums, and of float64
gg.claim(results, "sum_float64", share_at_least=0.8, at=10**8)
gg.claim(results, "cupy_sum", faster_than="cupy_float64", at=10**8, by=1.7)
gg.claim(results, "sum_float64", faster_than="cupy_float64", at=10**8, by=1.7)
gg.claim(results, "cupy_float64", faster_than="cupy_converted", at=10**8, by=3)
gg.claim(one_sum, "one_after_another", faster_than="by_kahan", at=10**8, by=1.5)
slower = (
    double.time("steps_float64", 2**24).value / single.time("steps_float32", 2**24).value
)
gg.fact("float64_slower", slower, unit="ratio", note="float64 / float32")
peaks = single.ceilings
_ = gg.fact(
    "fp32_per_fp64",
    peaks.get("fp32").value / peaks.get("fp64").value,
    unit="ratio",
    note="of the best rates of both kinds of units",
)

# %%
# Why a sum stops
# ---------------
#
# A ``float32`` has 24 binary digits, so the numbers that it can hold lie further apart the larger they are.
# Between 2\ :sup:`23` and 2\ :sup:`24` their distance is 1; above that it is 2. If you add less than half the
# distance, the total stays as it is:

total = np.float32(2**24)
print(total, total + np.float32(0.9), total + np.float32(1.1))

# %%
# Long before that, each addition is :term:`rounded <rounding>` to the distance at which the total lies. The
# errors of a single total grow with the number of additions. If you add in pairs, and these sums in pairs
# again, no number goes through more additions than the length has binary digits. ``np.sum`` does nearly that,
# and a GPU comes close of necessity: it has thousands of threads, each with a short sum of its own.

# %%
# Which sum keeps the digits, and what it costs
# ---------------------------------------------
#
# .. list-table:: Sums of a hundred million ``float32`` numbers, by one thread of the CPU or on the GPU
#    :header-rows: 1
#
#    * - the sum
#      - is off by
#      - takes
#    * - CPU, one ``float32`` total
#      - :measured:`off_one_after_another`
#      - :measured:`one_sum[one_after_another, 10**8].time`
#    * - CPU, the same by Kahan's method
#      - :measured:`off_by_kahan`
#      - :measured:`one_sum[by_kahan, 10**8].time`
#    * - CPU, one ``float64`` total
#      - :measured:`off_in_one_float64`
#      - :measured:`one_sum[in_one_float64, 10**8].time`
#    * - CPU, ``np.sum``, which adds in pairs
#      - :measured:`off_numpy_sum`
#      - :measured:`many_sums[numpy_sum, 10**8].time`
#    * - ``cp.sum``
#      - :measured:`off_cupy_sum`
#      - :measured:`many_sums[cupy_sum, 10**8].time`
#    * - ``cp.sum``, ``dtype=cp.float64``
#      - :measured:`off_cupy_float64`
#      - :measured:`many_sums[cupy_float64, 10**8].time`
#    * - own kernel, ``float32`` totals
#      - :measured:`off_sum_float32`
#      - :measured:`many_sums[sum_float32, 10**8].time`
#    * - own kernel, ``float64`` totals
#      - :measured:`off_sum_float64`
#      - :measured:`many_sums[sum_float64, 10**8].time`
#
# The exact sum is :measured:`sum_right`: all numbers are multiples of 2\ :sup:`-24`, so we added them up as
# integers. Sums of this size lie 4 apart in ``float32``, and even the best one may be off by 2. A ``float64``
# has room for every digit of these sums, so nothing is rounded; of other numbers it keeps fifteen digits.
#
# ``cp.sum`` is mostly good enough. For more digits write ``dtype=cp.float64``. That takes
# :measured:`many_sums[cupy_sum, 10**8].speedup(cupy_float64)` as long, because CuPy leaves the sum to its
# general kernel, we think: the fast one of the library CUB takes one type only. :evidence:`opinion` Do not
# write ``x.astype(cp.float64).sum()``, which first writes and then reads an array of twice the size:
# :measured:`many_sums[cupy_converted, 10**8].time`. :evidence:`variant cupy_converted`
#
# A kernel of your own waits for memory, and ``float64`` totals do not change that.
# :evidence:`variant sum_float32` A thread loads ``float32``, and widens it in a register:
#
# .. kernel:: gpuguide.topics.precision.kernels
#    :names: in_float64, add_up
#
# .. rung:: sum_float64
#    :beside:

config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # Numba warns of a launch with a single block
sums, out = cp.empty(4096, cp.float64), cp.empty(1, cp.float64)
in_float64[4096, 256](x, sums)
add_up[1, 512](sums, out)
print("own kernel:", out[0])

# %%
# Kahan's sum: give back what an addition loses
# ---------------------------------------------
#
# One ``float32`` total can be right, if you :term:`keep what each addition loses <Kahan summation>` and give
# it back to the next one:
#
# .. kernel:: gpuguide.topics.precision.kernels
#    :names: by_kahan

one = np.empty(1, np.float32)
by_kahan(x_host, one)
print("by Kahan's method:", one[0])

# %%
# An addition becomes four operations, and the loop takes
# :measured:`one_sum[one_after_another, 10**8].speedup(by_kahan)` as long. If ``float64`` is at hand, a
# ``float64`` total is simpler. Use Kahan's method where a single total must take millions of numbers and
# there is no better type: on the GPU, in a thread that adds up for long while ``float64`` is slow, or if the
# numbers are ``float64`` already. A sum by many threads has no use for it, since no thread adds enough
# numbers: with plain ``float32`` totals, our kernel is off by :measured:`off_sum_float32`.
#
# Do not compile it with ``fastmath=True``. The compiler may then conclude that nothing is ever lost, and
# leaves the correction out: the sum is off by :measured:`off_kahan_fastmath`.

# %%
# What float64 costs where arithmetic decides
# -------------------------------------------
#
# A kernel that computes a lot with each number notices the type. This one does 1024 multiplications and
# additions for each:
#
# .. kernel:: gpuguide.topics.precision.kernels
#    :names: thousand_steps
#
# With 16 million numbers it takes :measured:`single[steps_float32, 2**24].time` in ``float32`` and
# :measured:`double[steps_float64, 2**24].time` in ``float64``, which is :measured:`float64_slower` as long,
# because this GPU has half as many units for ``float64``. :evidence:`count fp32_per_fp64` That is a good
# ratio: graphics cards have one such unit for 32 or 64 of the other. Look it up for your GPU, or run this
# kernel.
#
# .. dropdown:: Shares of what the units can do
#
#    The kernel reaches :measured:`single[steps_float32, 2**24].flop_share` of the best rate of the FP32
#    units, and :measured:`double[steps_float64, 2**24].flop_share` of that of the FP64 units.

# %%
# Shorter numbers: speed against digits
# -------------------------------------
#
# For products of matrices there are tensor cores, and the fewer bits a factor has, the more they do.
#
# .. headline:: Tensor cores trade digits for speed; float64 is as fast as float32 here
#
# .. drawn:: matmul
#
#     import matplotlib.pyplot as plt
#
#     from gpuguide.charts.style import INK, LIBRARY, describe
#
#     kinds = ("float64", "float32", "TF32", "bfloat16", "float16")
#     ax = plt.subplots(figsize=(7.2, 3.4))[1]
#     words = []
#     for kind in kinds:
#         digits = facts[f"digits_{kind.lower()}"].value
#         rate = facts[f"sustained_{kind.lower()}"].value
#         ax.plot(digits, rate / 1e12, "o", color=LIBRARY, markersize=9)
#         beside = {"xytext": (10, -4)}
#         if kind == "bfloat16":  # to its right is float16
#             beside = {"xytext": (0, 10), "ha": "center"}
#         ax.annotate(
#             kind, (digits, rate / 1e12), textcoords="offset points", color=INK, **beside
#         )
#         words.append(f"{kind}: {digits:.1f} digits, {rate / 1e12:.0f} TFLOP/s")
#     ax.set(xlim=(0, 19), yscale="log", xlabel="digits of the product that are right")
#     ax.set(ylim=(20, 1500), ylabel="TFLOP/s in a long run", xticks=range(0, 19, 3))
#     ax.set_yticks((20, 50, 100, 200, 500, 1000), (20, 50, 100, 200, 500, 1000))
#     ax.minorticks_off()
#     describe(ax, f"Speed against right digits of a product of matrices. {'; '.join(words)}.")

# %%
# .. csv-table:: Products of 8192 rows in five kinds of numbers
#    :header: type | largest number | right digits | speed in a long run
#    :delim: |
#
#    float64|10\ :sup:`308`|:measured:`matmul:digits_float64`|:measured:`matmul:sustained_float64`
#    float32|10\ :sup:`38`|:measured:`matmul:digits_float32`|:measured:`matmul:sustained_float32`
#    TF32|10\ :sup:`38`|:measured:`matmul:digits_tf32`|:measured:`matmul:sustained_tf32`
#    bfloat16|10\ :sup:`38`|:measured:`matmul:digits_bfloat16`|:measured:`matmul:sustained_bfloat16`
#    float16|65 504|:measured:`matmul:digits_float16`|:measured:`matmul:sustained_float16`
#
# TF32 is the one to try first: it has as many digits as ``float16``, and does not overflow sooner than
# ``float32``. Take bfloat16 for its range, since ``float16`` is as fast and has more digits. In all three the
# products are added up in ``float32``; in ``float16``, a sum of ones would stop at 2048.
# :doc:`Matrix multiplication </gallery/fast_kernels/matmul>` shows how to ask for each.

# %%
# What goes wrong: a float16 sum is infinite
# ------------------------------------------
#
# The largest ``float16`` is 65 504. Results beyond it are infinite, and CuPy raises no error:

ones = cp.ones(100_000, cp.float16)
print("the sum:            ", ones.sum())
print("the sum in float32: ", ones.sum(dtype=cp.float32))

# %%
# What goes wrong: the difference of two large sums
# -------------------------------------------------
#
# The mean of the squares less the square of the mean is the variance, on paper. In ``float32`` both are
# rounded at their eighth digit, and if the numbers lie far from zero, the variance is in just these digits:

far = 10_000 + cp.asarray(x_host[:1_000_000])
print("on paper:  ", (far**2).mean() - far.mean() ** 2)
print("far.var(): ", far.var())
print("right:     ", far.get().astype(np.float64).var())

# %%
# ``var`` takes the mean away first, and so should you. If a kernel must make one pass, let it add up in
# ``float64``.

# %%
# .. remember::
#
#    - Call ``cp.sum``: its many partial sums keep seven digits. In a kernel of your own, load ``float32`` and
#      add up in ``float64``: a single ``float32`` total of numbers from 0 to 1 ends at 16 777 216.
#    - Take away the mean, or the largest number, before you square, subtract or raise to a power.

# %%
# Your turn: softmax without an overflow
# --------------------------------------
#
# The exponentials of a row, divided by their sum: as the formula stands, it overflows at 89 in ``float32``.
# Mend the kernel, and let a warp share each row.
#
# .. exercise:: row_softmax

# thumbnail
from gpuguide.charts import thumbnail

added = np.arange(1, 201) / 2
curves = {
    "right": (added, arrays["right_totals"]),
    "float32": (added, arrays["single_totals"]),
}
_ = thumbnail.lines(curves, "a total of 100 million numbers")

# %%
# Next
# ----
#
# Next: :doc:`Roofline: which limit is yours </fast_kernels/roofline>`, which shows the kernels that could
# afford ``float64``. See also: :doc:`Types: keep kernels in 32 bits </gallery/first_kernels/numba_types>`,
# which finds the ``float64`` that you did not ask for.
