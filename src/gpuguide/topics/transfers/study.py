"""Copies between host and GPU: by size and kind of memory, both ways at once, and inside two whole tasks."""

from functools import cache, partial

import numpy as np

from gpuguide.measure import Study, cp, cpu, end_to_end
from gpuguide.measure.clocks import SystemClock
from gpuguide.measure.gate import Trial
from gpuguide.measure.turns import gpu_clock, whole_turns
from gpuguide.results.records import Traffic
from gpuguide.topics.transfers.convolution import convolution, convolve_direct
from gpuguide.topics.transfers.numbers import (
    INPUT_NOTE,
    Held,
    NumbersCheck,
    alone,
    as_cupy,
    mapped,
    most_bytes,
    numbers,
    on_gpu,
    pageable,
    pinned,
    registered,
)
from gpuguide.topics.transfers.product import product, product_numpy, product_with_copies

SIZES = (2**10, 2**15, 2**20, 2**25, 2**28, 2**33)


def set_from(held, n_bytes, out):
    """Let x.set(x_host) copy into an array on the GPU that exists already."""
    if out.size:
        # With its stream, x.set leaves the order of the work in it alone.
        as_cupy(out).set(held(out.size), stream=cp.cuda.get_current_stream())


def register_first(n_bytes, out):
    """Pin an ordinary array where it is, copy it, and let go of it again."""
    if out.size:
        x_host, stream = pageable(out.size), cp.cuda.get_current_stream()
        cp.cuda.runtime.hostRegister(x_host.ctypes.data, x_host.nbytes, 0)
        as_cupy(out).set(x_host, stream=stream)
        stream.synchronize()
        cp.cuda.runtime.hostUnregister(x_host.ctypes.data)


