"""Read the GPU's hardware counters of named kernels: ``python -m gpuguide_docs.commands.counting [PAGE]``.

Nsight Compute (``ncu``) runs a process that calls each variant once, after its result has been checked. The
counters are stored beside the page's recording, and belong to exactly the code that was recorded.
"""

from __future__ import annotations

import argparse
import csv
import math
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.pages.pages_toml import Page, PagesError, read_pages
from gpuguide_docs.record.provenance import commit_of
from gpuguide_docs.show.numbers import parse_reference

if TYPE_CHECKING:
    from gpuguide.recordings.recording import Recording
    from gpuguide.results.counters import Counted, KernelCounts
    from gpuguide.results.records import Provenance

__all__ = ["Cell", "cells_of", "command", "count_page", "counted_of", "main", "metrics", "parse_rows"]

#: A study, a variant and a size.
Cell = tuple[str, str, int]

# Launched between two variants, so that the kernels of each call can be told apart by their place.
_MARKER = "gpuguide_next_variant"
_DURATION = "gpu__time_duration.sum"
#: Counter -> the profiler's metrics, to be added up.
_METRICS = {
    "registers": ("launch__registers_per_thread",),
    "occupancy": ("sm__warps_active.avg.pct_of_peak_sustained_active",),
    "dram_bytes": ("dram__bytes_read.sum", "dram__bytes_write.sum"),
    "dram_throughput": ("dram__bytes.sum.per_second",),
    "load_sectors_per_request": ("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",),
    "store_sectors_per_request": ("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",),
    "bank_conflicts": ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",),
    "shared_wavefronts": ("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",),
    "l2_write_sectors": ("lts__t_sectors_op_write.sum",),
    "instructions": ("smsp__inst_executed.sum",),
    "active_lanes": ("smsp__thread_inst_executed_per_inst_executed.ratio",),
    "issue_active": ("smsp__issue_active.avg.pct_of_peak_sustained_active",),
    "fp64_active": ("sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active",),
    "fp32_active": ("sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",),
    "alu_active": ("sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",),
}
# Its metrics have a name for each reason, and those differ between generations of GPUs.
_STALL_SECTION = "WarpStateStats"
_STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+?)_per_issue_active\.ratio")
_NO_STALL = ("selected", "not_selected")
_NO_PERMISSION = "ERR_NVGPUCTRPERM"

NO_PROFILER = (
    "Nothing counted: Nsight Compute (ncu) was not found. It comes with the CUDA toolkit; pages keep their "
    "former counters."
)
NOT_ALLOWED = (
    "Nothing counted: the driver does not let this user read the GPU's counters (ERR_NVGPUCTRPERM, see "
    "https://developer.nvidia.com/ERR_NVGPUCTRPERM); pages keep their former counters."
)


def cells_of(page: Page) -> tuple[Cell, ...]:
    """Return the variants and sizes whose counters a page wants, as its entry lists them."""
    references = [parse_reference(f"{text}.time") for text in page.counters]
    return tuple((each.name, each.variant, each.size) for each in references)


def metrics(known: Iterable[str] = ()) -> tuple[str, ...]:
    """Name the metrics to ask for, limited to those that the profiler lists, if it lists any."""
    listed = set(known)
    wanted = [_DURATION, *(name for names in _METRICS.values() for name in names)]
    # What is known at the launch is not a hardware counter, and not listed.
    return tuple(
        name for name in wanted if not listed or name.startswith("launch__") or name.split(".")[0] in listed
    )


def command(profiler: str, log: Path, asked: Sequence[str], child: Sequence[str]) -> list[str]:
    """Give the command line of the profiler: clocks left alone, caches emptied before each kernel."""
    return [
        profiler, "--clock-control", "none", "--cache-control", "all", "--profile-from-start", "off",
        "--target-processes", "application-only", "--print-units", "base", "--csv", "--page", "raw",
        "--section", _STALL_SECTION, "--metrics", ",".join(asked), "--log-file", str(log), *child,
    ]  # fmt: skip


def parse_rows(text: str) -> list[dict[str, str]]:
    """Read the profiler's table: a line of names, a line of units, a line per kernel; the rest is ignored."""
    lines = text.splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if begin is None:
        return []
    rows = list(csv.DictReader(line for line in lines[begin:] if line.startswith('"')))
    # The line of units has no id.
    return [row for row in rows if row["ID"].strip()]


