"""
Transfers
=========

How long does a copy between host and GPU take, and what makes it faster?
"""
# %%
# From an ordinary NumPy array, ``cp.asarray`` brings 256 MiB (2\ :sup:`28` bytes) to the GPU in
# :measured:`to_device[asarray, 2**28].time`. From :term:`pinned memory` they arrive in
# :measured:`to_device[pinned, 2**28].time`. Even a kilobyte takes :measured:`to_device[pinned, 2**10].time`
# from there: every copy has a fixed cost.
#
# .. csv-table:: To the GPU
#    :header: copy from NumPy | 2\ :sup:`10` bytes | 2\ :sup:`28` bytes
#    :delim: |
#
#    ``cp.asarray``, ordinary (pageable) array|:measured:`to_device[asarray, 2**10].time`|"
#    :measured:`to_device[asarray, 2**28].time`"
#    ``x.set``, ordinary (pageable) array|:measured:`to_device[pageable, 2**10].time`|"
#    :measured:`to_device[pageable, 2**28].time`"
#    ``x.set``, pinned array|:measured:`to_device[pinned, 2**10].time`|"
#    :measured:`to_device[pinned, 2**28].time`"

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
#    array``. ``x.set`` converts nothing; convert before it or after it, on the side that you prefer.
#
# NumPy's memory is :term:`pageable <pageable memory>`: the operating system may move it at any time, so the
# GPU cannot fetch from it. For ``x.set`` the driver first copies each piece into a small pinned buffer of its
# own; ``cp.asarray`` first copies the whole array into pinned memory of CuPy's.
#
# .. drawing:: transfers
#
#     Three ways from the host to the GPU, across PCIe. A pageable array is copied piece by piece by the CPU
#     into a small pinned buffer of the driver's, from which the GPU fetches it. A pinned array is fetched
#     directly. In the third row a function of CuPy's reads the pinned array itself.

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
# The operating system promises to leave pinned memory where it is, and the GPU fetches from it directly.
#
# .. rung:: pinned

import cupyx

x_pinned = cupyx.empty_pinned(x_host.shape, dtype=x_host.dtype)  # an array of NumPy
x_pinned[:] = x_host

x.set(x_pinned)  # returns before the numbers have arrived
cp.cuda.get_current_stream().synchronize()
x_pinned[:] = 0  # only now is it yours again
print(x[:3])

# %%
# 2\ :sup:`28` bytes arrive :measured:`to_device[pinned, 2**28].speedup(asarray)` as fast as with
# ``cp.asarray`` from pageable memory. This has two prices. Making a pinned array of this size takes
# :measured:`pin`, longer than even the slow copy. So make it once, and create the numbers in it.
#
# The other price is a trap. From pinned memory ``x.set`` returns after :measured:`returns_pinned`, although
# 2\ :sup:`28` bytes arrive only after :measured:`arrives_pinned`. If you change the array meanwhile, the GPU
# gets a mixture. From pageable memory ``x.set`` returns after :measured:`returns_pageable`, when NumPy's
# array is no longer needed. What you ask of the GPU next is safe in both cases: it waits for the copy.

# %%
# Register an array that exists already
# -------------------------------------
#
# Often the numbers are in a NumPy array already. It can be pinned where it is.
#
# .. rung:: register_first
#    :beside:

pointer, n_bytes = y_host.ctypes.data, y_host.nbytes
cp.cuda.runtime.hostRegister(pointer, n_bytes, 0)
x.set(y_host)
cp.cuda.get_current_stream().synchronize()
cp.cuda.runtime.hostUnregister(pointer)  # before the array goes away
print(x[:3])

