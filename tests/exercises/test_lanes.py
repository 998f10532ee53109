"""An answer goes through the lanes at hand, one after the other, up to the first that fails."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import answers
import pytest

from gpuguide.errors import ArgumentError, NoGpuError, UnknownNameError
from gpuguide.exercises import get, simulate
from gpuguide.exercises import lanes as lanes_module
from gpuguide.exercises.lanes import choose_lanes, judge, judge_in_lanes
from gpuguide.exercises.model import FunctionTask, KernelTask, Limits
from gpuguide.exercises.report import FAILED, NOT_AT_HAND, PASSED, LaneReport
from gpuguide.exercises.simulate import judge_simulated
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.simulator.judge import judge_launch
from gpuguide.exercises.verdict import Verdict
from gpuguide.exercises.wording import LOOK_AT
from gpuguide.exercises.worker_process import Ended


class FakeWorker:
    """Records what it is asked for, and answers with a report of its lane."""

    log: list[str]

    def __init__(self, lanes) -> None:
        self.log.append(f"start {' '.join(lanes)}")

    def __enter__(self):
        return self

    def __exit__(self, *error: object) -> None:
        self.log.append("close")

    def judge(self, lane, job, limit_s):
        self.log.append(f"judge {lane} ({limit_s:g} s)")
        assert job["exercise"] == "double"
        return Ended(0, ({"report": LaneReport(lane, PASSED).as_json()},))


@pytest.fixture
def log(monkeypatch):
    FakeWorker.log = []
    monkeypatch.setattr(lanes_module, "require_gpu", lambda: None)
    monkeypatch.setattr(lanes_module.sys, "platform", "linux")
    monkeypatch.setattr(lanes_module.compilers, "missing_parts", lambda names=(): ())
    return FakeWorker.log


ALL = ("simulator", "compile", "gpu")


def test_no_process_is_started_for_a_compiler_that_is_not_there(log, monkeypatch) -> None:
    monkeypatch.setattr(lanes_module.compilers, "missing_parts", lambda names=(): ("NVRTC", "nvJitLink"))
    reports = judge_in_lanes(answers.exercise(), answers.answer(), ("simulator", "compile"), start=FakeWorker)
    assert [report.state for report in reports] == [PASSED, NOT_AT_HAND]
    assert reports[1].reason.startswith(
        "NVIDIA's compiler is not installed (NVRTC and nvJitLink are missing). 'gpuguide doctor'"
    )
    assert log == []


def test_the_worker_is_started_before_the_simulator_judges(log) -> None:
    reports = judge_in_lanes(answers.exercise(), answers.answer(), ALL, tell=log.append, start=FakeWorker)
    assert [report.state for report in reports] == [PASSED] * 3
    assert log == [
        "start compile gpu",
        "simulator",
        "compile",
        "judge compile (60 s)",
        "gpu",
        "judge gpu (20 s)",
        "close",
    ]


def test_the_first_lane_that_fails_is_the_last(log) -> None:
    wrong = answers.answer(answers.WRONG)
    (report,) = judge_in_lanes(answers.exercise(), wrong, ALL, start=FakeWorker)
    assert (report.lane, report.state) == ("simulator", FAILED)
    assert log == ["start compile gpu", "close"]


def test_lanes_that_are_not_at_hand_say_why(log, monkeypatch) -> None:
    def no_gpu():
        raise NoGpuError("This needs a GPU, and CUDA sees none.")

    monkeypatch.setattr(lanes_module, "require_gpu", no_gpu)
    monkeypatch.setattr(lanes_module, "nvml", object)
    monkeypatch.setattr(lanes_module.sys, "platform", "darwin")
    reports = judge_in_lanes(answers.exercise(), answers.answer(), ALL, start=FakeWorker)
    assert [(report.state, report.reason) for report in reports[1:]] == [
        (NOT_AT_HAND, "NVIDIA's compiler does not exist for macOS."),
        (NOT_AT_HAND, "This needs a GPU, and CUDA sees none."),
    ]
    assert log == []


def test_without_a_driver_nobody_is_told_to_install_cupy(log, monkeypatch) -> None:
    def no_cupy():
        raise NoGpuError("This needs a GPU. CuPy is not installed. Install it.")

    monkeypatch.setattr(lanes_module, "require_gpu", no_cupy)
    monkeypatch.setattr(lanes_module, "nvml", lambda: None)
    _, gpu = judge_in_lanes(answers.exercise(), answers.answer(), ("simulator", "gpu"), start=FakeWorker)
    assert (gpu.state, gpu.reason) == (
        NOT_AT_HAND,
        "This computer has no NVIDIA GPU, or no driver for it.",
    )


def test_the_worker_is_closed_when_a_lane_raises(log) -> None:
    def broken():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judge_in_lanes(answers.exercise(), answers.answer(), ALL, judge_here=broken, start=FakeWorker)
    assert log[-1] == "close"


def test_lanes_are_chosen_in_their_order() -> None:
    exercise = answers.exercise(lanes=("simulator", "gpu"))
    assert choose_lanes(exercise, None) == ("simulator", "gpu")
    assert choose_lanes(exercise, ["gpu", "simulator"]) == ("simulator", "gpu")
    assert choose_lanes(exercise, "gpu") == ("gpu",)
    with pytest.raises(UnknownNameError, match=r"Unknown lane 'cpu'. Did you mean 'gpu'\?"):
        choose_lanes(exercise, ["cpu"])
    with pytest.raises(ArgumentError) as caught:
        choose_lanes(exercise, ["compile"])
    assert str(caught.value) == "'double' has no lane 'compile'; it is judged in simulator, gpu."
    with pytest.raises(ArgumentError, match=r"Expected at least one lane of simulator, gpu; got none."):
        choose_lanes(exercise, [])


def test_judging_a_text_takes_name_and_constants() -> None:
    source = answers.RIGHT.replace("x[i] + x[i]", "FACTOR * x[i]") + "\n\ndef last(x, out):\n    pass\n"
    report = judge(answers.exercise(), source, name="double_kernel", constants={"FACTOR": 2})
    assert (report.state, report.findings) == (PASSED, ())
    assert judge(answers.exercise(), source).state == FAILED, "the last function writes nothing"
    with pytest.raises(UnknownNameError, match="Unknown lane 'cpu'"):
        judge(answers.exercise(), source, lane="cpu")


def test_judging_a_function_of_the_host_executes_the_text() -> None:
    def watch(function):
        if function(3) != 6:
            yield Finding("wrong", "It is wrong.")

    exercise = answers.exercise(task=FunctionTask(watch), lanes=("simulator",))
    assert judge(exercise, "FACTOR = 2\ndef f(x):\n    return FACTOR * x\n").passed
    assert not judge(exercise, "def f(x):\n    return x\n\ndef g(x):\n    return 2\n").passed
    assert judge(exercise, "def f(x):\n    return FACTOR * x\n", constants={"FACTOR": 2}).passed


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("RIGHT", []),
        ("NO_GUARD", ["out_of_range"]),
        ("WRONG", ["wrong"]),
        ("WRITES_NOTHING", ["wrong"]),
        ("CHANGES_INPUT", ["input_changed"]),
        ("ENDLESS", ["endless"]),
    ],
)
def test_the_simulator_finds_what_is_wrong(name: str, kinds: list[str]) -> None:
    report = judge_simulated(answers.exercise(), answers.answer(getattr(answers, name)))
    assert [finding.kind for finding in report.findings][: len(kinds) or None] == kinds
    assert report.state == (FAILED if kinds else PASSED)


@pytest.mark.parametrize("name", ["NO_GUARD", "WRONG", "WRITES_NOTHING", "CHANGES_INPUT", "ENDLESS"])
def test_each_mistake_can_be_shown_as_text_and_in_a_notebook(tmp_path, name: str) -> None:
    (tmp_path / "hints.md").write_text("Look.")
    answer = answers.answer(getattr(answers, name))
    exercise = answers.exercise(folder=tmp_path)
    verdict = Verdict(exercise, (judge_simulated(exercise, answer),), answer)
    ET.fromstring(verdict._repr_html_())
    nothing_to_draw = name in ("WRITES_NOTHING", "ENDLESS")
    assert ("thread of block 0" in str(verdict)) is not nothing_to_draw
    assert ("<svg" in verdict._repr_html_()) is not nothing_to_draw
    advice = LOOK_AT["never_written" if name == "WRITES_NOTHING" else verdict.findings[0].kind]
    assert advice in " ".join(str(verdict).split())


@pytest.mark.parametrize("line", ["out[i] = x[absent]", "while True: pass"])
def test_after_a_crash_it_is_no_news_that_nothing_was_written(line: str) -> None:
    source = answers.RIGHT.replace("out[i] = x[i] + x[i]", line)
    (finding,) = judge_simulated(answers.exercise(), answers.answer(source)).findings
    assert finding.kind in ("exception", "endless")


def test_a_right_kernel_is_launched_in_every_way_and_the_last_ones_backwards() -> None:
    report = judge_simulated(answers.exercise(), answers.answer())
    calls = [call for call in answers.calls() if not call.gpu_only]
    assert report.n_calls == len(calls) + len({call.block for call in calls})
    assert report.stats.threads == max(call.grid[0] * call.block[0] for call in calls)
    assert "n = 1031" in report.stats_call


@pytest.mark.parametrize(
    ("launches", "again"),
    [(((40, 32), (20, 32)), 20), (((20, 32), (40, 32)), 20), (((40, 32), (50, 32)), 50)],
    ids=["fewer threads last", "fewer threads first", "many threads in all"],
)
def test_a_launch_of_many_threads_is_made_again_backwards_only_for_want_of_another(
    monkeypatch, launches, again
) -> None:
    made = []
    monkeypatch.setattr(
        simulate,
        "judge_launch",
        lambda kernel, launch, limits, order: (
            made.append((launch.label, order)) or judge_launch(kernel, launch, limits, order)
        ),
    )
    calls = [
        replace(answers.calls()[0], label=str(blocks), grid=(blocks,), block=(threads,))
        for blocks, threads in launches
    ]
    task = KernelTask(lambda: calls, parameters=("x", "out"))
    assert judge_simulated(answers.exercise(task=task), answers.answer()).passed
    assert made == [*((str(blocks), "forward") for blocks, _ in launches), (str(again), "reverse")]


def test_a_launch_without_results_is_not_made_again_backwards() -> None:
    (empty, *_) = [call for call in answers.calls() if call.label.startswith("n = 0")]
    task = KernelTask(lambda: [empty], parameters=("x", "out"))
    assert judge_simulated(answers.exercise(task=task), answers.answer()).n_calls == 1


def test_a_launch_for_the_gpu_alone_is_left_out() -> None:
    calls = [replace(call, gpu_only=call.arguments["x"].size > 257) for call in answers.calls()]
    task = KernelTask(lambda: calls, parameters=("x", "out"))
    report = judge_simulated(answers.exercise(task=task), answers.answer())
    traced = [call for call in calls if not call.gpu_only]
    assert report.n_calls == len(traced) + len({call.block for call in traced})
    assert "n = 257" in report.stats_call


def test_the_figures_are_those_of_a_launch_that_has_something_to_do() -> None:
    """The largest grid over a matrix of one row leaves nearly all threads without an element."""
    report = judge(get("map_2d"), get("map_2d").solution)
    calls = [call for call in get("map_2d").task.calls() if not call.gpu_only]
    assert report.stats.writes == max(call.arguments["mask"].size for call in calls)


def test_a_kernel_that_depends_on_the_order_of_blocks_is_found() -> None:
    source = answers.RIGHT.replace(
        "out[i] = x[i] + x[i]", "cuda.atomic.max(out, 0, i)\n        out[i] = x[i] + x[i]"
    )
    assert judge_simulated(answers.exercise(), answers.answer(source)).state == FAILED


def test_what_the_simulator_lacks_is_no_finding() -> None:
    report = judge_simulated(answers.exercise(), answers.answer(answers.NOT_COMPILED))
    assert (report.state, report.findings) == (NOT_AT_HAND, ())
    assert report.reason.startswith("Line 8 uses ")


def test_the_reader_s_own_names_stand_in_the_findings() -> None:
    source = (
        answers.WRONG.replace("out", "result")
        .replace("(x, result)", "(data, result)")
        .replace("x[i]", "data[i]")
    )
    report = judge_simulated(answers.exercise(), answers.answer(source))
    assert report.findings[0].message.startswith("result[0] should be ")
    assert report.findings[0].line == 8


TWICE = (
    "Thread 0 of block 0 alone reads x[0] twice, in line 8: each x[...] counts as often as a thread comes to "
    "it. Keep the element in a variable."
)


@pytest.mark.parametrize(
    ("limits", "body", "kind", "message"),
    [
        (
            {"reads_per_element": 1},
            "out[i] = x[i] + x[i]",
            "limit",
            f"An element of x is read twice, where once is allowed. {TWICE}",
        ),
        (
            {"writes_per_element": 1},
            "out[i] = 0\n        out[i] = x[i] + x[i]",
            "limit",
            "An element of out is written twice, where once is allowed.",
        ),
        (
            {"reads_per_block": 1},
            "out[i] = x[i] + x[i]",
            "limit",
            f"An element of x is read twice by one block, where once is allowed. {TWICE}",
        ),
        (
            {"atomics_per_block": 1},
            "out[i] = 0\n        cuda.atomic.add(out, i, x[i])\n        cuda.atomic.add(out, i, x[i])",
            "limit",
            "A block makes 2 atomic operations on global memory, where 1 is allowed.",
        ),
        (
            {"atomics_per_warp": 1},
            "out[i] = 0\n        cuda.atomic.add(out, i, x[i])\n        cuda.atomic.add(out, i, x[i])",
            "limit",
            "A warp makes 2 atomic operations on global memory, where 1 is allowed.",
        ),
        (
            {"atomics": 0},
            "out[i] = 0\n        cuda.atomic.add(out, i, x[i] + x[i])",
            "limit",
            "The launch makes 1 atomic operation on global memory, where none is needed.",
        ),
        (
            {"loop_turns": 1},
            "for _ in range(2):\n            out[i] = x[i] + x[i]",
            "limit",
            "A thread makes 2 turns of loops, where 1 is allowed: share the work, or save some of it.",
        ),
        (
            {"active_threads": 0.9},
            "pass\n    if i == 0:\n        for k in range(out.size):\n            out[k] = x[k] + x[k]",
            "limit",
            "Only 1 thread of 64 touched the arrays, although there is an element for each.",
        ),
        (
            {"divergent_branches": 0.1},
            "if i % 2:\n            out[i] = x[i] + x[i]\n        else:\n            out[i] = 2 * x[i]",
            "limit",
            "The threads of a warp diverge at 50% of the branches that they meet; at most 10% are allowed.",
        ),
        (
            {"sectors_per_request": 4},
            "pass\n    k = (i % 32) * (out.size // 32) + i // 32\n"
            "    if out.size % 32 == 0 and i < out.size:\n        out[k] = x[k] + x[k]\n"
            "    elif i < out.size:\n        out[i] = x[i] + x[i]",
            "uncoalesced",
            None,
        ),
        (
            {"bank_conflicts": 1},
            "pass\n    s = cuda.shared.array(1024, float32)\n    t = cuda.threadIdx.x\n"
            "    if i < out.size:\n        s[t * 32 % 1024] = x[i]\n        out[i] = x[i] + x[i]",
            "bank_conflict",
            None,
        ),
    ],
)
def test_limits_are_held(limits, body, kind, message) -> None:
    source = answers.RIGHT.replace("out[i] = x[i] + x[i]", body).replace(
        "import cuda", "import cuda, float32"
    )
    assert judge_simulated(answers.exercise(), answers.answer(source)).passed or kind == "bank_conflict"
    report = judge_simulated(answers.exercise(Limits(**limits)), answers.answer(source))
    assert report.state == FAILED
    assert report.findings[0].kind == kind
    assert message is None or report.findings[0].message == message
    assert report.findings[0].line or "active_threads" in limits, "the line to look at is named"
    if "reads" not in str(limits):
        right = judge_simulated(answers.exercise(Limits(**limits)), answers.answer())
        assert right.passed, right.findings


@pytest.mark.parametrize(
    "loop",
    [
        "while k < 2:\n",
        "while True:\n            if k == 2:\n                break\n",
        "for _ in range(9):\n            if k == 2:\n                break\n",
        "while True:\n            if k == 2:\n                out[i] = x[i] + x[i]\n                return\n",
    ],
)
def test_a_turn_that_only_leaves_the_loop_does_not_count(loop: str) -> None:
    body = f"k = 0\n        {loop}            k += 1\n        out[i] = x[i] + x[i]"
    source = answers.answer(answers.RIGHT.replace("out[i] = x[i] + x[i]", body))
    for turns, passes in ((2, True), (1, False)):
        report = judge_simulated(answers.exercise(Limits(loop_turns=turns)), source)
        assert report.passed == passes, report.findings


def test_where_there_is_nothing_to_do_no_thread_needs_to_work() -> None:
    call = next(call for call in answers.calls() if call.grid == (len(call.arguments["x"]),) > (32,))
    x = call.arguments["x"]
    call = replace(call, arguments={"x": x, "out": x.copy()}, expected={"out": x})
    task = KernelTask(lambda: [call], Limits(active_threads=0.9), parameters=("x", "out"))
    report = judge_simulated(answers.exercise(task=task), answers.answer(answers.WRITES_NOTHING))
    assert report.passed, report.findings


def test_how_accesses_lie_together_is_judged_for_contiguous_arrays_only() -> None:
    """Every third launch has gaps between its elements, which no kernel can help."""
    report = judge_simulated(answers.exercise(Limits(sectors_per_request=4)), answers.answer())
    assert report.passed


def test_calls_may_be_an_iterator() -> None:
    task = answers.exercise().task
    exercise = answers.exercise(task=KernelTask(lambda: iter(task.calls()), parameters=task.parameters))
    assert judge_simulated(exercise, answers.answer()).passed
