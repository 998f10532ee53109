"""The first call of every tool, each in a process of its own with empty caches."""

import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.measure import cp
from gpuguide.measure.clocks import SystemClock
from gpuguide.measure.first_call import time_first_call
from gpuguide.topics.first_call.fresh import run_process
from gpuguide.topics.interop.libraries import pytorch
from gpuguide.topics.which_tool import rivals
from gpuguide.topics.which_tool.study import EDGE, softmax

AT_ONCE = 4  # processes; a compiler uses one processor, and there are more
LONGEST = ("cuda_compute", "numba_cuda_mlir", "triton_kernel")


def torch_with_context():
    pytorch().empty(1, device="cuda")


def triton_with_context():
    torch_with_context()
    import_module("gpuguide.topics.which_tool.in_triton")


def compute_with_compiler():
    rivals.successor()  # otherwise, the first call would import its compiler
    rivals.compute()


# What is imported before the clock starts.
IMPORTS: dict[str, Callable[[], object]] = {
    "cupyx_jit": rivals.jit_kernel,
    "numba_cuda_mlir": rivals.successor,
    "cuda_compute": compute_with_compiler,
    "triton_kernel": triton_with_context,
    "torch": torch_with_context,
    "jax": rivals.jax_softmax,
}


def first_call(name):
    """Compute for the first time, and print how long it took; run in a process of its own."""
    clock, device, variant = SystemClock(), cp.cuda.Device(), softmax.variant(name)
    x = cp.ones((EDGE, EDGE), np.float32)
    out = cp.empty_like(x)
    IMPORTS.get(name, device.synchronize)()
    device.synchronize()
    start = clock.now_ns()
    shares = variant.on(EDGE**2, (x, out) if variant.takes_output else (x,))()
    device.synchronize()
    ns = clock.now_ns() - start
    row = cp.asarray(out if shares is None else shares)[0].get()
    if not np.allclose(row, 1 / EDGE, rtol=1e-4):
        raise ArgumentError(f"{name}: expected shares of {1 / EDGE:.6g}; got {row[:4]}.")
    print(json.dumps({"ns": ns}))


def measure_first_call(name):
    """Return the seconds of a tool's first call in a fresh process."""

    def run(command, environment, timeout_s):
        folder = environment["CUPY_CACHE_DIR"]  # where nothing is yet
        caches = {"TRITON_CACHE_DIR": f"{folder}/triton", "XDG_CACHE_HOME": f"{folder}/more"}
        program = f"from {__name__} import first_call; first_call({name!r})"
        return run_process(
            [sys.executable, "-c", program], {**environment, **caches}, timeout_s
        )

    return time_first_call(f"{__name__}:first_call", n_discarded=0, run=run).seconds[0]


def measure_first_calls(meanwhile):
    """Return the seconds of each tool that is here, and call what times nothing while they are measured.

    Imports and a context on the GPU come before the clock starts.
    """
    on_gpu = (variant for variant in softmax.variants if variant.needs_gpu)
    names = [variant.name for variant in on_gpu if not variant.why_missing()]
    names.sort(key=lambda name: name not in LONGEST)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        seconds = pool.map(measure_first_call, names)
        meanwhile()
        return dict(zip(names, seconds, strict=True))
