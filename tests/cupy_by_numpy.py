"""NumPy under CuPy's name: arrays for kernels that run in Numba's simulator."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from fake_cupy import ATTRIBUTES as H200

#: Of a GPU so small that the simulator fills it; what is not here is that of an H200.
ATTRIBUTES = {**H200, "MultiProcessorCount": 2}

__all__ = ["asarray", "asnumpy", "cuda", "ndarray", "random"]


class ndarray(np.ndarray):
    """An array that has what CuPy's arrays have besides."""

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
    if isinstance(value, np.ndarray):
        return value.view(ndarray)
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
random = SimpleNamespace(
    random=_random,
    rand=lambda *shape, dtype=float: _random(shape, dtype),
    randint=lambda *args, **options: _ours(_NUMBERS.integers(*args, **options)),
    standard_normal=lambda size=None, dtype=float: _ours(_NUMBERS.standard_normal(size, np.dtype(dtype))),
    permutation=lambda values: _ours(_NUMBERS.permutation(values)),
    seed=lambda seed=None: None,
    default_rng=lambda seed=None: SimpleNamespace(random=_random),
)
cupyx = SimpleNamespace(empty_pinned=np.empty)


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
cuda = SimpleNamespace(
    Device=lambda *_: SimpleNamespace(
        synchronize=lambda: None, attributes=ATTRIBUTES, mem_info=(10**11, 150_109_880_320)
    ),
    Stream=_Stream,
    get_allocator=lambda: None,
    set_allocator=lambda allocator: None,
    get_current_stream=_Stream,
    runtime=SimpleNamespace(
        hostRegister=lambda pointer, size, flags: None, hostUnregister=lambda pointer: None
    ),
)


def __getattr__(name: str) -> Any:
    found = getattr(np, name)
    return found if isinstance(found, type) or not callable(found) else _wrapped(found)
