"""An operation for both sides, as SciPy and CuPy offer it: a blur into an array that exists already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuguide.exercises.stand_ins.fake_cupy import DeviceArray, FakeCupy
from gpuguide.exercises.stand_ins.host_memory import HostMemory
from gpuguide.exercises.stand_ins.virtual_gpu import Event

__all__ = ["ON_DEVICE", "ON_HOST", "BlurCall", "VirtualBlur", "blurred"]

ON_HOST, ON_DEVICE = "blur on the CPU", "blur on the GPU"
"""How the names of its events begin."""


@dataclass(frozen=True)
class BlurCall:
    """One call of a blur.

    Attributes
    ----------
    event : Event
        In the log of the machine.
    source_dtype, out_dtype : numpy dtype
        Of what it read and wrote.
    size : int
        How many elements it blurred.
    is_of_image : bool
        Whether its source held the image.
    n_fetched : int
        How many copies had come from the GPU before.
    """

    event: Event
    source_dtype: np.dtype[Any]
    out_dtype: np.dtype[Any]
    size: int
    is_of_image: bool
    n_fetched: int


def blurred(contents: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return what a blur makes of an array.

    >>> blurred(np.array([3.0, 0.0, 0.0, 0.0]))
    array([1., 1., 0., 1.])
    """
    near: np.ndarray[Any, Any] = np.roll(contents, 1, -1) + contents + np.roll(contents, -1, -1)
    return (near / 3).astype(contents.dtype)


class VirtualBlur:
    """A blur that runs where its arrays are: called as ``blur(source, out)``, it writes into `out`.

    Its first call on the host takes longer, as that of a library that starts its threads does. Time grows
    with the bytes that are read and written.

    Attributes
    ----------
    dtype : numpy dtype
        As given.
    calls : list of BlurCall
        In order.

    >>> cp = FakeCupy()
    >>> blur = VirtualBlur(cp, np.dtype(float), host_rate=1, device_rate=100, set_up_ns=0)
    >>> out = np.ones(4)
    >>> blur(np.array([3.0, 0.0, 0.0, 0.0]), out)
    >>> out
    array([1., 1., 0., 1.])
    >>> blur.calls[0].event.name
    'blur on the CPU, float64'
    """

    __name__ = "blur"

    def __init__(
        self,
        cp: FakeCupy,
        dtype: np.dtype[Any],
        host_rate: float,
        device_rate: float,
        set_up_ns: int,
        image: np.ndarray[Any, Any] | None = None,
    ) -> None:
        self.dtype, self.calls, self._image = dtype, list[BlurCall](), image
        self._cp, self._memory = cp, HostMemory(cp.gpu)
        self._host_rate, self._device_rate, self._set_up_ns = host_rate, device_rate, set_up_ns

    def __call__(self, source: Any, out: Any) -> None:
        """Blur `source` into `out`, both on one side and of one shape."""
        if source.shape != out.shape:
            raise RuntimeError(f"output shape not correct: {source.shape} expected, got {out.shape}")
        if isinstance(source, DeviceArray) != isinstance(out, DeviceArray):
            raise TypeError(f"Unsupported type {np.ndarray}")
        on_device = isinstance(source, DeviceArray)
        event = self._on_device(source, out) if on_device else self._on_host(source, out)
        contents, destination = (source._data, out._data) if on_device else map(np.asarray, (source, out))
        is_of_image = self._image is not None and np.array_equal(contents, self._image)
        n_fetched = len(self._cp.fetched)
        self.calls.append(BlurCall(event, source.dtype, out.dtype, source.size, is_of_image, n_fetched))
        destination.view(np.ndarray)[...] = blurred(contents)

    def _on_device(self, source: DeviceArray, out: DeviceArray) -> Event:
        name = f"{ON_DEVICE}, {source._data.dtype}"
        return self._cp.gpu.launch(name, busy_ns=(source._data.nbytes + out._data.nbytes) / self._device_rate)

    def _on_host(self, source: Any, out: Any) -> Event:
        if self._memory.is_untouched(out):
            self._memory.touch(out)
        is_first = all(not call.event.name.startswith(ON_HOST) for call in self.calls)
        busy = (source.nbytes + out.nbytes) / self._host_rate + is_first * self._set_up_ns
        return self._cp.gpu.host(f"{ON_HOST}, {source.dtype}", busy)
