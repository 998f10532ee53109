"""Libraries that are optional here: imported when they are first used, or a reason why they cannot be."""

import atexit
import os
import sys
import warnings
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from gpuguide.machine.cpu import cpu_info
from gpuguide.measure import cp
from gpuguide.topics.interop.libraries import jax_numpy, missing_torch, pytorch
from gpuguide.topics.which_tool import kernels

NUMBA_IMPORT = "from numba import cuda, float32, uint32"
SUCCESSOR_IMPORT = (
    "from numba_cuda_mlir import cuda\nfrom numba_cuda_mlir.types import float32, uint32"
)


def missing(module, package):
    """Return what says why a module cannot be imported; empty if it can."""

    def why():
        try:
            there = find_spec(module) is not None
        except ModuleNotFoundError:  # of the package that it is in
            there = False
        return "" if there else f"{package} is not installed"

    return why


missing_successor = missing("numba_cuda_mlir", "numba-cuda-mlir")
missing_compute = missing("cuda.compute", "cuda-cccl")
missing_torch_on_cpu = missing("torch", "PyTorch")


def missing_triton():
    return missing_torch() or missing("triton", "Triton")()


@cache
def successor():
    """Import this topic's kernels once more, with numba-cuda-mlir in the place of Numba."""
    text = Path(kernels.__file__).read_text(encoding="utf-8")
    folder = mkdtemp(prefix="gpuguide-successor-")
    atexit.register(rmtree, folder, ignore_errors=True)
    path = Path(folder) / "kernels_of_successor.py"
    path.write_text(text.replace(NUMBA_IMPORT, SUCCESSOR_IMPORT), encoding="utf-8")
    sys.path.insert(0, folder)
    try:
        return import_module(path.stem)
    finally:
        sys.path.remove(folder)


@cache
def jit_kernel():
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", FutureWarning
        )  # it is experimental, and the page says so
        return import_module("gpuguide.topics.which_tool.in_jit").jit_kernel


@cache
def compute():
    return import_module("gpuguide.topics.which_tool.in_compute")


@cache
def torch_on_cpu():
    """Import PyTorch, and let it use all threads of the CPU."""
    torch = import_module("torch")
    torch.set_num_threads(cpu_info().n_cpus)
    return torch


@cache
def torch_compile():
    """Import what torch.compile makes kernels of, in this process: more would disturb what is timed."""
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    return import_module("gpuguide.topics.which_tool.in_torch").torch_compile


def local_bytes(kernel):
    """Return how much local memory each thread of a kernel has, once that is compiled."""
    return max(kernel.get_local_mem_per_thread().values())


@cache
def jax_softmax():
    jax_numpy()  # asks JAX not to take all memory
    jax = import_module("jax")
    return jax.jit(partial(jax.nn.softmax, axis=1))


class Configured:
    """Stands for a kernel whose launch is made ready by another library than Numba."""

    def __init__(self, make_ready):
        self.make_ready = make_ready

    def __getitem__(self, launch):
        return self.make_ready(*launch[:2])


def ready_successor(blocks, threads):
    module = successor()
    stream = module.cuda.external_stream(cp.cuda.get_current_stream().ptr)
    return module.numba_kernel[blocks, threads, stream]


def views_of_successor(x, out):
    of = partial(successor().cuda.as_cuda_array, sync=False)
    return of(x), of(out)


def tensors(x, out):
    return pytorch().from_dlpack(x), pytorch().from_dlpack(out)


def follow_cupy():
    """Let PyTorch and Triton launch on CuPy's current stream."""
    torch = pytorch()
    torch.cuda.set_stream(torch.cuda.ExternalStream(cp.cuda.get_current_stream().ptr))


def ready_torch(blocks, threads):
    follow_cupy()
    softmax = pytorch().softmax
    return lambda x, out: softmax(x, 1, out=out)


def ready_torch_compile(blocks, threads):
    follow_cupy()
    return torch_compile()


def ready_triton(blocks, threads):
    follow_cupy()
    launch = import_module("gpuguide.topics.which_tool.in_triton").triton_kernel[(blocks,)]

    def launch_rows(x, out):
        cols = x.shape[1]
        launch(x, out, cols, width=1 << (cols - 1).bit_length(), num_warps=8)

    return launch_rows
