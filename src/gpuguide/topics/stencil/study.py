"""Heat on a plate: one step in several ways, and 24, for which blocks have to wait for each other."""

from functools import cache, lru_cache, partial

import numpy as np
from numba import cuda, float32, int64

from gpuguide.machine.backends import array_module, raw_kernel
from gpuguide.machine.device import require_gpu
from gpuguide.measure import Study, cp, cpu, gpu, kernel, per_element, uniform, whole_numbers
from gpuguide.topics.grids_2d_3d.study import matrix_shape
from gpuguide.topics.stencil import kernels

STEPS = 24
INSIDE, STEPS_PER_LAUNCH = 52, 6  # as in heat_source
THREADS = 256  # of a block that waits for all others


# One step ---------------------------------------------------------------------------------------------------


def cells(shape):
    """Return a launch with a thread for each cell, x along the rows."""
    rows, cols = shape
    return (-(-cols // 32), -(-rows // 8)), (32, 8)


def strips(shape):
    """Return a launch with a thread for each eight cells of a column."""
    rows, cols = shape
    return (-(-cols // 256), -(-rows // kernels.ROWS)), (256, 1)


def slices(now, then):
    """Add four slices of the plate, with NumPy on one thread or with CuPy."""
    up_and_down = now[:-2, 1:-1] + now[2:, 1:-1]
    then[1:-1, 1:-1] = (up_and_down + (now[1:-1, :-2] + now[1:-1, 2:])) * 0.25
    then[:1], then[-1:] = now[:1], now[-1:]
    then[:, :1], then[:, -1:] = now[:, :1], now[:, -1:]


@cache
def heat_step():
    """Describe a step for one cell in CUDA C++; compiled when it is first called."""
    return cp.ElementwiseKernel(
        "raw float32 now", "float32 then", kernels.elementwise_source, "heat_step"
    )


def elementwise(now, then):
    """Call a cp.ElementwiseKernel, which reads neighbours by their index."""
    heat_step()(now, then)


def heat_reference(now, steps=1):
    """Add up along each axis over the whole plate, and divide; sums come in the order of the kernels."""
    for _ in range(steps):
        rows, cols = now.shape
        down, along = now[: max(rows - 2, 0)] + now[2:], now[:, : max(cols - 2, 0)] + now[:, 2:]
        then = now.copy()
        if rows > 2 and cols > 2:
            then[1:-1, 1:-1] = (down[:, 1 : cols - 1] + along[1 : rows - 1]) / 4
        now = then
    return now


def plate(n, dtype, rng, exact):
    """Draw a plate, at random or of whole numbers."""
    values = whole_numbers(rng, n, 1024, dtype) if exact else uniform(rng, n, dtype)
    return (values.reshape(matrix_shape(n)),)


of_plates = {
    "size_name": "cells",
    "dtype": "float32",
    "inputs": plate,
    "input_note": "uniform random temperatures from 0 to 1; whole numbers for the exact check",
    "equal": True,  # all add up in the same order, and a quarter is exact
}

step = Study(
    name="step",
    title="One step of heat on a plate",
    # The second is 2003 by 3001, both primes; the last is 32 768 squared.
    sizes=(1024**2, 2003 * 3001, 4096**2, 2**30),
    reference=heat_reference,
    traffic=per_element(reads=1, writes=1, flops=4),
    small=(0, 1, 31 * 33, 67 * 131),
    baseline="one_cell",
    variants=(
        cpu(slices, "NumPy, one thread", name="numpy", up_to=4096**2),
        cpu(kernels.cpu_threads, "CPU, all threads", "all", up_to=4096**2),
        gpu(slices, "CuPy, slices", name="cupy"),
        gpu(elementwise, "CuPy, one kernel"),
        kernel(kernels.one_cell, "one cell per thread", lambda n: cells(matrix_shape(n))),
        kernel(kernels.eight_rows, "eight cells per thread", lambda n: strips(matrix_shape(n))),
    ),
    **of_plates,
)


# Many steps -------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)  # of the largest plate, two would be 8 GiB
def spare(rows, cols):
    """Make room for a second plate, as Numba takes it."""
    return cuda.device_array((rows, cols), np.float32)


@lru_cache(maxsize=1)
def spare_of_cupy(rows, cols):
    """Return the same plate as a CuPy array, made once, because making it waits for the GPU."""
    return cp.asarray(spare(rows, cols))


def between_two(launch, n_launches, now, out):
    """Launch so many times, from one plate into the other and back, so that the last is `out`."""
    if not out.size:
        return
    other = (spare_of_cupy if array_module(out) is not np else spare)(*out.shape)
    for left in reversed(range(n_launches)):
        then = other if left % 2 else out
        launch(now, then)
        now = then


def launch_cells(now, then):
    kernels.one_cell[cells(now.shape)](now, then)


def launch_strips(now, then):
    kernels.eight_rows[strips(now.shape)](now, then)


six_steps = raw_kernel(kernels.heat_source, "heat")


def launch_six_steps(now, then):
    """Do six steps in one launch."""
    rows, cols = now.shape
    blocks = -(-cols // INSIDE), -(-rows // INSIDE)
    six_steps(blocks, (64, 8), (now, then, np.int32(rows), np.int32(cols)))


def graph(now, out):
    """Launch a graph of a launch per step, which was captured before."""
    if not out.size:
        return
    # It keeps addresses, so it serves these plates alone, and is kept with the result.
    if not hasattr(out, "graph"):
        out.graph = capture(now, out)
    out.graph.launch()


def capture(now, out):
    """Record the launches on CuPy's current stream, without running them, as a ``cupy.cuda.Graph``."""
    stream = cp.cuda.get_current_stream()
    between_two(
        launch_cells, STEPS, now, out
    )  # compiled and loaded before anything is recorded
    with cuda.defer_cleanup():  # freeing memory would end a capture
        stream.begin_capture()
        between_two(launch_cells, STEPS, now, out)
        return stream.end_capture()


@cache
def blocks_at_once():
    """Ask the driver how many blocks of Numba's kernel are on this GPU at once."""
    plate = float32[:, ::1]
    compiled = kernels.wait_for_all.compile((plate, plate, plate, int64))
    return compiled.max_cooperative_grid_blocks(THREADS)


def wait_for_all(now, out):
    """Do all steps in one launch of Numba's: after each, blocks wait for one another by grid.sync()."""
    if out.size:
        blocks = min(blocks_at_once(), out.shape[0])  # a block has a row, or several
        kernels.wait_for_all[blocks, THREADS](now, spare(*out.shape), out, STEPS)


@cache
def cooperative():
    """Compile the kernel in CUDA C++ that waits for all blocks."""
    return cp.RawKernel(kernels.cooperative_source, "heat", enable_cooperative_groups=True)


@cache
def cooperative_blocks():
    """Ask the driver the same of the kernel in CUDA C++."""
    fit = cp.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor
    return fit(cooperative().kernel.ptr, THREADS, 0) * require_gpu().sm_count


def why_not_cooperative():
    """Say why it cannot be launched here; empty if it can."""
    try:
        cooperative().compile()
        cooperative_blocks()
    except Exception as error:  # CuPy's class, or that of a header that is not installed
        return f"CuPy cannot make a kernel with cooperative_groups.h here: {str(error).splitlines()[0]}"
    return ""


def wait_in_cuda(now, out):
    """Do the same in CUDA C++, in a cooperative launch through CuPy."""
    if not out.size:
        return
    rows, cols = out.shape
    sizes = (np.int32(x) for x in (STEPS, rows, cols))
    blocks = min(cooperative_blocks(), rows)
    cooperative()((blocks,), (THREADS,), (now, spare_of_cupy(rows, cols), out, *sizes))


# In a graph of many calls, launches would be nearer to each other than they are in one.
alone = {"batchable": False}


def per_launch(launch, n_steps, label, name, **options):
    """Return a variant that launches a kernel for each so many steps."""
    call = partial(between_two, launch, STEPS // n_steps)
    note = f"{STEPS // n_steps} launches, from one plate into another and back."
    return gpu(call, label, name=name, note=note, **options, **alone)


in_numba = {"arrays": "numba", "simulatable": True}

steps = Study(
    name="steps",
    title=f"{STEPS} steps of heat on a plate",
    sizes=(512**2, 4096**2, 2**30),
    reference=lambda now: heat_reference(now, STEPS),
    small=(0, 1, 11 * 13),
    baseline="cell_launches",
    variants=(
        per_launch(launch_cells, 1, "one cell, a launch per step", "cell_launches", **in_numba),
        per_launch(
            launch_strips, 1, "eight cells, a launch per step", "row_launches", **in_numba
        ),
        gpu(
            graph,
            f"one cell, a graph of {STEPS} launches",
            arrays="numba",
            up_to=4096**2,
            **alone,
        ),
        per_launch(launch_six_steps, STEPS_PER_LAUNCH, "six steps per launch", "six_steps"),
        gpu(wait_for_all, "grid.sync(), Numba", arrays="numba", **alone),
        gpu(wait_in_cuda, "grid.sync(), CUDA C++", missing=why_not_cooperative, **alone),
    ),
    **of_plates,
)
