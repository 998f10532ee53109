"""CuPy and Numba: imported late, never replaced silently, wrapped without waiting for the GPU."""

import sys
from collections.abc import Callable
from importlib import metadata
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numba import cuda

from fake_cupy import FakeArray, make_cupy
from gpuguide.errors import ArgumentError, BackendError
from gpuguide.machine import backends

not_simulated = pytest.mark.skipif(backends.simulated(), reason="the simulator has no dispatcher")


@pytest.fixture
def fake_cupy(monkeypatch: pytest.MonkeyPatch) -> Any:
    module = make_cupy()
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


def without_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.delitem(sys.modules, "cupy")

    def missing(name: str) -> None:
        raise ModuleNotFoundError(name=name.partition(".")[0])

    monkeypatch.setattr(backends, "import_module", missing)


def test_missing_cupy_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    without_backends(monkeypatch)
    with pytest.raises(BackendError, match="cupy-cuda13x"):
        backends.cupy()


def test_missing_numba_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    without_backends(monkeypatch)
    backends.numba_cuda.cache_clear()
    for load in (backends.numba, backends.numba_cuda):
        with pytest.raises(BackendError, match=r"Numba is not installed.*pip install 'numba-cuda\[cu13\]'"):
            load()


def test_has_gpu_never_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    without_backends(monkeypatch)
    assert backends.has_gpu() is False
    monkeypatch.setitem(sys.modules, "cupy", make_cupy(error=RuntimeError("cudaErrorNoDevice")))
    assert backends.has_gpu() is False
    monkeypatch.setitem(sys.modules, "cupy", make_cupy())
    assert backends.has_gpu() is True


def test_the_simulator_is_no_gpu(monkeypatch: pytest.MonkeyPatch, fake_cupy: Any) -> None:
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    assert backends.has_gpu() is False


@pytest.mark.parametrize(("value", "expected"), [("1", True), ("0", False), ("", False)])
def test_simulated_reads_the_variable(monkeypatch: pytest.MonkeyPatch, value: str, expected: bool) -> None:
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", value)
    assert backends.simulated() is expected


