"""A verdict says what is wrong, where, and what to look at: exact texts, as a reader gets them."""

import xml.etree.ElementTree as ET
from types import SimpleNamespace

import answers
import numpy as np
import pytest

from gpuguide.exercises import report as report_module
from gpuguide.exercises.check import judge
from gpuguide.exercises.gpu_judge import compared
from gpuguide.exercises.model import Call, FunctionTask, Limits
from gpuguide.exercises.report import FAILED, NOT_AT_HAND, PASSED, LaneReport
from gpuguide.exercises.simulator.findings import KINDS, Finding
from gpuguide.exercises.simulator.trace import Work
from gpuguide.exercises.verdict import Verdict
from gpuguide.exercises.wording import LOOK_AT, advice

STATS = Work(
    threads=576, reads=1042, writes=521, bytes_read=4168, bytes_written=2084, sectors_per_request=4.0
)
NO_GPU = LaneReport("gpu", NOT_AT_HAND, "This needs a GPU. CuPy is not installed.")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "hints.md").write_text("Look.\n---\nLook again.\n")
    return tmp_path


@pytest.fixture
def drawn(monkeypatch):
    """A stand-in for a trace, and drawings that say of what they are."""
    monkeypatch.setattr(report_module, "draw_text", lambda trace, finding: f"  [{finding.array}]")
    monkeypatch.setattr(
        report_module, "draw_svg", lambda trace, finding: f"<svg><title>{finding.array}</title></svg>"
    )
    return SimpleNamespace(regions=[])


def test_a_right_answer_is_told_what_it_did(folder) -> None:
    compiled = (
        "It compiles for compute capability 9.0, with no instruction in double precision.",
        "A thread takes 12 registers and 0 bytes of local memory.",
    )
    reports = (
        LaneReport(
            "simulator", PASSED, n_calls=23, stats=STATS, stats_call="n = 521, 18 blocks of 32 threads"
        ),
        LaneReport("compile", PASSED, notes=compiled),
        NO_GPU,
    )
    verdict = Verdict(answers.exercise(folder=folder), reports, answers.answer())
    assert verdict.passed
    assert verdict.findings == ()
    assert verdict.stats is STATS
    assert verdict.lanes == {
        "simulator": "passed",
        "compile": "passed",
        "gpu": "not at hand: This needs a GPU. CuPy is not installed.",
    }
    assert (
        str(verdict)
        == """\
double: passed

Simulator  passed: 23 launches, all with the right results.
Compiler   passed. It compiles for compute capability 9.0, with no instruction
           in double precision. A thread takes 12 registers and 0 bytes of
           local memory.
GPU        not at hand. This needs a GPU. CuPy is not installed.

The launch with the most work (n = 521, 18 blocks of 32 threads): 576 threads
made 1,042 reads and 521 writes of global memory, 4,168 bytes read and 2,084
written. A request of a warp touched 4 sectors of 32 bytes at its worst line.

What it shows: A kernel writes to its arguments."""
    )
    assert repr(verdict) == str(verdict), "a prompt shows it, too"


def test_shared_memory_and_atomics_are_told_of() -> None:
    stats = Work(
        threads=64, reads=1, writes=0, atomics=1, bytes_read=8, bytes_written=4, sectors_per_request=1.0,
        shared_bytes=1024, bank_conflict_degree=2, barriers=1,
    )  # fmt: skip
    reports = (LaneReport("simulator", PASSED, n_calls=1, stats=stats, stats_call="one"),)
    assert (
        str(Verdict(answers.exercise(), reports))
        == """\
double: passed

Simulator  passed: 1 launch, with the right results.

The launch with the most work (one): 64 threads made 1 read, 0 writes and 1
atomic operation of global memory, 8 bytes read and 4 written. A request of a
warp touched 1 sector of 32 bytes at its worst line. A block used 1,024 bytes
of shared memory, with bank conflicts of degree 2 and 1 barrier.

What it shows: A kernel writes to its arguments."""
    )


