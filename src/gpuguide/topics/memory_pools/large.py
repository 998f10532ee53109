"""A cube of 1024 x 1024 x 1024 float64, 8.6 GB, tripled and squared in several ways; and pinned memory.

The cube is too large for a study, which keeps another copy of each input. So the checks are here: the result
of each way is compared with NumPy's, bit for bit, before and after it is timed.
"""

from functools import partial

import numpy as np

from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.measure import cp
from gpuguide.measure.plan import generator
from gpuguide.measure.session import current
from gpuguide.measure.timing import end_to_end_timer
from gpuguide.measure.turns import gpu_clock, in_turns
from gpuguide.topics.memory_pools.study import triple_square

EDGES = (1024, 512, 256)
CHUNKS = tuple(2**exponent for exponent in (18, 20, 22, 24, 26, 28, 30))
_PERIOD = 2**20  # the cube repeats so many random numbers, so that NumPy can check all of it
_PINNED_BYTES = 2**26


def edge_that_fits(free_bytes):
    """Choose the longest edge for which two cubes and a fifth of one fit into the free memory."""
    for edge in EDGES:
        if 2.2 * 8 * edge**3 <= free_bytes:
            return edge
    needed = 2.2 * 8 * EDGES[-1] ** 3 / 1e9
    raise ArgumentError(
        f"free_bytes must be at least {needed:.1f} GB, for two cubes of edge {EDGES[-1]}; "
        f"got {free_bytes / 1e9:.1f} GB. Close what else uses the GPU."
    )


class Cube:
    """The cube on the GPU, and the ways to triple and square it."""

    # Everything must happen on one stream, because CuPy's pool does not hand memory from one to another.

    def __init__(self, edge):
        row = generator("memory_pools", edge).random(min(_PERIOD, edge**3))
        self._row, self._expected = cp.asarray(row), cp.asarray((3 * row) ** 2)
        self.x = cp.empty((edge, edge, edge))
        self.refill()

    def refill(self):
        """Restore the numbers, in place."""
        self.x.reshape(-1, len(self._row))[...] = self._row

    def in_place(self):
        """Triple and square in place."""
        self.x *= 3
        self.x *= self.x

    def new_arrays(self):
        """Triple and square, with a new array for each result."""
        self.x = self.x * 3
        self.x = self.x * self.x

    def one_kernel(self):
        """Triple and square in place, in one pass."""
        triple_square()(self.x, self.x)

    def in_chunks(self, n):
        """Triple and square `n` elements at a time, so that a new array is as small as a chunk."""
        flat = self.x.reshape(-1)
        for start in range(0, flat.size, n):
            part = flat[start : start + n]
            tripled = part * 3
            cp.multiply(tripled, tripled, out=part)

    def check(self, name, call):
        """Make a call on the restored numbers, and compare all of the result with NumPy's."""
        self.refill()
        call()
        rows = self.x.reshape(-1, len(self._row))
        wrong = int((rows != self._expected).sum())
        if wrong:
            raise MismatchError(f"{name}: {wrong:,} of {rows.size:,} elements are wrong.")


def ways(edge, n_turns=7):
    """Time each way on a cube, from the call to the result, with the numbers restored in between."""
    with gpu_clock().use():
        cube = Cube(edge)
        calls = {way.__name__: way for way in (cube.in_place, cube.new_arrays, cube.one_kernel)}
        times = _timed(cube, calls, n_turns)
        del cube, calls
        cp.get_default_memory_pool().free_all_blocks()
        # All of it, for a pool that held the first cube would keep it while two more are made.
        with cp.cuda.using_allocator(None):
            cube = Cube(edge)
            times["no_pool"] = _timed(cube, {"no_pool": cube.new_arrays}, n_turns)["no_pool"]
    return times


def chunks(edge, sizes=CHUNKS, n_turns=5):
    """For each size of chunk: the seconds on a cube, and the bytes that a pool needed beside it."""
    with gpu_clock().use():
        cube = Cube(edge)
        needed = {}
        for n in sizes:
            pool = cp.cuda.MemoryPool()  # CuPy's own one may hold blocks of others that fit
            with cp.cuda.using_allocator(pool.malloc):
                cube.in_chunks(n)
            needed[n] = pool.total_bytes()
            pool.free_all_blocks()
        calls = {str(n): partial(cube.in_chunks, n) for n in sizes}
        times = _timed(cube, calls, n_turns)
    return {n: (times[str(n)], needed[n]) for n in sizes}


def pinned(n_turns=7):
    """Time how pinned memory is got from the driver and from the pool, and copies of as many bytes."""
    import cupyx

    pool, n = cp.get_default_pinned_memory_pool(), _PINNED_BYTES // 4

    def allocate():
        return cupyx.empty_pinned(n, np.float32)

    def fill_pool():
        allocate()  # dropped at once, so that the pool has a block of this size

    with gpu_clock().use():
        pageable = generator("memory_pools", "pinned").random(n, np.float32)
        fixed = allocate()
        fixed[:] = pageable
        device = cp.empty(n, np.float32)

        def copy(x_host):
            device.set(x_host, stream=cp.cuda.get_current_stream())

        calls = {
            "pinned_from_driver": (allocate, pool.free_all_blocks),
            "pinned_from_pool": (allocate, fill_pool),
            "asarray_empty_pool": (lambda: cp.asarray(pageable), pool.free_all_blocks),
            "asarray_pageable": (lambda: cp.asarray(pageable), fill_pool),
            "set_pinned": (lambda: copy(fixed), fill_pool),
        }
        for x_host in (pageable, fixed):
            device.fill(0)
            copy(x_host)
            if not (device.get() == pageable).all():
                raise MismatchError("A copy to the GPU differs from its source.")
        return _in_turns(calls, n_turns)


def _timed(cube, calls, n_turns):
    for name, call in calls.items():
        cube.check(name, call)
    times = _in_turns({name: (call, cube.refill) for name, call in calls.items()}, n_turns)
    for name, call in calls.items():
        cube.check(name, call)
    return times


def _in_turns(calls, n_turns):
    """Time each call to its end, in seconds; what comes with it is called before, and not timed."""
    gpu, host = gpu_clock(), current().machine.host

    def reading(call, reset):
        timer = end_to_end_timer(call, gpu, host=host, reset=reset)
        return lambda: timer.sample() / 1e9

    return in_turns({name: reading(*each) for name, each in calls.items()}, n_turns)
