"""
Fast copies with pinned memory
==============================

How do large arrays get to the GPU and back quickly?
"""
# %%
# If you copy large arrays more than a few times, make a :term:`pinned <pinned memory>` array once and copy
# from it. From there 256 MiB reach the GPU in :measured:`to_device[pinned, 2**28].time`, while ``cp.asarray``
# takes :measured:`to_device[asarray, 2**28].time` from an ordinary NumPy array. On the way back, give ``get``
# an array to copy into.
#
# .. headline:: Copies from pinned memory are :measured:`to_device[pinned, 2**28].speedup(asarray)` as fast
#
# .. drawn:: transfers
#
#     from gpuguide.charts.shapes import plot_values
#     from gpuguide.charts.style import CUPY
#
#     names = {"cp.asarray(x_host)": "asarray", "x.set(x_pinned)": "pinned"}
#     times = {label: results.time(name, 2**28) for label, name in names.items()}
#     plot_values(times, "time to copy 256 MiB to the GPU", colour=CUPY)

# %%
# Copy with asarray, set, get and asnumpy
# ---------------------------------------
#
# Four calls copy between :term:`host` and :term:`device`. Two make a new array, and two fill one that exists.

import cupy as cp
import numpy as np

x_host = np.linspace(0, 1, 1_000_000)
x = cp.asarray(x_host)  # to the GPU, into a new array
x.set(2 * x_host)  # to the GPU, into an array that exists

y_host = cp.asnumpy(x)  # to the host, into a new array; x.get() does the same
x.get(out=x_host)  # to the host, into an array that exists
print("asnumpy:", y_host[:3], "get:", x_host[:3])

# %%
# .. try-it::
#
#    Write ``x.set(x_host.astype(np.float32))``. It raises ``TypeError: float32 array cannot be set to float64
#    array``, for ``x.set`` converts nothing. Convert before or after the copy, on the side that you prefer.

# %%

# record: The studies: every copy compared number by number
import gpuguide as gg
from gpuguide.topics.transfers import study as transfers
from gpuguide.topics.transfers.numbers import release
from gpuguide.topics.transfers.product import layers_with_room

print(transfers.room())
results = transfers.to_device.run()
to_host = transfers.to_host.run()
both_ways = transfers.both_ways.run()
convolution = transfers.convolution.run()
product = transfers.product.run(sizes=[layers_with_room()])
once = transfers.timed_once(max(product.sizes))
for name, samples in {**transfers.preparing(), **transfers.returning(), **once}.items():
    gg.fact(name, float(np.median(samples)), unit="s", samples=samples)
release()

# %%
# Pinned memory: make it once, copy often
# ---------------------------------------
#
# ``cupyx.empty_pinned`` returns a NumPy array in memory that the operating system never moves, so the GPU can
# fetch the numbers by itself.

import cupyx

x_pinned = cupyx.empty_pinned(x_host.shape, dtype=x_host.dtype)  # an array of NumPy
x_pinned[:] = x_host

x.set(x_pinned)  # returns before the numbers have arrived
cp.cuda.get_current_stream().synchronize()
x_pinned[:] = 0  # only now is it yours again
print(x[:3])

# %%
# .. warning::
#
#    From pinned memory ``x.set`` returns before the bytes have arrived. If you change the pinned array
#    meanwhile, the GPU gets a mixture of old and new numbers. Synchronise first, as above. What you ask of
#    the GPU next is safe, for it waits for the copy.
#
# Make the pinned array once and keep it: for 256 MiB this takes :measured:`pin`, which pays only after a
# few copies. And create the numbers in it, rather than copy them there: read a file into it, or pass it to
# NumPy as ``out=``.
#
# NumPy's own memory is :term:`pageable <pageable memory>`: the operating system may move it at any time, so
# that the GPU cannot fetch from it. For ``x.set`` the driver copies the array piece by piece into a small
# pinned buffer; ``cp.asarray`` first copies all of it into pinned memory of its own. Either way it takes
# about :measured:`to_device[asarray, 2**28].time`.
#
# .. headline:: An ordinary array is copied twice, a pinned one only once
#
# .. drawing:: transfers
#
#     Three ways from the host to the GPU, across PCIe. A pageable array is copied piece by piece by the CPU
#     into a small pinned buffer of the driver's, from which the GPU fetches it. A pinned array is fetched
#     directly. In the third row a function of CuPy's reads the pinned array itself.

# %%
# Pin an array that exists already
# --------------------------------
#
# If the numbers are in a NumPy array already, register it: that pins the array where it is.

pointer, n_bytes = y_host.ctypes.data, y_host.nbytes
cp.cuda.runtime.hostRegister(pointer, n_bytes, 0)
x.set(y_host)
cp.cuda.get_current_stream().synchronize()
cp.cuda.runtime.hostUnregister(pointer)  # before the array goes away
print(x[:3])

