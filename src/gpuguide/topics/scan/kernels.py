"""Running totals: within a block, over blocks in three steps, in one launch; and what is positive, kept."""

import numpy as np
from numba import cuda, float32, int32, njit, prange, uint32

BLOCK = 256
PER_THREAD = 16
PIECE = BLOCK * PER_THREAD
WARPS = BLOCK // 32
ALL_LANES = 0xFFFFFFFF


@njit(parallel=True)
def cpu_threads(x, out):
    """Let each thread of the CPU add up a part, and then carry on from the parts before."""
    parts = 64
    ends = [part * x.size // parts for part in range(parts + 1)]
    totals = np.empty(parts, np.float32)
    for part in prange(parts):
        total = float32(0)
        for i in range(ends[part], ends[part + 1]):
            total += x[i]
        totals[part] = total
    for part in prange(parts):
        total = float32(0)
        for before in range(part):
            total += totals[before]
        for i in range(ends[part], ends[part + 1]):
            total += x[i]
            out[i] = total


@cuda.jit
def block_totals(x, out):
    """Within each block of 256: in each round, add what stands twice as far to the left."""
    totals = cuda.shared.array(BLOCK, float32)
    thread = cuda.threadIdx.x
    i = cuda.grid(1)
    totals[thread] = x[i] if i < x.size else float32(0)
    distance = 1
    while distance < BLOCK:
        cuda.syncthreads()  # the totals of the round before are all there
        before = totals[thread - distance] if thread >= distance else float32(0)
        cuda.syncthreads()  # all have read before anybody adds
        totals[thread] += before
        distance *= 2
    if i < x.size:
        out[i] = totals[thread]


# Three steps -------------------------------------------------------------------------------


@cuda.jit(device=True)
def totals_of_warp(total):
    """Return the running total of each thread of a warp, itself included."""
    lane = cuda.threadIdx.x % 32
    for distance in (1, 2, 4, 8, 16):
        before = cuda.shfl_up_sync(ALL_LANES, total, distance)
        if lane >= distance:
            total += before
    return total


@cuda.jit(device=True)
def first_of_thread():
    """Return where this thread's numbers begin: each warp has 512 neighbours, 32 at a time."""
    thread = uint32(
        cuda.threadIdx.x
    )  # without a sign: else Numba tests whether an index is negative
    place = thread // uint32(32) * uint32(32 * PER_THREAD) + thread % uint32(32)
    return uint32(cuda.blockIdx.x * PIECE) + place


@cuda.jit(device=True)
def load_piece(x, numbers):
    """Load this thread's numbers; what lies beyond the end counts as zero."""
    first = first_of_thread()
    if (cuda.blockIdx.x + 1) * PIECE <= x.size:
        for k in range(PER_THREAD):  # no guard, and no load waits for another
            numbers[k] = x[first + uint32(32 * k)]
    else:
        for k in range(PER_THREAD):
            i = first + uint32(32 * k)
            numbers[k] = x[i] if i < x.size else float32(0)


@cuda.jit
def sums_of_pieces(x, sums):
    """Add up a piece of 4096 numbers in each block."""
    warps = cuda.shared.array(WARPS, float32)
    lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
    numbers = cuda.local.array(PER_THREAD, float32)
    load_piece(x, numbers)
    total = float32(0)
    for k in range(PER_THREAD):
        total += numbers[k]
    total = totals_of_warp(total)
    if lane == 31:
        warps[warp] = total
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        total = float32(0)
        for k in range(WARPS):
            total += warps[k]
        sums[cuda.blockIdx.x] = total


@cuda.jit
def totals_of_pieces(x, ends, out):
    """Compute the running totals of a piece, from where the piece before it ends."""
    warps = cuda.shared.array(WARPS, float32)
    lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
    totals = cuda.local.array(PER_THREAD, float32)
    load_piece(x, totals)
    carry = float32(0)
    for k in range(PER_THREAD):  # 32 neighbours in each round
        total = totals_of_warp(totals[k])
        totals[k] = total + carry
        carry += cuda.shfl_sync(ALL_LANES, total, 31)
    if lane == 0:
        warps[warp] = carry
    cuda.syncthreads()
    before = ends[cuda.blockIdx.x - 1] if cuda.blockIdx.x > 0 else float32(0)
    for k in range(warp):
        before += warps[k]
    first = first_of_thread()
    for k in range(PER_THREAD):
        i = first + uint32(32 * k)
        if i < out.size:
            out[i] = totals[k] + before


# One launch --------------------------------------------------------------------------------

look_back_source = r"""
#ifndef PAUSE
#define PAUSE 1000  // nanoseconds for which a thread sleeps before it looks again
#endif
typedef unsigned long long u64;
constexpr int THREADS = 128, QUADS = 32, WARPS = THREADS / 32;
constexpr int PIECE = THREADS * QUADS * 4;
constexpr unsigned ALL = 0xffffffffu;
enum : u64 { SUM = 1ull << 32, TOTAL = 2ull << 32 };  // what a block has published, beside the number

__device__ float totals_of_warp(float total) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const float before = __shfl_up_sync(ALL, total, distance);
        if (lane >= distance) total += before;
    }
    return total;
}

__device__ u64 published(u64 kind, float number) { return kind | __float_as_uint(number); }

// Of this piece's predecessors: wait for what they publish, 64 at a time, until one knows its total.
// Whoever waits sleeps: thousands of threads that keep asking would hold up those who load and store.
__device__ float sum_before(volatile u64* state, int piece) {
    const int lane = threadIdx.x % 32;
    float before = 0;
    __nanosleep(5 * PAUSE / 2);  // the others are not ready at once
    for (int base = piece - 1 - lane;; base -= 64) {
        u64 seen[2];
#pragma unroll
        for (int q = 0; q < 2; ++q) {
            const int other = base - 32 * q;
            seen[q] = other >= 0 ? state[other] : TOTAL;  // before the first piece comes nothing
        }
#pragma unroll
        for (int q = 0; q < 2; ++q) {
            const int other = base - 32 * q;
            while (__any_sync(ALL, seen[q] < SUM)) {
                __nanosleep(PAUSE);
                if (seen[q] < SUM) seen[q] = state[other];
            }
            const unsigned known = __ballot_sync(ALL, seen[q] >= TOTAL);
            const int last = known ? __ffs(known) - 1 : 31;
            float number = lane <= last ? __uint_as_float((unsigned)seen[q]) : 0.0f;
#pragma unroll
            for (int distance = 16; distance > 0; distance /= 2)
                number += __shfl_xor_sync(ALL, number, distance);
            before += number;
            if (known) return before;
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
look_back(const float* x, float* out, volatile u64* state, unsigned* next, long long n) {
    __shared__ float warps[WARPS], before_all;
    __shared__ int drawn;
    if (threadIdx.x == 0) drawn = atomicAdd(next, 1);  // pieces in the order in which blocks start
    __syncthreads();
    const int piece = drawn, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const long long first = (long long)piece * PIECE + (warp * 32 * QUADS + lane) * 4;
    const bool whole = (long long)(piece + 1) * PIECE <= n;
    float4 quads[QUADS];
    if (whole) {
#pragma unroll
        for (int k = 0; k < QUADS; ++k) quads[k] = __ldcs((const float4*)(x + first + 128 * k));
    } else {
#pragma unroll
        for (int k = 0; k < QUADS; ++k) {
            const long long i = first + 128 * k;
            quads[k].x = i < n ? x[i] : 0.0f;
            quads[k].y = i + 1 < n ? x[i + 1] : 0.0f;
            quads[k].z = i + 2 < n ? x[i + 2] : 0.0f;
            quads[k].w = i + 3 < n ? x[i + 3] : 0.0f;
        }
    }
    float carry = 0;
#pragma unroll
    for (int k = 0; k < QUADS; ++k) {
        float4& quad = quads[k];
        quad.y += quad.x;
        quad.z += quad.y;
        quad.w += quad.z;
        const float total = totals_of_warp(quad.w);
        float before = __shfl_up_sync(ALL, total, 1);
        before = carry + (lane ? before : 0.0f);
        quad.x += before;
        quad.y += before;
        quad.z += before;
        quad.w += before;
        carry += __shfl_sync(ALL, total, 31);
    }
    if (lane == 0) warps[warp] = carry;
    __syncthreads();
    float before_warp = 0, sum = 0;
#pragma unroll
    for (int w = 0; w < WARPS; ++w) {
        if (w < warp) before_warp += warps[w];
        sum += warps[w];
    }
    if (warp == 0) {
        if (lane == 0) state[piece] = published(piece ? SUM : TOTAL, sum);
        const float before = piece ? sum_before(state, piece) : 0.0f;
        if (lane == 0) {
            if (piece) state[piece] = published(TOTAL, before + sum);
            before_all = before;
        }
    }
    __syncthreads();
    const float before = before_all + before_warp;
#pragma unroll
    for (int k = 0; k < QUADS; ++k) {
        float4 quad = quads[k];
        quad.x += before;
        quad.y += before;
        quad.z += before;
        quad.w += before;
        const long long i = first + 128 * k;
        if (whole) {
            __stcs((float4*)(out + i), quad);
        } else {
            if (i < n) out[i] = quad.x;
            if (i + 1 < n) out[i + 1] = quad.y;
            if (i + 2 < n) out[i + 2] = quad.z;
            if (i + 3 < n) out[i + 3] = quad.w;
        }
    }
}
"""


# What is positive, kept --------------------------------------------------------------------


@cuda.jit(device=True)
def rank_in_warp(keep):
    """Count the threads of a warp before this one that keep their number, and all that do."""
    votes = cuda.ballot_sync(ALL_LANES, keep)
    before = votes & ((1 << (cuda.threadIdx.x % 32)) - 1)
    return cuda.popc(before), cuda.popc(votes)


@cuda.jit
def count_positive(x, counts):
    """Count what is positive in a piece of 4096 numbers in each block."""
    warps = cuda.shared.array(WARPS, int32)
    lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
    numbers = cuda.local.array(PER_THREAD, float32)
    load_piece(x, numbers)
    count = int32(0)
    for k in range(PER_THREAD):
        count += rank_in_warp(numbers[k] > 0)[1]
    if lane == 0:
        warps[warp] = count
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        count = int32(0)
        for k in range(WARPS):
            count += warps[k]
        counts[cuda.blockIdx.x] = count


@cuda.jit
def keep_positive(x, ends, out):
    """Store what is positive in a piece behind all that the pieces before it keep."""
    warps = cuda.shared.array(WARPS, int32)
    lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
    numbers = cuda.local.array(PER_THREAD, float32)
    load_piece(x, numbers)
    count = int32(0)
    for k in range(PER_THREAD):
        count += rank_in_warp(numbers[k] > 0)[1]
    if lane == 0:
        warps[warp] = count
    cuda.syncthreads()
    place = ends[cuda.blockIdx.x - 1] if cuda.blockIdx.x > 0 else int32(0)
    for k in range(warp):
        place += warps[k]
    for k in range(PER_THREAD):
        rank, count = rank_in_warp(numbers[k] > 0)
        if numbers[k] > 0:
            out[place + rank] = numbers[k]
        place += count