def asarray(n_bytes):
    """Let cp.asarray(x_host) make an array on the GPU, from an ordinary array of NumPy."""
    return cp.asarray(pageable(n_bytes // 8))


def read_mapped(n_bytes, out):
    """Let cp.add read pinned memory itself, without a copy before."""
    if out.size:
        cp.add(mapped(out.size), 0.0, out=as_cupy(out))


def get_into(n_bytes, out_host):
    """Let x.get(out=...) copy into an array on the host that exists already."""
    if out_host.size:
        on_gpu(out_host.size).get(out=out_host)


def into_new(n_bytes):
    """Let x.get() copy into a new array of NumPy."""
    return on_gpu(n_bytes // 8).get()


@Held
def arrived_numbers(n):
    """Make room on the GPU for what is sent."""
    return cp.empty(n)


sent = {"numbers": 0}  # since the last check


@cache
def two_streams():
    """Return a stream for each direction, the same ones each time."""
    return tuple(cp.cuda.Stream(non_blocking=True) for _ in range(2))


def there_and_back(held, at_once, n_bytes, out_host):
    """Copy one array to the GPU and another one back, each in a stream of its own."""
    n = out_host.size
    if n:
        there, back = two_streams()
        arrived_numbers(n).set(held(n), stream=there)
        if not at_once:
            there.synchronize()
        on_gpu(n).get(out=out_host, stream=back, blocking=False)
        there.synchronize()
        back.synchronize()
        sent["numbers"] = n


class BothWaysCheck(NumbersCheck):
    """Every element is the number that belongs to its index, of the array that was sent, too."""

    def compare(self, output, n):
        """Compare what came back and, after a copy to the GPU, what arrived there."""
        if sent["numbers"]:
            arrived = arrived_numbers(sent["numbers"])
            super().compare(arrived, sent["numbers"])
            arrived.fill(np.nan)  # the next copy must bring all of it again
            cp.cuda.get_current_stream().synchronize()  # and comes in another stream
            sent["numbers"] = 0
        return super().compare(output, n)


def there(call, label, **options):
    """Return a variant that copies into an array on the GPU; the clock runs until it is full."""
    options = {"up_to": 2**28, "traffic": lambda n, dtype: Traffic(bytes_written=n)} | options
    return end_to_end(call, label, arrays="numba", **options)


def back(call, label, **options):
    """Return a variant that copies from the GPU into an array on the host."""
    return end_to_end(call, label, traffic=lambda n, dtype: Traffic(bytes_read=n), **options)


def both(name, held, at_once, label, **options):
    """Return a variant that copies both ways."""
    call, traffic = partial(there_and_back, held, at_once), lambda n, dtype: Traffic(n, n)
    return end_to_end(call, label, name=name, traffic=traffic, **options)


def copies():
    """Return what the studies of copies share."""
    return {
        "inputs": alone,
        "output": lambda n, dtype: ((n // 8,), dtype),
        "answer": lambda n_bytes: numbers(np, 0, n_bytes // 8),
        "dtype": "float64",
        "size_name": "bytes",
        "input_note": INPUT_NOTE,
    }


to_device = Study(
    name="to_device",
    title="From the host to the GPU",
    sizes=SIZES,
    check=NumbersCheck(),
    baseline="pageable",
    variants=(
        there(asarray, "cp.asarray, pageable", allocates=True),
        there(partial(set_from, pageable), "x.set, pageable", name="pageable"),
        there(partial(set_from, pinned), "x.set, pinned", name="pinned"),
        there(
            partial(set_from, registered),
            "x.set, registered (pinned)",
            name="registered",
            up_to=None,
        ),
        there(register_first, "register, x.set, unregister"),
        there(read_mapped, "read in place, pinned", name="mapped"),
    ),
    **copies(),
)
to_host = Study(
    name="to_host",
    title="From the GPU to the host",
    sizes=(2**10, 2**28),
    check=NumbersCheck(),
    baseline="into_pageable",
    variants=(
        back(get_into, "x.get(out=...), pageable", name="into_pageable"),
        back(get_into, "x.get(out=...), pinned", name="into_pinned", arrays="pinned"),
        back(into_new, "x.get(), new pageable array", allocates=True),
    ),
    **copies(),
)
both_ways = Study(
    name="both_ways",
    title="One array to the GPU and one back",
    sizes=(2**28,),
    check=BothWaysCheck(),
    baseline="in_turn",
    variants=(
        both("in_turn_pageable", pageable, False, "in turn, pageable"),
        both("at_once_pageable", pageable, True, "at once, pageable"),
        both("in_turn", pinned, False, "in turn, pinned", arrays="pinned"),
        both("at_once", pinned, True, "at once, pinned", arrays="pinned"),
    ),
    **copies(),
)


def room():
    """Say how much of the GPU's memory is free, and how much is copied."""
    free, total = cp.cuda.Device().mem_info
    return (
        f"{free / 1e9:.0f} GB of the GPU's {total / 1e9:.0f} GB are free: up to "
        f"{most_bytes(SIZES[-1]) / 1e9:.1f} GB are copied."
    )


def timed_once(n_layers):
    """Time three calls that are too slow for a study, once each."""
    direct = cpu(convolve_direct, "", name="convolution_one_thread", allocates=True)
    loop = cpu(product_numpy, "", name="product_one_thread")
    copied = end_to_end(product_with_copies, "", name="product_pageable")
    cells = (
        (convolution, max(convolution.sizes), direct),
        (product, n_layers, loop),
        (product, n_layers, copied),
    )
    taken = {}
    for study, size, variant in cells:
        trial = Trial(study, size, "random", gpu=gpu_clock())
        trial.check(variant)
        taken[variant.name] = [trial.call_ns[variant.name] / 1e9]
    return taken


def returning(n_bytes=2**28, n_turns=3):
    """Time when x.set returns, and when the numbers have arrived, from pageable and from pinned memory."""
    stream_clock, clock, n = gpu_clock(), SystemClock(), n_bytes // 8
    x = cp.empty(n)

    def turn():
        taken = {}
        for name, held in (("pageable", pageable), ("pinned", pinned)):
            stream_clock.synchronize()
            start = clock.now_ns()
            x.set(held(n), stream=stream_clock.stream)
            taken[f"returns_{name}"] = (clock.now_ns() - start) / 1e9
            stream_clock.synchronize()
            taken[f"arrives_{name}"] = (clock.now_ns() - start) / 1e9
        return taken

    with stream_clock.use():
        samples = whole_turns(turn, n_turns)
        NumbersCheck().compare(x, n)
    return samples


def preparing(n_bytes=2**28, n_turns=3):
    """Time how long it takes to get memory on the host: written once, pinned, and registered."""
    runtime, clock = cp.cuda.runtime, SystemClock()

    def turn():
        marks = [clock.now_ns()]
        x = np.empty(n_bytes, np.uint8)
        x[:] = 1
        marks.append(clock.now_ns())
        runtime.hostRegister(x.ctypes.data, x.nbytes, 0)
        marks.append(clock.now_ns())
        runtime.hostUnregister(x.ctypes.data)
        marks.append(clock.now_ns())
        # Not from CuPy's pool, which keeps what was pinned once.
        memory = cp.cuda.PinnedMemory(n_bytes)
        marks.append(clock.now_ns())
        del memory
        touch, register, _, pin = np.diff(marks) / 1e9
        return {"touch": float(touch), "register": float(register), "pin": float(pin)}

    return whole_turns(turn, n_turns)
