"""Runs each broken program as a reader would, alone and under each tool, and keeps what was printed."""

import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from gpuguide.errors import BackendError

FOLDER = Path(__file__).parent / "programs"
#: Those with a mistake, in the order of the chart.
PROGRAMS = ("later", "no_guard", "no_barrier", "no_atomic", "two_barriers", "not_cleared")
CHECKS = ("memcheck", "racecheck", "synccheck", "initcheck")
LIMIT_S = 60
# Python, the compiler and a tool need some of it.
HANGING_S = 12
# Numba asks for a context before there is one, which a tool would report.
QUIET = ("--report-api-errors", "no", "--print-limit", "1")
AT_ONCE = 16
WIDTH = 96


@dataclass(frozen=True)
class Report:
    """What was printed by a program, or by the tool that ran it, and whether the program ended in time."""

    program: str
    command: str
    text: str
    ended: bool
    limit_s: float = LIMIT_S

    @property
    def lines_named(self):
        """The numbers of lines of the program that a tool names."""
        lines = [line for line in self.text.splitlines() if line.startswith("=========")]
        device = "\n".join(line for line in lines if "Host Frame" not in line)
        named = re.findall(rf"\b{self.program}\.py:(\d+)", device)
        return sorted({int(number) for number in named})

    @property
    def n_errors(self):
        """How many errors a tool counts."""
        count = re.search(r"(?:ERROR SUMMARY: |RACECHECK SUMMARY: )(\d+)", self.text)
        return int(count[1]) if count else 0

    @property
    def failed(self):
        """Whether the program itself saw that something is wrong: an error, a wrong result, or no end."""
        return not self.ended or bool(
            re.search(r"right: False|^\w[\w.]*Error\b", self.text, re.M)
        )

    def __str__(self):
        shown = [self.command, *shortened(self.text, self.program)]
        if not self.ended:
            shown.append(f"(stopped after {self.limit_s} s)")
        code = source(self.program).splitlines()
        shown += [f"{self.program}.py:{n}  {code[n - 1].strip()}" for n in self.lines_named]
        return "\n".join(shown)


def source(program):
    """Return the text of a program."""
    return (FOLDER / f"{program}.py").read_text(encoding="utf-8")


def kernel_lines(program):
    """Return the numbers of the lines of a program's kernel."""
    lines = source(program).splitlines()
    first = next(i for i, line in enumerate(lines, 1) if line.startswith("@cuda.jit"))
    return range(
        first, next(i for i, line in enumerate(lines, 1) if line.startswith("def main"))
    )


def run(program, check="", arguments=(), text="", limit_s=LIMIT_S, **environment):
    """Run a program in a process of its own, under a tool of compute-sanitizer if one is named."""
    tool = [sanitizer(), "--tool", check, *QUIET] if check else []
    words = [f"{name}={value}" for name, value in environment.items()]
    words += ["compute-sanitizer", *tool[1:]] if check else []
    command = " ".join(["$", *words, "python", f"{program}.py", *arguments])
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryFile("w+", encoding="utf-8") as printed,
    ):
        Path(folder, f"{program}.py").write_text(text or source(program), encoding="utf-8")
        child = subprocess.Popen(
            [*tool, sys.executable, "-u", f"{program}.py", *arguments],
            cwd=folder,
            env=os.environ | {"NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": "0"} | environment,
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        ended = True
        try:
            child.wait(limit_s)
        except subprocess.TimeoutExpired:
            ended = False
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        printed.seek(0)
        return Report(program, command, printed.read(), ended, limit_s)


def sanitizer():
    """Return the path of compute-sanitizer."""
    path = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not Path(path).exists():
        raise BackendError("compute-sanitizer was not found; it comes with the CUDA toolkit.")
    return path


def version():
    """Return the version of compute-sanitizer."""
    text = subprocess.run(
        [sanitizer(), "--version"], capture_output=True, text=True, check=False
    )
    number = re.search(r"Version (\S+)", text.stdout)
    return number[1] if number else "unknown"


def shortened(text, program):
    """Return the lines that say something: no frames of libraries, no mangled names, one error."""
    text = re.sub(r"[\w./-]*/(\w+\.py)", r"\1", text)
    text = re.sub(r"[\w:<>]*?(\w+)\[abi:[^\]]*\]\(.*?\)\+0x[0-9a-f]+", r"\1", text)
    shown, own, raised = [], True, False
    for line in text.splitlines():
        if line.startswith("========="):
            if not re.search(r"Host Frame|Saved host backtrace|^=+ *$|COMPUTE-SANITIZER", line):
                shown.append(line)
        elif not raised:
            if line.startswith("  File "):
                own = f'"{program}.py"' in line and "<module>" not in line
            elif not line.startswith("    "):
                own = True
                raised = bool(re.match(r"\w[\w.]*Error\b", line))
            if own and line.strip(" ^~"):
                shown += textwrap.wrap(line, WIDTH, subsequent_indent="    ")
    return shown


def all_runs():
    """Run what the page shows, several at once; return the reports by program and tool, and the times.

    The times are those of a sound kernel alone, compiled for debugging, and under each tool.
    """
    # Those that hang first, so that the others run meanwhile.
    runs = {
        ("never", check): {"check": check, "limit_s": HANGING_S} for check in ("", "synccheck")
    }
    runs |= {
        (program, check): {"check": check} for program in PROGRAMS for check in ("", *CHECKS)
    }
    lines = source("no_guard").splitlines()
    pooled = "\n".join(line for line in lines if "set_allocator" not in line)
    runs |= {
        ("later", "blocking"): {"CUDA_LAUNCH_BLOCKING": "1"},
        ("no_guard", "pool"): {"check": "memcheck", "text": pooled},
        ("unset", "initcheck"): {"check": "initcheck"},
        ("prints", ""): {},
        ("asserts", ""): {},
    }
    ways = {"plain": {}, "debug": {"arguments": ("debug",)}} | {
        check: {"check": check} for check in CHECKS
    }
    with tempfile.NamedTemporaryFile() as turn, ThreadPoolExecutor(AT_ONCE) as pool:
        # Who holds the file has the GPU; what is timed starts and compiles while the others still run.
        fcntl.flock(turn, fcntl.LOCK_EX)
        try:
            reports = {key: pool.submit(run, key[0], **runs[key]) for key in runs}
            times = {
                way: pool.submit(run, "times", limit_s=2 * LIMIT_S, TURN=turn.name, **options)
                for way, options in ways.items()
            }
            reports = {key: report.result() for key, report in reports.items()}
        finally:
            fcntl.flock(turn, fcntl.LOCK_UN)
        return reports, {way: printed_seconds(time.result()) for way, time in times.items()}


def levels(reports, traced):
    """Return a row for each program: what its result, each tool and gg.trace say of it.

    2 stands for a line of the kernel that is named, 1 for something that is seen to be wrong, 0 for nothing.
    """
    rows = []
    for program, level in zip(PROGRAMS, traced, strict=True):
        row = [int(reports[program, ""].failed)]
        for check in CHECKS:
            report = reports[program, check]
            named = set(report.lines_named) & set(kernel_lines(program))
            row.append(2 if named else int(report.n_errors > 0))
        rows.append([*row, level])
    return rows


def printed_seconds(report):
    """Return the time that the program of the times has printed."""
    time = re.search(r"seconds: (\S+)", report.text)
    if not time:
        raise BackendError(f"{report.command} printed no time:\n{report.text[-2000:]}")
    return float(time[1])
