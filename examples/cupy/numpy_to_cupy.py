"""
Run NumPy code on the GPU
=========================

What has to change in a NumPy program, and what does not work?
"""
# %%
# Copy your arrays to the GPU with ``cp.asarray``, call the same functions, and fetch the result with
# ``.get()``. A running average of four million numbers takes CuPy :measured:`convolve[cupy, 2048**2].time`,
# and NumPy :measured:`convolve[numpy_threads, 2048**2].time` on all threads. Not every function gains as
# much: here CuPy takes an FFT, and NumPy adds up products. Time your own.
#
# .. headline:: ``np.convolve`` of four million numbers is far faster on the GPU
#
# .. drawn:: numpy_to_cupy
#
#     from gpuguide.charts.shapes import plot_bars
#
#     plot_bars(convolve, ["numpy", "numpy_threads", "cupy"], at=2048**2)

# %%
# Two lines change
# ----------------
#
# The function gives each column of a table the mean zero and the standard deviation one. Written for NumPy,
# it stays as it is.

import cupy as cp
import numpy as np


def standardise(table):
    return (table - np.mean(table, axis=0)) / np.std(table, axis=0)


rng = np.random.default_rng(0)
table_host = rng.normal(20, 5, (100_000, 100))  # a row for each sample
expected = standardise(table_host)

table = cp.asarray(table_host)  # a copy on the GPU
result = standardise(table)  # the same function
back = result.get()  # a copy on the host
print(type(result), result.shape)
print(type(back), "as NumPy's:", np.allclose(back, expected))

# %%
# .. try-it::
#
#    Call ``standardise(table_host)``. It runs on the CPU: where the array is decides where the work is done.
#    Then try ``table - np.mean(table_host, axis=0)``, which mixes the two and does not work.
#
# In a program of your own two lines change, and a third where the result goes back to NumPy:
#
# .. code-block:: diff
#
#     import numpy as np
#    +import cupy as cp
#
#    -table = read_table()
#    +table = cp.asarray(read_table())
#     result = standardise(table)
#    -save(result)
#    +save(result.get())
#
# ``cp.asarray`` copies to the GPU. ``result.get()`` copies back, and so does ``cp.asnumpy(result)``.

# %%

# record: The studies: a table in two layouts, a convolution, rows in a loop; how many functions CuPy has
import gpuguide as gg
from gpuguide.topics.numpy_to_cupy import study as numpy_to_cupy

free, total = cp.cuda.Device().mem_info
print(f"{free / 1e9:.0f} GB of the GPU's {total / 1e9:.0f} GB are free.")
results = numpy_to_cupy.columns.run()
together = numpy_to_cupy.together.run()
single = numpy_to_cupy.together_single.run()
convolve = numpy_to_cupy.convolve.run()
rows = numpy_to_cupy.rows.run()

# Those that ask their arguments who is to do the work.
asking = [
    name
    for name, each in vars(np).items()
    if isinstance(each, np.ufunc) or hasattr(each, "_implementation")
]
gg.fact("numpy_functions", len(asking), unit="1")
_ = gg.fact("shared_functions", sum(hasattr(cp, name) for name in asking), unit="1")

# %%
# What works unchanged
# --------------------
#
# Most functions do: ``np.square`` of a CuPy array hands the work over to CuPy. Of the
# :measured:`numpy_functions` functions in ``np`` that can do so, :measured:`shared_functions` are in ``cp``.
# You can also call CuPy's yourself, under the same names:

x_host = np.array([3.0, 6.0, 9.0])
x, y = cp.asarray(x_host), cp.asarray([4.0, 8.0, 12.0])
v = cp.array([1, 2, 3, 4, 5])
a = cp.asarray(np.array([[1, 2, 3], [4, 5, 6]], np.int32))
print(np.linalg.norm(np.vstack([x, y]), axis=0))
print(cp.square(a))
print(cp.linalg.norm(v), cp.linalg.det(cp.vstack([v] * 5)))
print(cp.arange(3), cp.zeros_like(v), cp.linspace(0, 1, 3))

# %%
# A function that *makes* an array may get no CuPy array to go by: ``np.zeros(5)`` is in the memory of the
# CPU. For one on the GPU write ``cp.zeros(5)``, or ``np.zeros_like(v)``, which goes by ``v``.
#
# .. dropdown:: How NumPy knows
#
#    NumPy asks the class of each argument whether it wants to do the work. A class answers by a method:
#    ``__array_ufunc__`` for ufuncs such as ``np.square``, and ``__array_function__`` for others, such as
#    ``np.linalg.norm``. CuPy's arrays have both.