# %%
# Registering 2\ :sup:`28` bytes that have been written before takes :measured:`register`. Even for a single
# copy all three steps together are :measured:`to_device[register_first, 2**28].speedup(asarray)` as fast as
# ``cp.asarray`` for this size. For a small array they do not pay: a megabyte takes
# :measured:`to_device[register_first, 2**20].time`, and with ``x.set`` alone
# :measured:`to_device[pageable, 2**20].time`.
# Once registered, an array is copied as fast as any pinned one: 8.6 GB take
# :measured:`to_device[registered, 2**33].time`.
#
# CuPy's functions can also read pinned memory directly, through :term:`PCIe`, without a copy before. For
# numbers that are read just once this is nearly as fast as a copy, :measured:`to_device[mapped, 2**28].rate`,
# and they need no memory on the GPU. When they are read again, they cross again.
#
# .. kernel:: gpuguide.topics.transfers.study
#    :names: set_from, asarray, register_first, read_mapped
#    :fold: The copies to the GPU, as they are timed
#
# .. kernel:: gpuguide.topics.transfers.numbers
#    :names: device_view
#    :fold: An array of CuPy's that lies in pinned memory

# draw
gg.claim(results, "pinned", faster_than=("pageable", "asarray"), at=2**28, by=3)
gg.claim(results, "register_first", faster_than=("pageable", "asarray"), at=2**28, by=1.2)
gg.claim(results, "pageable", faster_than="register_first", at=2**20, by=1.2)
gg.claim(to_host, "into_pageable", faster_than="into_new", at=2**28, by=1.5)
gg.claim(both_ways, "at_once", faster_than="in_turn", at=2**28, by=1.4)
for slower, factor in (("scipy_fft_threads", 4), ("with_copies", 1.5)):
    gg.claim(convolution, "with_copies_pinned", faster_than=slower, at=2048**2, by=factor)
gg.claim(product, "cupy", faster_than="numpy_threads", at=4096, by=5)

# %%
# Latency and bandwidth of a copy
# -------------------------------

# draw
from gpuguide.charts.lines import plot_rate

_ = plot_rate(results, variants=["asarray", "pageable", "pinned", "mapped"])

# %%
# .. finding::
#
#    Pinned copies approach :measured:`to_device[pinned, 2**28].rate`, and reach half of that at
#    :measured:`half_rate_bytes`. From pageable memory ``x.set`` reaches
#    :measured:`to_device[pageable, 2**20].rate` at 2\ :sup:`20` bytes, and
#    :measured:`to_device[pageable, 2**28].rate` at 2\ :sup:`28`.
#
# A straight line describes pinned copies well: a :term:`latency` of :measured:`latency_pinned`, and then
# :measured:`bandwidth_pinned`. At :measured:`half_rate_bytes` both parts are equal; below, the latency
# decides. So put small arrays together before you copy them.
#
# No such line describes ``x.set`` from pageable memory: its rate falls again for large arrays. We think that
# the CPU, which copies each piece, finds a smaller array in its cache. :evidence:`opinion`
#
# .. results:: to_device

# draw: Latency and bandwidth, fitted to the times with equal weight for equal shares
sizes = [size for size in results.sizes if results.has("pinned", size)]
times = np.array([results.time("pinned", size).value for size in sizes])
slope, latency = np.polyfit(np.array(sizes, float), times, 1, w=1 / times)
gg.fact("latency_pinned", latency, unit="s", note="fitted to pinned copies")
gg.fact("bandwidth_pinned", 1 / slope, unit="B/s", note="fitted to pinned copies")
_ = gg.fact("half_rate_bytes", latency / slope, unit="B", note="latency times bandwidth")

# %%
# Back to the host: new arrays are slow
# -------------------------------------
#
# ``x.get()`` and ``cp.asnumpy`` make a new array. For 2\ :sup:`28` bytes that takes
# :measured:`to_host[into_new, 2**28].time`. Into an array that has been written before the same copy takes
# :measured:`to_host[into_pageable, 2**28].time`, because the operating system hands out new memory only as it
# is first written, page by page. :evidence:`variant into_pageable` Into a pinned array it takes
# :measured:`to_host[into_pinned, 2**28].time`. So in a loop, give ``get`` the same array each time.
#
# .. kernel:: gpuguide.topics.transfers.study
#    :names: into_new, get_into
#    :fold: The copies to the host, as they are timed
#
# .. results:: to_host

