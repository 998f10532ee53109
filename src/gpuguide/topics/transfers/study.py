"""Copies between host and GPU: by size and kind of memory, both ways at once, and inside two whole tasks."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuguide.machine import launch
from gpuguide.machine.backends import cupy
from gpuguide.measure.clocks import SystemClock
from gpuguide.measure.edited import Kernels
from gpuguide.measure.gate import Trial
from gpuguide.measure.plan import Variant, cpu_variant, cupy_variant, end_to_end_variant
from gpuguide.measure.study import Study
from gpuguide.measure.turns import gpu_clock, whole_turns
from gpuguide.results.records import Traffic
from gpuguide.topics.transfers import convolution, product
from gpuguide.topics.transfers.numbers import (
    Held,
    NumbersCheck,
    as_cupy,
    mapped,
    most_bytes,
    on_gpu,
    pageable,
    pinned,
    registered,
)

SIZES = (2**10, 2**15, 2**20, 2**25, 2**28, 2**33)
TO_HOST_SIZES = (2**10, 2**28)
SHORT: dict[str, Any] = {
    "max_size": 2**28,
    "max_size_reason": "left out above 2^28 bytes to keep the run short",
}
INPUT_NOTE = (
    "one half, one or two at each place, so that every element and every product is exact"
)


def set_from(held: Any, n_bytes: int, out: Any) -> None:
    """Let x.set(x_host) copy into an array on the GPU that exists already."""
    n = launch.check(out=out, shape=(n_bytes // 8,), dtype="float64")
    if n:
        # With its stream, x.set leaves the order of the work in it alone.
        as_cupy(out).set(held(n), stream=cupy().cuda.get_current_stream())


def register_and_set(n_bytes: int, out: Any) -> None:
    """Pin an ordinary array where it is, copy it, and let go of it again."""
    n = launch.check(out=out, shape=(n_bytes // 8,), dtype="float64")
    if n:
        x_host, stream = pageable(n), cupy().cuda.get_current_stream()
        cupy().cuda.runtime.hostRegister(x_host.ctypes.data, x_host.nbytes, 0)
        as_cupy(out).set(x_host, stream=stream)
        stream.synchronize()
        cupy().cuda.runtime.hostUnregister(x_host.ctypes.data)


def asarray_pageable(n_bytes: int) -> Any:
    """Let cp.asarray(x_host) make an array on the GPU, from an ordinary array of NumPy."""
    return cupy().asarray(pageable(n_bytes // 8))


def read_mapped(n_bytes: int, out: Any) -> None:
    """Let cp.add read pinned memory itself, without a copy before."""
    n = launch.check(out=out, shape=(n_bytes // 8,), dtype="float64")
    if n:
        cupy().add(mapped(n), 0.0, out=as_cupy(out))


def get_into(n_bytes: int, out_host: NDArray[Any]) -> None:
    """Let x.get(out=...) copy into an array on the host that exists already."""
    n = launch.check(out_host=out_host, shape=(n_bytes // 8,), dtype="float64")
    if n:
        on_gpu(n).get(out=out_host)


def get_fresh(n_bytes: int) -> NDArray[Any]:
    """Let x.get() copy into a new array of NumPy."""
    found: NDArray[Any] = on_gpu(n_bytes // 8).get()
    return found


arrived_numbers = Held(lambda n: cupy().empty(n))


sent: list[int] = []
"""How many numbers were sent since the last check."""


@cache
def two_streams() -> tuple[Any, Any]:
    """Return a stream for each direction, the same ones each time."""
    return tuple(cupy().cuda.Stream(non_blocking=True) for _ in range(2))


def there_and_back(held: Any, at_once: bool, n_bytes: int, out_host: NDArray[Any]) -> None:
    """Copy one array to the GPU and another one back, each in a stream of its own."""
    n = launch.check(out_host=out_host, shape=(n_bytes // 8,), dtype="float64")
    if n:
        there, back = two_streams()
        arrived_numbers(n).set(held(n), stream=there)
        if not at_once:
            there.synchronize()
        on_gpu(n).get(out=out_host, stream=back, blocking=False)
        there.synchronize()
        back.synchronize()
        sent.append(n)


class BothWaysCheck(NumbersCheck):
    """Every element is the number that belongs to its index, of the array that was sent, too."""

    def compare(self, output: Any, n: int) -> tuple[float, float]:
        """Compare what came back and, after a copy to the GPU, what arrived there."""
        if sent:
            arrived = arrived_numbers(sent[-1])
            super().compare(arrived, sent[-1])
            arrived.fill(np.nan)  # the next copy must bring all of it again
            cupy().cuda.get_current_stream().synchronize()  # and comes in another stream
            sent.clear()
        return super().compare(output, n)


def _written(n: int, dtype: Any) -> Traffic:
    return Traffic(bytes_written=n)


def _read(n: int, dtype: Any) -> Traffic:
    return Traffic(bytes_read=n)


def _both(n: int, dtype: Any) -> Traffic:
    return Traffic(bytes_read=n, bytes_written=n)


def _given(
    n: int, dtype: np.dtype[Any], rng: np.random.Generator, exact: bool
) -> tuple[int, ...]:
    # The arrays with the numbers are the topic's own, since copies of 8.6 GB would not be for nothing.
    return (n,)


def _of_bytes(n: int, dtype: np.dtype[Any]) -> tuple[tuple[int, ...], Any]:
    return (n // 8,), dtype


def _copies(name: str, title: str, variants: tuple[Variant, ...], **options: Any) -> Study:
    return Study(
        name=name,
        title=title,
        variants=variants,
        inputs=_given,
        output=_of_bytes,
        dtype="float64",
        size_name="bytes",
        input_note=INPUT_NOTE,
        **{"check": NumbersCheck(), **options},
    )


def _to_device(name: str, call: Callable[..., Any], label: str, **options: Any) -> Variant:
    # What is copied into is on the GPU, and the clock runs until it is full.
    return Variant(
        name,
        call,
        label,
        clock="end_to_end",
        arrays="numba",
        simulatable=False,
        traffic=_written,
        **options,
    )


def room() -> str:
    """Say how much of the GPU's memory is free, and how much is copied."""
    free, total = cupy().cuda.Device().mem_info
    return (
        f"{free / 1e9:.0f} GB of the GPU's {total / 1e9:.0f} GB are free: up to "
        f"{most_bytes(SIZES[-1]) / 1e9:.1f} GB are copied."
    )