def counted_of(rows: Sequence[Mapping[str, str]], cells: Sequence[Cell]) -> tuple[Counted, ...]:
    """Assign the profiled kernels to the variants, by the markers between them."""
    from gpuguide.errors import ArgumentError
    from gpuguide.results.counters import Counted

    calls: list[list[KernelCounts]] = []
    for row in rows:
        if _MARKER in row["Kernel Name"]:
            calls.append([])
        elif calls:
            calls[-1].append(_kernel(row))
    if len(calls) != len(cells):
        raise ArgumentError(f"expected {len(cells)} calls in the profiler's table, got {len(calls)}")
    for (study, variant, size), kernels in zip(cells, calls, strict=True):
        if not kernels:
            raise ArgumentError(
                f"{study}[{variant}, {size}] launched no kernel; take it off the page's counters"
            )
    return tuple(
        Counted(study, variant, size, tuple(kernels))
        for (study, variant, size), kernels in zip(cells, calls, strict=True)
    )


def _kernel(row: Mapping[str, str]) -> KernelCounts:
    from gpuguide.results.counters import KernelCounts

    values = {}
    for counter, names in _METRICS.items():
        parts = [_number(row.get(name, "")) for name in names]
        if not any(part is None for part in parts):
            values[counter] = _rounded(sum(part for part in parts if part is not None))
    stalls = {
        found[1]: number
        for column, text in row.items()
        if (found := _STALL.fullmatch(column or "")) and found[1] not in _NO_STALL
        if (number := _number(text)) is not None
    }
    stall = max(stalls, key=stalls.__getitem__) if stalls else ""
    if stall:
        values["stall_cycles"] = _rounded(stalls[stall])
    duration = _number(row.get(_DURATION, "")) or 0.0
    return KernelCounts(_short(row["Kernel Name"]), duration / 1e9, tuple(values.items()), stall)


def _number(text: str) -> float | None:
    try:
        number = float(text.replace(",", ""))
    except ValueError:  # "n/a", or nothing
        return None
    return number if math.isfinite(number) else None


def _rounded(value: float) -> float:
    """Round to the digits that a counter justifies, so that a recording stays short."""
    return float(f"{value:.9g}")


def _short(name: str) -> str:
    """Cut the arguments off a kernel's name, and what Numba's mangling puts around it."""
    bare = name.split("(", maxsplit=1)[0].split("<", maxsplit=1)[0].strip().split("::")[-1]
    # Numba's are mangled: each part of the dotted name has its length before it.
    parts, rest = [], bare.removeprefix("_ZN")
    while rest != bare and (found := re.match(r"\d+", rest)):
        begin, end = found.end(), found.end() + int(found[0])
        parts.append(rest[begin:end])
        rest = rest[end:]
    return (parts[-1] if parts else bare)[:100]


def count_page(layout: Layout, page: Page, recording: Recording, profiler: str, asked: Sequence[str]) -> int:
    """Read the counters that a page wants, and store them beside its recording."""
    from gpuguide.errors import ArgumentError
    from gpuguide.recordings.counters import Counters, save_counters
    from gpuguide.recordings.plain import loads
    from gpuguide.results.records import Provenance

    with tempfile.TemporaryDirectory() as folder:
        log, said = Path(folder) / "log.csv", Path(folder) / "provenance.json"
        child = [sys.executable, "-m", __spec__.name, page.name, "--child", str(said)]
        child += ["--machine", recording.machine, "--commit", commit_of(layout.root)]
        done = subprocess.run(
            command(profiler, log, asked, child), cwd=layout.root, capture_output=True, text=True, check=False
        )
        told = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        if _NO_PERMISSION in told + done.stdout + done.stderr:
            raise ArgumentError(NOT_ALLOWED)
        if not said.exists():
            last = [line for line in (told + done.stdout + done.stderr).splitlines() if line.strip()][-5:]
            raise ArgumentError(
                f"the profiled process failed (exit status {done.returncode}): {' / '.join(last)}"
            )
        provenance = loads(Provenance, said.read_text(encoding="utf-8"), "")
        counted = counted_of(parse_rows(told), cells_of(page))
    version = subprocess.run([profiler, "--version"], capture_output=True, text=True, check=False).stdout
    number = re.search(r"Version ([0-9.]+)", version)
    save_counters(
        Counters(
            machine=recording.machine,
            page=page.name,
            key=recording.key,
            profiler=f"Nsight Compute {number[1] if number else ''}".strip(),
            provenance=provenance,
            counted=counted,
        ),
        layout.recorded,
    )
    return len(counted)