# %%
# Both directions at once
# -----------------------
#
# PCIe has lanes for each direction. With two :term:`streams <stream>` and pinned memory, both are in use.
#
# .. rung:: at_once

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
# With 2\ :sup:`28` bytes each way this takes :measured:`both_ways[at_once, 2**28].time`; one after the other
# takes :measured:`both_ways[in_turn, 2**28].time`. From and to pageable memory two streams gain next to
# nothing: with them it takes :measured:`both_ways[at_once_pageable, 2**28].time`. There ``x.set`` returns
# only when its copy is done, or nearly so, and only then does Python ask for the copy back.
#
# .. kernel:: gpuguide.topics.transfers.study
#    :names: there_and_back
#    :fold: Both ways, in turn and at once

# %%
# Convolution and product, compared with their copies
# ---------------------------------------------------
#
# A time on the GPU alone says nothing about a program whose numbers are on the host. So here are two whole
# tasks in ``float64``. One convolves an image of 2048 x 2048 with a Gaussian of 15 x 15. The other multiplies
# 4096 layers of 512 x 512, ``cp.prod(layers, axis=0)``: 8.6 GB go to the GPU, and 2 MB come back.
#
# .. csv-table:: From array to array on the host; in the last row, on the GPU
#    :header: where | convolution | product
#    :delim: |
#
#    CPU, one thread|:measured:`convolution[scipy_fft, 2048**2].time`|:measured:`product_one_thread`
#    CPU, all threads|:measured:`convolution[scipy_fft_threads, 2048**2].time`|"
#    :measured:`product[numpy_threads, 4096].time`"
#    CuPy, pageable copies|:measured:`convolution[with_copies, 2048**2].time`|:measured:`product_pageable`
#    CuPy, pinned copies|:measured:`convolution[with_copies_pinned, 2048**2].time`|"
#    :measured:`product[with_copies_pinned, 4096].time`"
#    *CuPy, without copies*|:measured:`convolution[cupy, 2048**2].time`|"
#    :measured:`product[cupy, 4096].time`"
#
# CuPy convolves with ``convolve2d``, and the CPU with SciPy's ``fftconvolve``; SciPy's ``convolve2d`` takes
# much longer. With pageable copies most of CuPy's time goes into the copies. With pinned ones it is
# :measured:`convolution[with_copies_pinned, 2048**2].speedup(scipy_fft_threads)` as fast as SciPy on all
# threads. But do not stop at the first ways: this Gaussian can be split into two passes, which is less work
# for the CPU as well, and the copies stay. In ``float32`` CuPy then takes
# :measured:`convolution:image[with_copies_pinned, 2048**2].time` with pinned copies, and
# :measured:`convolution:image[with_copies, 2048**2].time` with pageable ones, where a good loop on all
# threads takes :measured:`convolution:image[separable_simd, 2048**2].time`.
# :doc:`Convolution </gallery/cupy/convolution>` has them all.
#
# In the product each number is used once. The CPU reads it from its own memory, and the GPU through PCIe. If
# that is all you do, the numbers might as well stay on the host. They belong on the GPU if they are
# :doc:`made there </gallery/moving_data/data_where_it_is>`, or used again and again.
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
#    - Make a pinned array once, create the numbers in it, and copy from it often. Large arrays arrive
#      :measured:`to_device[pinned, 2**28].speedup(asarray)` as fast as with ``cp.asarray``.
#    - Synchronise before you change a pinned array: ``x.set`` returns before the numbers have arrived.
#    - Give ``get`` the same ``out=`` each time. Into a new array, 2\ :sup:`28` bytes take
#      :measured:`to_host[into_new, 2**28].time`, into an old one
#      :measured:`to_host[into_pageable, 2**28].time`.

# %%
# Your turn: latency and bandwidth from a table
# ---------------------------------------------
#
# Two numbers describe your own machine's copies. Get them from a table of times in such a way that the
# smallest copies count as much as the largest.
#
# .. exercise:: latency_and_rate

# %%
# Next
# ----
#
# Onward: :doc:`Data where it is </gallery/moving_data/data_where_it_is>`, on making numbers where they are
# needed. Sideways: :doc:`How to time a GPU </gallery/measuring/how_to_time>`, on clocks that wait.
