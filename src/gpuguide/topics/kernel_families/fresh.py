"""What the first call of each route costs: all of them in one fresh process with empty kernel caches."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import cupy, numba_cuda, raw_kernel
from gpuguide.measure.clocks import SystemClock
from gpuguide.measure.first_call import FirstCallError, time_first_call
from gpuguide.topics.kernel_families import accelerators
from gpuguide.topics.kernel_families import study as families

LENGTH = 2**20
ADDITIONS: dict[str, Callable[..., Any]] = {
    "add_ufunc": families.add_ufunc,
    "add_fused": families.add_fused,
    "add_elementwise": families.add_elementwise,
    "add_quads": families.add_quads,
    "add_jit": families.add_jit,
    "add_numba_ufunc": families.add_numba_ufunc,
    "add_four": families.launch_add_four,
}
SUMS: dict[str, Callable[..., Any]] = {
    "sum_cupy": families.sum_cupy,
    "reduction_without": partial(accelerators.reduced, names=()),
    "sum_reduction": families.sum_reduction,
    "sum_quads": families.sum_quads,
    "sum_blocks": families.launch_sum_blocks,
}
ALLOCATING = ("add_fused", "sum_cupy", "reduction_without", "sum_reduction")


def first_calls() -> None:
    """Call each route for the first time, and print how long it took; run in a process of its own.

    Each compiler has compiled something else before, so what is timed is the route's own kernel: from the
    call until its result is there.
    """
    cp = cupy()
    taken: dict[str, float] = {}
    with cp.cuda.Stream():
        a, b = cp.arange(LENGTH, dtype=np.float32), cp.ones(LENGTH, dtype=np.float32)
        warm_up(cp, a)
        for name, call in ADDITIONS.items():
            out = cp.zeros(LENGTH, dtype=np.float32)
            taken[name], found = _first_call(cp, name, call, a, b, out)
            if not np.array_equal(found, np.arange(1, LENGTH + 1)):
                raise ArgumentError(
                    f"The first call of {name} gave a wrong sum of two vectors."
                )
        for name, call in SUMS.items():
            taken[name], found = _first_call(cp, name, call, b, cp.zeros(1, dtype=np.float32))
            if found.size != 1 or float(found.reshape(())) != LENGTH:
                raise ArgumentError(f"The first call of {name} gave {found}, and not {LENGTH}.")
    print(json.dumps(taken))


def _first_call(
    cp: Any, name: str, call: Callable[..., Any], *arrays: Any
) -> tuple[float, np.ndarray[Any, Any]]:
    """Time one call until its result is there; return the seconds and the result."""
    clock = SystemClock()
    cp.cuda.Device().synchronize()
    start = clock.now_ns()
    result = call(*arrays[:-1]) if name in ALLOCATING else call(*arrays)
    cp.cuda.Device().synchronize()
    seconds = (clock.now_ns() - start) / 1e9
    return seconds, (arrays[-1] if result is None else result).get()


def warm_up(cp: Any, x: Any) -> None:
    """Let CuPy, NVRTC and Numba compile a kernel that no route uses, and look at the GPU."""
    families.multiprocessors()
    cp.square(x)
    raw_kernel('extern "C" __global__ void nothing() {}', "nothing")((1,), (1,), ())
    cuda = numba_cuda()

    @cuda.jit
    def halve(y):
        i = cuda.grid(1)
        if i < y.size:
            y[i] = y[i] / 2

    halve[1, 32](cp.zeros(32))
    cp.cuda.Device().synchronize()


def measure_first_calls() -> dict[str, float]:
    """Return the seconds of each route's first call, and keep what was compiled for them.

    CuPy then finds those kernels in this process's cache, and need not compile them twice.
    """
    said: dict[str, float] = {}

    def run(command: list[str], environment: Mapping[str, str], timeout_s: float) -> str:
        printed = _process(command, environment, timeout_s)
        # The last line is the whole time, which time_first_call adds and reads.
        said.update(json.loads(printed.splitlines()[-2]))
        compiled = Path(environment["CUPY_CACHE_DIR"])
        if compiled.is_dir():
            copytree(compiled, kernel_cache(), dirs_exist_ok=True)
        return printed

    time_first_call(f"{__name__}:first_calls", n_discarded=0, run=run)
    return said


def kernel_cache() -> Path:
    """Return the folder in which CuPy keeps what it compiles."""
    return Path(os.environ.get("CUPY_CACHE_DIR") or Path.home() / ".cupy" / "kernel_cache")


def _process(command: list[str], environment: Mapping[str, str], timeout_s: float) -> str:
    done = subprocess.run(
        command,
        env=dict(environment),
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    if done.returncode:
        raise FirstCallError(
            f"{command[-1]}: exit status {done.returncode}\n{done.stderr[-2000:]}"
        )
    return done.stdout
