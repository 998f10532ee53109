"""Launch sizes: one maximum in many shapes of launch, and grids of 1 to 2**24 blocks that do nothing."""

from functools import cache

import numpy as np

from gpuguide.machine.backends import simulated
from gpuguide.machine.device import require_gpu
from gpuguide.measure import Study, cp, gpu, kernel, per_element
from gpuguide.topics.launch_sizes import kernels
from gpuguide.topics.launch_sizes.maximum import INPUT_NOTE, maximum_inputs, maximum_reference

# By the elements of a thread, or of one turn of its loop.
COVERING = {1: kernels.one_element, 2: kernels.two_elements, 4: kernels.four_elements}
LOOPING = {1: kernels.grid_stride, 4: kernels.four_grid_stride}
ELEMENTS = 2**26


@cache
def multiprocessors():
    """Count this GPU's multiprocessors; the simulator passes for a GPU with two."""
    return 2 if simulated() else require_gpu().sm_count


def blocks_covering(n, items_per_thread, threads_per_block):
    """Count the blocks that cover `n` elements once."""
    return -(-n // (items_per_thread * threads_per_block))


def covering(threads, items, label="", **options):
    """Describe a launch of as many blocks as cover the arrays once."""
    shape = {
        "name": f"t{threads}_i{items}_all",
        "note": "As many blocks as cover the arrays once.",
    }
    return kernel(
        COVERING[items],
        label or f"blocks of {threads}, {elements(items)}",
        lambda n: (blocks_covering(n, items, threads), threads),
        **shape | options,
    )


def looping(threads, items, per_multiprocessor, label="", **options):
    """Describe a launch of a fixed number of blocks, whose threads loop over the arrays."""
    blocks = f"{per_multiprocessor} block{'s' * (per_multiprocessor > 1)} of {threads}"
    shape = {
        "name": f"t{threads}_i{items}_b{per_multiprocessor}",
        "note": "A fixed number of blocks, whose threads loop.",
    }

    def grid(n):
        fixed = per_multiprocessor * multiprocessors()
        return min(blocks_covering(n, items, threads), fixed), threads

    return kernel(
        LOOPING[items],
        label or f"{blocks} per multiprocessor, {elements(items)} per iteration",
        grid,
        **shape | options,
    )


def elements(items):
    return f"{items} element{'s' * (items > 1)}"


def cupy(a, b, out):
    """Call CuPy's ufunc, which launches a kernel that CuPy has generated."""
    cp.maximum(a, b, out=out)


of_vectors = {
    "inputs": maximum_inputs,
    "input_note": INPUT_NOTE,
    "reference": maximum_reference,
    "equal": True,
    "traffic": per_element(reads=2, writes=1),  # a comparison is no FLOP
}

maximum = Study(
    name="maximum",
    title="Element-wise maximum of two vectors",
    sizes=(2**12, 2**16, 2**20, 2**24, 2**26, 2**28),
    small=(0, 1, 2049),
    baseline="cupy",
    variants=(
        gpu(cupy, "CuPy maximum"),
        covering(128, 1, "one element, blocks of 128", name="one_element"),
        covering(256, 1, "one element, blocks of 256", name="larger_blocks"),
        # Eight blocks of 256 threads are as many as a multiprocessor of an NVIDIA H200 holds at once.
        looping(256, 1, 8, "grid-stride loop", name="grid_stride"),
        covering(256, 4, "four elements, blocks of 256", name="four_elements"),
    ),
    **of_vectors,
)
# What the page's two charts are made of.
shape_map = Study(
    name="map",
    title="One maximum in many shapes of launch",
    sizes=(ELEMENTS,),
    small=(1, 257),
    baseline="t32_i1_all",
    variants=(
        *(
            covering(threads, items)
            for items in (1, 2, 4)
            for threads in (32, 64, 128, 256, 512, 1024)
        ),
        *(
            looping(threads, items, resident // threads)
            for items in (1, 4)
            for resident in (128, 256, 512, 1024, 2048)  # threads on each multiprocessor
            for threads in (64, 256, 1024)
            if threads <= resident
        ),
    ),
    **of_vectors,
)
# What the text and the rules of thumb are about, each one of a kind.
shapes = Study(
    name="shapes",
    title="Some shapes of launch",
    sizes=(ELEMENTS,),
    small=(257,),
    baseline="full_warps",
    variants=(
        looping(64, 1, 32, name="full_warps"),
        looping(33, 1, 32, name="a_lane_more"),
        covering(64, 1, name="threads_64"),
        covering(128, 1, name="threads_128"),
        covering(1024, 1, name="blocks_of_1024"),
        looping(1024, 1, 2, name="blocks_that_stay"),
        looping(128, 1, 4, name="four_blocks"),
        looping(128, 1, 16, name="sixteen_blocks"),
        looping(256, 4, 4, name="half_the_threads"),
    ),
    **of_vectors,
)


def empty_reference(blocks_per_grid):
    """Return the receipt of a grid: the index of its last block, and the number of its blocks."""
    return np.array([blocks_per_grid - 1, blocks_per_grid])


def empty_grid(threads):
    """Describe a launch of blocks that have nothing to do."""
    return kernel(
        kernels.empty,
        f"blocks of {threads} threads",
        lambda n: (n, threads),
        name=f"t{threads}",
        arguments=lambda n, out: (out,),
        note=f"Blocks of {threads} threads, of which one in the whole grid writes a receipt.",
    )


empty = Study(
    name="empty",
    title="Grids that do nothing",
    sizes=(1, 2**6, 2**12, 2**16, 2**21, 2**24),
    size_name="blocks",
    dtype="int64",
    inputs=lambda n, dtype, rng, exact: (n,),
    input_note="none",
    reference=empty_reference,
    output=lambda n, dtype: ((2,), dtype),
    small=(1, 2, 5),
    variants=(empty_grid(128), empty_grid(256)),
)
