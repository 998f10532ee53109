"""
NumPy to CuPy
=============

How much of a NumPy program runs on the GPU as it stands, and what has to change?
"""
# %%
# Often two lines change: an import, and the place of the arrays. A program of four functions takes CuPy
# :measured:`cells[cupy, 10**7].time` for ten million points on the GPU,
# :measured:`cells[with_copies_pinned, 10**7].time` with pinned copies, and NumPy on one thread
# :measured:`cells[numpy, 10**7].time`; a loop compiled for 16 virtual CPUs takes
# :measured:`cells[cpu_threads, 10**7].time`. But a loop over rows is
# :measured:`rows[numpy_loop, 1024**2].speedup(cupy_loop)` as fast in NumPy as in CuPy.

# %%
# The same function for NumPy and CuPy
# ------------------------------------
#
# The function was written for NumPy and knows nothing of a GPU. For each point it squares the distance from
# the origin, and divides by the area of a cell, which two edges span.

import cupy as cp
import numpy as np


def in_cells(x, y, cell):
    distance = np.linalg.norm(np.vstack([x, y]), axis=0)
    return np.square(distance) / np.linalg.det(cell)


x_host = np.array([3.0, 6.0, 9.0])
y_host = np.array([4.0, 8.0, 12.0])
cell_host = np.array([[2.0, 0.5], [0.0, 2.0]])
print("NumPy:", in_cells(x_host, y_host, cell_host))

x, y, cell = map(cp.asarray, (x_host, y_host, cell_host))  # copies on the GPU
result = in_cells(x, y, cell)
print("CuPy: ", result, type(result))
print("back: ", cp.asnumpy(result), type(result.get()))

# %%
# .. try-it::
#
#    Leave ``cell`` on the host: ``in_cells(x, y, cell_host)``. It works all the same: ``det`` then runs on
#    the CPU, and its result is a number, which may be mixed with either kind of array. Then try
#    ``x + y_host``, which does not work. The rules are below.
#
# In a program of your own two lines change, and a third where the result goes back to NumPy:
#
# .. code-block:: diff
#
#     import numpy as np
#    +import cupy as cp
#
#    -x, y, cell = read_points()
#    +x, y, cell = map(cp.asarray, read_points())
#     result = in_cells(x, y, cell)
#    -save(result)
#    +save(result.get())
#
# ``cp.asarray`` copies to the GPU. ``result.get()`` copies back, and so does ``cp.asnumpy(result)``.

# %%

# record: Three studies: a program, a convolution, a loop over rows; and how many functions CuPy has
import gpuguide as gg
from gpuguide.topics.numpy_to_cupy import study as numpy_to_cupy

free, total = cp.cuda.Device().mem_info
print(f"{free / 1e9:.0f} GB of the GPU's {total / 1e9:.0f} GB are free.")
results = numpy_to_cupy.cells.run()
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
# What works unchanged: ``__array_function__`` and ``__array_ufunc__``
# --------------------------------------------------------------------
#
# How does ``np.square`` come to work on the GPU? Before it begins, it asks whether the class of an argument
# wants to do the work. A class says so by a method: ``__array_ufunc__`` for ufuncs such as ``np.square``, and
# ``__array_function__`` for others, such as ``np.linalg.norm``. CuPy's arrays have both, so NumPy hands the
# call to ``cp.square``. Of the :measured:`numpy_functions` functions in ``np`` that ask,
# :measured:`shared_functions` are in ``cp``. Or call CuPy's yourself, under the same names:

v = cp.array([1, 2, 3, 4, 5])
a = cp.asarray(np.array([[1, 2, 3], [4, 5, 6]], np.int32))
print(cp.square(a))
print(cp.linalg.norm(v), cp.linalg.det(cp.vstack([v] * 5)))
print(cp.arange(3), cp.zeros_like(v), cp.linspace(0, 1, 3))

# %%
# A function that *makes* an array may have no array to ask: ``np.zeros(5)`` is on the host. For one on the
# GPU write ``cp.zeros(5)``, or ``np.zeros_like(v)``, which asks ``v``.

# %%
# What raises TypeError or ValueError, and why
# --------------------------------------------
#
# An array is in the memory of the CPU or in that of the GPU. To mix the two, one has to be copied, and
# copies are slow. So arithmetic with both raises an error, and so does any code that would turn a CuPy array
# into a NumPy array unasked. Here is what the messages say:

for code in (
    "x + x_host",
    "np.asarray(x)",
    "x_host[x > 4]",
    "x[:] = x_host",
    "np.linalg.multi_dot([a, a.T])",
    "cp.array(['text'])",
):
    try:
        exec(code)
    except Exception as error:
        print(f"{code}\n    {type(error).__name__}: {error}")

