"""Our clocks beside those of CuPy, Triton and nvbench, each in the mode in which they should agree.

Run on a machine with a GPU:  python tests/measure/peers.py [--json FILE]

One kernel copies memory; its size and number of passes make it last for one of `DURATIONS`. Each row times it
by us, by the peer, and by us again. A peer that is not installed gets a row that says so. The exit
status is 1 when a row is outside the agreement wanted.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from gpuguide.machine.backends import cupy
from gpuguide.measure.clocks import CupyClock
from gpuguide.measure.timing import time_device

COMMAND = (sys.executable, __file__)
SOURCE = r"""
extern "C" __global__ void copy_passes(const uint4* a, uint4* out, long long n, int passes) {
    const long long step = (long long)gridDim.x * blockDim.x;
    for (int pass = 0; pass < passes; ++pass)
        for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) out[i] = a[i];
}
"""
THREADS, MAX_BYTES = 512, 2**30
# What do_bench itself writes before each call.
TRITON_FLUSH_BYTES = 256 * 2**20
DURATIONS = {"5 us": 5e-6, "100 us": 1e-4, "1 ms": 1e-3, "50 ms": 5e-2}
COLD = ("100 us", "1 ms", "50 ms")


@dataclass(frozen=True)
class Row:
    """One comparison; times in seconds, None where the peer could not be asked."""

    peer: str
    mode: str
    duration: str
    wanted: str
    ours_s: float | None = None
    peer_s: float | None = None
    launch_s: float | None = None
    within: bool | None = None
    note: str = ""

    @property
    def difference(self) -> float | None:
        """How much longer we say than the peer, as a share of the peer's time."""
        if self.ours_s is None or self.peer_s is None:
            return None
        return self.ours_s / self.peer_s - 1


@dataclass(frozen=True)
class Copy:
    """A copy of `n_bytes`, made `passes` times by one launch on the current stream."""

    n_bytes: int
    passes: int
    launch: Callable[[], None]


def near(share: float, ours_s: float, peer_s: float) -> bool:
    """Return whether two times differ by at most a share of the peer's."""
    return abs(ours_s / peer_s - 1) <= share


def explained_by_launch(ours_s: float, peer_s: float, launch_s: float) -> bool:
    """Return whether we are not above the peer, and below it by its launch, give or take a little."""
    return ours_s <= peer_s and abs(peer_s - ours_s - launch_s) <= 3e-6