def test_numba_view_does_not_synchronise(monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit test of the one argument that matters; the marked test below counts on the hardware."""
    calls = []
    numba_cuda = SimpleNamespace(as_cuda_array=lambda x, sync: calls.append((x, sync)) or "view")
    monkeypatch.setattr(backends, "numba_cuda", lambda: numba_cuda)
    x = FakeArray()
    assert backends.numba_view(x) == "view"
    assert calls == [(x, False)]


def test_numba_view_leaves_numba_arrays_alone() -> None:
    x = SimpleNamespace(__cuda_ndarray__=True)
    assert backends.numba_view(x) is x


def test_numba_view_rejects_host_memory() -> None:
    with pytest.raises(ArgumentError, match=r"got numpy\.ndarray\. Copy it first: cupy\.asarray"):
        backends.numba_view(np.zeros(3))


def test_numba_view_takes_numpy_in_the_simulator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    x = np.zeros(3)
    assert backends.numba_view(x) is x
    with pytest.raises(ArgumentError):
        backends.numba_view([1, 2])


def test_device_arrays_are_told_from_host_arrays(fake_cupy: Any) -> None:
    assert backends.is_device_array(FakeArray())
    assert backends.is_device_array(SimpleNamespace(__cuda_ndarray__=True))
    assert not backends.is_device_array(np.zeros(3))
    assert backends.array_module(FakeArray()) is fake_cupy
    assert backends.array_module(np.zeros(3)) is np


def test_the_same_stream_is_the_same_object(monkeypatch: pytest.MonkeyPatch, fake_cupy: Any) -> None:
    """Numba looks launch configurations up by the identity of the stream."""
    numba_cuda = SimpleNamespace(external_stream=lambda pointer: SimpleNamespace(handle=pointer))
    monkeypatch.setattr(backends, "numba_cuda", lambda: numba_cuda)
    backends._external_stream.cache_clear()
    stream = backends.current_stream()
    assert stream.handle == fake_cupy.cuda.get_current_stream().ptr
    assert backends.current_stream() is stream
    backends._external_stream.cache_clear()


@cuda.jit
def nothing_kernel(x):  # type: ignore[no-untyped-def]
    pass


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch, fake_cupy: Any) -> Callable[..., Any]:
    """Which stream Numba would launch into: nothing but the driver is made up."""
    from numba.cuda import dispatcher

    monkeypatch.setattr(dispatcher.driver, "_to_core_stream", lambda stream: stream)
    monkeypatch.setattr(backends, "_external_stream", lambda pointer: f"CuPy's {pointer}")
    return lambda *shape: nothing_kernel[shape].stream


@not_simulated
def test_a_plain_launch_follows_cupy_s_current_stream(streams: Callable[..., Any]) -> None:
    """The contract with numba-cuda: kernel[...] asks CUDADispatcher.__getitem__, and hands on a stream."""
    assert streams(1, 32) == 0
    with backends.launches_follow_cupy():
        assert streams(1, 32) == "CuPy's 142309792"
        with backends.launches_follow_cupy():
            assert streams((2, 2), (8, 8)) == "CuPy's 142309792"
        assert streams(1, 33) == "CuPy's 142309792"
    assert streams(1, 32) == 0


@not_simulated
def test_a_launch_that_names_a_stream_is_left_alone(streams: Callable[..., Any]) -> None:
    """Numba's ufuncs launch so: their copies go to the same stream."""
    with backends.launches_follow_cupy():
        assert (streams(1, 32, 0), streams(1, 32, 0, 64), streams(1, 32, "mine")) == (0, 0, "mine")


@not_simulated
def test_launches_are_plain_again_after_an_error(streams: Callable[..., Any]) -> None:
    with pytest.raises(KeyError), backends.launches_follow_cupy():
        raise KeyError
    assert streams(1, 32) == 0


def test_the_simulator_knows_no_streams(simulator_python: Callable[..., str]) -> None:
    snippet = """
import numpy as np
from numba import cuda
from gpuguide.machine import backends
@cuda.jit
def add_one_kernel(x):
    x[cuda.grid(1)] += 1
x = np.zeros(2)
with backends.launches_follow_cupy():
    add_one_kernel[1, 2](x)
print(x.tolist())
"""
    assert simulator_python(snippet) == "[1.0, 1.0]\n"


def test_small_grids_are_launched_without_a_word(fresh_python: Callable[..., str]) -> None:
    """Whichever comes first, this package or Numba; and who asks for the warning gets it."""
    snippet = """
for name in {order}:
    __import__(name)
from gpuguide.machine import backends
backends.numba_cuda()
from numba.core import config
print(config.CUDA_LOW_OCCUPANCY_WARNINGS)
"""
    for order in (["gpuguide.machine.backends", "numba.cuda"], ["numba.cuda", "gpuguide.machine.backends"]):
        assert fresh_python(snippet.format(order=order)) == "0\n"
        asked = fresh_python(snippet.format(order=order), NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS="1")
        assert asked == "1\n"


SOURCE = 'extern "C" __global__ void scale(float* x) {}'


def test_a_raw_kernel_needs_no_cupy_until_it_is_launched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without_backends(monkeypatch)
    kernel = backends.raw_kernel(SOURCE, "scale", ("--use_fast_math",))
    assert (kernel.source, kernel.name, kernel.options) == (SOURCE, "scale", ("--use_fast_math",))
    with pytest.raises(BackendError):
        kernel((1,), (1,), ())


def test_a_raw_kernel_is_compiled_once_and_launched(fake_cupy: Any) -> None:
    kernel = backends.raw_kernel(SOURCE, "scale")
    compiled = kernel.compiled
    kernel((4,), (256,), ["x", 7])
    assert kernel.compiled is compiled
    assert fake_cupy.launches == [("scale", (4,), (256,), ("x", 7), 0, 49_152)]
    assert kernel.constant("weights", (3,), "float32").memptr == "pointer to weights"


def test_a_raw_kernel_asks_for_much_shared_memory(fake_cupy: Any) -> None:
    backends.raw_kernel(SOURCE, "scale")((1,), (32,), (), shared_bytes=100_000)
    assert fake_cupy.launches[0][-2:] == (100_000, 100_000)


def test_a_raw_kernel_must_be_in_its_source() -> None:
    with pytest.raises(ArgumentError, match="must define the kernel 'shift'"):
        backends.raw_kernel(SOURCE, "shift")
    with pytest.raises(ArgumentError, match="strings in a tuple"):
        backends.raw_kernel(SOURCE, "scale", "--use_fast_math")


def test_backends_has_no_other_lazy_names() -> None:
    with pytest.raises(AttributeError, match="cupyx"):
        _ = backends.cupyx


@pytest.mark.parametrize(
    ("numpy_version", "numba_cuda_version", "expected"),
    [("2.5.0", "0.30.4", True), ("2.4.6", "0.30.4", False), ("2.5.0", "0.31.0", False), ("3.0", None, False)],
)
def test_numpy_2_5_is_too_new_for_numba_cuda_0_30(
    monkeypatch: pytest.MonkeyPatch, numpy_version: str, numba_cuda_version: str | None, expected: bool
) -> None:
    def version(name: str) -> str:
        found = {"numpy": numpy_version, "numba-cuda": numba_cuda_version}[name]
        if found is None:
            raise metadata.PackageNotFoundError(name)
        return found

    monkeypatch.setattr(metadata, "version", version)
    assert backends.numpy_too_new() is expected
    if expected:
        backends.numba_cuda.cache_clear()
        with pytest.raises(BackendError, match=r"cannot compile kernels with NumPy 2\.5\.0: run pip install"):
            backends.numba_cuda()


def test_a_backend_that_does_not_import_points_to_the_doctor(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise OSError("libnvrtc.so.13: cannot open shared object file")

    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.setattr(backends, "import_module", broken)
    with pytest.raises(BackendError, match=r"CuPy cannot be imported \(OSError: libnvrtc.*gpuguide doctor"):
        backends.cupy()


def test_numba_cuda_is_imported_without_a_word(fresh_python: Callable[..., str]) -> None:
    snippet = """
from gpuguide.machine.backends import cuda, jit
@jit(launch_bounds=256, max_registers=32)
def kernel(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1
print(cuda.__name__, kernel.__name__)
"""
    assert fresh_python(snippet) == "numba.cuda kernel\n"


def test_kernels_run_in_the_simulator(simulator_python: Callable[..., str]) -> None:
    """Options that the simulator lacks are dropped; launches read as on the hardware."""
    snippet = """
import numpy as np
from gpuguide.machine.backends import cuda, current_stream, jit, numba_view
@jit(device=True, forceinline=True)
def one(x):
    return x + 1
@jit(launch_bounds=64, max_registers=32, lto=True, lineinfo=True, fastmath=True)
def kernel(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = one(x[i])
@jit(signature="void(float32[::1])")
def typed(x):
    x[0] = 7
x = np.zeros(100, dtype="float32")
kernel[2, 64, current_stream()](numba_view(x))
typed[1, 1](x)
print(x.sum(), x[0])
"""
    assert simulator_python(snippet) == "106.0 7.0\n"


@pytest.mark.gpu
def test_a_view_and_a_launch_with_it_never_wait_for_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts Numba's synchronisations; the plain ``as_cuda_array`` shows that the counter counts."""
    import cupy as cp
    from numba.cuda.cudadrv.driver import driver

    waits = []
    synchronize = driver.cuStreamSynchronize
    monkeypatch.setattr(driver, "cuStreamSynchronize", lambda s: (waits.append(s), synchronize(s))[1])

    @backends.jit
    def copy_kernel(x: Any, out: Any) -> None:
        i = backends.cuda.grid(1)
        if i < x.size:
            out[i] = x[i]

    with cp.cuda.Stream(non_blocking=True) as stream:
        x = cp.arange(1000, dtype=cp.float32)
        out = cp.zeros_like(x)
        for _ in range(3):
            views = backends.numba_view(x), backends.numba_view(out)
            copy_kernel[4, 256, backends.current_stream()](*views)
        assert not waits
        backends.cuda.as_cuda_array(x)
        assert len(waits) == 1
        stream.synchronize()
        assert bool((x == out).all())


@pytest.mark.gpu
def test_a_raw_kernel_runs_with_constants_and_much_shared_memory() -> None:
    import cupy as cp

    source = """
    __constant__ float weights[2];
    extern "C" __global__ void weigh(float* x, int n) {
        extern __shared__ float tile[];
        tile[threadIdx.x] = x[threadIdx.x] * weights[1];
        __syncthreads();
        if (threadIdx.x < n) x[threadIdx.x] = tile[n - 1 - threadIdx.x];
    }"""
    kernel = backends.raw_kernel(source, "weigh")
    kernel.constant("weights", (2,), cp.float32)[...] = cp.asarray([0, 3], dtype=cp.float32)
    x = cp.arange(4, dtype=cp.float32)
    kernel((1,), (4,), (x, np.int32(4)), shared_bytes=100_000)
    assert x.tolist() == [9, 6, 3, 0]
    assert kernel.compiled.num_regs > 0