# %%
# The cures, in the same order:
#
# - Bring both to one side: ``x + cp.asarray(x_host)``.
# - Say that you want a copy: ``x.get()``. SciPy and Matplotlib need that, too.
# - Use a mask from the same side: ``x_host[x.get() > 4]``, or ``x[x > 4]``.
# - ``x.set(x_host)`` copies into an array that exists.
# - CuPy does not have this function, so NumPy has nothing to call. Write ``a @ a.T``.
# - There are only numbers on the GPU: no text, no objects, no dates.

# %%
# What differs without an error
# -----------------------------
#
# More dangerous is code that runs, and does something other than you think.

for code in (
    "cp.sum(x_host)",
    "cp.vstack([x, x_host])",
    "x[cp.array([0, 5])]",
    "cp.sum(x)",
):
    value = eval(code)
    print(f"{code:24} {type(value).__module__}: {value!r}")

# %%
# - Given a NumPy array, ``cp.sum`` calls the array's own method: NumPy made this sum, on the CPU.
# - ``vstack`` copies arrays from the host unasked. In a loop, that is a copy in each round.
# - In an array of indices, one that is too large wraps around; NumPy raises ``IndexError``.
# - A sum stays on the GPU, as an array without dimensions. ``float(...)``, ``if`` and ``print`` fetch it, and
#   wait until the GPU is done.
#
# Two more: the same seed gives other random numbers than in NumPy, and the last digits of a float may differ.
# CuPy's `list of differences <https://docs.cupy.dev/en/stable/user_guide/difference.html>`__ has the rest.

# %%
# A 1-D convolution with ``np.convolve``
# --------------------------------------
#
# ``np.convolve`` asks its arguments as well. Here is a running average of a signal, on the GPU:

signal_host = np.random.default_rng(0).random(1_000_000)
window_host = np.hanning(225) / np.hanning(225).sum()
smooth = np.convolve(cp.asarray(signal_host), cp.asarray(window_host), "same")
expected = np.convolve(signal_host, window_host, "same")
print(type(smooth), "as NumPy's:", np.allclose(smooth.get(), expected))

# %%
# Four million numbers and 225 weights, on the GPU already, take :measured:`convolve[cupy, 2048**2].time`.
# That is :measured:`convolve[cupy, 2048**2].speedup(numpy)` as fast as NumPy, and
# :measured:`convolve[cupy, 2048**2].speedup(numpy_threads)` as fast as NumPy on all threads, if each gets a
# part of the signal. The methods differ, too: floats go
# `through an FFT <https://github.com/cupy/cupy/blob/main/cupy/_math/misc.py>`__ in CuPy, while NumPy adds up
# products. So small results next to large ones have fewer correct digits in CuPy. Integers are exact.
#
# It is tempting to convolve an image like this, too, after ``ravel()``. It runs, and the result is wrong:

image = cp.zeros((5, 6), dtype=cp.int64)
image[2, 2] = 1
weights = cp.arange(1, 10).reshape(3, 3)
print(np.convolve(image.ravel(), weights.ravel(), "same").reshape(image.shape))

# %%
# A single bright pixel should become the nine weights, three in each of three rows. In one dimension all nine
# follow one another, and run over the ends of their row into the rows above and below.
#
# .. drawing:: numpy_to_cupy
#
#     Two grids of five rows and six columns. In the left one, called 1-D after ravel, the weights 1 to 9
#     stand in one line that begins in row 1, fills row 2 and ends in row 3. In the right one, called 2-D,
#     they stand in a square of three by three around the bright pixel.
#
# For images there is ``cupyx.scipy.signal.convolve2d``, and there are faster ways:
# :doc:`Convolution </gallery/cupy/convolution>` compares them.
#
# .. kernel:: gpuguide.topics.numpy_to_cupy.study
#    :names: convolve_numpy, convolve_threads, convolve_cupy
#    :fold: What is timed: NumPy on one thread and on all, CuPy

# %%
# Find the slow line of your own code
# -----------------------------------
#
# The program runs on the GPU and is slow. Which line is it? Put each step into a function, and time the steps
# one by one. Here each row of a table is scaled to length one, in a loop and in a single call:

import gpuguide as gg
from cupyx.profiler import benchmark


def row_by_row(table):
    out = np.empty_like(table)
    for i in range(len(table)):
        out[i] = table[i] / np.linalg.norm(table[i])
    return out


def at_once(table):
    return table / np.linalg.norm(table, axis=1, keepdims=True)


table = cp.random.default_rng(0).random((1024, 1024), dtype=cp.float32)
print("the same:", bool(cp.allclose(row_by_row(table), at_once(table))))
for step in (row_by_row, at_once):
    times = benchmark(step, (table,), n_repeat=10, n_warmup=1)
    cpu, gpu = 1e3 * times.cpu_times.mean(), 1e3 * times.gpu_times.mean()
    print(f"{step.__name__:11} CPU {cpu:7.3f} ms, GPU-0 {gpu:7.3f} ms")

