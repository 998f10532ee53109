"""How fast shared memory and the L2 cache are read, and how long one load from them and from memory takes."""

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import raw_kernel
from gpuguide.machine.device import require_gpu
from gpuguide.measure import cp
from gpuguide.measure.turns import gpu_clock, in_turns

LINE = 128  # bytes
DELAY_NS = 500_000  # the host queues events and launch meanwhile
THREADS, BLOCKS_PER_MULTIPROCESSOR = 1024, 2
L2_STEPS, SHARED_STEPS = 4096, 2000
SHARED_WORDS, SHARED_VECTORS = 1024, 2048
# None is a whole number of rounds: a chase that stood still would end where it began.
CHASE_STEPS = {"shared": 100_001, "l2": 40_001, "memory": 16_001}

chase_source = r"""
// One thread follows pointers: no load can begin before the one before it is there.
extern "C" __global__ void chase(unsigned long long* place, int n_steps) {
    unsigned long long at = *place;
    #pragma unroll 16
    for (int k = 0; k < n_steps; k++)
        at = __ldcg((const unsigned long long*)at);  // not from the L1 cache
    *place = at;
}

extern "C" __global__ void chase_shared(const unsigned* x, unsigned* place, int n_steps) {
    __shared__ unsigned next[1024];
    const unsigned first = (unsigned)__cvta_generic_to_shared(next);
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) next[i] = first + x[i];
    __syncthreads();
    if (threadIdx.x > 0) return;
    unsigned at = first + *place;
    #pragma unroll 16
    for (int k = 0; k < n_steps; k++)  // in C++, an addition for each load would be timed, too
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(at) : "r"(at) : "memory");
    *place = at - first;
}"""

read_source = r"""
// All threads read a small array again and again, sixteen bytes at a time, and add up its words.
extern "C" __global__ void read_l2(const uint4* x, unsigned last, int n_steps, unsigned* out) {
    const unsigned n_threads = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0, at = i;
    for (int k = 0; k < n_steps; k += 4) {
        uint4 v[4];
        #pragma unroll
        for (int j = 0; j < 4; j++, at += n_threads)
            v[j] = __ldcg(x + (at & last));  // not from the L1 cache
        #pragma unroll
        for (int j = 0; j < 4; j++) sum += v[j].x + v[j].y + v[j].z + v[j].w;
    }
    out[i] = sum;
}

extern "C" __global__ void read_shared(const uint4* x, int n_steps, unsigned* out) {
    __shared__ uint4 table[2048];
    for (int i = threadIdx.x; i < 2048; i += blockDim.x) table[i] = x[i];
    __syncthreads();
    unsigned sum = 0, at = threadIdx.x;
    for (int k = 0; k < n_steps; k++, at += 8) {
        const uint4* from = table + (at & 1023);  // neighbours read neighbours: no bank conflicts
        #pragma unroll
        for (int j = 0; j < 8; j++) {
            const uint4 v = from[128 * j];
            sum += v.x + v.y + v.z + v.w;
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}"""
chase, chase_shared = (raw_kernel(chase_source, name) for name in ("chase", "chase_shared"))
read_l2, read_shared = (raw_kernel(read_source, name) for name in ("read_l2", "read_shared"))


def expect(name, right):
    if not right:
        raise MismatchError(f"The kernel {name} gave a wrong result.")


def chase_in_shared():
    """Return the call that goes from word to word of shared memory in a random round, and its loads."""
    order = np.random.default_rng(1).permutation(SHARED_WORDS)
    following = np.empty(SHARED_WORDS, np.uint32)
    following[order] = 4 * np.roll(order, -1)
    x, place, n = cp.asarray(following), cp.zeros(1, np.uint32), CHASE_STEPS["shared"]
    place[0] = 4 * int(order[0])
    arguments = x, place, np.int32(n)

    def call():
        chase_shared((1,), (128,), arguments)

    call()
    expect("chase_shared", int(place[0]) == 4 * order[n % SHARED_WORDS])
    return call, n