# %%
# What raises TypeError or ValueError, and why
# --------------------------------------------
#
# Copies are slow, so CuPy makes none unasked in arithmetic that mixes arrays of the CPU and the GPU, or where
# a CuPy array would have to become a NumPy array. You get an error instead:

for code in (
    "x + x_host",
    "np.asarray(x)",
    "x_host[x > 4]",
    "x[:] = x_host",
    "np.array([x.min(), x.max()])",
    "np.linalg.multi_dot([a, a.T])",
    "cp.array(['text'])",
):
    try:
        exec(code)
    except Exception as error:
        print(f"{code}\n    {type(error).__name__}: {error}")

# %%
# The cures:
#
# - ``x + x_host``: bring both to one side, ``x + cp.asarray(x_host)``.
# - ``np.asarray(x)``: say that you want a copy, ``x.get()``. SciPy and Matplotlib need that, too.
# - ``x_host[x > 4]``: use a mask from the same side, ``x_host[x.get() > 4]`` or ``x[x > 4]``.
# - ``x[:] = x_host``: copy into the array with ``x.set(x_host)``.
# - ``np.array([x.min(), x.max()])``: collect results on the GPU, and fetch them once,
#   ``cp.stack([x.min(), x.max()]).get()``.
# - ``np.linalg.multi_dot``: CuPy does not have this function. Write ``a @ a.T``.
# - ``cp.array(['text'])``: keep text, objects and dates on the CPU, as the GPU has only numbers.

# %%
# What differs without an error
# -----------------------------
#
# More dangerous is code that runs, and does something other than you think:

for code in (
    "cp.sum(x_host)",
    "cp.vstack([x, x_host])",
    "x[cp.array([0, 5])]",
    "cp.sum(x)",
):
    value = eval(code)
    print(f"{code:24} {type(value).__module__}: {value!r}")

# %%
# - ``cp.sum`` of a NumPy array calls the array's own method: NumPy made this sum, on the CPU.
# - ``vstack`` copies arrays from the CPU unasked. Copy them once, before a loop.
# - In an array of indices, one that is too large wraps around, where NumPy raises ``IndexError``. Check
#   indices beforehand.
# - A sum stays on the GPU, as an array without dimensions. ``float(...)``, ``if`` and ``print`` fetch it, and
#   wait until the GPU is done. Keep them out of loops.
#
# Two more: the same seed gives other random numbers than in NumPy, and the last digits of a float may differ.
# CuPy's `list of differences <https://docs.cupy.dev/en/stable/user_guide/difference.html>`__ has the rest.

# %%
# float64 or float32
# ------------------
#
# Take float32 where seven digits are enough: it halves the bytes on every GPU, and GPUs made for games have
# few units for float64. As in NumPy, you get float64 unless you ask for something else, and one float64 or
# int64 array among float32 arrays makes the result float64. So does ``np.float64(2.5)``, while a plain
# ``2.5`` does not.

# %%

# fold: Which of five expressions are float64
x32 = cp.ones(3, dtype=cp.float32)
for code in (
    "cp.zeros(3)",
    "cp.random.default_rng(0).random(3)",
    "x32 * 2.5",
    "x32 * np.float64(2.5)",
    "x32 * cp.arange(3)",
):
    print(f"{code:35} {eval(code).dtype}")

# %%
# Look at ``dtype`` after each step, and convert once, at the start: ``table.astype(cp.float32)``. It always
# saves memory, and not always time. :doc:`/gallery/first_kernels/numba_types` shows what a float64 by mistake
# costs in a kernel.

# %%
# From SciPy to cupyx.scipy
# -------------------------
#
# SciPy itself computes on the CPU. CuPy has many of its functions under the same names: write ``cupyx.scipy``
# for ``scipy`` in the import. It has ``ndimage``, ``signal``, ``fft``, ``special``, ``interpolate``,
# ``sparse``, a few functions of ``linalg`` and ``stats``, and ``spatial`` with NVIDIA's cuVS installed. It
# has no ``optimize``, ``integrate`` or ``cluster``. CuPy's
# `comparison table <https://docs.cupy.dev/en/stable/reference/comparison.html>`__ goes through all functions.
#
# ``np.convolve`` needs no SciPy. This is a running average of a signal, on the GPU:

signal_host = np.random.default_rng(0).random(1_000_000)
window_host = np.hanning(225) / np.hanning(225).sum()
smooth = np.convolve(cp.asarray(signal_host), cp.asarray(window_host), "same")
expected = np.convolve(signal_host, window_host, "same")
print(type(smooth), "as NumPy's:", np.allclose(smooth.get(), expected))

