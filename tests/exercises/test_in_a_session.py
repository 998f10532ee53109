"""Checking in a session or a notebook: functions with what they use from other cells, and texts."""

from __future__ import annotations

import json
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from numba import cuda

from gpuguide.errors import ArgumentError, UnknownNameError
from gpuguide.exercises import check, get, in_page, notebook, progress, second_opinion, skip_without_gpu
from gpuguide.exercises.answer import Answer
from gpuguide.exercises.report import Report
from gpuguide.machine.backends import has_gpu

WIDEST = 10**6


@cuda.jit(device=True)
def larger(a, b):
    return a if a > b else b


@cuda.jit
def maximum_kernel(a, b, out):
    i = cuda.grid(1)
    if i < min(out.size, WIDEST):
        out[i] = larger(a[i], b[i])


@cuda.jit
def without_guard(x, y, z):
    i = cuda.grid(1)
    z[i] = larger(x[i], y[i])


def pairs_of(slabs):
    return pairwise(slabs)


def halo_exchange(slabs, width):
    for above, below in pairs_of(slabs):
        below[:width] = above[-2 * width : -width]
        above[-width:] = below[width : 2 * width]


def endless(slabs, width):
    while width:
        pass


def test_a_kernel_of_the_session_passes_and_is_remembered() -> None:
    verdict = check("guard", maximum_kernel)
    assert verdict.passed
    assert [*progress.read()] == ["guard"]
    assert "What it shows" in verdict._repr_html_()


def test_a_finding_names_the_reader_s_array_and_quotes_the_line() -> None:
    verdict = check("guard", without_guard)
    assert verdict.findings[0].kind == "out_of_range"
    assert "reads x[1]" in str(verdict)
    assert "| " + "    z[i] = larger(x[i], y[i])" in str(verdict)
    assert "<code>" in verdict._repr_html_()
    assert progress.read() == {}


def test_a_function_of_the_host_may_use_others() -> None:
    assert check("halo_exchange", halo_exchange).passed


def test_a_loop_without_an_end_gives_the_session_back() -> None:
    assert [finding.kind for finding in check("halo_exchange", endless).findings] == ["endless"]


def test_a_text_is_checked_too() -> None:
    assert check("guard", get("guard").solution).passed


def test_what_is_printed_is_shown() -> None:
    source = get("halo_exchange").solution.replace("        below[", '        print("here")\n        below[')
    assert "Your code printed:\n\n    here" in str(check("halo_exchange", source))
    lines = get("guard").solution.replace("    if i <", '    print("thread", i)\n    if i <')
    assert "thread 0" in str(check("guard", lines))


@pytest.mark.parametrize("answer", ["x = 1", 3, max, lambda a, b, out: None])
def test_what_holds_no_function_is_refused(answer) -> None:
    with pytest.raises(ArgumentError):
        check("guard", answer)


def test_a_wrong_name_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="guard"):
        check("gard", maximum_kernel)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def maximum_kernel(a, b, out):\n    pass\n", "decorate it with @cuda.jit"),
        ("from numba import cuda\n@cuda.jit\ndef maximum_kernel(a):\n    pass\n", "(a, b, out)"),
        ("from numba import cuda\n@cuda.jit\ndef maximum_kernel(a, b, out)\n    pass\n", "line 3"),
        ("import no_such_module\n", "no function"),
        ("import no_such_module\ndef f(a, b, out):\n    pass\n", "no_such_module"),
    ],
)
def test_a_slip_before_any_launch_gets_a_sentence(source: str, said: str) -> None:
    try:
        text = str(check("guard", source))
    except ArgumentError as error:
        text = str(error)
    assert said in text


@pytest.mark.skipif(has_gpu(), reason="is about computers without a GPU")
def test_a_notebook_runs_from_top_to_bottom_without_a_gpu(tmp_path, monkeypatch) -> None:
    """Cells that need a GPU are skipped, the exercise runs."""
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed here")
    v4 = pytest.importorskip("nbformat.v4", reason="nbformat is not installed here")
    cells = (
        'import gpuguide.exercises\n\ngpuguide.exercises.skip_without_gpu("guard")',
        "import no_such_cupy as cp",
        get("guard").start,
        'import gpuguide.exercises\n\ngpuguide.exercises.check("guard", maximum_kernel)',
    )
    book = v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    said, skipped, start, checked = (cell.outputs for cell in book.cells)
    assert said[0].text.endswith("The exercise needs none: change and check maximum_kernel.\n")
    assert (skipped, start) == ([], [])
    assert checked[0].data["text/plain"].startswith("guard: not yet")


def test_with_a_gpu_nothing_is_said_or_skipped(monkeypatch, capsys) -> None:
    monkeypatch.setattr(notebook, "_why_no_gpu", lambda: "")
    skip_without_gpu("guard")
    assert capsys.readouterr().out == ""


FAKE = """
import numpy as np

class Kernel:
    def __getitem__(self, configuration):
        return self.run

    def run(self, a, b, out):
        out[:] = {result}

maximum_kernel = Kernel()
"""


@pytest.mark.parametrize(("result", "kinds"), [("np.maximum(a, b)", []), ("a", ["gpu"])])
def test_a_gpu_is_a_second_opinion(monkeypatch, result: str, kinds: list[str]) -> None:
    class OnGpu(np.ndarray):
        copy_to_host = np.ndarray.copy

    to_device = SimpleNamespace(to_device=lambda x: x.copy().view(OnGpu))
    monkeypatch.setattr(second_opinion, "require_gpu", lambda: SimpleNamespace(name="GPU of the test"))
    monkeypatch.setattr(second_opinion, "numba_cuda", lambda: to_device)
    answer = Answer(FAKE.format(result=result), "maximum_kernel")
    report, said = second_opinion.judge_on_gpu(get("guard"), answer, Report())
    assert [finding.kind for finding in report.findings] == kinds
    assert said == ("" if kinds else "The GPU of the test agrees.")


@pytest.mark.gpu
def test_a_gpu_agrees() -> None:
    assert "agrees" in str(check("guard", maximum_kernel, gpu=True))


def test_a_page_gets_prints_findings_and_lines_of_a_script() -> None:
    script = """
from numba import cuda
@cuda.jit
def total(x, out):
    out[0] += x[cuda.threadIdx.x]
print("before")
total[1, 2]([1, 2], [0])
"""
    reply = json.loads(in_page.trace(script))
    assert (reply["passed"], reply["lines"]) == (False, [5])
    order = ("before", "kernel.py, line 7:", "both change out[0] in line 5", "<svg", "1 launch")
    places = [reply["html"].index(part) for part in order]
    assert places == sorted(places)
    assert "line 1" in json.loads(in_page.trace("x = ("))["text"]
