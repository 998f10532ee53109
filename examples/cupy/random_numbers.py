"""
Random numbers: take default_rng
================================

Which generator should you take on the GPU, and how fast is it?
"""
# %%
# If the GPU uses the random numbers, make them there with ``cp.random.default_rng``, many in one call: fifty
# million take :measured:`float64[xorwow, 5*10**7].time`, and :measured:`float64[numpy_threads, 5*10**7].time`
# in NumPy on all threads. If your code still calls the older ``cp.random.random``, replace it.
#
# .. headline:: ``default_rng`` is :measured:`float64[xorwow, 5*10**7].speedup(cupy_random)` as fast as
#    ``cp.random.random``
#
# .. drawn:: random_numbers
#
#     from gpuguide.charts.shapes import plot_bars
#
#     plot_bars(results, ["numpy_threads", "cupy_random", "xorwow"], at=5 * 10**7)

# %%
# default_rng: NumPy's interface, other numbers
# ---------------------------------------------
#
# CuPy's random numbers come from a generator object. Its :term:`seed <random seed>` decides all of them: with
# the same seed and the same calls you get the same numbers again.

import cupy as cp
import numpy as np

for xp in (np, cp):
    rng = xp.random.default_rng(2026)
    print(xp.__name__, rng.random(3))
    again = xp.random.default_rng(2026)
    print("  same seed:   ", again.random(3))
    in_parts = xp.random.default_rng(2026)
    print("  two and one: ", in_parts.random(2), in_parts.random(1))

# %%
# .. try-it::
#
#    Take another seed than 2026 in the line that makes ``again``, and run the cell once more. Its numbers
#    no longer equal those of the first line, in either library.
#
# Two things differ from NumPy. The same seed gives other numbers, for the libraries use different
# generators. And CuPy's numbers depend on how you draw them: two and then one are not the same as three at
# once. If a test must compare both libraries, make the numbers once, in NumPy, and copy them to the GPU.

# %%

# record: The studies: generators in double and in single precision, a sum of two vectors, errors of pi
import gpuguide as gg
from gpuguide.topics.random_numbers import study as random_numbers

results = random_numbers.float64.run()
bits = random_numbers.bits.run()
single = random_numbers.float32.run()
sums = random_numbers.add.run()

_ = gg.keep("pi_errors", random_numbers.pi_errors(range(2, 9), 32))

# %%

# draw
gg.claim(results, "xorwow", faster_than="numpy_threads", at=5 * 10**7, by=10)
gg.claim(results, "xorwow", faster_than="cupy_random", at=5 * 10**7, by=2)
gg.claim(single, "xorwow", faster_than="cupy_random", at=5 * 10**7, by=2)
gg.claim(single, "xorwow", faster_than="philox", at=5 * 10**7, by=1.1)
gg.claim(sums, "cupy", faster_than="numpy_threads", at=5 * 10**7, by=10)

exponents, errors = range(2, 9), arrays["pi_errors"]
typical = np.sqrt((errors**2).mean(axis=1))
for exponent in (2, 4, 6, 8):
    gg.fact(f"pi_error_{exponent}", float(typical[exponent - 2]), unit="1")
_ = gg.fact("pi_shrinks", float(typical[0] / typical[-1]), unit="ratio")

# %%
# Which generator, and which dtype
# --------------------------------
#
# Stay with ``default_rng``, which uses the generator XORWOW, and pass ``dtype=cp.float32`` where seven digits
# are enough. If you know that you need Philox or MRG32k3a, make the object yourself:

philox = cp.random.Generator(cp.random.Philox4x3210(2026))
x = philox.random(1_000_000, dtype=cp.float32)
print(x.dtype, float(x.mean()), "from", float(x.min()), "to", float(x.max()))