# %%
# Do not convolve an image like this, after ``ravel()``: it runs, and the result is wrong. The weights follow
# one another, and run over the ends of their rows.
#
# .. drawing:: numpy_to_cupy
#
#     Two grids of five rows and six columns. In the left one, called 1-D after ravel, the weights 1 to 9
#     stand in one line that begins in row 1, fills row 2 and ends in row 3. In the right one, called 2-D,
#     they stand in a square of three by three around the bright pixel.

# %%

# wrong, fold: The image as one line of numbers, in code
image = cp.zeros((5, 6), dtype=cp.int64)
image[2, 2] = 1
weights = cp.arange(1, 10).reshape(3, 3)
print(np.convolve(image.ravel(), weights.ravel(), "same").reshape(image.shape))

# %%
# Take SciPy's function for images, which CuPy has under the same name:
# ``cupyx.scipy.ndimage.convolve(image, weights, mode="constant")``. :doc:`/gallery/cupy/convolution` compares
# the ways to blur an image.

# %%

# fold: The image in 2-D, in code
from cupyx.scipy import ndimage

print(ndimage.convolve(image, weights, mode="constant"))

# %%
# .. dropdown:: How CuPy convolves in one dimension
#
#    Floats go `through an FFT <https://github.com/cupy/cupy/blob/main/cupy/_math/misc.py>`__ in CuPy, while
#    NumPy adds up products. Small results next to large ones therefore have fewer correct digits in CuPy.
#    Integers are exact.
#
# .. kernel:: gpuguide.topics.numpy_to_cupy.study
#    :names: convolve_numpy, convolve_threads, convolve_cupy
#    :fold: What is timed: NumPy on one thread and on all, CuPy

# %%
# Find the slow line of your own code
# -----------------------------------
#
# If the program runs on the GPU and is slow, put each step into a function, and time the steps one by one.
# This one scales each of a thousand vectors to length one, in a loop and in a single call:

from cupyx.profiler import benchmark


def row_by_row(table):
    out = np.empty_like(table)
    for i in range(len(table)):
        out[i] = table[i] / np.linalg.norm(table[i])
    return out


def at_once(table):
    return table / np.linalg.norm(table, axis=1, keepdims=True)


vectors = cp.random.default_rng(0).random((1024, 1024), dtype=cp.float32)
print("the same:", bool(cp.allclose(row_by_row(vectors), at_once(vectors))))
for step in (row_by_row, at_once):
    times = benchmark(step, (vectors,), n_repeat=10, n_warmup=1)
    cpu, gpu = 1e3 * times.cpu_times.mean(), 1e3 * times.gpu_times.mean()
    print(f"{step.__name__:11} CPU {cpu:7.3f} ms, GPU-0 {gpu:7.3f} ms")

# %%
# ``CPU`` is the time Python needs to hand the work over, ``GPU-0`` the time until the GPU is done. If they
# are nearly the same, and the step itself fetches nothing, the GPU is waiting for Python. A call that does
# little work costs Python as much time as one that does much, so a loop that is harmless in NumPy, where it
# takes :measured:`rows[numpy_loop, 1024**2].time`, is the slow line in CuPy. One call for all rows is
# :measured:`rows[cupy_once, 1024**2].speedup(cupy_loop)` as fast.
#
# For a whole program, NVIDIA's profiler Nsight Systems draws what ran when, and
# ``with cupyx.profiler.time_range("name"):`` marks a step of yours in its picture.

# %%
# Add up columns by a matrix product
# ----------------------------------
#
# The next suspect is a sum or a mean over the first axis of a narrow table, as in ``standardise``.
# Let a matrix product add up, which CuPy leaves to cuBLAS: ``np.ones_like(table, shape=len(table)) @ table``
# are the sums of all columns. With both sums of ``standardise`` written like this, ten million numbers take
# :measured:`columns[cupy_by_products, 10**7].time` instead of :measured:`columns[cupy, 10**7].time`.
#
# What cannot be written as a product gains from another layout, though less. Store each column in one piece,
# with ``cp.asarray(table_host, order="F")`` on the way to the GPU: with its plain calls, ``standardise`` then
# takes :measured:`together[cupy, 10**7].time`.
#
# .. kernel:: gpuguide.topics.numpy_to_cupy.functions
#    :names: standardise_by_products
#    :fold: The function with products

# %%