def chase_in(level, n_lines):
    """Return the call that goes from line to line of an array in a random round, and its loads."""
    order, n = np.random.default_rng(2).permutation(n_lines), CHASE_STEPS[level]
    x = cp.zeros(n_lines * LINE // 8, np.uint64)
    addresses = (x.data.ptr + LINE * order).astype(np.uint64)
    x[cp.asarray(LINE // 8 * order)] = cp.asarray(np.roll(addresses, -1))
    place = cp.asarray(addresses[:1])
    arguments = place, np.int32(n)

    def call(kept=x):  # its addresses alone would not keep it
        chase((1,), (1,), arguments)

    call()
    expect("chase", int(place[0]) == int(addresses[n % n_lines]))
    return call, n


def read_from_l2(n_blocks, n_vectors):
    """Return the call that reads an array that the L2 cache holds, and its bytes."""
    x, out = words(n_vectors), cp.empty(n_blocks * THREADS, np.uint32)
    arguments = cp.asarray(x), np.uint32(n_vectors - 1), np.int32(L2_STEPS), out

    def call():
        read_l2((n_blocks,), (THREADS,), arguments)

    call()
    # Thread by thread, the array is read from its begin to its end, and again.
    rounds, rest = divmod(out.size * L2_STEPS, n_vectors)
    right = rounds * int(x.sum(dtype=np.uint64)) + int(x[: 4 * rest].sum(dtype=np.uint64))
    expect("read_l2", int(out.get().sum(dtype=np.uint64)) % 2**32 == right % 2**32)
    return call, 16 * L2_STEPS * out.size


def read_from_shared(n_blocks):
    """Return the call in which each block reads its shared memory, and the bytes of all."""
    x, out = words(SHARED_VECTORS), cp.empty(n_blocks * THREADS, np.uint32)
    arguments = cp.asarray(x), np.int32(SHARED_STEPS), out

    def call():
        read_shared((n_blocks,), (THREADS,), arguments)

    call()
    sums = x.reshape(-1, 4).sum(axis=1, dtype=np.uint64)
    per_step = sum(sums[128 * j : 128 * j + 1024] for j in range(8))
    steps = 8 * np.arange(SHARED_STEPS)
    sums = np.array([per_step[(thread + steps) % 1024].sum() for thread in range(THREADS)])
    right = (sums % 2**32).astype(np.uint32)
    expect("read_shared", bool((out.get().reshape(n_blocks, THREADS) == right).all()))
    return call, 16 * 8 * SHARED_STEPS * out.size


def words(n_vectors):
    return np.random.default_rng(3).integers(0, 2**32, 4 * n_vectors, dtype=np.uint32)


def measure(n_turns=10):
    """Return samples in turns: bytes per second of reading, and seconds of one load."""
    info, clock = require_gpu(), gpu_clock()
    n_blocks = BLOCKS_PER_MULTIPROCESSOR * info.sm_count
    # A quarter of the L2 cache at most, in a power of two; the chase in memory has four times the cache.
    n_vectors = 1 << (info.l2_bytes // 64).bit_length() - 1
    with clock.use():
        calls = {
            "bandwidth_shared": read_from_shared(n_blocks),
            "bandwidth_l2": read_from_l2(n_blocks, n_vectors),
            "latency_shared": chase_in_shared(),
            # Few enough lines to meet each of them in a call.
            "latency_l2": chase_in("l2", n_vectors // 32),
            "latency_memory": chase_in("memory", 4 * info.l2_bytes // LINE),
        }

    def reading(name, call):
        # Into the L2 cache, or out of it: the reading before this one may have been of something else.
        prepare = clock.flush if name == "latency_memory" else call

        def seconds():
            prepare()
            clock.delay(DELAY_NS)
            begin = clock.record()
            call()
            return clock.elapsed_ns(begin, clock.record()) / 1e9

        return seconds

    taken = in_turns({name: reading(name, call) for name, (call, _) in calls.items()}, n_turns)
    return {
        name: [work / s if name.startswith("bandwidth") else s / work for s in taken[name]]
        for name, (_, work) in calls.items()
    }
