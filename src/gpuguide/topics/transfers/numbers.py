"""Numbers to copy, the same in every memory, and long arrays of them that all studies share."""

import re
import sys
from pathlib import Path

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import array_module, has_gpu, is_device_array
from gpuguide.machine.cpu import assign, in_threads
from gpuguide.measure import cp
from gpuguide.measure.buffers import blocks, first_difference

# A thread's share, small enough for its cache: larger ones would ask the system for new memory each time.
CHUNK = 1 << 17
DEVICE_CHUNK = 1 << 24
_PAGE = 4096
# 2^64 divided by the golden ratio: the two upper bits of its multiples are spread evenly.
_MULTIPLIER, _SHIFT = np.array([0x9E3779B97F4A7C15], np.uint64), 62
_POWERS = (0.5, 1.0, 1.0, 2.0)
INPUT_NOTE = (
    "one half, one or two at each place, so that every element and every product is exact"
)


def alone(n, dtype, rng, exact):
    """Hand on the size alone: the arrays are these here, since to copy 8.6 GB again takes seconds."""
    return (n,)


def which(xp, start, stop):
    """Return for each index from `start` to below `stop` which of four numbers stands there."""
    index = xp.arange(start, stop, dtype=np.uint64)
    index *= xp.asarray(_MULTIPLIER)  # wraps around
    index >>= np.uint64(_SHIFT)
    return index.view(np.int64)


def numbers(xp, start, stop):
    """Return the numbers from one index to below another: one half, one or two."""
    return xp.asarray(_POWERS)[which(xp, start, stop)]


class NumbersCheck:
    """Every element is the number that belongs to its index."""

    def prepare(self, inputs):
        """Return how many numbers there are: the input is the number of their bytes."""
        return int(inputs[0]) // 8

    def compare(self, output, n):
        """Compute the numbers again where the output lies, and compare them bit for bit."""
        if output.shape != (n,):
            raise MismatchError(f"The copy should have shape {(n,)}; it has {output.shape}.")
        xp = array_module(output)

        def one(part):
            at = first_difference(output[part], numbers(xp, part.start, part.stop))
            return None if at is None else int(part.start) + at

        # A thread has a CuPy stream of its own, so only NumPy's arrays are compared in threads.
        if is_device_array(output):
            found = [one(part) for part in blocks(n, DEVICE_CHUNK)]
        else:
            found = in_threads(one, blocks(n, CHUNK), output.nbytes)
        wrong = next((at for at in found if at is not None), None)
        if wrong is not None:
            expected, got = numbers(np, wrong, wrong + 1)[0], output[wrong].item()
            raise MismatchError(
                f"The element at {wrong:,} is wrong: expected {expected}, got {got}."
            )
        return 0.0, 0.0


class Held:
    """An array of the numbers in one kind of memory, as long as any that was asked for so far."""

    def __init__(self, make, undo=lambda x: None):
        self._make, self._undo = make, undo
        self._array = None
        self._parts = {}

    def __call__(self, n):
        """Return the first `n` numbers: a view of the shared array, made once."""
        part = self._parts.get(n)
        if part is None:
            if self._array is None or self._array.size < n:
                self.release()  # before the longer one is made
                self._array = self._make(n)
            part = self._parts[n] = self._array[:n]
        return part

    def release(self):
        """Let go of the array."""
        self._parts.clear()
        if self._array is not None:
            self._undo(self._array)
            self._array = None


def _whole_pages(n):
    # A page can be registered only once, so none may hold parts of two arrays.
    n_bytes = -(-8 * n // _PAGE) * _PAGE
    raw = np.empty(n_bytes + _PAGE, np.uint8)
    start = -raw.ctypes.data % _PAGE
    return raw[start : start + 8 * n].view(np.float64)


@Held
def pageable(n):
    """Fill ordinary memory of NumPy's."""
    available = available_bytes()
    # A pinned copy and the results come on top.
    if 8 * n > available // 4:
        raise MemoryError(
            f"{8 * n:,} bytes are more than a quarter of the {available:,} that the host has left"
        )
    x = _whole_pages(n)

    def fill(part):
        x[part] = numbers(np, part.start, part.stop)

    in_threads(fill, blocks(n, CHUNK), x.nbytes)
    return x


@Held
def pinned(n):
    """Copy them into memory that was pinned when it was made."""
    x = np.frombuffer(cp.cuda.alloc_pinned_memory(8 * n), np.float64, n)
    assign(x, pageable(n))
    return x


def _registered(n):
    x = _whole_pages(n)
    assign(x, pageable(n))
    cp.cuda.runtime.hostRegister(x.ctypes.data, x.nbytes, 0)
    return x


registered = Held(_registered, lambda x: cp.cuda.runtime.hostUnregister(x.ctypes.data))


@Held
def mapped(n):
    """Let CuPy's functions see the pinned ones."""
    return device_view(pinned(n))


@Held
def on_gpu(n):
    """Make them in the GPU's own memory."""
    x = cp.empty(n)
    for part in blocks(n, DEVICE_CHUNK):
        x[part] = numbers(cp, part.start, part.stop)
    cp.cuda.get_current_stream().synchronize()  # the copies may run in another stream
    return x


def available_bytes():
    """Return how many bytes of the host's memory are free or can be freed; where that is unknown, many."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return sys.maxsize
    found = re.search(r"MemAvailable:\s+(\d+) kB", text)
    return 1024 * int(found[1]) if found else sys.maxsize


def most_bytes(wanted):
    """Return the bytes that are wanted, halved until 2.5 times as many are free on the GPU."""
    free = int(cp.cuda.Device().mem_info[0]) if has_gpu() else sys.maxsize
    while wanted > 8 and 5 * wanted > 2 * free:
        wanted //= 2
    return wanted


def device_view(x_pinned):
    """Return a CuPy array over an array in pinned memory: kernels read and write it through PCIe."""
    memory = cp.cuda.UnownedMemory(x_pinned.ctypes.data, x_pinned.nbytes, x_pinned)
    return cp.ndarray(x_pinned.shape, x_pinned.dtype, cp.cuda.MemoryPointer(memory, 0))


def release():
    """Let go of all these arrays."""
    for held in (mapped, registered, pinned, pageable, on_gpu):
        held.release()


def as_cupy(x):
    """Return the CuPy array over the memory of a Numba view, made once for each view; others as they are."""
    if not getattr(x, "__cuda_ndarray__", False):
        return x
    if hasattr(x, "as_cupy"):
        return x.as_cupy
    pointer, n_bytes = x.__cuda_array_interface__["data"][0], x.size * x.dtype.itemsize
    # Without an owner: the view has the array, and owning the view in turn would keep both for ever.
    memory = cp.cuda.UnownedMemory(pointer, n_bytes, None)
    x.as_cupy = cp.ndarray(x.shape, x.dtype, cp.cuda.MemoryPointer(memory, 0))
    return x.as_cupy