# %%
# ``CPU`` is the time Python needs to hand the work over, ``GPU-0`` the time until the GPU is done. If they
# are nearly the same, and the step itself fetches nothing, the GPU is waiting for Python: for each row of the
# loop, and in this small table even for ``at_once``. A call that does little work costs Python as much time
# as one that does much. So a loop that is harmless in NumPy is the slow line in CuPy, and one call for all
# rows is the cure. :evidence:`variant cupy_once`
#
# .. list-table::
#    :header-rows: 1
#
#    * - 1024 rows of 1024
#      - in a loop
#      - at once
#    * - NumPy, one thread
#      - :measured:`rows[numpy_loop, 1024**2].time`
#      - :measured:`rows[numpy_once, 1024**2].time`
#    * - CuPy
#      - :measured:`rows[cupy_loop, 1024**2].time`
#      - :measured:`rows[cupy_once, 1024**2].time`
#
# .. results:: rows
#
# ``gg.benchmark`` of this guide also shows the work on the GPU alone, as ``device``:

print(gg.benchmark(at_once, table))

# %%
# For a whole program there is NVIDIA's profiler Nsight Systems, which draws what ran when. In its picture
# ``with cupyx.profiler.time_range("name"):`` marks a step of yours.
# :doc:`How to time a GPU </gallery/measuring/how_to_time>` explains these clocks, and why they must
# :term:`synchronise`.

# %%
# Result: small arrays stay on the CPU
# ------------------------------------

# draw
_ = gg.plot_time(
    results,
    variants=["numpy", "cpu_threads", "cupy", "with_copies_pinned"],
    crossover=("numpy", "cupy"),
)

# %%
# .. finding::
#
#    With the points on the GPU, CuPy overtakes NumPy on one thread
#    :measured:`cells.crossover(numpy, cupy)`; at 10\ :sup:`5` the two are about level. At a hundred points
#    NumPy takes :measured:`cells[numpy, 10**2].time`, and CuPy :measured:`cells[cupy, 10**2].time`.
#
# At a hundred points the GPU itself works for :measured:`cells[gpu_alone, 10**2].time`; the rest of CuPy's
# time is Python's, for the calls. :evidence:`variant gpu_alone` The line "CuPy, pinned copies" begins and
# ends on the host, in :term:`pinned memory`, which the GPU can reach by itself: ten million points take
# :measured:`cells[with_copies_pinned, 10**7].time`. From and to ordinary, :term:`pageable <pageable memory>`
# memory they take :measured:`cells[with_copies, 10**7].time`.
#
# Before you buy a GPU, see what the CPU can do. For a million points, a loop that Numba compiles for all CPU
# threads is :measured:`cells[cpu_threads, 10**6].speedup(cupy)` as fast as CuPy without any copy. For ten
# million CuPy is ahead without copies; with pinned ones either may win. The loop reads each point once, while
# NumPy writes an array for each step, on one thread. So most of the gap between NumPy and CuPy can be closed
# on the CPU. :evidence:`variant cpu_threads` The GPU pays off when data stay there for many steps.
#
# .. kernel:: gpuguide.topics.numpy_to_cupy.kernels_cpu
#    :names: cpu_threads
#    :fold: The compiled loop on all CPU threads
#
# .. results:: cells
#
# .. kernel:: gpuguide.topics.numpy_to_cupy.study
#    :names: cupy, with_copies, with_copies_pinned
#    :fold: What is timed for CuPy, with copies and without

# draw: Eight claims
gg.claim(results, "cupy", faster_than="numpy", at=10**7, by=10)
gg.claim(results, "with_copies_pinned", faster_than="numpy", at=10**7, by=2)
gg.claim(results, "cpu_threads", faster_than="cupy", at=10**5, by=10)
gg.claim(results, "cupy", faster_than="cpu_threads", at=10**7)
gg.claim(results, "numpy", faster_than=("cupy", "with_copies_pinned"), at=10**2, by=2)
gg.claim(convolve, "cupy", faster_than=("numpy", "numpy_threads"), at=2048**2, by=4)
gg.claim(rows, "numpy_loop", faster_than="cupy_loop", at=1024**2, by=2)
gg.claim(rows, "cupy_once", faster_than=("cupy_loop", "numpy_once"), at=1024**2, by=2)

# %%
# Your turn: one function for both sides
# --------------------------------------
#
# A program that runs with and without a GPU gets its arrays from either library. Which of your lines have to
# know from which?
#
# .. exercise:: fill_in_either

# %%
# Next
# ----
#
# Onward: :doc:`Linear algebra </gallery/cupy/linear_algebra>`, and the size from which the GPU wins.
# Sideways: :doc:`Code for both libraries </gallery/cupy/agnostic>`, if a function is to run with and without
# a GPU.
