"""Hand-overs between all pairs of libraries, and readers that come too early if nobody keeps the order."""

from functools import partial

import numpy as np
from numba import cuda

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import raw_kernel
from gpuguide.measure import cp
from gpuguide.measure.clocks import DELAY_SOURCE
from gpuguide.topics.interop.kernels import last, triple
from gpuguide.topics.interop.libraries import jax_numpy, missing_jax, missing_torch, pytorch

ELEMENTS = 2**20
TRIALS = 20
DELAY_NS = 2_000_000


def address(x):
    """Return where an array of any of the libraries begins."""
    if hasattr(x, "data_ptr"):
        return int(x.data_ptr())  # a tensor that has a gradient shows no interface
    return int(x.__cuda_array_interface__["data"][0])


def hand_overs(n=ELEMENTS):
    """Return a call for each pair of libraries that are here: what makes an array of one from the other's."""
    x = cp.arange(n, dtype=np.float32)
    view = cuda.as_cuda_array(x)
    calls = {
        "numba_from_cupy": partial(cuda.as_cuda_array, x, sync=False),
        "cupy_from_numba": partial(cp.asarray, view),
        "copy": partial(cp.array, x),
    }
    if not missing_torch():
        tensor = pytorch().zeros(n, device="cuda")
        calls |= {
            "torch_from_cupy": partial(pytorch().from_dlpack, x),
            "torch_from_numba": partial(pytorch().as_tensor, view, device="cuda"),
            "cupy_from_torch": partial(cp.from_dlpack, tensor),
            "numba_from_torch": partial(cuda.as_cuda_array, tensor, sync=False),
        }
    if not missing_jax():
        array = jax_numpy().zeros(n, np.float32)
        calls |= {
            "jax_from_cupy": partial(jax_numpy().from_dlpack, x),
            "cupy_from_jax": partial(cp.from_dlpack, array),
            "numba_from_jax": partial(cuda.as_cuda_array, array, sync=False),
            "jax_from_numba": partial(jax_numpy().asarray, view),
        }
    if not missing_torch() and not missing_jax():
        calls |= {
            "torch_from_jax": partial(pytorch().from_dlpack, array),
            "jax_from_torch": partial(jax_numpy().from_dlpack, tensor),
        }
    # Each is tried once: it must have the address of the array that it was made from.
    for name, call in calls.items():
        if name != "copy" and address(call()) != address(call.args[0]):
            raise ArgumentError(f"{name} copied: the two arrays have two addresses.")
    return calls


# Who comes too early ------------------------------------------------------------------------------


def too_early(n=ELEMENTS, n_trials=TRIALS):
    """Count for each way how often a reader in another stream saw what was there before."""
    # In each trial one library's stream is kept busy, then changes an array. Meanwhile the array is handed
    # over, and the other library reads it in a stream of its own.
    ways = {
        "numba_launch": partial(_cupy_writes, lambda x: x, _by_numba),
        "numba_view": partial(_cupy_writes, cuda.as_cuda_array, _by_numba),
        "numba_at_once": partial(
            _cupy_writes, partial(cuda.as_cuda_array, sync=False), _by_numba
        ),
        "numba_back": partial(_numba_writes),
    }
    if not missing_torch():
        from_dlpack, as_tensor = (
            pytorch().from_dlpack,
            partial(pytorch().as_tensor, device="cuda"),
        )
        ways |= {
            "torch_dlpack": partial(_cupy_writes, from_dlpack, _last_item),
            "torch_outside": partial(_cupy_writes, from_dlpack, _last_item, inside=False),
            "torch_interface": partial(_cupy_writes, as_tensor, _last_item),
            "torch_back": partial(_torch_writes, lambda x, tensor: x),
            "torch_dlpack_back": partial(
                _torch_writes, lambda x, tensor: cp.from_dlpack(tensor)
            ),
        }
    if not missing_jax():
        ways["jax_dlpack"] = partial(_cupy_writes, jax_numpy().from_dlpack, _last_item)
    for way in ways.values():
        way(n)  # compiles what there is to compile, and does not count
    return {name: sum(way(n) for _ in range(n_trials)) for name, way in ways.items()}


def _cupy_writes(hand_over, read, n, *, inside=True):
    x = cp.zeros(n, np.float32)
    stream = cp.cuda.Stream(non_blocking=True)
    cp.cuda.Device().synchronize()
    with stream:
        _delay(DELAY_NS)
        x.fill(7)
        value = read(hand_over(x)) if inside else 0.0
    if not inside:
        value = read(hand_over(x))
    cp.cuda.Device().synchronize()
    return value != 7


def _numba_writes(n):
    x = cp.ones(n, np.float32)
    cp.cuda.Device().synchronize()
    with cp.cuda.Stream(non_blocking=True):
        with cp.cuda.Stream.null:  # Numba's default stream
            _delay(DELAY_NS)
        triple[-(-n // 256), 256](x)
        value = float(x[-1])
    cp.cuda.Device().synchronize()
    return value != 3


def _torch_writes(take_back, n):
    x = cp.ones(n, np.float32)
    cp.cuda.Device().synchronize()
    with cp.cuda.Stream(non_blocking=True):
        tensor = pytorch().from_dlpack(x)
        with cp.cuda.Stream.null:  # PyTorch's default stream
            _delay(DELAY_NS)
        tensor *= 3
        value = float(take_back(x, tensor)[-1])
    cp.cuda.Device().synchronize()
    return value != 3


def _by_numba(x):
    out = cp.zeros(1, np.float32)
    # A view made at once: CuPy's array would be handed over at the launch, and make the stream wait.
    last[1, 32](x, cuda.as_cuda_array(out, sync=False))
    cuda.default_stream().synchronize()
    return float(out.get()[0])


def _last_item(x):
    return float(x[-1].item())


def _delay(ns):
    raw_kernel(DELAY_SOURCE, "delay")((1,), (1,), (np.uint64(ns),))


def timeline(in_order, n=2**26, n_writes=8):
    """Let CuPy write into an array again and again, and PyTorch add it up, with events around both."""
    hand_over = (
        pytorch().from_dlpack if in_order else partial(pytorch().as_tensor, device="cuda")
    )
    x = cp.zeros(n, np.float32)
    stream, reading = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream.null
    # Both kernels are loaded before the clock starts; that takes longer than their work.
    x += 1
    hand_over(x).sum()
    x.fill(0)
    cp.cuda.Device().synchronize()
    with stream:
        begin = stream.record()
        for _ in range(n_writes):
            x += 1
        tensor = hand_over(x)
        written = stream.record()
    ready = reading.record()
    total = tensor.sum()
    read = reading.record()
    cp.cuda.Device().synchronize()
    if in_order and float(total.item()) != n * n_writes:
        raise ArgumentError("timeline: the sum is wrong, though PyTorch was made to wait.")
    at = [
        cp.cuda.get_elapsed_time(begin, event) / 1e3 for event in (begin, written, ready, read)
    ]
    return np.array([[[at[0], at[1]], [max(at[2], 0.0), at[3]]]])
