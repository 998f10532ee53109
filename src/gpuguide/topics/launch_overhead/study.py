"""What launches cost the host: a hundred in a row, by their arrays, behind a queue, in a library call."""

from functools import partial
from math import isqrt

import numpy as np
from numba import cuda

from gpuguide.machine.backends import raw_kernel
from gpuguide.measure import Study, cp, end_to_end, gpu, kernel, uniform, whole_numbers
from gpuguide.measure.clocks import DELAY_SOURCE
from gpuguide.topics.how_to_time.study import QrCheck, qr_cupy, qr_numpy, qr_numpy_variant
from gpuguide.topics.launch_overhead import kernels
from gpuguide.topics.launch_overhead.kernels import add_one

# A hundred short kernels in a row -------------------------------------------------------------

LAUNCHES = 100
BLOCK_2D = (16, 16)


def grid(x):
    """Count the blocks that give each element of a matrix a thread."""
    rows, cols = x.shape
    return -(-cols // BLOCK_2D[0]), -(-rows // BLOCK_2D[1])


def cupy_arrays(x):
    """Hand a CuPy array to each of the launches."""
    blocks, x = grid(x), cp.asarray(x)  # a study hands out views
    for _ in range(LAUNCHES):
        add_one[blocks, BLOCK_2D](x)


def numba_views(x):
    """Hand each of the launches the view that was made once."""
    blocks = grid(x)
    for _ in range(LAUNCHES):
        add_one[blocks, BLOCK_2D](x)


def cached_launcher(x):
    """Choose the compiled version and the grid once, then launch."""
    add = add_one.specialize(x)[grid(x), BLOCK_2D]
    for _ in range(LAUNCHES):
        add(x)


add_one_raw = raw_kernel(kernels.add_one_source, "add_one")


def with_raw_kernel(x):
    """Launch a kernel in CUDA C++ through CuPy."""
    blocks, add = grid(x), add_one_raw.compiled
    # CuPy would hand over Python's int as 64 bits, and the kernel takes 32.
    arguments = (cp.asarray(x), np.int32(x.shape[0]), np.int32(x.shape[1]))
    for _ in range(LAUNCHES):
        add(blocks, BLOCK_2D, arguments)


def graph(x):
    """Launch a graph of all launches, which was captured before."""
    # It keeps addresses, so it serves this array alone, and is kept with it.
    if not hasattr(x, "graph"):
        x.graph = capture(x)
    x.graph.launch()


def capture(x):
    """Record the launches on CuPy's current stream, without running them, as a ``cupy.cuda.Graph``."""
    stream = cp.cuda.get_current_stream()
    numba_views(cuda.device_array_like(x))  # compiled and loaded before anything is recorded
    with cuda.defer_cleanup():  # freeing memory would end a capture
        stream.begin_capture()
        numba_views(x)
        return stream.end_capture()


def one_launch(x):
    """Do all additions in one launch."""
    kernels.one_launch[grid(x), BLOCK_2D](x)


def exact_matrix(n, dtype, rng, exact):
    """Draw a matrix of multiples of 1/1024, as nearly square as its size allows."""
    values = whole_numbers(rng, n, 1024, dtype)
    rows = next(rows for rows in range(isqrt(n) or 1, 0, -1) if n % rows == 0)
    return ((values if exact else values / 1024).reshape(rows, n // rows),)


def rung(call, label, **options):
    """Describe a rung, from the call until the GPU is done; the matrix is there already."""
    return end_to_end(call, label, arrays="numba", **options)


hundred = Study(
    name="hundred",
    title="One hundred additions of one to a matrix",
    sizes=(256**2,),
    size_name="matrix elements",
    dtype="float64",
    inputs=exact_matrix,
    input_note="multiples of 1/1024, so that a hundred additions are exact",
    reference=lambda x: x + LAUNCHES,
    equal=True,
    in_place=True,
    small=(),  # a hundred of the launches that follow
    baseline="cupy_arrays",
    variants=(
        rung(cupy_arrays, "CuPy array each time"),
        rung(numba_views, "view made once", simulatable=True),
        rung(cached_launcher, "cached launcher"),
        rung(with_raw_kernel, "RawKernel", name="raw_kernel"),
        rung(graph, "CUDA graph"),
        rung(one_launch, "one launch", simulatable=True),
        gpu(
            graph,
            "the hundred kernels, GPU time",
            name="kernels_alone",
            arrays="numba",
            note="The graph, by the GPU's clock.",
        ),
    ),
)

# By the number and the kind of arrays ---------------------------------------------------------

BLOCK = 256


def grid_1d(n):
    """Give each element a thread."""
    return -(-n // BLOCK), BLOCK


def ufunc(*arrays):
    """Call CuPy's ufunc, which looks at three arrays' types and shapes each time."""
    cp.maximum(arrays[0], arrays[1], out=arrays[-1])


def counting_inputs(n, dtype, rng, exact):
    """Make an array that counts up and six smaller ones; none of these is the answer."""
    counting = np.arange(n, dtype=dtype)
    others = (counting * uniform(rng, n, dtype) for _ in range(6))
    return (counting, *(np.floor(x) if exact else x for x in others))


counting = {
    "sizes": (1024,),  # so little work that a launch takes longer than what it launches
    "inputs": counting_inputs,
    "input_note": "one array that counts up and six smaller random ones",
    "reference": lambda counting, *others: counting.copy(),
    "equal": True,
}
# A graph of a thousand launches would take longer to capture than all samples.
alone = {"batchable": False}


def by_arrays(n, name):
    """Describe the launches of a kernel with so many arrays: CuPy's, views, and in CUDA C++."""

    def chosen(*arrays):
        return *arrays[: n - 1], arrays[-1]

    def chosen_and_length(*arrays):
        return *chosen(*arrays), np.int32(arrays[-1].size)

    def launch(call, kind, label, arguments=chosen, **options):
        label = f"{label}, {n} array{'s' * (n > 1)}"
        options |= {"name": f"{kind}_{n}", "arguments": arguments}
        return kernel(call, label, grid_1d, **options, **alone)

    in_numba, in_cuda = getattr(kernels, name), raw_kernel(kernels.arrays_source, name)
    of_cupy = {"arrays": "cupy", "simulatable": False}
    note = "The same kernel in CUDA C++, launched through CuPy."
    return (
        launch(in_numba, "cupy_arrays", "Numba, CuPy arrays", **of_cupy),
        launch(in_numba, "views", "Numba, views"),
        launch(in_cuda, "raw", "RawKernel", chosen_and_length, note=note),
    )


launches = Study(
    name="launches",
    title="One launch, by its arrays",
    small=(1, 31),
    baseline="cupy_arrays_1",
    variants=(
        *by_arrays(1, "one_array"),
        *by_arrays(3, "three_arrays"),
        *by_arrays(8, "eight_arrays"),
        gpu(ufunc, "CuPy ufunc, 3 arrays", name="ufunc_3", **alone),
    ),
    **counting,
)

# Behind a queue -------------------------------------------------------------------------------

DELAY_NS = 1_000_000  # how long the queue is kept busy ahead of a launch
delay = raw_kernel(DELAY_SOURCE, "delay")


def launch_three(*arrays):
    """Launch a kernel with three arrays, views or CuPy's."""
    kernels.three_arrays[grid_1d(arrays[-1].size)](arrays[0], arrays[1], arrays[-1])


def launch_waiting(*arrays):
    """Launch with views made each time by as_cuda_array(x), which waits for the stream."""
    launch_three(*map(cuda.as_cuda_array, (arrays[0], arrays[1], arrays[-1])))


def behind_a_delay(call, *arrays):
    """Put a delay into the current stream, then launch behind it."""
    delay((1,), (1,), (np.uint64(DELAY_NS),))
    call(*arrays)


def behind(call, label, name, **options):
    return gpu(partial(behind_a_delay, call), label, name=name, **alone, **options)


busy = Study(
    name="busy",
    title="Launching while the queue is busy",
    small=(),  # the simulator has no delay
    baseline="behind_views",
    variants=(
        behind(launch_three, "views made once", "behind_views", arrays="numba"),
        behind(launch_three, "CuPy arrays", "behind_cupy_arrays"),
        behind(launch_waiting, "views made each time, waiting", "waiting"),
    ),
    **counting,
)

# A library call -------------------------------------------------------------------------------


def copied(a, out):
    """Copy a matrix to the GPU, factorise it there, and copy Q and R back."""
    qr_cupy(cp.asarray(a)).get(out=out)


def copied_pinned(a, out):
    """Do the same between arrays in pinned memory, which the GPU copies by itself."""
    a_device = cp.empty(a.shape, a.dtype)
    # asarray would first copy it into pinned memory of CuPy's own.
    a_device.set(a, stream=cp.cuda.get_current_stream())
    qr_cupy(a_device).get(out=out)


def square_matrix(n, dtype, rng, exact):
    """Draw a square matrix."""
    rows = isqrt(n)
    if exact:
        return (rng.integers(-3, 4, (rows, rows)).astype(dtype),)
    return (2 * uniform(rng, n, dtype).reshape(rows, rows) - 1,)


qr = Study(
    name="qr",
    title="QR factorisation in single precision",
    sizes=tuple(rows**2 for rows in (64, 128, 256, 512, 1024, 2048)),
    size_name="matrix elements",
    inputs=square_matrix,
    input_note="uniform random numbers from -1 to 1; whole numbers from -3 to 3 for the exact check",
    check=QrCheck(),
    answer=qr_numpy,
    output=lambda n, dtype: ((2 * isqrt(n), isqrt(n)), dtype),
    small=(1, 4, 64),
    baseline="numpy",
    variants=(
        qr_numpy_variant(),
        gpu(qr_cupy, "CuPy", name="cupy", allocates=True, batchable=False),
        end_to_end(copied, "CuPy with pageable copies"),
        end_to_end(copied_pinned, "CuPy with pinned copies", arrays="pinned"),
    ),
)