def test_a_wrong_answer_is_shown_its_line_a_drawing_and_what_to_look_at(folder, drawn) -> None:
    findings = (
        Finding(
            "out_of_range",
            "Thread 1 of block 1 reads x[33] in line 7, but x has 33 elements, the last of which is x[32].",
            line=7,
            array="x",
            index=(33,),
        ),
        Finding("wrong", "out[2] should be 4.0 and is 5.0; 1 of 33 elements is wrong."),
    )
    failed = LaneReport(
        "simulator",
        FAILED,
        findings=findings,
        call="n = 33, 2 blocks of 32 threads",
        n_calls=4,
        trace=drawn,
    )
    verdict = Verdict(answers.exercise(folder=folder), (failed,), answers.answer(answers.NO_GUARD))
    assert not verdict.passed
    assert verdict.findings == findings
    assert (
        str(verdict)
        == """\
double: not yet

In the simulator, with n = 33, 2 blocks of 32 threads (the 4 launches before
it were right):

  Thread 1 of block 1 reads x[33] in line 7, but x has 33 elements, the last
  of which is x[32].

    7 |     out[i] = x[i] + x[i]

  [x]

  Also: out[2] should be 4.0 and is 5.0; 1 of 33 elements is wrong.

Look at this next: Blocks are whole, so a grid may hold more threads than
there are elements. What should a thread without an element do?

A hint: gpuguide exercises show double --hint 1

Simulator  not passed: see above."""
    )


def test_what_the_compiler_refuses_is_told_after_what_the_simulator_said(folder) -> None:
    finding = Finding("compile", "Numba cannot compile line 8: Unknown attribute 'first'.", line=8)
    reports = (
        LaneReport("simulator", NOT_AT_HAND, "Line 8 uses x.first, which this simulator does not have."),
        LaneReport("compile", FAILED, findings=(finding,)),
    )
    assert (
        str(Verdict(answers.exercise(folder=folder), reports, answers.answer(answers.NOT_COMPILED)))
        == """\
double: not yet

For the compiler:

  Numba cannot compile line 8: Unknown attribute 'first'.

    8 |         out[i] = 2 * x.first(i)

Look at this next: A kernel is compiled before it runs: it takes numbers,
tuples, arrays, loops and branches, and functions that are decorated with
@cuda.jit(device=True).

A hint: gpuguide exercises show double --hint 1

Simulator  not at hand. Line 8 uses x.first, which this simulator does not
           have.
Compiler   not passed: see above."""
    )


def test_what_the_gpu_shows_comes_with_what_the_code_printed(folder) -> None:
    finding = Finding("endless", "The kernel had not ended after 20 s, and was stopped.")
    failed = LaneReport("gpu", FAILED, findings=(finding,), call="n = 1", n_calls=1, printed="hello\n3")
    text = str(Verdict(answers.exercise(folder=folder), (failed,), answers.answer()))
    assert text.startswith(
        "double: not yet\n\nOn the GPU, with n = 1 (the launch before it was right):\n\n  The kernel had not"
    )
    assert text.endswith("GPU  not passed: see above.\n\nYour code printed:\n\n    hello\n    3")


def test_many_findings_are_summed_up(folder) -> None:
    findings = tuple(Finding("race", f"Number {n}.") for n in range(5))
    failed = LaneReport("simulator", FAILED, findings=findings, call="n = 1")
    text = str(Verdict(answers.exercise(folder=folder), (failed,)))
    assert [f"Number {n}." in text for n in range(5)] == [True, True, True, False, False]
    assert "\n\n  And 2 more.\n\n" in text


ONLY_THE_COMPILER = "Only the code that the compiler makes shows whether this exercise is solved."


@pytest.mark.parametrize(
    "compiled",
    [(), (LaneReport("compile", NOT_AT_HAND, "It is not installed."),)],
    ids=["left out", "missing"],
)
def test_right_results_alone_are_no_pass_where_another_lane_decides(folder, compiled) -> None:
    reports = (LaneReport("simulator", PASSED, n_calls=2), *compiled, LaneReport("gpu", PASSED, n_calls=2))
    verdict = Verdict(answers.exercise(decided_in="compile"), reports)
    assert not verdict.passed
    assert verdict.findings == ()
    text = " ".join(str(verdict).split())
    assert text.startswith("double: right results, not fully judged ")
    assert text.endswith(ONLY_THE_COMPILER)
    decided = (reports[0], LaneReport("compile", PASSED))
    assert Verdict(answers.exercise(decided_in="compile"), decided).passed
    failed = (reports[0], LaneReport("compile", FAILED, findings=(Finding("float64", "Too many bits."),)))
    refused = Verdict(answers.exercise(decided_in="compile", folder=folder), failed)
    assert not refused.passed
    assert "Only the code" not in str(refused)


