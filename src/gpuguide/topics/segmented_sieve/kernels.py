"""The fastest sieve of the guide, in CUDA C++: segments in shared memory, made and counted in one launch."""

from gpuguide.machine.backends import raw_kernel

TABLES_SOURCE = r"""
constexpr int PERIOD_A = 3 * 5 * 7 * 11, PERIOD_B = 13 * 17, PERIOD_C = 19 * 23;
constexpr int MAX_PRIMES = 3536;    // from 29 to 2^15: 3503; a last warp reads beyond
constexpr int SHORT_STEPS = 1024;   // primes below have a warp each, those above a lane each

struct alignas(16) Tables {         // in shared memory, before the bytes of the segment
    unsigned wheel[PERIOD_A + PERIOD_B + PERIOD_C];
    int next[MAX_PRIMES];           // where a prime goes on, from the segment's start
    unsigned short primes[MAX_PRIMES];
};

// The multiples of P among the 32 odd numbers of a word.
template <int P> __device__ unsigned multiples(unsigned word) {
    unsigned bits = 0;
    for (int k = 0; k < 32; k += P) bits |= 1u << k;
    return bits << (P - 1 - (32 * word + P / 2) % P);
}

__device__ void fill_wheel(unsigned* wheel) {
    for (int i = threadIdx.x; i < PERIOD_A; i += blockDim.x)
        wheel[i] = multiples<3>(i) | multiples<5>(i) | multiples<7>(i) | multiples<11>(i);
    for (int i = threadIdx.x; i < PERIOD_B; i += blockDim.x)
        wheel[PERIOD_A + i] = multiples<13>(i) | multiples<17>(i);
    for (int i = threadIdx.x; i < PERIOD_C; i += blockDim.x)
        wheel[PERIOD_A + PERIOD_B + i] = multiples<19>(i) | multiples<23>(i);
}
"""

SUM_SOURCE = r"""
// Adds up what the threads before this one have; `all` becomes the sum over the block.
__device__ int sum_before(int mine, int& all) {
    __shared__ int sums[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int sum = mine;
    for (int d = 1; d < 32; d *= 2) {
        const int other = __shfl_up_sync(~0u, sum, d);
        if (lane >= d) sum += other;
    }
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    int before = sum - mine;
    all = 0;
    for (int w = 0; w < blockDim.x / 32; ++w) {
        if (w < warp) before += sums[w];
        all += sums[w];
    }
    return before;
}
"""

PRIMES_SOURCE = r"""
// Lists the primes from 29 to root, and says how many. The bytes are zero before and after.
__device__ int list_primes(unsigned char* bytes, unsigned short* primes, int root) {
    const int n = (root + 1) / 2, lane = threadIdx.x % 32;
    for (int q = 3 + threadIdx.x / 32 * 2; q * q <= root; q += blockDim.x / 16)
        for (int i = q * q / 2 + q * lane; i < n; i += 32 * q) bytes[i] = 1;
    __syncthreads();
    const int share = (n + blockDim.x - 1) / blockDim.x, begin = threadIdx.x * share;
    const int from = max(14, begin), to = min(n, begin + share);    // byte 14 stands for 29
    int found = 0, n_primes;
    for (int i = from; i < to; ++i) found += !bytes[i];
    int place = sum_before(found, n_primes);
    for (int i = from; i < to; ++i)
        if (!bytes[i]) primes[place++] = 2 * i + 1;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) bytes[i] = 0;
    return n_primes;
}
"""

PLACES_SOURCE = r"""
// Finds where each prime begins in the block's share; says how many primes are short steps.
__device__ int place_primes(Tables& tables, int n_primes, int start) {
    __shared__ int n_short;
    if (threadIdx.x == 0) n_short = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n_primes; i += blockDim.x) {
        const int p = tables.primes[i], at = 3 * p / 2 - start;   // 3 p: 5 p comes off first
        tables.next[i] = at < 0 ? at % (3 * p) : at;
        if (p < SHORT_STEPS) atomicAdd(&n_short, 1);
    }
    if (threadIdx.x < 32) {                         // a last warp reads these, to no effect
        tables.primes[n_primes + threadIdx.x] = 1;
        tables.next[n_primes + threadIdx.x] = 1 << 30;
    }
    __syncthreads();
    return n_short;
}
"""

CROSS_OFF_SOURCE = r"""
#ifndef STRETCH
#define STRETCH 12                  // multiples that a lane walks at a time
#endif

// Crosses off the multiples of p that are no multiples of 3. Lanes begin 3 p words apart, an
// odd number, so 32 lanes write to 32 banks. Threads that meet in a byte all write 1.
template <int LANES>
__device__ void cross_off(unsigned char* bytes, int length, int p, int* next) {
    constexpr int N = LANES == 1 ? 12 : STRETCH;
    int at = *next + threadIdx.x % LANES * N * p;
    __syncwarp();                                   // all have read next: one may move it on
    for (; at < length; at += LANES * N * p) {
#pragma unroll
        for (int k = 1; k < N; ++k)
            if (k % 3 && (unsigned)(at + k * p) < (unsigned)length) bytes[at + k * p] = 1;
    }
    at -= length;
    if (at >= N * p) return;                        // another lane's stretch comes first
    while (at > 0) at -= 3 * p;
    *next = at;
}
"""

