"""What this machine can do at most, measured once a session: the best of a few kernels for each mix.

Each share of a ceiling in the guide is taken of the ceiling of the kernel's own mix of reads and writes, so
these must be high: the candidates differ in the size and number of accesses of a thread, in the block, and
in whether blocks stride over the array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gpuguide import backends
from gpuguide.ceiling_candidates import (
    Candidate,
    allocate,
    array_bytes,
    fma_candidates,
    memory_candidates,
    pcie_candidates,
    sentinel_bytes,
    sentinel_candidate,
)
from gpuguide.ceiling_kernels import MEMORY_MIXES
from gpuguide.clocks import GpuClock, HostClock, SystemClock
from gpuguide.device import DeviceInfo
from gpuguide.errors import ImplausibleError
from gpuguide.metrics import format_quantity, median
from gpuguide.results import Ceiling, Ceilings, Measurement
from gpuguide.timers import DeviceTimer, Samples
from gpuguide.timing import device_timer, enough, launch_timer

__all__ = ["best", "check_plausible", "copy_sentinel", "launch_ceilings", "measure"]

MIX_BUDGET_S = 0.5
"""Seconds for the samples of the two best candidates of one mix."""
SCREENING_SAMPLES = 3


def measure(gpu: GpuClock, device: DeviceInfo, *, host: HostClock | None = None) -> Ceilings:
    """Measure all ceilings of this machine.

    Parameters
    ----------
    gpu : GpuClock
        The clock; work goes into its stream.
    device : DeviceInfo
        The GPU that the clock belongs to.
    host : HostClock, optional
        The host's clock, for the cost of a launch.

    Returns
    -------
    Ceilings
        Memory by mix and PCIe in B/s, FP32 and FP64 multiply-adds in FLOP/s, a launch in seconds: what an
        empty kernel takes in a graph (``"launch"``), and launching it alone of the host (``"launch_host"``).

    Raises
    ------
    OutOfMemoryError
        Not even arrays of eight times the L2 cache fit into a quarter of the free memory.
    """
    clock = host or SystemClock()
    cp = backends.cupy()
    with gpu.use():
        arrays = allocate(gpu, array_bytes(device, cp.cuda.runtime.memGetInfo()[0]))
        found = [best(memory_candidates(arrays, device, mix), gpu, clock) for mix in MEMORY_MIXES]
        del arrays
        found += [best([each], gpu, clock) for each in pcie_candidates(gpu)]
        found += [best(fma_candidates(device, unit), gpu, clock) for unit in ("fp32", "fp64")]
    cp.get_default_memory_pool().free_all_blocks()
    cp.get_default_pinned_memory_pool().free_all_blocks()
    return Ceilings((*found, *launch_ceilings(gpu, clock)))


def copy_sentinel(gpu: GpuClock, *, n_samples: int = 20) -> float:
    """Return the rate of one fixed copy kernel in B/s, to tell whether the machine changed meanwhile.

    Parameters
    ----------
    gpu : GpuClock
        The clock.
    n_samples : int
        Samples, of which the median counts.

    Returns
    -------
    float
        Bytes read and written a second, for arrays of at most 1 GiB and a twelfth of the free memory.
    """
    cp = backends.cupy()
    free_bytes = cp.cuda.runtime.memGetInfo()[0]
    with gpu.use():
        arrays = allocate(gpu, sentinel_bytes(free_bytes), n_arrays=2)
        candidate = sentinel_candidate(arrays)
        timer = device_timer(candidate.call, gpu, batchable=False)
        seconds = median([timer.sample() for _ in range(n_samples)]) / 1e9
        del arrays
    cp.get_default_memory_pool().free_all_blocks()
    return candidate.work / seconds


def check_plausible(measurement: Measurement, device: DeviceInfo) -> None:
    """Raise when a measurement says that the hardware did what it cannot do.

    Parameters
    ----------
    measurement : Measurement
        On any clock; without samples or traffic there is nothing to check.
    device : DeviceInfo
        The GPU that was measured.

    Raises
    ------
    ImplausibleError
        (bytes read + bytes written - L2 cache) / time is above the physical peak of the memory, or
        FLOPs / time is above that of the unit.

    Examples
    --------
    >>> from gpuguide.device import EXAMPLE_DEVICE
    >>> from gpuguide.results import Traffic
    >>> cell = Measurement("copy", 2**28, samples_ns=(500_000,), rounds=(0,), traffic=Traffic(2**30, 2**30))
    >>> check_plausible(cell, EXAMPLE_DEVICE)
    """
    traffic = measurement.traffic
    if traffic is None or not measurement.samples_ns or measurement.clock not in ("device", "end_to_end"):
        return
    seconds = measurement.median_s
    from_memory = traffic.bytes_total - device.l2_bytes
    _compare(measurement, "memory", "B/s", from_memory / seconds, device.peak_memory_bandwidth)
    if traffic.flops:
        _compare(
            measurement, traffic.unit, "FLOP/s", traffic.flops / seconds, device.peak_flops(traffic.unit)
        )


def _compare(measurement: Measurement, what: str, unit: str, rate: float, peak: float | None) -> None:
    if peak and rate > peak:
        raise ImplausibleError(
            f"{measurement.variant} at {measurement.size}: expected at most the physical peak of {what}, "
            f"{format_quantity(peak, unit)}, got {format_quantity(rate, unit)}. "
            "Check the traffic model, and that the kernel does all its work inside the clock."
        )


def best(candidates: Iterable[Candidate], gpu: GpuClock, host: HostClock | None = None) -> Ceiling:
    """Return the ceiling that the fastest of several candidates reaches.

    All are tried three times; the two fastest by their median are then sampled until that is enough.

    Parameters
    ----------
    candidates : iterable of Candidate
        At least one, all of one mix.
    gpu, host : GpuClock, HostClock
        The clocks.

    Returns
    -------
    Ceiling
        Of the better of the two, with its samples.
    """
    clock = host or SystemClock()
    ranked = sorted(((_screen(each, gpu), each) for each in candidates), key=lambda pair: pair[0])
    found = [_ceiling(each, gpu, clock) for _, each in ranked[:2]]
    return max(found, key=lambda ceiling: ceiling.value)


def launch_ceilings(gpu: GpuClock, host: HostClock | None = None) -> tuple[Ceiling, ...]:
    """Return what an empty kernel takes in a graph, and what launching it takes of the host.

    Parameters
    ----------
    gpu, host : GpuClock, HostClock
        The clocks.

    Returns
    -------
    tuple of Ceiling
        ``"launch"`` and ``"launch_host"``, in seconds a launch; their work is the launches of a sample.
    """
    graph = device_timer(gpu.empty, gpu)
    launch = launch_timer(gpu.empty, gpu, host=host)
    return (
        _seconds(
            "launch", f"empty kernel, {graph.n_calls} in a {graph.method}", graph.samples(_take(graph.sample))
        ),
        _seconds("launch_host", "empty RawKernel, host time", launch.samples(_take(launch.sample))),
    )


def _screen(candidate: Candidate, gpu: GpuClock) -> float:
    """Return the median of a few samples, in nanoseconds."""
    with gpu.use():
        candidate.call()
        gpu.synchronize()
    timer = DeviceTimer(gpu, candidate.call)
    return median([timer.sample() for _ in range(SCREENING_SAMPLES)])


def _ceiling(candidate: Candidate, gpu: GpuClock, host: HostClock) -> Ceiling:
    """Sample a candidate until that is enough; return its rate."""
    timer = DeviceTimer(gpu, candidate.call)
    start, ns = host.now_ns(), [timer.sample()]
    while not enough(ns, spent_s=(host.now_ns() - start) / 1e9, budget_s=MIX_BUDGET_S / 2):
        ns.append(timer.sample())
    unit = "FLOP/s" if candidate.mix in ("fp32", "fp64") else "B/s"
    rate = candidate.work / (median(ns) / 1e9)
    return Ceiling(candidate.mix, rate, unit, tuple(ns), candidate.work, candidate.kernel)


def _seconds(mix: str, kernel: str, samples: Samples) -> Ceiling:
    """Return a ceiling that is a time a call; its work is the number of calls of a sample."""
    return Ceiling(mix, median(samples.seconds), "s", samples.ns, samples.n_calls, kernel)


def _take(sample: Callable[[], int], n: int = 20) -> list[int]:
    return [sample() for _ in range(n)]