def make_copy(n_bytes: int, passes: int) -> Copy:
    """Allocate two arrays and return the copy between them."""
    cp = cupy()
    n = n_bytes // 16
    a, out = (
        cp.random.randint(0, 2**31, size=n * 4, dtype=cp.int32),
        cp.empty(n * 4, dtype=cp.int32),
    )
    cp.cuda.Device().synchronize()
    kernel = cp.RawKernel(SOURCE, "copy_passes")
    sm_count = cp.cuda.Device().attributes["MultiProcessorCount"]
    # Four blocks of 512 threads are the most that a multiprocessor holds.
    blocks = max(1, min(sm_count * 4, -(-n // THREADS)))
    args = (a, out, cp.int64(n), cp.int32(passes))
    return Copy(n * 16, passes, lambda: kernel((blocks,), (THREADS,), args))


def make_copies() -> dict[str, Copy]:
    """Return a copy for each duration, the size found by measuring twice."""
    return {name: _sized(seconds) for name, seconds in DURATIONS.items()}


def _sized(seconds: float) -> Copy:
    """Return a copy that lasts about `seconds`: by its size, and above 1 GiB by its passes."""
    # A guess of a terabyte per second to begin with; each measurement corrects it.
    shape = (int(seconds * 1e12), 1)
    for _ in range(2):
        copy = make_copy(*bounded(*shape))
        shape = (int(copy.n_bytes * copy.passes * seconds / ours(copy, n_samples=5)), 1)
    return make_copy(*bounded(*shape))


def bounded(n_bytes: int, passes: int) -> tuple[int, int]:
    """Return whole pages of at most 1 GiB and as many passes as make up for the rest."""
    total = n_bytes * passes
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


def ours_around(ask: Callable[[], Any], measure: Callable[[], float]) -> tuple[float, Any]:
    """Measure before and after asking a peer, so that a drift of the GPU does not look like a difference."""
    before = measure()
    answer = ask()
    return (before + measure()) / 2, answer


def warm_by_cupy(copy: Copy, duration: str) -> Row:
    """Compare with cupyx.profiler.benchmark: events around a bare launch, warm."""
    benchmark = import_module("cupyx.profiler").benchmark  # a peer, no back end of ours
    n = 10 if duration == "50 ms" else 100
    ours_s, answer = ours_around(lambda: benchmark(copy.launch, n_repeat=n, name="copy"), partial(ours, copy))
    peer_s = float(statistics.median(answer.gpu_times[0].tolist()))
    launch_s = float(statistics.median(answer.cpu_times.tolist()))
    if duration == "100 us":
        wanted, within = (
            "its launch, to 3 us",
            explained_by_launch(ours_s, peer_s, launch_s),
        )
    else:
        wanted, within = "2 %", near(0.02, ours_s, peer_s)
    return Row("cupyx benchmark", "warm", duration, wanted, ours_s, peer_s, launch_s, within)


def cold_by_triton(copy: Copy, duration: str) -> Row:
    """Compare with triton.testing.do_bench: cold by a memset of 256 MiB, on the default stream."""
    from triton.testing import do_bench

    ours_s, peer_ms = ours_around(
        lambda: do_bench(copy.launch, return_mode="median"),
        partial(ours, copy, flush_bytes=TRITON_FLUSH_BYTES),
    )
    peer_s = peer_ms / 1e3
    return Row(
        "triton do_bench",
        "cold",
        duration,
        "3 %",
        ours_s,
        peer_s,
        None,
        near(0.03, ours_s, peer_s),
    )


def graph_by_triton(copy: Copy, duration: str) -> Row:
    """Compare with do_bench_cudagraph: many launches in one graph, warm."""
    import torch
    from triton.testing import do_bench_cudagraph

    cp = cupy()

    def launch() -> None:
        # do_bench_cudagraph captures PyTorch's stream, so the launch must go there.
        with cp.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            copy.launch()

    ours_s, peer_ms = ours_around(
        lambda: do_bench_cudagraph(launch, return_mode="median"), partial(ours, copy)
    )
    peer_s = peer_ms / 1e3
    name = "triton cudagraph"
    return Row(name, "graph", duration, "10 %", ours_s, peer_s, None, near(0.10, ours_s, peer_s))


def cold_by_nvbench(copies: dict[str, Copy]) -> list[Row]:
    """Compare with nvbench's isolated runs: cold by a memset of the L2's size, in a process of its own."""
    cp = cupy()
    flush_bytes = cp.cuda.Device().attributes["L2CacheSize"]
    before = {name: ours(copies[name], flush_bytes=flush_bytes) for name in COLD}
    medians = _run_nvbench({name: (copies[name].n_bytes, copies[name].passes) for name in COLD})
    rows = []
    for name in COLD:
        ours_s, peer_s = (
            (before[name] + ours(copies[name], flush_bytes=flush_bytes)) / 2,
            medians[name],
        )
        rows.append(Row("nvbench", "cold", name, "3 %", ours_s, peer_s, None, near(0.03, ours_s, peer_s)))
    return rows


def _run_nvbench(shapes: dict[str, tuple[int, int]]) -> dict[str, float]:
    """Return nvbench's median seconds for copies of these bytes and passes."""
    import cuda.bench  # noqa: F401  absent: the caller says so in its rows

    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, "nvbench.json")
        command = [*COMMAND, "--nvbench", json.dumps(shapes), "--json", str(answer)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode or not answer.exists():
            raise RuntimeError(
                f"nvbench: exit status {done.returncode}: {(done.stderr or done.stdout)[-300:]}"
            )
        return nvbench_medians(json.loads(answer.read_text()))


def nvbench_process(shapes: dict[str, Sequence[int]], answer: str) -> None:
    """Let nvbench time the copies and write its own JSON (runs in a child process)."""
    from cuda import bench

    cp = cupy()

    def register(name: str, n_bytes: int, passes: int) -> None:
        def benchmark(state: Any) -> None:
            copy = make_copy(n_bytes, passes)

            def launcher(launch: Any) -> None:
                with cp.cuda.ExternalStream(launch.get_stream().addressof()):
                    copy.launch()

            # Its batches are warm, and only its cold, isolated runs are compared.
            state.exec(launcher, batched=False)

        bench.register(benchmark).set_name(name.replace(" ", "_"))

    for name, (n_bytes, passes) in shapes.items():
        register(name, n_bytes, passes)
    bench.run_all_benchmarks([sys.argv[0], "--devices", "0", "--json", answer])


def nvbench_medians(answer: dict[str, Any]) -> dict[str, float]:
    """Return seconds by benchmark from nvbench's JSON: the median, or the mean of older versions."""
    found = {}
    for benchmark in answer["benchmarks"]:
        summaries = {
            each["tag"]: {item["name"]: item["value"] for item in each["data"]}
            for each in benchmark["states"][0]["summaries"] or ()
        }
        tag = next(
            f"nv/cold/time/gpu/{s}" for s in ("median", "mean") if f"nv/cold/time/gpu/{s}" in summaries
        )
        found[benchmark["name"].replace("_", " ")] = float(summaries[tag]["value"])
    return found


def compare() -> list[Row]:
    """Return all rows; a peer that fails or is not installed gives rows that say why."""
    copies = make_copies()
    rows = []
    for name in ("100 us", "1 ms", "50 ms"):
        rows.append(_attempt(warm_by_cupy, copies[name], name, Row("cupyx benchmark", "warm", name, "2 %")))
    for name in COLD:
        rows.append(_attempt(cold_by_triton, copies[name], name, Row("triton do_bench", "cold", name, "3 %")))
    graph = Row("triton cudagraph", "graph", "5 us", "10 %")
    rows.append(_attempt(graph_by_triton, copies["5 us"], "5 us", graph))
    try:
        rows += cold_by_nvbench(copies)
    except Exception as error:
        rows += [Row("nvbench", "cold", name, "3 %", note=_reason(error)) for name in COLD]
    return rows


def _attempt(ask: Callable[[Copy, str], Row], copy: Copy, duration: str, otherwise: Row) -> Row:
    try:
        return ask(copy, duration)
    except Exception as error:
        return Row(**{**asdict(otherwise), "note": _reason(error)})


def _reason(error: Exception) -> str:
    if isinstance(error, ImportError):
        return f"not installed: {error.name or error}"
    return f"{type(error).__name__}: {error}"[:300]


def table(rows: Sequence[Row]) -> str:
    """Return the rows as aligned text, times in microseconds."""
    heads = (
        "peer",
        "mode",
        "about",
        "ours us",
        "peer us",
        "apart",
        "launch us",
        "wanted",
        "agrees",
    )
    lines = [heads, *(_cells(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
    return "\n".join(
        "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _cells(row: Row) -> tuple[str, ...]:
    def microseconds(seconds: float | None) -> str:
        return "-" if seconds is None else f"{seconds * 1e6:.2f}"

    difference = "-" if row.difference is None else f"{row.difference:+.2%}"
    verdict = row.note or {True: "yes", False: "NO", None: "-"}[row.within]
    times = (microseconds(row.ours_s), microseconds(row.peer_s))
    return (
        row.peer,
        row.mode,
        row.duration,
        *times,
        difference,
        microseconds(row.launch_s),
        row.wanted,
        verdict,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the comparison; return 1 when a row is outside the agreement wanted."""
    parser = argparse.ArgumentParser(description="Compare the guide's clocks with those of others.")
    parser.add_argument("--json", metavar="FILE", help="write the rows there as well")
    parser.add_argument("--nvbench", metavar="SHAPES", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.nvbench:
        nvbench_process(json.loads(options.nvbench), options.json)
        return 0
    rows = compare()
    print(table(rows))
    if options.json:
        answer = [{**asdict(row), "difference": row.difference} for row in rows]
        Path(options.json).write_text(json.dumps(answer, indent=1) + "\n")
    return int(any(row.within is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
