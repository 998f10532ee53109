"""Runs both kernels under Nsight Compute, once, and reads its report: sections, and lines of the source."""

import csv
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gpuguide.errors import BackendError

KERNELS = ("turn_by_threads", "turn_by_tiles")
SECTIONS = ("SpeedOfLight", "Occupancy", "WarpStateStats", "SourceCounters")
SECTORS = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_{}.ratio"
STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+?)_per_issue_active\.ratio")
#: What the report calls it, by section, and the name of the fact.
VALUES = {
    ("GPU Speed Of Light Throughput", "DRAM Throughput"): "dram",
    ("GPU Speed Of Light Throughput", "L2 Cache Throughput"): "l2",
    ("GPU Speed Of Light Throughput", "Compute (SM) Throughput"): "compute",
    ("Occupancy", "Achieved Occupancy"): "occupancy",
}
#: Lines of the report that the page shows.
SHOWN = (
    *("DRAM Throughput", "L2 Cache Throughput", "Compute (SM) Throughput", "Duration"),
    *("Warp Cycles Per Issued Instruction", "Achieved Occupancy"),
)
LIMIT_S = 60


def profiler():
    """Return the path of Nsight Compute."""
    path = shutil.which("ncu") or "/usr/local/cuda/bin/ncu"
    if not Path(path).exists():
        raise BackendError(
            "Nsight Compute (ncu) was not found; it comes with the CUDA toolkit."
        )
    return path


def version():
    """Return the version of Nsight Compute."""
    number = re.search(r"Version (\S+)", _run("--version"))
    return number[1] if number else "unknown"


def _run(*arguments):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [profiler(), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    if done.returncode:
        raise BackendError(f"ncu failed: {(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def profiled():
    """Profile both kernels; return the report as text, its raw table, and the table of the first's source."""
    with tempfile.TemporaryDirectory() as folder:
        report = str(Path(folder, "turns.ncu-rep"))
        sections = [word for name in SECTIONS for word in ("--section", name)]
        metrics = ",".join(SECTORS.format(kind) for kind in ("ld", "st"))
        child = (sys.executable, "-m", "gpuguide.topics.profiling.both")
        quiet = ("--clock-control", "none", "--profile-from-start", "off")
        _run(*quiet, *sections, "--metrics", metrics, "-f", "-o", report, *child)
        lines = ("--page", "source", "--csv", "--print-source", "cuda,sass")
        pages = (
            ("--page", "details"),
            ("--page", "raw", "--csv", "--print-units", "base"),
            ("--kernel-name", "regex:by_threads", *lines),
        )
        with ThreadPoolExecutor(len(pages)) as pool:
            return tuple(pool.map(lambda page: _run("--import", report, *page), pages))


def by_kernel(details):
    """Part the text of a report into those of its kernels."""
    parts = re.split(r"^  (\w+)(?=\[|\()[^\n]*Context \d+[^\n]*$", details, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def shown(text):
    """Return the lines of a kernel's report that the page shows, each with its section."""
    lines, section = [], ""
    for line in text.splitlines():
        if heading := re.match(r"    (Section: .*)", line):
            section = heading[1]
        elif line.strip().startswith(SHOWN):
            if section not in lines:
                lines.append(section)
            lines.append(line[2:].rstrip())
    return "\n".join(lines)


def values_of(text):
    """Return the shares that a kernel's report names, by the names of facts."""
    values, section = {}, ""
    for line in text.splitlines():
        if heading := re.match(r"    Section: (.*)", line):
            section = heading[1].strip()
        row = re.match(r"    (\S.*?) {2,}(?:% +)?([\d.,]+) *$", line)
        if row and (name := VALUES.get((section, row[1]))):
            values[name] = float(row[2].replace(",", "")) / 100
    return values


def rows_of(table):
    """Return the rows of a table as Nsight Compute writes it, without the row of units."""
    lines = table.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith(('"ID"', '"Line No"')))
    return list(csv.reader(io.StringIO("\n".join(lines[begin:]))))


def counted(raw):
    """Return the sectors of a load and of a store, and the most frequent stall, for each kernel in turn."""
    names, _, *rows = rows_of(raw)
    kernels = []
    for row in rows:
        values = dict(zip(names, row, strict=True))
        stalls = {
            stall[1]: float(values[name].replace(",", ""))
            for name in names
            if (stall := STALL.fullmatch(name)) and stall[1] not in ("selected", "not_selected")
        }
        reason = max(stalls, key=stalls.get)
        sectors = {kind: float(values[SECTORS.format(kind)]) for kind in ("ld", "st")}
        kernels.append(sectors | {"stall": reason, "stall_cycles": stalls[reason]})
    return kernels


def lines_of(source):
    """Return number, text, share of the samples, sectors and the least of them, for each line that costs."""
    names, *rows = rows_of(source)
    # The second "Source" is the machine code, and its rows have no number.
    at = {name: i for i, name in reversed(list(enumerate(names)))}
    costs = []
    for row in rows:
        if len(row) == len(names) and row[0].isdigit():
            samples, sectors, least = (
                int(row[at[name]])
                for name in (
                    "# Samples",
                    "L2 Theoretical Sectors Global",
                    "L2 Theoretical Sectors Global Ideal",
                )
            )
            costs.append([int(row[0]), row[1].strip(), samples, sectors, least])
    total = sum(line[2] for line in costs)
    return [[n, code, s / total, sectors, least] for n, code, s, sectors, least in costs if s]