def to_device_study(kernels: Kernels = None) -> Study:
    """Describe the copies to the GPU."""
    return _copies(
        "to_device",
        "From the host to the GPU",
        (
            _to_device(
                "asarray", asarray_pageable, "cp.asarray, pageable", allocates=True, **SHORT
            ),
            _to_device("pageable", partial(set_from, pageable), "x.set, pageable", **SHORT),
            _to_device("pinned", partial(set_from, pinned), "x.set, pinned", **SHORT),
            _to_device(
                "registered", partial(set_from, registered), "x.set, registered (pinned)"
            ),
            _to_device(
                "register_first", register_and_set, "register, x.set, unregister", **SHORT
            ),
            _to_device("mapped", read_mapped, "read in place, pinned", **SHORT),
        ),
        sizes=tuple(size for size in SIZES if size <= most_bytes(SIZES[-1])),
        baseline="pageable",
        kernels=kernels,
    )


def to_host_study(kernels: Kernels = None) -> Study:
    """Describe the copies from the GPU."""
    return _copies(
        "to_host",
        "From the GPU to the host",
        (
            end_to_end_variant(
                "into_pageable", get_into, "x.get(out=...), pageable", traffic=_read
            ),
            end_to_end_variant(
                "into_pinned",
                get_into,
                "x.get(out=...), pinned",
                arrays="pinned",
                traffic=_read,
            ),
            end_to_end_variant(
                "into_new",
                get_fresh,
                "x.get(), new pageable array",
                allocates=True,
                traffic=_read,
            ),
        ),
        sizes=TO_HOST_SIZES,
        baseline="into_pageable",
        kernels=kernels,
    )


def both_ways_study(kernels: Kernels = None) -> Study:
    """Describe copies both ways: in turn, and at once in two streams."""

    def variant(name: str, held: Held, at_once: bool, label: str, **options: Any) -> Variant:
        call = partial(there_and_back, held, at_once)
        return end_to_end_variant(name, call, label, traffic=_both, **options)

    of_pinned = {"arrays": "pinned"}
    return _copies(
        "both_ways",
        "One array to the GPU and one back",
        (
            variant("in_turn_pageable", pageable, False, "in turn, pageable"),
            variant("at_once_pageable", pageable, True, "at once, pageable"),
            variant("in_turn", pinned, False, "in turn, pinned", **of_pinned),
            variant("at_once", pinned, True, "at once, pinned", **of_pinned),
        ),
        sizes=(2**28,),
        check=BothWaysCheck(),
        baseline="in_turn",
        kernels=kernels,
    )


def convolution_study(kernels: Kernels = None) -> Study:
    """Describe the convolution of an image by SciPy and by CuPy, from array to array on the host."""
    return Study(
        name="convolution",
        title="An image of 2048 x 2048 convolved with 15 x 15",
        variants=(
            cpu_variant(
                "scipy_fft", convolution.convolve_fft, "SciPy, FFT, one thread", allocates=True
            ),
            cpu_variant(
                "scipy_fft_threads",
                convolution.convolve_fft_threads,
                "SciPy, FFT, all threads",
                convolution.THREADS,
                allocates=True,
            ),
            Variant(
                "cupy",
                convolution.convolve_cupy,
                "CuPy, on the GPU",
                clock="end_to_end",
                arrays="numba",
                allocates=True,
                simulatable=False,
            ),
            end_to_end_variant(
                "with_copies", convolution.convolve_with_copies, "CuPy, pageable copies"
            ),
            end_to_end_variant(
                "with_copies_pinned",
                convolution.convolve_with_copies_pinned,
                "CuPy, pinned copies",
                arrays="pinned",
            ),
        ),
        sizes=(2048**2,),
        inputs=convolution.image_and_kernel,
        output=_full,
        check=convolution.ConvolutionCheck(),
        dtype="float64",
        size_name="pixels",
        input_note="points on a little noise, and a Gaussian; whole numbers for the exact check",
        baseline="scipy_fft",
        kernels=kernels,
    )


