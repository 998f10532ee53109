"""NumPy under CuPy's name: arrays for kernels that run in Numba's simulator.

A page that is previewed finds it in the place of CuPy; so do tests.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from gpuguide.errors import unknown

__all__ = ["NeedsGpuError", "asarray", "asnumpy", "cuda", "cupyx", "ndarray", "random"]

#: Of an H200, but with so few multiprocessors that the simulator fills them.
ATTRIBUTES = {
    "ClockRate": 1_980_000,
    "EccEnabled": 1,
    "GlobalMemoryBusWidth": 6016,
    "L2CacheSize": 62_914_560,
    "MaxBlocksPerMultiprocessor": 32,
    "MaxRegistersPerMultiprocessor": 65_536,
    "MaxSharedMemoryPerBlockOptin": 232_448,
    "MaxSharedMemoryPerMultiprocessor": 233_472,
    "MaxThreadsPerBlock": 1024,
    "MaxThreadsPerMultiProcessor": 2048,
    "MemoryClockRate": 3_201_000,
    "MultiProcessorCount": 2,
    "WarpSize": 32,
}


class NeedsGpuError(Exception):
    """A part of CuPy for which NumPy has nothing; the message is its name."""


class _Part(SimpleNamespace):
    """A module of CuPy; what it lacks needs a GPU."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # Python asks modules for more than they have
            raise AttributeError(name)
        raise NeedsGpuError(f"{vars(self)['__name__']}.{name}")


class ndarray(np.ndarray):  # noqa: N801 (as CuPy names it)
    """An array that has what CuPy's arrays have besides."""

    def __array_function__(self, *call: Any) -> Any:
        """Make one of what a function of NumPy returns."""
        return _ours(super().__array_function__(*call))

    def __array_wrap__(self, array: np.ndarray, context: Any = None, return_scalar: bool = False) -> Any:
        """Keep a sum an array without dimensions."""
        return array.view(type(self))

    @property
    def device(self) -> _Device:  # type: ignore[override]
        """The one GPU."""
        return _Device()

    def get(
        self, stream: Any = None, order: str = "C", out: np.ndarray | None = None, blocking: bool = True
    ) -> np.ndarray:
        """Return a copy on the host, in an array that is there already if one is given."""
        if out is None:
            return np.array(self)
        out[...] = self
        return out

    def set(self, values: np.ndarray, stream: Any = None) -> None:
        """Copy from the host."""
        self[...] = values


def _ours(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value).view(ndarray)
    return tuple(map(_ours, value)) if isinstance(value, tuple) else value


def _wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **options: _ours(function(*args, **options))


def asarray(values: Any, dtype: Any = None) -> ndarray:
    """Return a copy, as a transfer to the GPU makes one."""
    return np.array(values, dtype).view(ndarray)


def asnumpy(values: Any) -> np.ndarray:
    """Return a copy on the host."""
    return np.array(values)


def _random(size: Any = None, dtype: Any = float) -> Any:
    return _ours(_NUMBERS.random(size, dtype=np.dtype(dtype)))


_NUMBERS = np.random.default_rng(0)
random = _Part(
    __name__="cupy.random",
    random=_random,
    rand=lambda *shape, dtype=float: _random(shape, dtype),
    randint=lambda *args, **options: _ours(_NUMBERS.integers(*args, **options)),
    standard_normal=lambda size=None, dtype=float: _ours(_NUMBERS.standard_normal(size, np.dtype(dtype))),
    permutation=lambda values: _ours(_NUMBERS.permutation(values)),
    seed=lambda seed=None: None,
    default_rng=lambda seed=None: SimpleNamespace(random=_random),
)
cupyx = _Part(__name__="cupyx", empty_pinned=np.empty)


class _Device:
    """The one GPU, which is always the current one."""

    id = 0
    attributes = ATTRIBUTES
    mem_info = (10**11, 150_109_880_320)

    def __init__(self, number: int = 0) -> None:
        pass

    def __enter__(self) -> _Device:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def synchronize(self) -> None:
        """Wait for nothing."""


class _Stream:
    """A stream whose work is done at once."""

    null: Any

    def __init__(self, **options: Any) -> None:
        self.ptr = id(self)

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def synchronize(self) -> None:
        """Wait for nothing."""

    def record(self) -> None:
        """Give no event."""

    def wait_event(self, event: None) -> None:
        """Wait for nothing."""


_Stream.null = _Stream()
cuda = _Part(
    __name__="cupy.cuda",
    Device=_Device,
    Stream=_Stream,
    get_allocator=lambda: None,
    set_allocator=lambda allocator: None,
    get_current_stream=_Stream,
    runtime=_Part(
        __name__="cupy.cuda.runtime",
        getDeviceCount=lambda: 1,
        hostRegister=lambda pointer, size, flags: None,
        hostUnregister=lambda pointer: None,
    ),
)


_CODE = ("ElementwiseKernel", "RawKernel", "RawModule", "ReductionKernel", "fuse")
_POOLS = ("get_default_memory_pool", "get_default_pinned_memory_pool")


def __getattr__(name: str) -> Any:
    if name in (*_CODE, *_POOLS, "_core"):
        raise NeedsGpuError(f"cupy.{name}")
    if not hasattr(np, name):
        raise AttributeError(str(unknown("name of CuPy, or of what stands in for it:", name, dir(np))))
    found = getattr(np, name)
    return found if isinstance(found, type) or not callable(found) else _wrapped(found)
