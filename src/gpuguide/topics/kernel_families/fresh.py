"""What the first call of each route costs: all of them in one fresh process with empty kernel caches."""

import json
import os
import subprocess
from pathlib import Path
from shutil import copytree
from time import perf_counter

import numpy as np
from numba import cuda

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import raw_kernel
from gpuguide.measure import cp
from gpuguide.measure.first_call import time_first_call
from gpuguide.topics.kernel_families.accelerators import switched
from gpuguide.topics.kernel_families.study import add, multiprocessors, total

LENGTH = 2**20
ADDITIONS = (
    *("add_ufunc", "add_fused", "add_elementwise", "add_quads", "add_jit"),
    *("add_numba_ufunc", "add_four"),
)
SUMS = (
    (total, "sum_cupy"),
    (switched, "reduction_without"),
    (total, "sum_reduction"),
    (total, "sum_quads"),
    (total, "sum_blocks"),
)


def first_calls():
    """Call each route for the first time, and print how long it took; run in a process of its own.

    Each compiler has compiled something else before, so what is timed is the route's own kernel: from the
    call until its result is there.
    """
    taken = {}
    with cp.cuda.Stream():
        a, b = cp.arange(LENGTH, dtype=np.float32), cp.ones(LENGTH, dtype=np.float32)
        warm_up(a)
        for name in ADDITIONS:
            taken[name] = first_call(add.variant(name), np.arange(1, LENGTH + 1), a, b)
        for study, name in SUMS:
            taken[name] = first_call(study.variant(name), np.array([LENGTH]), b)
    print(json.dumps(taken))


def first_call(variant, right, *inputs):
    """Return how many seconds pass until the result of one call is there; it is to be right."""
    out = cp.zeros(right.size, dtype=np.float32)
    cp.cuda.Device().synchronize()
    start = perf_counter()
    result = variant.on(LENGTH, (*inputs, out) if variant.takes_output else inputs)()
    cp.cuda.Device().synchronize()
    seconds = perf_counter() - start
    # On the host, because a comparison on the GPU would compile kernels ahead of other routes.
    got = (out if variant.takes_output else result).get()
    if not np.array_equal(got.reshape(-1), right):
        raise MismatchError(f"The first call of {variant.name} gave a wrong sum.")
    return seconds


def warm_up(x):
    """Let CuPy, NVRTC and Numba compile a kernel that no route uses, and look at the GPU."""
    multiprocessors()
    cp.square(x)
    raw_kernel('extern "C" __global__ void nothing() {}', "nothing")((1,), (1,), ())

    @cuda.jit
    def halve(y):
        i = cuda.grid(1)
        if i < y.size:
            y[i] = y[i] / 2

    halve[1, 32](cp.zeros(32))
    cp.cuda.Device().synchronize()


def measure_first_calls():
    """Return the seconds of each route's first call, and keep what was compiled for them.

    CuPy then finds those kernels in this process's cache, and need not compile them twice.
    """
    seconds = {}

    def run(command, environment, timeout_s):
        done = subprocess.run(
            command,
            env=dict(environment),
            stdout=subprocess.PIPE,  # what goes wrong is seen on stderr
            text=True,
            timeout=timeout_s,
            check=True,
        )
        # The last line is the whole time, which time_first_call adds and reads.
        seconds.update(json.loads(done.stdout.splitlines()[-2]))
        compiled = Path(environment["CUPY_CACHE_DIR"])
        if compiled.is_dir():
            copytree(compiled, kernel_cache(), dirs_exist_ok=True)
        return done.stdout

    time_first_call(f"{__name__}:first_calls", n_discarded=0, run=run)
    return seconds


def kernel_cache():
    """Return the folder in which CuPy keeps what it compiles."""
    return Path(os.environ.get("CUPY_CACHE_DIR") or Path.home() / ".cupy" / "kernel_cache")