# %%
# .. list-table:: Fifty million uniform random numbers on the GPU
#    :header-rows: 1
#
#    * - generator
#      - float32
#      - float64
#    * - ``default_rng``: XORWOW
#      - :measured:`float32[xorwow, 5*10**7].time`
#      - :measured:`float64[xorwow, 5*10**7].time`
#    * - Philox
#      - :measured:`float32[philox, 5*10**7].time`
#      - :measured:`bits[philox, 5*10**7].time`
#    * - MRG32k3a
#      - :measured:`float32[mrg, 5*10**7].time`
#      - :measured:`bits[mrg, 5*10**7].time`
#    * - ``cp.random.random``
#      - :measured:`float32[cupy_random, 5*10**7].time`
#      - :measured:`float64[cupy_random, 5*10**7].time`
#
# In float64 the three generators are close together, and in float32 XORWOW is the fastest. The older function
# is the slowest in either dtype, and it has one seed for the whole program.
#
# .. dropdown:: How close to the memory's speed, and how the generators were checked
#
#    In float64, XORWOW, Philox and MRG32k3a write at :measured:`float64[xorwow, 5*10**7].share`,
#    :measured:`bits[philox, 5*10**7].share` and :measured:`bits[mrg, 5*10**7].share` of the rate that the
#    memory allows, which no generator can exceed. XORWOW makes
#    :measured:`float64[xorwow, 5*10**7].rate(numbers)`, and in float32, with half as much to write,
#    :measured:`float32[xorwow, 5*10**7].rate(numbers)`.
#
#    Before it was timed, each generator had to pass simple tests: all numbers lie from 0 to below 1, fall
#    evenly into 256 equal parts, and rise as often as they fall, and the second half does not repeat the
#    first. That finds a generator that is broken or badly seeded. It does not say which one is best.
#
# .. kernel:: gpuguide.topics.random_numbers.study
#    :names: cupy_random, xorwow, mrg
#    :fold: The other calls as they were timed

# %%
# Draw many numbers at once
# -------------------------
#
# Ask for all numbers of a step in one call. With ``default_rng`` each call keeps the GPU busy for at least
# :measured:`float64[xorwow, 10**3].time`, and for that time it makes a million numbers as well as a thousand.
# If the CPU needs a thousand, make them there: NumPy takes :measured:`float64[numpy_threads, 10**3].time`.
#
# .. headline:: With ``default_rng`` a million numbers take no longer than a thousand

# draw
ax = gg.plot_time(results, variants=["numpy_threads", "cupy_random", "xorwow"])
_ = ax.set_ylabel("time, without copies")

# %%
# .. dropdown:: Small arrays, and what Python's part is
#
#    For a thousand numbers the GPU needs :measured:`float64[cupy_random, 10**3].time` in a call of
#    ``cp.random.random``. We think that ``default_rng`` always starts all of its parallel generators.
#    :evidence:`opinion` Python needs :measured:`float64[xorwow, 10**3].launch` to call ``default_rng``, and
#    :measured:`float64[cupy_random, 10**3].launch` to call the older function. The chart leaves that out, and
#    the numbers stay where they were made.
#
# .. dropdown:: The rival: NumPy on all threads, a generator for each
#
#    NumPy's generators make their numbers without Python's lock, and ``spawn`` derives independent generators
#    from one seed. Do not give several threads the same seed: they would all make the same numbers. For
#    5 · 10\ :sup:`7` numbers in float64 one thread takes :measured:`bits[numpy, 5*10**7].time`. Fewer than
#    2\ :sup:`18` numbers are left to one thread.
#
# .. kernel:: gpuguide.topics.random_numbers.study
#    :names: numpy, numpy_threads
#    :fold: NumPy on one thread, and on all

# %%
# Add two random vectors
# ----------------------
#
# Write ``a + b``, or ``cp.add`` with ``out=`` if you want to reuse an array. A kernel of your own gains
# nothing here, because a plain sum already runs at :measured:`add[cupy, 5*10**7].share` of the memory's
# speed. :evidence:`variant elementwise` Write one only where it does several operations in one pass.

# %%

# fold: The three ways to add two vectors
rng = cp.random.default_rng(1)
a, b = rng.random(1_000_000), rng.random(1_000_000)
c = cp.empty_like(a)
add_elementwise = cp.ElementwiseKernel(
    "float64 x, float64 y", "float64 z", "z = x + y", "add_elementwise"
)

new = a + b
cp.add(a, b, out=c)
print("the same:", bool((new == c).all()))
add_elementwise(a, b, c)
print("the same:", bool((new == c).all()))

# %%
# .. dropdown:: The times: NumPy and three ways in CuPy
#
#    .. csv-table:: The sum of two vectors of 5 · 10\ :sup:`7` numbers in float64
#       :header: way | time
#       :delim: |
#
#       ``np.add``, one thread, a new array|:measured:`add[numpy_new, 5*10**7].time`
#       ``np.add``, all threads, with ``out=``|:measured:`add[numpy_threads, 5*10**7].time`
#       ``a + b`` in CuPy|:measured:`add[cupy_new, 5*10**7].time`
#       ``cp.add`` with ``out=``|:measured:`add[cupy, 5*10**7].time`
#       ElementwiseKernel|:measured:`add[elementwise, 5*10**7].time`
#
#    On the GPU all three ways read two arrays and write one.

