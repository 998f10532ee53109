"""Our clocks beside those of CuPy, Triton and nvbench, each in the mode in which they should agree.

Run on a machine with a GPU:  python tests/measure/peers.py

One kernel copies memory; its size and number of passes make it last for one of `DURATIONS`. Each row times
it by us, by the peer, and by us again, so that a drift of the GPU does not look like a difference. A peer
that is not installed gets a row that says so. The exit status is 1 when a row is outside the agreement.
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from gpuguide.machine.backends import cupy
from gpuguide.measure.clocks import CupyClock
from gpuguide.measure.timing import time_device

SOURCE = r"""
extern "C" __global__ void copy_passes(const uint4* a, uint4* out, long long n, int passes) {
    const long long step = (long long)gridDim.x * blockDim.x;
    for (int pass = 0; pass < passes; ++pass)
        for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) out[i] = a[i];
}
"""
THREADS, MAX_BYTES = 512, 2**30
DURATIONS = {"5 us": 5e-6, "100 us": 1e-4, "1 ms": 1e-3, "50 ms": 5e-2}


@dataclass(frozen=True)
class Copy:
    """A copy of `n_bytes`, made `passes` times by one launch on the current stream."""

    n_bytes: int
    passes: int
    launch: Callable[[], None]


def make_copy(n_bytes: int, passes: int) -> Copy:
    """Allocate two arrays and return the copy between them."""
    cp = cupy()
    n = n_bytes // 16
    a = cp.random.randint(0, 2**31, size=n * 4, dtype=cp.int32)
    out = cp.empty(n * 4, dtype=cp.int32)
    cp.cuda.Device().synchronize()
    kernel = cp.RawKernel(SOURCE, "copy_passes")
    sm_count = cp.cuda.Device().attributes["MultiProcessorCount"]
    # Four blocks of 512 threads are the most that a multiprocessor holds.
    blocks = max(1, min(sm_count * 4, -(-n // THREADS)))
    args = (a, out, cp.int64(n), cp.int32(passes))
    return Copy(n * 16, passes, lambda: kernel((blocks,), (THREADS,), args))


def make_copies() -> dict[str, Copy]:
    """Return a copy for each duration."""
    return {name: _sized(seconds) for name, seconds in DURATIONS.items()}


def _sized(seconds: float) -> Copy:
    """Return a copy that lasts about `seconds`: by its size, and above 1 GiB by its passes."""
    total = int(seconds * 1e12)  # a guess of a terabyte per second, which each measurement corrects
    for _ in range(2):
        copy = make_copy(*_shape(total))
        total = int(copy.n_bytes * copy.passes * seconds / ours(copy, n_samples=5))
    return make_copy(*_shape(total))


def _shape(total: int) -> tuple[int, int]:
    """Return whole pages of at most 1 GiB and as many passes as make up for the rest."""
    passes = max(1, round(total / MAX_BYTES))
    return max(2**16, min(MAX_BYTES, total // passes) >> 12 << 12), passes


def ours(copy: Copy, *, flush_bytes: int = 0, n_samples: int | None = None) -> float:
    """Return our median time of one launch in seconds, cold by a memset of `flush_bytes` if given."""
    gpu: Any = CupyClock(flush=_memset(flush_bytes) if flush_bytes else None)
    samples = time_device(copy.launch, gpu, cold=bool(flush_bytes), n_samples=n_samples, budget_s=0.5)
    return statistics.median(samples.seconds)


def _memset(n_bytes: int) -> Callable[[], None]:
    cp = cupy()
    buffer = cp.empty(n_bytes, dtype=cp.uint8)

    def flush() -> None:
        cp.cuda.runtime.memsetAsync(buffer.data.ptr, 0, n_bytes, cp.cuda.get_current_stream().ptr)

    return flush


# The peers: each returns the seconds of a copy, and of its launch where that is known.


def cupyx_benchmark(copy: Copy) -> tuple[float, float]:
    """Time by events around a bare launch, warm."""
    n = 10 if copy.passes > 1 else 100
    answer = import_module("cupyx.profiler").benchmark(copy.launch, n_repeat=n, name="copy")
    return statistics.median(answer.gpu_times[0].tolist()), statistics.median(answer.cpu_times.tolist())


def triton_do_bench(copy: Copy) -> tuple[float, float]:
    """Time cold, by a memset of 256 MiB, on the default stream."""
    from triton.testing import do_bench

    return do_bench(copy.launch, return_mode="median") / 1e3, math.nan


def triton_cudagraph(copy: Copy) -> tuple[float, float]:
    """Time many launches in one graph, warm."""
    import torch
    from triton.testing import do_bench_cudagraph

    def launch() -> None:
        # do_bench_cudagraph captures PyTorch's stream, so the launch must go there.
        with cupy().cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            copy.launch()

    return do_bench_cudagraph(launch, return_mode="median") / 1e3, math.nan


def nvbench(copy: Copy) -> tuple[float, float]:
    """Time isolated runs, cold by a memset of the L2's size, in a process of its own."""
    import cuda.bench  # noqa: F401  absent: the caller says so in its row

    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, "nvbench.json")
        command = [sys.executable, __file__, str(copy.n_bytes), str(copy.passes), str(answer)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode or not answer.exists():
            output = (done.stderr or done.stdout)[-300:]
            raise RuntimeError(f"nvbench: exit status {done.returncode}: {output}")
        (benchmark,) = json.loads(answer.read_text())["benchmarks"]
    summaries = {
        summary["tag"]: {item["name"]: item["value"] for item in summary["data"]}
        for summary in benchmark["states"][0]["summaries"] or ()
    }
    # Older versions give the mean only.
    tags = [f"nv/cold/time/gpu/{statistic}" for statistic in ("median", "mean")]
    return float(summaries[next(tag for tag in tags if tag in summaries)]["value"]), math.nan


def nvbench_process(n_bytes: int, passes: int, answer: str) -> None:
    """Let nvbench time a copy and write its own JSON (runs in a child process)."""
    from cuda import bench

    def benchmark(state: Any) -> None:
        copy = make_copy(n_bytes, passes)

        def launcher(launch: Any) -> None:
            with cupy().cuda.ExternalStream(launch.get_stream().addressof()):
                copy.launch()

        # Its batches are warm, and only its cold, isolated runs are compared.
        state.exec(launcher, batched=False)

    bench.register(benchmark).set_name("copy")
    bench.run_all_benchmarks([sys.argv[0], "--devices", "0", "--json", answer])


@dataclass(frozen=True)
class Row:
    """One comparison, in seconds; `within` is None where the peer could not be run."""

    peer: str
    duration: str
    ours_s: float = math.nan
    peer_s: float = math.nan
    launch_s: float = math.nan
    within: bool | None = None
    note: str = ""

    def __str__(self) -> str:
        times = (f"{seconds * 1e6:10.2f}" for seconds in (self.ours_s, self.peer_s, self.launch_s))
        verdict = self.note or ("agrees" if self.within else "DIFFERS")
        apart = self.ours_s / self.peer_s - 1
        return f"{self.peer:16} {self.duration:6} {' '.join(times)} {apart:+8.2%}  {verdict}"


def compare() -> list[Row]:
    """Return all rows; a peer that fails or is not installed gives rows that say why."""
    copies = make_copies()
    l2_bytes = cupy().cuda.Device().attributes["L2CacheSize"]
    cold = ("100 us", "1 ms", "50 ms")
    return [
        *(_row(cupyx_benchmark, copies, name, 0.02) for name in cold),
        *(_row(triton_do_bench, copies, name, 0.03, 256 * 2**20) for name in cold),
        _row(triton_cudagraph, copies, "5 us", 0.10),
        *(_row(nvbench, copies, name, 0.03, l2_bytes) for name in cold),
    ]


def _row(
    peer: Callable[[Copy], tuple[float, float]],
    copies: dict[str, Copy],
    duration: str,
    share: float,
    flush_bytes: int = 0,
) -> Row:
    copy = copies[duration]
    try:
        before = ours(copy, flush_bytes=flush_bytes)
        peer_s, launch_s = peer(copy)
        ours_s = (before + ours(copy, flush_bytes=flush_bytes)) / 2
    except Exception as error:
        missing = f"not installed: {error.name}" if isinstance(error, ImportError) else repr(error)[:300]
        return Row(peer.__name__, duration, note=missing)
    if peer is cupyx_benchmark and duration == "100 us":
        # A bare launch is in its time: we are below it by that, to 3 us.
        within = ours_s <= peer_s and abs(peer_s - ours_s - launch_s) <= 3e-6
    else:
        within = abs(ours_s / peer_s - 1) <= share
    return Row(peer.__name__, duration, ours_s, peer_s, launch_s, within)


def main() -> int:
    """Print the comparison; return 1 when a row is outside the agreement wanted."""
    rows = compare()
    print("peer             about     ours us    peer us  launch us    apart", *rows, sep="\n")
    return int(any(row.within is False for row in rows))


if __name__ == "__main__":
    if len(sys.argv) == 4:
        nvbench_process(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
    else:
        sys.exit(main())