def _full(n: int, dtype: np.dtype[Any]) -> tuple[tuple[int, ...], Any]:
    edge = round(n**0.5)
    return ((edge + convolution.KERNEL - 1,) * 2 if edge else (0, 0)), dtype


def product_study(kernels: Kernels = None) -> Study:
    """Describe the product along the first axis of 4096 x 512 x 512 numbers, or of fewer."""
    layer = 8 * product.LAYER[0] * product.LAYER[1]
    return Study(
        name="product",
        title="The product of 4096 layers of 512 x 512 numbers",
        variants=(
            cpu_variant(
                "numpy_threads",
                product.product_numpy_threads,
                "NumPy, all threads",
                product.THREADS,
            ),
            cupy_variant(
                "cupy",
                product.product_cupy,
                "CuPy, on the GPU",
                allocates=True,
                traffic=_layers,
            ),
            end_to_end_variant(
                "with_copies_pinned",
                product.product_with_copies_pinned,
                "CuPy, pinned copies",
                arrays="pinned",
            ),
        ),
        sizes=(most_bytes(4096 * layer) // layer,),
        inputs=_given,
        output=lambda n, dtype: (product.LAYER, dtype),
        check=product.ProductCheck(),
        dtype="float64",
        size_name="layers",
        input_note=INPUT_NOTE,
        baseline="numpy_threads",
        kernels=kernels,
    )


def _layers(n: int, dtype: Any) -> Traffic:
    result = 8 * product.LAYER[0] * product.LAYER[1]
    return Traffic(bytes_read=n * result, bytes_written=result)


def timed_once(n_layers: int) -> dict[str, list[float]]:
    """Time three calls that are too slow for a study, once each."""
    image, layers = convolution_study(), product_study()
    direct = cpu_variant("convolution_one_thread", convolution.convolve_direct, allocates=True)
    loop = cpu_variant("product_one_thread", product.product_numpy)
    copied = end_to_end_variant("product_pageable", product.product_with_copies)
    calls = (
        (image, max(image.sizes), direct),
        (layers, n_layers, loop),
        (layers, n_layers, copied),
    )
    taken = {}
    for study, size, variant in calls:
        trial = Trial(study, size, "random", gpu=gpu_clock())
        trial.check(variant)
        taken[variant.name] = [trial.call_ns[variant.name] / 1e9]
    return taken


def returning(n_bytes: int = 2**28, n_turns: int = 3) -> dict[str, list[float]]:
    """Time when x.set returns, and when the numbers have arrived, from pageable and from pinned memory."""
    gpu, clock, n = gpu_clock(), SystemClock(), n_bytes // 8
    x = cupy().empty(n)

    def turn() -> dict[str, float]:
        taken = {}
        for name, held in (("pageable", pageable), ("pinned", pinned)):
            gpu.synchronize()
            start = clock.now_ns()
            x.set(held(n), stream=gpu.stream)
            returned = clock.now_ns()
            gpu.synchronize()
            taken[f"returns_{name}"] = (returned - start) / 1e9
            taken[f"arrives_{name}"] = (clock.now_ns() - start) / 1e9
        return taken

    with gpu.use():
        found = whole_turns(turn, n_turns)
        NumbersCheck().compare(x, n)
    return found


def preparing(n_bytes: int = 2**28, n_turns: int = 3) -> dict[str, list[float]]:
    """Time how long it takes to get memory on the host: written once, pinned, and registered."""
    runtime, clock = cupy().cuda.runtime, SystemClock()

    def turn() -> dict[str, float]:
        marks = [clock.now_ns()]
        x = np.empty(n_bytes, np.uint8)
        x[:] = 1
        marks.append(clock.now_ns())
        runtime.hostRegister(x.ctypes.data, x.nbytes, 0)
        marks.append(clock.now_ns())
        runtime.hostUnregister(x.ctypes.data)
        marks.append(clock.now_ns())
        # Not from CuPy's pool, which keeps what was pinned once.
        memory = cupy().cuda.PinnedMemory(n_bytes)
        marks.append(clock.now_ns())
        del memory
        touch, register, _, pin = np.diff(marks) / 1e9
        return {"touch": float(touch), "register": float(register), "pin": float(pin)}

    return whole_turns(turn, n_turns)
