"""Reductions: sums by atomics, trees and shuffles, a scalar product, the largest number, rows, columns."""

from numba import cuda, float32, int32, njit, prange

BLOCK = 512
PER_THREAD = 32
ALL_LANES = 0xFFFFFFFF


@njit(parallel=True, fastmath=True)
def cpu_threads(x):
    """Share the numbers out among all threads of the CPU."""
    total = float32(0)
    for i in prange(x.size):
        total += x[i]
    return total


@cuda.jit
def clear(out):
    """Set results to zero, where blocks add to them."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 0


@cuda.jit
def one_atomic_each(x, out):
    """Each thread adds its number to the one result, where all of them queue."""
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, 0, x[i])


# A block adds up ---------------------------------------------------------------------------


@cuda.jit(device=True)
def tree_of_block(total):
    """Return the sum over a block, in thread 0: in each step half as many add."""
    sums = cuda.shared.array(BLOCK, float32)
    thread = cuda.threadIdx.x
    sums[thread] = total
    half = BLOCK // 2
    while half > 0:
        cuda.syncthreads()  # the sums of the step before are all there
        if thread < half:
            sums[thread] += sums[thread + half]
        half //= 2
    return sums[thread]


@cuda.jit
def tree(x, out):
    """Each block adds up 512 numbers, and adds its sum to the result."""
    i = cuda.grid(1)
    total = tree_of_block(x[i] if i < x.size else float32(0))
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(out, 0, total)


@cuda.jit
def stored_tree(x, sums):
    """Each block adds up 512 numbers in shared memory, and stores its sum."""
    i = cuda.grid(1)
    total = tree_of_block(x[i] if i < x.size else float32(0))
    if cuda.threadIdx.x == 0:
        sums[cuda.blockIdx.x] = total


@cuda.jit
def strided_tree(x, out):
    """Each thread adds up numbers a whole grid apart, before the block adds up."""
    total = float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i]
    total = tree_of_block(total)
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(out, 0, total)


@cuda.jit(device=True)
def sum_of_warp(total):
    """Return the sum over a warp, in its first thread: registers are exchanged."""
    for distance in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(ALL_LANES, total, distance)
    return total


@cuda.jit(device=True)
def sum_of_block(total):
    """Return the sum over a block, in thread 0: of each warp, then of their sums."""
    sums = cuda.shared.array(32, float32)  # a block has at most 32 warps
    lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
    total = sum_of_warp(total)
    if lane == 0:
        sums[warp] = total
    cuda.syncthreads()
    return sum_of_warp(sums[lane] if lane < cuda.blockDim.x // 32 else float32(0))


# Many numbers per thread -------------------------------------------------------------------


@cuda.jit(device=True)
def sum_of_thread(x):
    """Return the sum of this thread's 32 numbers, a block's width apart."""
    i = cuda.blockIdx.x * BLOCK * PER_THREAD + cuda.threadIdx.x
    total = float32(0)
    if i + (PER_THREAD - 1) * BLOCK < x.size:
        for k in range(PER_THREAD):  # unrolled, and no load waits for another
            total += x[i + k * BLOCK]
    else:
        for k in range(PER_THREAD):
            if i + k * BLOCK < x.size:
                total += x[i + k * BLOCK]
    return total


@cuda.jit
def many_per_thread(x, out):
    """Each thread adds up 32 numbers, and the block adds up by shuffles."""
    total = sum_of_block(sum_of_thread(x))
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(out, 0, total)


@cuda.jit
def many_by_tree(x, out):
    """Each thread adds up 32 numbers, and the block adds up by a tree."""
    total = tree_of_block(sum_of_thread(x))
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(out, 0, total)


@cuda.jit
def sums_of_blocks(x, sums):
    """Each block stores its sum in an element of its own."""
    total = sum_of_block(sum_of_thread(x))
    if cuda.threadIdx.x == 0:
        sums[cuda.blockIdx.x] = total


@cuda.jit
def one_block(sums, out):
    """One block adds up the sums of all blocks, always in the same order."""
    total = float32(0)
    for i in range(cuda.threadIdx.x, sums.size, cuda.blockDim.x):
        total += sums[i]
    total = sum_of_block(total)
    if cuda.threadIdx.x == 0:
        out[0] = total


# Other reductions --------------------------------------------------------------------------


@cuda.jit
def dot(x, y, out):
    """Each thread keeps four sums of products, and walks on by a whole grid."""
    step = cuda.gridsize(1)
    i = cuda.grid(1)
    a, b, c, d = float32(0), float32(0), float32(0), float32(0)
    while i + 3 * step < x.size:
        a += x[i] * y[i]
        b += x[i + step] * y[i + step]
        c += x[i + 2 * step] * y[i + 2 * step]
        d += x[i + 3 * step] * y[i + 3 * step]
        i += 4 * step
    while i < x.size:
        a += x[i] * y[i]
        i += step
    total = sum_of_block((a + b) + (c + d))
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(out, 0, total)


@cuda.jit(device=True)
def largest_of_warp(value, place):
    """Return the largest value of a warp and its first place, in the first thread."""
    for distance in (16, 8, 4, 2, 1):
        other = cuda.shfl_down_sync(ALL_LANES, value, distance)
        there = cuda.shfl_down_sync(ALL_LANES, place, distance)
        if other > value or (other == value and there < place):
            value, place = other, there
    return value, place


@cuda.jit(device=True)
def largest_of_block(value, place):
    """Return the largest value of a block and its first place, in thread 0."""
    values, places = cuda.shared.array(32, float32), cuda.shared.array(32, int32)
    lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
    value, place = largest_of_warp(value, place)
    if lane == 0:
        values[warp], places[warp] = value, place
    cuda.syncthreads()
    other = (
        lane if lane < cuda.blockDim.x // 32 else 0
    )  # beyond the last warp, the first once more
    return largest_of_warp(values[other], places[other])


@cuda.jit(device=True)
def largest_of_thread(x):
    """Return the largest of this thread's 32 numbers, a block's width apart, and its first place."""
    i = cuda.blockIdx.x * BLOCK * PER_THREAD + cuda.threadIdx.x
    value, place = x[0], int32(0)  # for a thread without numbers
    if i + (PER_THREAD - 1) * BLOCK < x.size:
        numbers = cuda.local.array(PER_THREAD, float32)  # of this thread, in registers
        for k in range(PER_THREAD):  # unrolled, and no load waits for a comparison
            numbers[k] = x[i + k * BLOCK]
        value, best = numbers[0], 0
        for k in range(1, PER_THREAD):
            if numbers[k] > value:
                value, best = numbers[k], k
        place = int32(i + best * BLOCK)
    else:
        for k in range(PER_THREAD):
            if i + k * BLOCK < x.size and x[i + k * BLOCK] > value:
                value, place = x[i + k * BLOCK], int32(i + k * BLOCK)
    return value, place


@cuda.jit
def largest_of_blocks(x, values, places):
    """Each block stores its largest number, and the first place where it stands."""
    value, place = largest_of_thread(x)
    value, place = largest_of_block(value, place)
    if cuda.threadIdx.x == 0:
        values[cuda.blockIdx.x], places[cuda.blockIdx.x] = value, place


@cuda.jit
def largest_of_all(values, places, out):
    """One block finds the first place of the largest number among those of all blocks."""
    value, place = values[0], places[0]
    for i in range(cuda.threadIdx.x, values.size, cuda.blockDim.x):
        number, there = values[i], places[i]
        if number > value:  # of equal ones the first stays, as places ascend with blocks
            value, place = number, there
    value, place = largest_of_block(value, place)
    if cuda.threadIdx.x == 0:
        out[0] = place


# Rows and columns --------------------------------------------------------------------------


@cuda.jit
def thread_per_row(a, out):
    """Each thread adds up a row of its own, far from the rows of its neighbours."""
    row = cuda.grid(1)
    if row < a.shape[0]:
        total = float32(0)
        for col in range(a.shape[1]):
            total += a[row, col]
        out[row] = total


@cuda.jit
def eight_per_row(a, out):
    """Eight threads side by side walk along a row, and a warp along four rows."""
    row, lane = cuda.grid(1) // 8, cuda.threadIdx.x % 8
    total, col = float32(0), lane
    if row < a.shape[0]:
        while col + 7 * 8 < a.shape[1]:
            for k in range(8):  # unrolled, and no load waits for another
                total += a[row, col + k * 8]
            col += 64
        while col < a.shape[1]:
            total += a[row, col]
            col += 8
    for distance in (4, 2, 1):  # all threads take part, those beyond the last row as well
        total += cuda.shfl_down_sync(ALL_LANES, total, distance)
    if lane == 0 and row < a.shape[0]:
        out[row] = total


@cuda.jit
def block_per_row(a, out):
    """Each block walks along a row, its threads side by side."""
    total = float32(0)
    for col in range(cuda.threadIdx.x, a.shape[1], cuda.blockDim.x):
        total += a[cuda.blockIdx.x, col]
    total = sum_of_block(total)
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = total


@cuda.jit
def blocks_per_row(a, out):
    """Many blocks share a row, and each adds its sum to the row's."""
    row = cuda.blockIdx.y
    total = sum_of_block(sum_of_thread(a[row]))
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(out, row, total)


@cuda.jit
def thread_per_column(a, out):
    """Each thread walks down 256 rows of its column, beside those of its neighbours."""
    col = cuda.grid(1)
    first = cuda.blockIdx.y * 256
    if col < a.shape[1]:
        total = float32(0)
        for row in range(first, min(first + 256, a.shape[0])):
            total += a[row, col]
        cuda.atomic.add(out, col, total)
