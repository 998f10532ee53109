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
from gpuguide.topics.which_tool.lines import lines_written
from gpuguide.topics.which_tool.study import ANEW, EDGE, odd, softmax

AT_ONCE = 5  # processes; a compiler uses one processor, and there are more
LONGEST = ("cuda_compute", "torch_compile", "numba_cuda_mlir", "triton_kernel")


def torch_with_context():
    pytorch().empty(1, device="cuda")


def triton_with_context():
    torch_with_context()
    import_module("gpuguide.topics.which_tool.in_triton")


def torch_with_compiler():
    torch_with_context()
    rivals.torch_compile()


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
    "torch_compile": torch_with_compiler,
    "jax": rivals.jax_softmax,
}


def call(name):
    """Compute for the first time in this process; return how many nanoseconds it took."""
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
    return ns


def kernels_launched(name):
    """Count the kernels of one call, by PyTorch's profiler, which sees those of CuPy as well."""
    torch, variant = pytorch(), softmax.variant(name)
    x = cp.ones((EDGE, EDGE), np.float32)
    out = cp.empty_like(x)
    launch = variant.on(EDGE**2, (x, out) if variant.takes_output else (x,))
    launch()  # compiles
    with torch.profiler.profile(acc_events=True) as trace:
        launch()
        torch.cuda.synchronize()
    on_gpu = [event.name for event in trace.events() if "CUDA" in str(event.device_type)]
    return sum(not name.startswith("Mem") for name in on_gpu)  # Memcpy, Memset


def first_call(name):
    """Print how long the first call took; run in a process of its own."""
    print(json.dumps({"ns": call(name)}))


def measure_first_call(name):
    """Return the seconds of a tool's first call in a fresh process."""

    def run(command, environment, timeout_s):
        folder = environment["CUPY_CACHE_DIR"]  # where nothing is yet
        caches = {
            "TRITON_CACHE_DIR": f"{folder}/triton",
            "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor",
            "XDG_CACHE_HOME": f"{folder}/more",
        }
        program = f"from {__name__} import first_call; first_call({name!r})"
        return run_process(
            [sys.executable, "-c", program], {**environment, **caches}, timeout_s
        )

    return time_first_call(f"{__name__}:first_call", n_discarded=0, run=run).seconds[0]


def measure_first_calls():
    """Return the seconds of each tool that is here; meanwhile, check the odd study, and compile for both.

    Imports and a context on the GPU come before the clock starts.
    """
    on_gpu = [variant for variant in softmax.variants if variant.needs_gpu]
    names = [v.name for v in on_gpu if v.name in lines_written() and not v.why_missing()]
    names.sort(key=lambda name: name not in LONGEST)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        seconds = pool.map(measure_first_call, names)
        odd.check_all()
        for name in ANEW:
            if name in names:
                call(name)
        return dict(zip(names, seconds, strict=True))