JOBS_SOURCE = r"""
// Warps fetch one job after the other, the longest first: a short step, or 32 long ones.
__device__ void cross_off_all(unsigned char* bytes, int length, Tables& tables, int n_short,
                              int n_primes, int* job) {
    const int lane = threadIdx.x % 32;
    while (true) {
        const int j = __shfl_sync(~0u, lane == 0 ? atomicAdd(job, 1) : 0, 0);
        const int i = j < n_short ? j : n_short + (j - n_short) * 32, mine = i + lane;
        if (i >= n_primes) return;
        if (j < n_short)
            cross_off<32>(bytes, length, tables.primes[i], tables.next + i);
        else
            cross_off<1>(bytes, length, tables.primes[mine], tables.next + mine);
    }
}
"""

STORE_SOURCE = r"""
__device__ unsigned packed(uint4 v) {               // 16 bytes of 0 or 1 become 16 bits
    const unsigned low = __dp4a(v.x, 0x08040201u, __dp4a(v.y, 0x80402010u, 0u));
    return low | __dp4a(v.z, 0x08040201u, __dp4a(v.w, 0x80402010u, 0u)) << 8;
}

// Packs the bytes of a segment into words, stores them, clears the bytes, counts the primes.
__device__ int store(uint4* quads, int low, int length, int n_odds, const unsigned* wheel,
                     unsigned* out) {
    const int second = threadIdx.x / 4 % 2;         // half to begin with: all banks are used
    int found = 0;
    for (int w = threadIdx.x; w * 32 < length; w += blockDim.x) {
        uint4 *one = quads + 2 * w + second, *other = quads + 2 * w + 1 - second;
        const unsigned a = packed(*one), b = packed(*other), word = low / 32 + w;
        *one = *other = uint4{};
        unsigned crossed = second ? a << 16 | b : b << 16 | a;
        crossed |= wheel[word % PERIOD_A] | wheel[PERIOD_A + word % PERIOD_B] |
                   wheel[PERIOD_A + PERIOD_B + word % PERIOD_C];
        if (word == 0) crossed = (crossed & ~0xB6Eu) | 1;   // 3 to 23 are primes, 1 is none
        const int left = n_odds - 32 * (int)word;
        if (left < 32) crossed |= ~0u << left;
        out[word] = ~crossed;
        found += __popc(~crossed);
    }
    return found;
}
"""

SEGMENTED_SOURCE = r"""
extern "C" __global__ void __launch_bounds__(1024)
segmented(int limit, int root, int share, int segment, unsigned* out) {
    extern __shared__ uint4 shared[];
    __shared__ int job, total;
    Tables& tables = *(Tables*)shared;
    uint4* quads = shared + sizeof(Tables) / 16;
    unsigned char* bytes = (unsigned char*)quads;   // byte i stands for 2 (low + i) + 1
    const int n_odd = limit / 2, start = blockIdx.x * share, end = min(start + share, n_odd);
    for (int i = threadIdx.x; i < segment / 16; i += blockDim.x) quads[i] = uint4{};
    fill_wheel(tables.wheel);
    if (threadIdx.x == 0) job = 0, total = blockIdx.x == 0 && limit > 2;    // 2 has no bit
    __syncthreads();
    const int n_primes = list_primes(bytes, tables.primes, root);
    int found = 0, n_short = place_primes(tables, n_primes, start);
    for (int low = start; low < end; low += segment) {
        const int length = min(segment, end - low);
        cross_off_all(bytes, length, tables, n_short, n_primes, &job);
        __syncthreads();
        if (threadIdx.x == 0) job = 0;
        found += store(quads, low, length, n_odd, tables.wheel, out);
        __syncthreads();
    }
    atomicAdd(&total, found);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out + (n_odd + 31) / 32, total);
}
"""


TABLE_BYTES = 28_480  # of the struct Tables
STATIC_BYTES = 256  # room for the other shared variables


def round_up(n):
    """Round up to a multiple of 1024: a warp packs so many odd numbers at a time."""
    return -(-n // 1024) * 1024


def segment_plan(limit, n_multiprocessors, shared_bytes):
    """Share the odd numbers out among one block per multiprocessor, and cut the shares.

    >>> segment_plan(10**9, 132, 227 * 1024)
    (132, 3788800, 199680)
    >>> segment_plan(10**6, 132, 227 * 1024)
    (123, 4096, 4096)
    """
    n_odd = limit // 2
    share = round_up(-(-n_odd // n_multiprocessors))
    room = (shared_bytes - TABLE_BYTES - STATIC_BYTES) // 1024 * 1024
    n_segments = -(-share // room)
    return -(-n_odd // share), share, round_up(-(-share // n_segments))


SOURCE = "".join(
    (
        TABLES_SOURCE,
        SUM_SOURCE,
        PRIMES_SOURCE,
        PLACES_SOURCE,
        CROSS_OFF_SOURCE,
        JOBS_SOURCE,
        STORE_SOURCE,
        SEGMENTED_SOURCE,
    )
)
segmented_kernels = {
    stretch: raw_kernel(SOURCE, "segmented", (f"-DSTRETCH={stretch}",))
    for stretch in (12, 24, 36)
}