# %%
# Estimate pi, and see the error fall
# -----------------------------------
#
# Throw random points into a square. The share that falls into a quarter of a circle is a quarter of pi.
#
# .. headline:: A thousand random points: those inside the quarter circle give pi

# draw
import matplotlib.pyplot as plt
from gpuguide.charts.style import CUPY, INK, MUTED, describe, style

thrown = np.random.default_rng(2).random((2, 1000))
hit = (thrown**2).sum(axis=0) < 1
angle = np.linspace(0, np.pi / 2, 100)
with style():
    ax = plt.subplots(figsize=(7.2, 3.8))[1]
    ax.plot(*thrown[:, hit], "o", color=CUPY, markersize=3)
    ax.plot(*thrown[:, ~hit], "o", color=MUTED, markersize=3)
    ax.plot(np.cos(angle), np.sin(angle), color=INK, linewidth=1.5)
    ax.set(
        xlim=(0, 1), ylim=(0, 1), aspect="equal", anchor="W", xticks=(0, 1), yticks=(0, 1)
    )
    ax.grid(visible=False)
    words = f"{hit.sum()} of {hit.size} inside: pi is about {4 * hit.mean():.2f}"
    ax.set_title(words, loc="left", fontsize=11)
    describe(ax, f"Random points in a square, and a quarter of a circle in it. {words}.")

# %%
# Take ten million points on the GPU. All of them stay there; only the count is copied to the CPU.

n = 10_000_000
rng = cp.random.default_rng(1)
x, y = rng.random(n, dtype=cp.float32), rng.random(n, dtype=cp.float32)
inside = cp.count_nonzero(x * x + y * y < 1)
print("pi is about", 4 * int(inside) / n)

# %%
# The error of one estimate may be small by luck. We therefore made 32 estimates for each number of points,
# and call the root of the mean of their squared errors the typical error.
#
# .. headline:: A hundred times the points give pi one more digit

# draw
points = 10.0 ** np.array(exponents)
with style():
    ax = plt.subplots()[1]
    for column in np.abs(errors).T:
        ax.plot(points, column, ".", color=MUTED, markersize=3)
    expected = np.sqrt(np.pi * (4 - np.pi) / points)
    ax.plot(points, expected, color=MUTED, label=r"expected, $1.64 / \sqrt{n}$")
    ax.plot(points, typical, "o", color=CUPY, label="typical error of 32 runs")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(1e-7, 1)
    ax.set_xlabel("random points")
    ax.set_ylabel("error of pi")
    ax.legend(loc="lower left")
    describe(
        ax,
        f"Error of pi against the number of points, both logarithmic. The typical error falls from "
        f"{typical[0]:.2g} at a hundred points to {typical[-1]:.2g} at 10 to the 8, along the expected line. "
        "Grey dots show the single runs.",
    )

# %%
# The error falls with the square root of the number of points, on a GPU as anywhere, so that even a much
# faster GPU buys few digits. If your errors do not fall like this, look at your random numbers: a seed that
# is set again in a loop makes the same points again.

# %%
# .. remember::
#
#    - Make random numbers with ``cp.random.default_rng``, many in one call: fifty million take
#      :measured:`float64[xorwow, 5*10**7].time`, where ``cp.random.random`` takes
#      :measured:`float64[cupy_random, 5*10**7].time`.
#    - Set a seed once, before the loop, and do not expect the GPU to draw NumPy's numbers from it.

# %%
# Your turn: more numbers than fit
# --------------------------------
#
# If you need more points than fit into the GPU's memory, work in chunks. Practise it on numbers that come
# from the host.
#
# .. exercise:: within_the_limit

# thumbnail
from gpuguide.charts import thumbnail

names = {
    "NumPy, all threads": "numpy_threads",
    "cp.random.random": "cupy_random",
    "cp.random.default_rng": "xorwow",
}
times = {label: results.time(name, 5 * 10**7) for label, name in names.items()}
_ = thumbnail.bars(times, "time for 50 million numbers")

# %%
# Next
# ----
#
# Next: :doc:`Make first calls fast </gallery/cupy/first_call>`, on why the first line of a program takes so
# long. See also: :doc:`Make data where you use them </gallery/moving_data/data_where_it_is>`, on random
# numbers that never leave the GPU, and
# :doc:`Random numbers inside a kernel </gallery/fast_kernels/random_in_kernels>`, one thread's own.
