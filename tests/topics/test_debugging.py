"""Broken programs: what the tracer finds, and what is left of what NVIDIA's tools print."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

from compile_lane import needs_compilers, numba_facts
from gpuguide import tracer
from gpuguide.topics.debugging import tools, traces

# As compute-sanitizer 2025.3 printed it on an H200.
MANGLED = "[abi:v1,cw51cXTLSUwv1sDUaKthqaNgoKmjgMVuW1AiA8rAEg2U](Array<float, (int)1, C, mutable, aligned>)"
MEMCHECK = f"""\
========= COMPUTE-SANITIZER
looked up
========= Invalid __global__ read of size 4 bytes
=========     at __main__::look_up{MANGLED}+0x120 in /tmp/x/later.py:12
=========     by thread (188,0,0) in block (2,0,0)
=========     Access to 0x7fc114800fa0 is out of bounds
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: main in later.py:20
=========\x20
Traceback (most recent call last):
  File "/tmp/x/later.py", line 27, in <module>
    main()
  File "/tmp/x/later.py", line 22, in main
    result = out.get()
             ^^^^^^^^^
  File "cupy/_core/core.pyx", line 2203, in cupy._core.core._ndarray_base.get
cupy_backends.cuda.api.runtime.CUDARuntimeError: cudaErrorIllegalAddress: an illegal memory access
Traceback (most recent call last):
  File "cupy_backends/cuda/api/runtime.pyx", line 591, in cupy_backends.cuda.api.runtime.free
========= Target application returned an error
========= ERROR SUMMARY: 1 error
"""


@pytest.mark.parametrize("program", traces.LAUNCHES)
def test_the_tracer_names_a_line_of_each_broken_kernel(program: str) -> None:
    name, blocks, threads, arguments = traces.LAUNCHES[program]
    source = tools.source(program)
    kernel = getattr(tracer.load(source, f"{program}.py"), name)
    arrays = [
        tracer.array(item.tolist(), str(item.dtype)) if isinstance(item, np.ndarray) else item
        for item in arguments()
    ]
    lines = {finding.line for finding in tracer.launch(kernel, blocks, threads, arrays).findings}
    assert lines & set(tools.kernel_lines(program))


@needs_compilers()
@pytest.mark.parametrize("program", traces.LAUNCHES)
def test_each_broken_kernel_compiles(program: str) -> None:
    name, _, _, arguments = traces.LAUNCHES[program]
    space: dict[str, Any] = {"__name__": program}
    exec(tools.source(program).replace("import cupy as cp", ""), space)
    signature = tuple(numba.typeof(item) for item in arguments())
    assert numba_facts(space[name], signature).registers <= 64


def test_a_report_keeps_what_the_tool_says_and_the_program_s_own_frames() -> None:
    report = tools.Report("later", "$ python later.py", MEMCHECK, ended=True)
    assert (report.lines_named, report.n_errors, report.failed) == ([12], 1, True)
    assert str(report).splitlines() == [
        "$ python later.py",
        "looked up",
        "========= Invalid __global__ read of size 4 bytes",
        "=========     at look_up in later.py:12",
        "=========     by thread (188,0,0) in block (2,0,0)",
        "=========     Access to 0x7fc114800fa0 is out of bounds",
        "Traceback (most recent call last):",
        '  File "later.py", line 22, in main',
        "    result = out.get()",
        "cupy_backends.cuda.api.runtime.CUDARuntimeError: cudaErrorIllegalAddress: an illegal memory",
        "    access",
        "========= Target application returned an error",
        "========= ERROR SUMMARY: 1 error",
        "later.py:12  out[i] = table[keys[i]]",
    ]


def test_a_row_of_the_chart_tells_a_named_line_from_a_failure() -> None:
    silent = tools.Report("later", "", "========= ERROR SUMMARY: 0 errors", ended=True)
    reports = {(program, check): silent for program in tools.PROGRAMS for check in ("", *tools.CHECKS)}
    reports["later", "memcheck"] = tools.Report("later", "", MEMCHECK, ended=True)
    reports["two_barriers", ""] = tools.Report("two_barriers", "", "launched", ended=False)
    rows = dict(zip(tools.PROGRAMS, tools.levels(reports, [2] * 6), strict=True))
    assert rows["later"] == [0, 2, 0, 0, 0, 2]
    assert rows["two_barriers"] == [1, 0, 0, 0, 0, 2]


def test_the_command_that_is_shown_has_the_options_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "sanitizer", lambda: "/bin/echo")
    report = tools.run("later", "memcheck")
    *options, _python, _unbuffered, _program = report.text.split()
    assert report.command.split() == ["$", "compute-sanitizer", *options, "python", "later.py"]