def _call_each(cells: Sequence[Cell], page: Page, told: argparse.Namespace) -> Provenance:
    """Check each variant, then call it once while the profiler counts; runs under ``ncu``."""
    import time

    from gpuguide.catalogue import studies
    from gpuguide.errors import unknown
    from gpuguide.machine import backends
    from gpuguide.machine.cpu import cpu_info
    from gpuguide.measure.gate import Trial
    from gpuguide.measure.provenance import make_provenance, start_of_recording
    from gpuguide.measure.session import recording_session

    cupy = backends.cupy()
    known = studies(page.topic)
    by_name = {study.name: study for study in known.values()}
    marker = cupy.RawKernel(f'extern "C" __global__ void {_MARKER}() {{}}', _MARKER)
    begin, cpu = time.monotonic(), cpu_info()
    with recording_session(commit=told.commit) as session:
        machine = session.machine
        for name, variant_name, size in cells:
            if name not in by_name:
                raise unknown("study", name, by_name)
            study = by_name[name]
            (variant,) = study.chosen([variant_name])
            trial = Trial(study, size, "random", machine.spaces, machine.gpu, host=machine.host)
            trial.check(variant)
            with trial.on_stream(variant):
                trial.buffers(variant).restore()
                call = trial.call(variant)
                cupy.cuda.Device().synchronize()
                cupy.cuda.runtime.profilerStart()
                marker((1,), (1,), ())
                call()
                cupy.cuda.Device().synchronize()
                cupy.cuda.runtime.profilerStop()
            del trial, call
            cupy.get_default_memory_pool().free_all_blocks()
        return make_provenance(
            told.machine, told.commit, time.monotonic() - begin, None, cpu, session, start_of_recording()
        )


def _current(layout: Layout, pages: Sequence[Page]) -> Iterator[tuple[Page, Recording | None, str]]:
    """Return each page with its recording, or why it cannot be counted."""
    from gpuguide.recordings import store as recordings

    for page in pages:
        recording = recordings.load_or_none(page.name, page.machine, layout.recorded)
        if recording is None:
            yield page, None, "was never recorded; record it first"
            continue
        changed = recordings.staleness(recording, page.script(layout), layout.source)
        if changed:
            yield page, None, f"is stale ({', '.join(changed[:3])} changed); record it first"
            continue
        yield page, recording, ""


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m gpuguide_docs.commands.counting",
        description="Read hardware counters of the variants that pages name, with Nsight Compute.",
    )
    parser.add_argument(
        "pages", nargs="*", metavar="PAGE", help="names of pages; by default all that list variants"
    )
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--machine", default="", help=argparse.SUPPRESS)
    parser.add_argument("--commit", default="unknown", help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Count the pages and report the result of each."""
    from gpuguide.errors import GpuGuideError, unknown
    from gpuguide.recordings.plain import dumps

    told = _arguments(argv)
    layout = Layout(Path.cwd())
    try:
        known = {page.name: page for page in read_pages(layout) if page.counters}
        for name in told.pages:
            if name not in known:
                raise unknown("page with counters", name, known)
    except (GpuGuideError, PagesError) as error:
        print(f"Nothing counted: {error}", file=sys.stderr)
        return 2
    pages = [known[name] for name in told.pages or known]
    if told.child is not None:
        provenance: Any = _call_each(cells_of(pages[0]), pages[0], told)
        told.child.write_text(dumps(provenance), encoding="utf-8")
        return 0
    profiler = shutil.which("ncu")
    if profiler is None:
        print(NO_PROFILER, file=sys.stderr)
        return 2
    listed = subprocess.run([profiler, "--query-metrics"], capture_output=True, text=True, check=False).stdout
    asked = metrics(line.split()[0] for line in listed.splitlines() if re.match(r"\w+__\w+\s", line))
    failed = False
    for page, recording, why in _current(layout, pages):
        try:
            if recording is None:
                raise PagesError(why)
            print(f"{page.name}: {count_page(layout, page, recording, profiler, asked)} counted", flush=True)
        except (GpuGuideError, PagesError) as error:
            failed = True
            print(f"{page.name}: {error}", file=sys.stderr, flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