# %%
# For 256 MiB the three steps together take :measured:`to_device[register_first, 2**28].time`, less than
# ``cp.asarray``, so this pays even for a single copy. For one of 1 MiB ``x.set`` alone is faster.
#
# .. dropdown:: Read pinned memory in place, without a copy
#
#     CuPy's functions can also read pinned memory directly, through :term:`PCIe`. For numbers that are read
#     just once this is nearly as fast as a copy, :measured:`to_device[mapped, 2**28].rate` against
#     :measured:`to_device[pinned, 2**28].rate`, and it needs no memory on the GPU. Numbers that are read
#     again cross again. A registered array is copied as fast as any pinned one: 8.6 GB take
#     :measured:`to_device[registered, 2**33].time`. For 1 MiB, registering and copying take
#     :measured:`to_device[register_first, 2**20].time`, and ``x.set`` alone takes
#     :measured:`to_device[pageable, 2**20].time`.
#
# .. kernel:: gpuguide.topics.transfers.study
#    :names: set_from, asarray, register_first, read_mapped
#    :fold: The copies to the GPU, as they are timed
#
# .. kernel:: gpuguide.topics.transfers.numbers
#    :names: device_view
#    :fold: A CuPy array that lies in pinned memory

# draw
gg.claim(results, "pinned", faster_than=("pageable", "asarray"), at=2**28, by=3)
gg.claim(results, "register_first", faster_than=("pageable", "asarray"), at=2**28, by=1.2)
gg.claim(results, "pageable", faster_than="register_first", at=2**20, by=1.2)
gg.claim(to_host, "into_pageable", faster_than="into_new", at=2**28, by=1.5)
gg.claim(to_host, "into_pinned", faster_than="into_pageable", at=2**28, by=1.5)
gg.claim(both_ways, "at_once", faster_than="in_turn", at=2**28, by=1.4)
for slower, factor in (("scipy_fft_threads", 4), ("with_copies", 1.5)):
    gg.claim(convolution, "with_copies_pinned", faster_than=slower, at=2048**2, by=factor)
gg.claim(product, "cupy", faster_than="numpy_threads", at=4096, by=5)

# %%
# Back to the host: new arrays are slow
# -------------------------------------
#
# ``x.get()`` and ``cp.asnumpy(x)`` make a new array each time, and that costs far more than the copy. In a
# loop, write ``x.get(out=y_host)`` and pass the same array each time, a pinned one if you can.
#
# .. headline:: A new array for each copy back costs most of the time

# draw
from gpuguide.charts.shapes import plot_values
from gpuguide.charts.style import CUPY

names = {
    "x.get()": "into_new",
    "x.get(out=y_host)": "into_pageable",
    "x.get(out=y_pinned)": "into_pinned",
}
times = {label: to_host.time(name, 2**28) for label, name in names.items()}
_ = plot_values(times, "time to copy 256 MiB to the host", colour=CUPY)

# %%
# A new array is slow because the operating system hands out its memory only as it is first written, page by
# page. :evidence:`variant into_pageable`
#
# .. kernel:: gpuguide.topics.transfers.study
#    :names: into_new, get_into
#    :fold: The copies to the host, as they are timed

# %%
# Put small arrays together
# -------------------------
#
# Put small arrays together and copy them at once, for every copy has a fixed cost: even a kilobyte takes
# :measured:`to_device[pinned, 2**10].time`. Below about :measured:`half_rate_bytes` this :term:`latency` is
# most of the time.
#
# .. headline:: Only large copies from pinned memory use the whole link

# draw
from gpuguide.charts.lines import plot_rate

ax = plot_rate(results, variants=["asarray", "pageable", "pinned"])
ax.set(xlabel="size of the array", ylabel="GB/s")
ax.xaxis.set_major_formatter(
    lambda n, _: f"{n / 2**20:.0f}\nMiB" if n >= 2**20 else f"{n / 2**10:.0f}\nKiB"
)

# %%
# .. dropdown:: Two numbers that describe a pinned copy
#
#     A straight line describes pinned copies well: a latency of :measured:`latency_pinned`, and then
#     :measured:`bandwidth_pinned`. At :measured:`half_rate_bytes` both parts are equal. No such line
#     describes ``x.set`` from pageable memory: its rate falls again for large arrays. We think that the CPU,
#     which copies each piece, finds a smaller array in its cache. :evidence:`opinion`

# draw: Latency and bandwidth, fitted to the times with equal weight for equal shares
sizes = [size for size in results.sizes if results.has("pinned", size)]
times = np.array([results.time("pinned", size).value for size in sizes])
slope, latency = np.polyfit(np.array(sizes, float), times, 1, w=1 / times)
gg.fact("latency_pinned", latency, unit="s", note="fitted to pinned copies")
gg.fact("bandwidth_pinned", 1 / slope, unit="B/s", note="fitted to pinned copies")
_ = gg.fact("half_rate_bytes", latency / slope, unit="B", note="latency times bandwidth")

