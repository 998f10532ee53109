"""Part of an array on the host is wanted on the GPU: taken out before the copy, or after it."""

import sys
from functools import cache, partial

import numba
import numpy as np

from gpuguide.machine.backends import array_module, has_gpu
from gpuguide.machine.cpu import assign, thread_pool
from gpuguide.machine.memory import pinned_space
from gpuguide.measure import Study, cp, cpu, end_to_end, gpu, uniform, whole_numbers
from gpuguide.results.records import Traffic
from gpuguide.topics.transfers.numbers import as_cupy

TOTAL = 2**25  # numbers in the array on the host
SIZES = (2**14, 2**16, 2**18, 2**20, 2**22, 2**24)  # how many of them are wanted
THREADS = int(numba.get_num_threads())
TAKEN_ALONE_BELOW = 2**17  # as recorded: below, waking the threads takes longer than the work
SECTOR = 8  # numbers in 32 bytes, the least that the GPU's memory moves


@cache
def longest():
    """Return how many numbers the array has: 2**25, halved until the GPU has memory for six such arrays."""
    n, free = TOTAL, int(cp.cuda.Device().mem_info[0]) if has_gpu() else sys.maxsize
    while n > SIZES[0] and 6 * 4 * n > free:
        n //= 2
    return n


def total(n_wanted):
    """Return how many numbers the array has of which so many are wanted; tests want few, of a short array."""
    return max(n_wanted, min(longest(), TOTAL // SIZES[0] * n_wanted))


def first(n_wanted, n):
    """Say where the wanted numbers are if they lie side by side."""
    return slice(0, n_wanted)


def every(n_wanted, n):
    """Say where the wanted numbers are if they lie a step apart."""
    step = n // n_wanted if n_wanted else 1
    return slice(0, n_wanted * step, step)


def first_reference(x, n_wanted):
    """Split the array behind the wanted numbers."""
    return array_module(x).split(x, [n_wanted])[0]


def every_reference(x, n_wanted):
    """Write the array in rows that begin with a wanted number each, and take the first column."""
    if not n_wanted:
        return x
    step = len(x) // n_wanted
    return x[: n_wanted * step].reshape(n_wanted, step)[:, 0]


def picked_reference(x, index):
    """Write the array in rows of 64 numbers, and pick by row and column."""
    return x.reshape(-1, 64)[index // 64, index % 64]


# The two orders ---------------------------------------------------------------------------------------------

# The array on the host that is copied from, and an index, in pageable and in pinned memory. The variants get
# the same array on the GPU, for the check alone: what is timed starts on the host.
HOST = {name: (np.empty(0), np.empty(0)) for name in ("pageable", "pinned")}


def keep(x, index):
    """Keep on the host what a study's inputs are made of."""
    HOST["pageable"] = HOST["pinned"] = x, index
    if has_gpu():
        HOST["pinned"] = copy_pinned("whole", x, TOTAL), copy_pinned("index", index, SIZES[-1])


def copy_pinned(purpose, x, most):
    """Copy into pinned memory, the same for each purpose."""
    pinned = pinned_buffer(purpose, x.dtype, most)[: len(x)]
    assign(pinned, x)
    return pinned


@cache
def pinned_buffer(purpose, dtype, n):
    """Pin memory, once for each purpose, because pinning takes longer than many copies."""
    return pinned_space().empty_bytes(dtype.itemsize * n).view(dtype)


@cache
def part_on_host(memory):
    """Make a buffer on the host for what is taken out, once for all studies."""
    if memory == "pinned":
        return pinned_buffer("part", np.dtype(np.float32), SIZES[-1])
    part = np.empty(SIZES[-1], np.float32)
    part.fill(0)  # touched, so that no sample pays for its first use
    return part


def copy_first(where, memory, _, n_wanted, out):
    """Copy the whole array to the GPU, and take the slice there."""
    if not n_wanted:
        return
    x_host = HOST[memory][0]
    x = cp.empty(x_host.shape, x_host.dtype)
    x.set(x_host, stream=cp.cuda.get_current_stream())
    as_cupy(out)[...] = x[where(n_wanted, len(x_host))]


def slice_first(where, memory, n_threads, _, n_wanted, out):
    """Take the slice on the host, and copy it to the GPU."""
    if not n_wanted:
        return
    x_host = HOST[memory][0]
    part = x_host[where(n_wanted, len(x_host))]
    if not part.flags.c_contiguous:
        part, wanted = part_on_host(memory)[:n_wanted], part
        copy_in_threads(wanted, part, n_threads)
    as_cupy(out).set(part, stream=cp.cuda.get_current_stream())


def copy_then_pick(memory, _, index, out):
    """Copy the whole array and the index to the GPU, and pick there."""
    if not len(out):
        return
    x_host, index_host = HOST[memory]
    x, index = (cp.empty(host.shape, host.dtype) for host in (x_host, index_host))
    stream = cp.cuda.get_current_stream()
    x.set(x_host, stream=stream)
    index.set(index_host, stream=stream)
    cp.take(x, index, out=as_cupy(out))


def pick_then_copy(memory, n_threads, _, index, out):
    """Pick on the host, and copy what was picked to the GPU."""
    if not len(out):
        return
    x_host, part = HOST[memory][0], part_on_host(memory)[: len(out)]
    pick_in_threads(n_threads, x_host, HOST["pageable"][1], part)
    as_cupy(out).set(part, stream=cp.cuda.get_current_stream())


# On one side alone ------------------------------------------------------------------------------------------


def copy_in_threads(wanted, out, n_threads):
    """Copy a strided slice on the CPU, a part on each thread."""

    def some(part):
        out[part] = wanted[part]

    share_out(some, len(out), n_threads)


def pick_in_threads(n_threads, x, index, out):
    """Pick on the CPU, a part on each thread."""

    def some(part):
        # With a mode other than "raise", take writes to out without a buffer between.
        np.take(x, index[part], out=out[part], mode="clip")

    share_out(some, len(out), n_threads)


def share_out(some, n, n_threads):
    """Give each thread a part of n numbers, or one thread all of them if they are few."""
    if n_threads == 1 or n < TAKEN_ALONE_BELOW:
        some(slice(n))
        return
    step = -(-n // n_threads)
    # map alone would neither wait for the threads nor raise their errors.
    list(thread_pool().map(some, [slice(at, at + step) for at in range(0, n, step)]))


def every_numpy(n_threads, x, n_wanted, out):
    """Copy x[::step] with NumPy."""
    copy_in_threads(x[every(n_wanted, len(x))], out, n_threads)


def every_cupy(x, n_wanted, out):
    """Copy x[::step] with CuPy."""
    out[...] = x[every(n_wanted, len(x))]


def picked_cupy(x, index, out):
    """Pick x[index] with CuPy."""
    cp.take(x, index, out=out)


def sectors(n_wanted):
    """Count the pieces of 32 bytes in which the wanted numbers lie."""
    return min(n_wanted, -(-total(n_wanted) // SECTOR))


def every_traffic(n_wanted, dtype):
    """Count what memory moves for a strided slice: whole sectors are read, the slice is written."""
    return Traffic(4 * SECTOR * sectors(n_wanted), 4 * n_wanted)


# Studies ----------------------------------------------------------------------------------------------------


def array_and_count(n, dtype, rng, exact):
    x = whole_numbers(rng, total(n), 2**24, dtype) if exact else uniform(rng, total(n), dtype)
    keep(x, np.empty(0, np.int64))
    return x, n


def array_and_index(n, dtype, rng, exact):
    x, _ = array_and_count(n, dtype, rng, exact)
    index = whole_numbers(rng, n, max(1, len(x)))
    keep(x, index)
    return x, index


def orders(name, copy, cut):
    """Return both orders; slicing first on all threads is worth it from pinned memory."""
    rows = (
        ("copy_first", "copying all, pageable", partial(copy, "pageable")),
        ("copy_first_pinned", "copying all, pinned", partial(copy, "pinned")),
        ("slice_first", "slicing on one thread, pageable", partial(cut, "pageable", 1)),
        ("slice_first_pinned", "slicing on one thread, pinned", partial(cut, "pinned", 1)),
        (
            "slice_first_threads",
            "slicing on all threads, pinned",
            partial(cut, "pinned", THREADS),
        ),
    )
    return tuple(
        end_to_end(call, label, name=f"{name}_{order}", arrays="numba")
        for order, label, call in rows
    )


NOTE = "uniform random numbers; whole numbers below 2**24 for the exact check"


def common():
    """Return what the studies share."""
    return {
        "equal": True,
        "output": lambda n, dtype: ((n,), dtype),
        "size_name": "numbers wanted",
    }


def by_place(reference):
    """Return what the studies share whose numbers are given by their place."""
    return common() | {"inputs": array_and_count, "input_note": NOTE, "reference": reference}


strided = Study(
    name="strided",
    title="Numbers a step apart, from the host to the GPU",
    sizes=SIZES,
    small=(),
    baseline="strided_copy_first_pinned",
    variants=orders("strided", partial(copy_first, every), partial(slice_first, every)),
    **by_place(every_reference),
)
once = partial(cpu, up_to=2**22, because="timed for every eighth number only")
alone = Study(
    name="alone",
    title="Numbers a step apart, copied where they are",
    sizes=(2**22, 2**24),  # every eighth, and every second
    small=(0, 1, 31, 257),
    baseline="strided_numpy",
    variants=(
        once(partial(every_numpy, 1), "NumPy, one thread", name="strided_numpy"),
        once(
            partial(every_numpy, THREADS),
            "NumPy, all threads",
            THREADS,
            name="strided_numpy_threads",
        ),
        gpu(
            every_cupy,
            "CuPy, on the GPU already",
            name="strided_cupy",
            traffic=every_traffic,
            work={"sectors": sectors},
        ),
    ),
    **by_place(every_reference),
)
block = Study(
    name="block",
    title="Numbers side by side, from the host to the GPU",
    sizes=(2**22,),
    small=(),
    baseline="block_copy_first_pinned",
    # Nothing is gathered, so threads have nothing to share.
    variants=orders("block", partial(copy_first, first), partial(slice_first, first))[:-1],
    **by_place(first_reference),
)
picking = partial(cpu, note="Pick x[index] with NumPy.")
picked = Study(
    name="picked",
    title="Numbers picked by an index, from the host to the GPU",
    sizes=(2**22,),
    small=(0, 1, 31, 257),
    inputs=array_and_index,
    input_note=f"{NOTE}; places in random order, some more than once",
    reference=picked_reference,
    baseline="picked_copy_first_pinned",
    variants=(
        *orders("picked", copy_then_pick, pick_then_copy),
        picking(partial(pick_in_threads, 1), "NumPy, one thread", name="picked_numpy"),
        picking(
            partial(pick_in_threads, THREADS),
            "NumPy, all threads",
            THREADS,
            name="picked_numpy_threads",
        ),
        gpu(picked_cupy, "CuPy, on the GPU already"),
    ),
    **common(),
)