def test_what_a_missing_compiler_leaves_unjudged_is_said() -> None:
    reports = (LaneReport("simulator", PASSED), LaneReport("compile", NOT_AT_HAND, "It is not installed."))
    said = "What the task asks of the compiled code was not judged."
    verdict = Verdict(answers.exercise(Limits(float64_instructions=0)), reports)
    assert verdict.passed
    assert said in " ".join(str(verdict).split())
    assert said not in " ".join(str(Verdict(answers.exercise(), reports)).split())


def test_compiling_alone_is_no_pass() -> None:
    verdict = Verdict(answers.exercise(), (LaneReport("compile", PASSED),))
    assert not verdict.passed
    assert str(verdict).startswith("double: its results were not judged\n")


def test_what_to_do_is_said_where_the_simulator_cannot_judge() -> None:
    lacks = LaneReport("simulator", NOT_AT_HAND, "Line 8 uses x.sum, which this simulator does not have.")
    said = "Write the kernel without what the simulator lacks, or check it on a computer with an NVIDIA GPU."
    verdict = Verdict(answers.exercise(), (lacks, LaneReport("compile", PASSED)))
    assert not verdict.passed
    assert said in " ".join(str(verdict).split())
    judged = Verdict(answers.exercise(), (lacks, LaneReport("gpu", PASSED, n_calls=2)))
    assert judged.passed
    assert said not in " ".join(str(judged).split())


def test_no_hint_is_offered_where_there_is_none(tmp_path) -> None:
    (tmp_path / "hints.md").write_text("")
    failed = LaneReport("simulator", FAILED, findings=(Finding("race", "A race."),))
    assert "hint" not in str(Verdict(answers.exercise(folder=tmp_path), (failed,)))


def test_in_a_notebook_it_is_safe_html_with_the_drawing(folder, drawn) -> None:
    finding = Finding("race", "<b>x</b> & y", line=7, array="x")
    failed = LaneReport(
        "simulator", FAILED, findings=(finding,), call="n < 3", trace=drawn, printed="<script>"
    )
    answer = answers.answer(answers.RIGHT.replace("i < out.size", "i < out.size and 1 < 2"))
    html = Verdict(answers.exercise(folder=folder), (failed,), answer)._repr_html_()
    tree = ET.fromstring(html)
    assert tree.get("class") == "gpuguide-verdict"
    assert {node.tag for node in tree.iter()} == {
        "div", "p", "strong", "pre", "svg", "title", "table", "tbody", "tr", "th", "td", "code",
    }  # fmt: skip
    text = "\n".join(tree.itertext())
    assert "<b>x</b> & y" in text
    assert "7 |     if i < out.size and 1 < 2:" in text
    assert "with n < 3" in text
    assert 'print(gpuguide.exercises.get("double").hints[0])' in text
    cells = [node for node in tree.iter() if node.tag in ("th", "td")]
    assert all("text-align: left" in node.get("style", "") for node in cells), "a notebook aligns them right"
    assert "Look at this next: Nothing says which of the two threads comes first." in text


def test_every_kind_has_advice_and_nothing_shouts() -> None:
    judged = set(KINDS) - {"unsupported"}
    assert set(LOOK_AT) == judged
    for kind in judged:
        for text in (advice(kind, kernel=True), advice(kind, kernel=False)):
            assert "!" not in text
            assert text.endswith((".", "?"))


def test_advice_fits_what_was_judged() -> None:
    assert advice("limit", kernel=True).startswith(
        "The results are right. What does the kernel do more often"
    )
    assert "which type should it have" in advice("float64", kernel=True)
    assert "What does the task allow" in advice("limit", kernel=False)
    assert "array" not in advice("input_changed", kernel=False), "it may be a list or a dictionary"
    assert "right axis" in advice("out_of_range", kernel=True, n_axes=2)
    assert "axis" not in advice("out_of_range", kernel=True)


@pytest.mark.parametrize(
    ("source", "asked"),
    [
        (answers.NO_GUARD, "What should a thread without an element do?"),
        (answers.RIGHT.replace("x[i] + x[i]", "x[i + 1]"), "how small or large can it become"),
        (answers.RIGHT.replace("x[i] + x[i]", "x[int(x[i]) + 99999]"), "how small or large can it become"),
        (
            answers.RIGHT.replace("    i =", "    part = cuda.shared.array(16, float32)\n    i =")
            .replace("import cuda", "import cuda, float32")
            .replace("    if i", "    part[cuda.threadIdx.x] = 1\n    if i"),
            "is there room for it?",
        ),
    ],
)  # fmt: skip
def test_an_index_out_of_range_has_several_causes(folder, source, asked) -> None:
    exercise = answers.exercise(folder=folder)
    report = judge(exercise, source)
    assert report.findings[0].kind == "out_of_range"
    assert asked in " ".join(str(Verdict(exercise, (report,), answers.answer(source))).split())


