"""What the GPU sustains: long runs of copies, multiply-adds and products, with clock and power."""

import time
from itertools import pairwise
from statistics import median

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import raw_kernel
from gpuguide.machine.device import clocks, require_gpu
from gpuguide.measure import cp
from gpuguide.measure.turns import gpu_clock

PARTS, PART_S = 160, 0.01
REST_S = 0.5
N_COPIED = 2**28
THREADS, CHAINS, REPEATS, TURNS = 256, 8, 15, 2047

multiply_adds_source = r"""
// Eight chains in each thread, with a multiply-add in each at once.
extern "C" __global__ void multiply_adds(float x, float y, int n, float* out) {
    float a[8];
    #pragma unroll
    for (int j = 0; j < 8; j++) a[j] = threadIdx.x + j;
    #pragma unroll 1
    for (int i = 0; i < n; i++)
        #pragma unroll
        for (int k = 0; k < 15; k++)
            #pragma unroll
            for (int j = 0; j < 8; j++) a[j] = fmaf(a[j], x, y);
    float sum = 0;
    #pragma unroll
    for (int j = 0; j < 8; j++) sum += a[j];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}"""
multiply_adds = raw_kernel(multiply_adds_source, "multiply_adds")


def expect(name, right):
    if not right:
        raise MismatchError(f"The result of {name!r} is wrong.")


def copies():
    """Return a call that copies a gigabyte, and the bytes that it reads and writes."""
    x = cp.random.random(N_COPIED, dtype=np.float32)
    out = cp.zeros_like(x)

    def call():
        cp.copyto(out, x)

    call()
    expect("copy", bool((out == x).all()))
    return call, 2 * x.nbytes


def additions():
    """Return a call of multiply-adds on the ordinary units, and its operations."""
    info = require_gpu()
    n_blocks = info.sm_count * info.max_threads_per_sm // THREADS
    out = cp.empty(n_blocks * THREADS, np.float32)
    # By -1 and 1000: after an odd number of steps each chain is 1000 less its first number, without rounding.
    arguments = np.float32(-1), np.float32(1000), np.int32(TURNS), out

    def call():
        multiply_adds((n_blocks,), (THREADS,), arguments)

    call()
    right = CHAINS * 1000 - (CHAINS * cp.arange(THREADS) + sum(range(CHAINS)))
    expect("fp32", bool((out.reshape(n_blocks, THREADS) == right).all()))
    return call, 2 * CHAINS * REPEATS * TURNS * out.size


def products(n, dtype):
    """Return a call that multiplies two matrices on tensor cores, and its operations."""
    a, b = (cp.random.standard_normal((n, n), dtype=np.float32).astype(dtype) for _ in range(2))
    out = cp.zeros_like(a)

    def call():
        cp.matmul(a, b, out=out)

    call()
    for row in (0, n - 1):
        # Not by another product of matrices.
        right = (a[row].astype(np.float64)[:, None] * b).sum(axis=0)
        off = float(abs(out[row] - right).max())
        expect(f"{dtype} product", off <= 4 * n * float(np.finfo(dtype).eps))
    return call, 2 * n**3


WORK = {
    "copy": copies,
    "fp32": additions,
    "fp64_tensor": lambda: products(4096, "float64"),
    "fp16_tensor": lambda: products(8192, "float16"),
}


def sustain(name):
    """Return end and rate of each part of a long run after a rest, and how the GPU ran in its second half."""
    clock = gpu_clock()
    with clock.use():
        call, work = WORK[name]()
        begin = clock.record()
        for _ in range(4):
            call()
        n = max(1, round(PART_S / (clock.elapsed_ns(begin, clock.record()) / 4e9)))
        time.sleep(REST_S)
        clock.delay(1_000_000)  # the host must be ahead
        marks, readings = [clock.record()], []
        for part in range(PARTS):
            for _ in range(n):
                call()
            marks.append(clock.record())
            if part >= PARTS // 2:
                readings.append(clocks())
            if part >= 3:
                marks[part - 2].synchronize()  # no more than three parts wait
        taken = [clock.elapsed_ns(*pair) / 1e9 for pair in pairwise(marks)]
    # The driver's power is the mean over a second; the last reading has least of what was before.
    return {
        "ends": np.cumsum(taken),
        "rates": n * work / np.array(taken),
        "clock": median(reading.sm_hz or 0 for reading in readings),
        "power": readings[-1].power_w,
        "held": ", ".join(readings[-1].throttle) or "nothing",
    }
