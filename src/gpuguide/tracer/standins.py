"""What a host sees under the names of Numba and CuPy: a reader's file is executed with these in place."""

from __future__ import annotations

import builtins
import itertools
import linecache
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from gpuguide.errors import UnsupportedError
from gpuguide.tracer.memory import array, empty
from gpuguide.tracer.names import CUDA, Names, numpy_or_none
from gpuguide.tracer.numbers import DTYPES
from gpuguide.tracer.source import NUMBA, Program

__all__ = ["Configured", "Kernel", "Loaded", "host_modules", "load"]

_numbers = itertools.count(1)
Launched = Callable[["Configured", Sequence[Any]], Any]


class Kernel:
    """What ``@cuda.jit`` makes of a function: it is launched with ``kernel[blocks, threads](...)``."""

    def __init__(self, function: Callable[..., Any], launched: Launched) -> None:
        self.py_func, self.launched = function, launched
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self.__module__ = function.__module__

    def __getitem__(self, configuration: Sequence[Any]) -> Configured:
        blocks, threads, *others = configuration
        return Configured(self, blocks, threads, int(others[1]) if len(others) > 1 else 0)

    def configure(self, *configuration: Any) -> Configured:
        """Configure a launch."""
        return self[configuration]

    def forall(self, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> Configured:
        """Configure a launch of so many threads."""
        threads = tpb or 128
        return Configured(self, -(-ntasks // threads), threads, sharedmem)

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Refuse a call without blocks and threads, as Numba does."""
        name = self.__name__
        raise ValueError(f"a launch of {name} needs blocks and threads: {name}[blocks, threads](...)")


class Configured:
    """A kernel with its blocks and threads."""

    def __init__(self, kernel: Kernel, blocks: Any, threads: Any, shared_bytes: int = 0) -> None:
        self.kernel, self.griddim, self.blockdim, self.sharedmem = kernel, blocks, threads, shared_bytes

    def __call__(self, *arguments: Any) -> Any:
        """Launch it."""
        return self.kernel.launched(self, arguments)


class Loaded(SimpleNamespace):
    """The names of a file that was executed, as attributes; `functions` are those that it defines."""

    functions: Mapping[str, Any]


def load(source: str, filename: str = "", *, launched: Launched | None = None) -> Loaded:
    r"""Execute the text of a file with stand-ins for Numba, CuPy and NumPy in place."""
    filename = filename or f"<answer {next(_numbers)}>"
    code = compile(source, filename, "exec")
    linecache.cache[filename] = len(source), None, source.splitlines(keepends=True), filename
    modules = host_modules(launched or (lambda configured, arguments: None))

    def imported(name: str, space: Any = None, local: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        module = modules.get(name)
        if module is None:
            return builtins.__import__(name, space, local, fromlist, level)
        return module if fromlist else modules[name.partition(".")[0]]

    space: dict[str, Any] = {"__name__": "answer", "__file__": filename}
    space["__builtins__"] = {**vars(builtins), "__import__": imported}
    exec(code, space)  # a reader's own file, which Python would execute, too
    names = {name: value for name, value in space.items() if not name.startswith("__")}
    return Loaded(functions={name: value for name, value in names.items() if _is_own(value)}, **names)


def _is_own(value: Any) -> bool:
    function = getattr(value, "py_func", value)
    return callable(function) and getattr(function, "__module__", "") == "answer"


# --- numba.cuda for a host ---------------------------------------------------------------------------------


class HostCuda(Names):
    """`numba.cuda` for a host: decorators, copies, and the names of a kernel."""

    def __init__(self, launched: Launched) -> None:
        super().__init__("numba.cuda")
        self._launched = launched

    def __getattr__(self, name: str) -> Any:
        return getattr(CUDA, name)

    def jit(self, *given: Any, **_: Any) -> Any:
        """Make a kernel, or a function for kernels; signatures and options change nothing here."""
        if len(given) == 1 and hasattr(given[0], "__code__"):
            return Kernel(given[0], self._launched)
        return lambda function: Kernel(function, self._launched)

    def is_available(self) -> bool:
        """Say that kernels can be launched."""
        return True

    def to_device(self, values: Any, *_: Any, **__: Any) -> Any:
        """Return a copy of an array."""
        return _on_device(values.copy() if hasattr(values, "copy") else values)

    def device_array(self, shape: Any, dtype: Any = "float64", **_: Any) -> Any:
        """Return a new array."""
        return _on_device(
            numpy_or_none().empty(shape, str(dtype)) if numpy_or_none() else empty(shape, dtype)
        )

    pinned_array = mapped_array = managed_array = device_array

    def device_array_like(self, values: Any, **_: Any) -> Any:
        """Return a new array like another one."""
        return self.device_array(values.shape, values.dtype)

    pinned_array_like = device_array_like

    def as_cuda_array(self, values: Any, **_: Any) -> Any:
        """Return the array itself."""
        return values

    def synchronize(self) -> None:
        """Wait for a GPU, which is not there."""

    def stream(self) -> Any:
        """Return a stream, in which nothing is queued."""
        return Quiet()

    event = default_stream = stream

    def get_current_device(self) -> Any:
        """Return what scripts ask of a GPU."""
        return SimpleNamespace(
            name=b"gpuguide's tracer", compute_capability=(9, 0), MULTIPROCESSOR_COUNT=132, WARP_SIZE=32,
            MAX_THREADS_PER_BLOCK=1024, MAX_SHARED_MEMORY_PER_BLOCK=48 * 1024,
        )  # fmt: skip


class Quiet:
    """A stream or an event: its methods do nothing, as launches run at once."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: 0.0

    def __enter__(self) -> Quiet:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the stream."""


def _on_device(values: Any) -> Any:
    numpy = numpy_or_none()
    return values if numpy is None else numpy.asarray(values).view(_array_class(numpy))


_classes: dict[str, Any] = {}


def _array_class(numpy: Any) -> Any:
    """Return the class of arrays on the GPU: NumPy's own, with the copies of CuPy and Numba."""
    if not _classes:

        def get(self: Any, *_: Any, out: Any = None, **__: Any) -> Any:
            host = numpy.array(self, subok=False)
            if out is None:
                return host
            out[...] = host
            return out

        def put(self: Any, values: Any, *_: Any) -> None:
            self[...] = values

        def copy_to_host(self: Any, ary: Any = None, *_: Any, **__: Any) -> Any:
            return get(self, out=ary)

        names = {
            "get": get,
            "set": put,
            "copy_to_host": copy_to_host,
            "copy_to_device": put,
            "device": Quiet(),
        }
        _classes["ndarray"] = type("ndarray", (numpy.ndarray,), {**names, "__module__": "cupy"})
    return _classes["ndarray"]


# --- CuPy --------------------------------------------------------------------------------------------------

_NOT_KNOWN = ("RawKernel", "RawModule", "ElementwiseKernel", "ReductionKernel", "fuse", "cublas", "cusparse")


class HostCupy(Names):
    """`cupy`: functions of NumPy, whose results are arrays on the GPU; without NumPy it only makes arrays."""

    def __init__(self) -> None:
        super().__init__("cupy")
        pool = Names("cupy.cuda.MemoryPool", free_all_blocks=lambda: None, used_bytes=lambda: 0)
        stream = type("Stream", (Quiet,), {"null": Quiet(), "__init__": lambda self, *_, **__: None})
        self.cuda = Names(
            "cupy.cuda", Stream=stream, Event=stream, Device=stream, get_current_stream=Quiet,
            get_elapsed_time=lambda first, second: 0.0,
            runtime=Names("cupy.cuda.runtime", getDeviceCount=lambda: 1, deviceSynchronize=lambda: None),
        )  # fmt: skip
        self.get_default_memory_pool = lambda: pool

    def __getattr__(self, name: str) -> Any:
        numpy = numpy_or_none()
        if name.startswith("__") or name in _NOT_KNOWN:
            raise UnsupportedError(f"cupy.{name} is not known to the tracer.")
        if name == "ndarray" and numpy is not None:
            return _array_class(numpy)
        if numpy is None:
            return getattr(Program().numpy, name)
        value = getattr(numpy, name, None)
        if value is None:
            raise UnsupportedError(f"cupy.{name} is not known to the tracer.")
        if not callable(value) or isinstance(value, type):
            return value

        def apply(*arguments: Any, **named: Any) -> Any:
            return _results(value(*arguments, **named), numpy)

        return apply

    def asarray(self, values: Any, dtype: Any = None, **_: Any) -> Any:
        """Copy an array to the GPU."""
        numpy = numpy_or_none()
        if numpy is None:
            return array(values, dtype or "float64")
        on_device = isinstance(values, _array_class(numpy))
        return _on_device(numpy.asarray(values, dtype) if on_device else numpy.array(values, dtype))

    array = asanyarray = asarray

    def asnumpy(self, values: Any, **_: Any) -> Any:
        """Copy an array back."""
        return values.get() if hasattr(values, "get") else values

    def get_array_module(self, *_: Any) -> Any:
        """Return this module."""
        return self


def _results(result: Any, numpy: Any) -> Any:
    if isinstance(result, tuple | list):
        return type(result)(_results(each, numpy) for each in result)
    return _on_device(result) if isinstance(result, numpy.ndarray | numpy.generic) else result


# --- Modules -----------------------------------------------------------------------------------------------


def _vectorize(*given: Any, **_: Any) -> Any:
    """Apply a function to each element, as `numba.vectorize` does."""

    def apply(function: Any) -> Any:
        def each(*arguments: Any) -> Any:
            numpy = numpy_or_none()
            if numpy is None:
                raise UnsupportedError("numba.vectorize is not known to the tracer without NumPy.")
            return numpy.vectorize(function)(*arguments)

        return each

    return apply(given[0]) if len(given) == 1 and hasattr(given[0], "__code__") else apply


def _as_it_is(*given: Any, **_: Any) -> Any:
    """Return a function as it is, as for `numba.njit`."""
    return given[0] if len(given) == 1 and hasattr(given[0], "__code__") else lambda function: function


def host_modules(launched: Launched) -> dict[str, Any]:
    """Return the stand-ins by the names under which they are imported."""
    cuda, types = HostCuda(launched), Names("numba.types", **DTYPES)
    numba = Names(
        "numba",
        cuda=cuda,
        types=types,
        vectorize=_vectorize,
        jit=_as_it_is,
        njit=_as_it_is,
        prange=range,
        **DTYPES,
    )
    cupy = HostCupy()
    modules: dict[str, Any] = {"numpy": Program().numpy, "cupy": cupy, "cupy.cuda": cupy.cuda}
    for name in NUMBA:
        modules |= {name: numba, f"{name}.cuda": cuda, f"{name}.types": types}
    return modules