def test_a_function_of_the_host_is_quoted_too(folder) -> None:
    task = FunctionTask(lambda function: ())
    failed = LaneReport("simulator", FAILED, findings=(Finding("limit", "Copied twice.", line=8),))
    text = str(Verdict(answers.exercise(folder=folder, task=task), (failed,), answers.answer()))
    assert "    8 |         out[i] = x[i] + x[i]\n" in text
    assert "What does the task allow" in " ".join(text.split())
    assert text.startswith("double: not yet\n\n  Copied twice."), "no launch is named where none was made"


def a_call(expected, tolerance=0.0):
    return Call("n", (1,), (1,), {}, {"out": expected}, tolerance)


@pytest.mark.parametrize(
    ("got", "expected", "tolerance", "message"),
    [
        ([1, 2, 5], [1, 2, 3], 0, "out[2] should be 3.0 and is 5.0; 1 of 3 elements is wrong."),
        ([9, 9, 3], [1, 2, 3], 0, "out[0] should be 1.0 and is 9.0; 2 of 3 elements are wrong."),
        ([1, 2.2, 3], [1, 2, 3], 0.1, "out[1] should be 2.0 and is 2.2; 1 of 3 elements is wrong."),
        ([np.nan, 1], [0, 1], 0.5, "out[0] should be 0.0 and is nan; 1 of 2 elements is wrong."),
        ([0, 1], [np.nan, 1], 0.5, "out[0] should be nan and is 0.0; 1 of 2 elements is wrong."),
        ([np.inf], [-np.inf], 9, "out[0] should be -inf and is inf."),
        ([5], [4], 0, "out[0] should be 4.0 and is 5.0."),
        ([[1, 2], [3, 4]], [[1, 2], [0, 4]], 0,
         "out[1, 0] should be 0.0 and is 3.0; 1 of 4 elements is wrong."),
    ],
)  # fmt: skip
def test_the_first_wrong_element_is_named(got, expected, tolerance, message) -> None:
    (finding,) = compared(a_call(np.float32(expected), tolerance), {}, {"out": np.float32(got)}, {})
    assert finding.message == message
    assert (finding.kind, finding.array) == ("wrong", "out")


@pytest.mark.parametrize(
    ("got", "expected", "tolerance"),
    [
        ([np.nan, -0.0], [np.nan, 0.0], 0),
        ([np.nan, np.inf], [np.nan, np.inf], 0.1),
        ([1.0999], [1], 0.1),
        ([], [], 0),
    ],
)
def test_equal_results_are_no_finding(got, expected, tolerance) -> None:
    assert compared(a_call(np.float32(expected), tolerance), {}, {"out": np.float32(got)}, {}) == []


def test_what_nobody_wrote_is_said_so_in_the_reader_s_name() -> None:
    from gpuguide.exercises.cases import poisoned

    for dtype, value in (("float32", "4.0"), ("int32", "4"), ("uint8", "4")):
        (finding,) = compared(a_call(np.full(2, 4, dtype)), {}, {"out": poisoned(2, dtype)}, {"out": "y"})
        assert finding.message == (
            f"y[0] should be {value}, but nothing was written there; 2 of 2 elements are wrong."
        )


def test_inputs_are_compared_bit_for_bit() -> None:
    before, after = {"x": np.float32([0.0, np.nan])}, {"x": np.float32([-0.0, np.nan])}
    call = Call("n", (1,), (1,), {}, {})
    (finding,) = compared(call, before, after, {"x": "data"})
    assert finding.message == "data is an input, but the kernel changed it: data[0] was 0.0 and is -0.0 now."
    assert finding.index == (0,)
    assert compared(call, before, {"x": before["x"].copy()}, {}) == []
    matrix = np.zeros((2, 3), np.int16)
    (finding,) = compared(call, {"x": matrix}, {"x": matrix + np.eye(2, 3, 1, np.int16)}, {})
    assert "x[0, 1] was 0 and is 1 now" in finding.message