# %%
# Copy both ways at once
# ----------------------
#
# :term:`PCIe`, the link between the host and the GPU, has lanes for each direction. With pinned memory and
# two :term:`streams <stream>` you use both at the same time.

there, back = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
y = cp.ones_like(x)
y_pinned = cupyx.empty_pinned(y.shape, dtype=y.dtype)
cp.cuda.get_current_stream().synchronize()  # y is made

x.set(x_pinned, stream=there)
y.get(out=y_pinned, stream=back, blocking=False)
there.synchronize()
back.synchronize()
print(x[:3], y_pinned[:3])

# %%
# With 256 MiB each way this takes :measured:`both_ways[at_once, 2**28].time`, and one copy after the other
# takes :measured:`both_ways[in_turn, 2**28].time`. With ordinary arrays it gains next to nothing, for
# ``x.set`` returns when its copy is done, or nearly so, and only then does Python ask for the copy back.
# :doc:`Overlap copies and work </gallery/moving_data/overlap>` adds computing to both.
#
# .. kernel:: gpuguide.topics.transfers.study
#    :names: there_and_back
#    :fold: Both ways, in turn and at once

# %%
# Is a task worth its copies?
# ---------------------------
#
# Compare whole tasks, from array to array on the host. One of these convolves an image of 2048 by 2048 with
# a Gaussian of 15 by 15; the other multiplies 4096 layers of 512 by 512, so that 8.6 GB go to the GPU and
# 2 MB come back.
#
# .. csv-table:: From array to array on the host; in the last row, on the GPU
#    :header: where | convolution | product
#    :delim: |
#
#    CPU, all threads|:measured:`convolution[scipy_fft_threads, 2048**2].time`|"
#    :measured:`product[numpy_threads, 4096].time`"
#    CuPy, pageable copies|:measured:`convolution[with_copies, 2048**2].time`|:measured:`product_pageable`
#    CuPy, pinned copies|:measured:`convolution[with_copies_pinned, 2048**2].time`|"
#    :measured:`product[with_copies_pinned, 4096].time`"
#    *CuPy, without copies*|:measured:`convolution[cupy, 2048**2].time`|"
#    :measured:`product[cupy, 4096].time`"
#
# The convolution does much with each number, and is worth the trip. The product uses each number once: the
# CPU reads it from its own memory and the GPU through the link, so that the trip gains nothing even with
# pinned copies. Send such numbers to the GPU only if you use them again and again, or :doc:`make them there
# </gallery/moving_data/data_where_it_is>`.
#
# .. dropdown:: Both tasks, and better ways to convolve
#
#     Both are in ``float64``. CuPy convolves with ``convolve2d``, and the CPU with SciPy's ``fftconvolve``,
#     as SciPy's ``convolve2d`` takes much longer. One thread of the CPU takes
#     :measured:`convolution[scipy_fft, 2048**2].time` for the convolution and :measured:`product_one_thread`
#     for the product. This Gaussian can be split into two passes, which is less work for the CPU as well, and
#     the copies stay: :doc:`Convolution </gallery/cupy/convolution>` compares these ways.
#
# .. kernel:: gpuguide.topics.transfers.convolution
#    :names: with_copies, with_copies_pinned
#    :fold: The convolutions, as they are timed
#
# .. kernel:: gpuguide.topics.transfers.product
#    :names: product_numpy, product_numpy_threads, product_cupy, product_with_copies, copy_and_multiply
#    :fold: The products, as they are timed

# %%
# .. remember::
#
#    - Make a pinned array once, create the numbers in it, and copy from it often: large arrays arrive
#      :measured:`to_device[pinned, 2**28].speedup(asarray)` as fast as with ``cp.asarray``.
#    - Synchronise before you change a pinned array: ``x.set`` returns before the bytes have arrived.
#    - Give ``x.get`` the same ``out=`` each time: into a new array, 256 MiB take
#      :measured:`to_host[into_new, 2**28].time`, into the same one
#      :measured:`to_host[into_pageable, 2**28].time`.

# %%
# Your turn: latency and bandwidth from a table
# ---------------------------------------------
#
# Two numbers describe your own machine's copies. Get them from a table of times in such a way that the
# smallest copies count as much as the largest.
#
# .. exercise:: latency_and_rate

# thumbnail
from gpuguide.charts import thumbnail
from gpuguide.charts.style import CUPY

names = {"pageable, cp.asarray": "asarray", "pinned, x.set": "pinned"}
times = {label: results.time(name, 2**28) for label, name in names.items()}
_ = thumbnail.bars(times, "time to copy 256 MiB", [CUPY, CUPY])

# %%
# Next
# ----
#
# Next: :doc:`Make data where you use them </gallery/moving_data/data_where_it_is>` avoids copies altogether.
# See also: :doc:`Time a GPU: wait, then stop the clock </gallery/measuring/how_to_time>` explains why a clock
# has to wait for a copy.