# fold: The table in both layouts, timed
by_column = cp.asfortranarray(table)  # the numbers of a column lie side by side
print("the same:", bool(cp.allclose(standardise(by_column), standardise(table))))
for name, layout in {"by row": table, "by column": by_column}.items():
    times = benchmark(standardise, (layout,), n_repeat=10, n_warmup=1)
    print(f"{name:9} GPU-0 {1e3 * times.gpu_times.mean():7.3f} ms")

# %%
# .. dropdown:: The same table in float32
#
#    The sums take most of the time, and not the bytes: in float32 the GPU works for
#    :measured:`together_single[gpu_alone, 10**7].time`, in float64 for
#    :measured:`together[gpu_alone, 10**7].time`.
#
# .. kernel:: gpuguide.topics.numpy_to_cupy.study
#    :names: together_numpy, together_cupy
#    :fold: What is timed: the table with each column in one piece

# %%
# See what the CPU can do
# -----------------------
#
# Leave arrays of a few thousand numbers on the CPU: each call costs Python the same time to hand over,
# however small the array. CuPy overtakes NumPy on one thread :measured:`columns.crossover(numpy, cupy)`.
#
# .. headline:: With ten million numbers, CuPy needs matrix products to beat all CPU threads

# draw
_ = gg.plot_time(
    results,
    variants=["numpy", "cpu_threads", "cupy", "cupy_by_products"],
    crossover=("numpy", "cupy"),
)

# %%
# NumPy goes over the table many times, on one thread. A loop that Numba compiles for all CPU threads
# standardises ten million numbers in :measured:`columns[cpu_threads, 10**7].time`: try that before you buy a
# GPU. With matrix products CuPy is :measured:`columns[cupy_by_products, 10**7].speedup(cpu_threads)` as fast,
# but only if the table is on the GPU already. With its copies, the plain calls take
# :measured:`columns[with_copies_pinned, 10**7].time` through :term:`pinned memory`, and
# :measured:`columns[with_copies, 10**7].time` through ordinary, :term:`pageable memory`. The GPU pays off
# when data stay there for many steps.
#
# .. kernel:: gpuguide.topics.numpy_to_cupy.kernels_cpu
#    :names: cpu_threads
#    :fold: The compiled loop on all CPU threads
#
# .. kernel:: gpuguide.topics.numpy_to_cupy.study
#    :names: cupy, cupy_by_products, with_copies, with_copies_pinned
#    :fold: What is timed for CuPy, with copies and without

# draw: Seven claims
gg.claim(results, "cupy_by_products", faster_than="cupy", at=10**7, by=20)
gg.claim(results, "cupy_by_products", faster_than="cpu_threads", at=10**7, by=4)
gg.claim(results, "cupy", faster_than="numpy", at=10**7, by=5)
gg.claim(results, "cpu_threads", faster_than="cupy", at=10**7, by=3)
gg.claim(convolve, "cupy", faster_than=("numpy", "numpy_threads"), at=2048**2, by=4)
gg.claim(rows, "numpy_loop", faster_than="cupy_loop", at=1024**2, by=2)
gg.claim(rows, "cupy_once", faster_than=("cupy_loop", "numpy_once"), at=1024**2, by=2)

# %%
# .. remember::
#
#    - Replace a loop over rows by one call on the whole array: to scale 1024 vectors to length one is then
#      :measured:`rows[cupy_once, 1024**2].speedup(cupy_loop)` as fast.
#    - Add up the columns of a table by a matrix product with ones: in a function that standardises them, this
#      is :measured:`columns[cupy_by_products, 10**7].speedup(cupy)` as fast.
#    - Do not mix NumPy and CuPy arrays, which raises ``TypeError``. Keep ``float(x)``, ``if x`` and
#      ``print(x)`` out of loops: each waits for the GPU.

# %%
# Your turn: one function for both sides
# --------------------------------------
#
# A program that runs with and without a GPU gets its arrays from either library. Which of your lines have to
# know from which?
#
# .. exercise:: fill_in_either

# thumbnail
from gpuguide.charts import thumbnail

names = {"NumPy": "numpy", "NumPy, all threads": "numpy_threads", "CuPy": "cupy"}
times = {label: convolve.time(name, 2048**2) for label, name in names.items()}
_ = thumbnail.bars(times, "time of np.convolve")

# %%
# Next
# ----
#
# Next: :doc:`/gallery/cupy/linear_algebra`, and the size from which the GPU wins. See also:
# :doc:`/gallery/cupy/agnostic`, if a function is to run with and without a GPU.
