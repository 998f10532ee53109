"""What judges share: reading the clock's log, and saying what went wrong where."""

import re
from time import process_time

import numpy as np
import pytest

from gpuguide.exercises import get, host_function, names
from gpuguide.exercises.host_function import judge_function
from gpuguide.exercises.model import FunctionTask
from gpuguide.exercises.stand_ins.array_cases import compare_values, unchanged
from gpuguide.exercises.stand_ins.fake_cupy import FakeCupy
from gpuguide.exercises.stand_ins.judging import attempt, is_seconds
from gpuguide.exercises.stand_ins.time_limit import time_limit
from gpuguide.exercises.stand_ins.timed_regions import clock_mistakes, regions, used_for
from gpuguide.exercises.stand_ins.virtual_gpu import Costs, VirtualGpu

COSTS = Costs(launch_ns=10, compile_ns=1000, wake_up_ns=5, clock_ns=1)


@pytest.fixture
def gpu():
    return VirtualGpu(COSTS)


def mistakes(gpu):
    return [finding.message for finding in clock_mistakes(regions(gpu, "work"))]


def warm(gpu):
    gpu.launch("work", busy_ns=10)
    gpu.synchronize()


def test_a_good_clock_has_no_mistakes(gpu):
    warm(gpu)
    gpu.clock()
    gpu.launch("work", busy_ns=10_000)
    gpu.synchronize()
    gpu.clock()
    assert mistakes(gpu) == []
    assert regions(gpu, "work")[0].seconds == pytest.approx(10_016e-9)


def test_a_clock_that_stops_too_early(gpu):
    warm(gpu)
    gpu.clock()
    gpu.launch("work", busy_ns=10_000)
    gpu.clock()
    assert mistakes(gpu) == [
        "The clock stopped after the launch, while the work was still going on: "
        "the kernel 'work' had 10.0 µs left."
    ]


def test_a_clock_that_starts_too_early(gpu):
    warm(gpu)
    gpu.launch("other", busy_ns=20_000)
    gpu.clock()
    gpu.launch("work", busy_ns=10_000)
    gpu.synchronize()
    gpu.clock()
    (message,) = mistakes(gpu)
    assert "started while the GPU was still busy: the kernel 'other' had 20.0 µs left" in message


def test_a_clock_that_runs_while_a_kernel_is_compiled(gpu):
    gpu.clock()
    gpu.launch("work")
    gpu.synchronize()
    gpu.clock()
    assert mistakes(gpu) == ["The first call of the kernel 'work' compiled it while the clock ran."]


def test_one_reading_that_ends_and_begins_is_told_once(gpu):
    warm(gpu)
    for _ in range(3):
        gpu.clock()
        gpu.launch("work", busy_ns=10_000)
    gpu.clock()
    assert len(mistakes(gpu)) == 1


def test_stretches_without_the_work_are_left_out(gpu):
    gpu.clock()
    gpu.clock()
    gpu.launch("other")
    gpu.clock()
    assert regions(gpu, "work") == []
    assert len(regions(gpu)) == 1


def test_a_figure_is_found_again_among_the_stretches(gpu):
    for busy in (10_000, 50_000):
        gpu.clock()
        gpu.launch("work", busy_ns=busy)
        gpu.synchronize()
    gpu.clock()
    found = regions(gpu, "work")
    assert used_for(found[1].seconds, found) == [found[1]]
    assert used_for(123.0, found) == found


def answer(source):
    namespace = {}
    exec(compile(source, "<answer>", "exec"), namespace)
    return namespace["answer"]


def test_an_exception_is_told_with_the_reader_s_line():
    function = answer("def answer(x):\n    y = x\n    return y.nothing\n")
    result, finding = attempt(function, "With a list", [])
    assert result is None
    assert (finding.kind, finding.line) == ("exception", 3)
    assert finding.message == (
        "With a list the function raised AttributeError: 'list' object has no attribute 'nothing'."
    )


@pytest.mark.parametrize("made", ["cp.ones(3)", "cp.sum", "cp.ones(3).sum", "cp.add", "cp.cuda.Event()"])
def test_what_a_stand_in_lacks_is_told_as_such(made):
    function = answer(f"def answer(cp):\n    return {made}.nothing\n")
    message = attempt(function, "Here", FakeCupy())[1].message
    called = " It is called with parentheses: are they missing?" if ".sum" in made else ""
    assert f"has no attribute 'nothing'.{called} It is a stand-in, which has only what" in message


def test_what_a_stand_in_says_itself_is_all():
    for source in ("cp.nothing", "cp.cuda.nothing"):
        message = attempt(answer(f"def answer(cp):\n    return {source}\n"), "Here", FakeCupy())[1].message
        assert "The stand-in for" in message
        assert "It is a stand-in" not in message


def test_an_interrupt_is_not_a_finding():
    with pytest.raises(KeyboardInterrupt):
        attempt(answer("def answer():\n    raise KeyboardInterrupt\n"), "Once")


@pytest.mark.parametrize("value", [np.float32(0.5), 1, 0.0, np.int64(3)])
def test_numbers_are_seconds(value):
    assert is_seconds(value)


@pytest.mark.parametrize("value", [None, "1", True, float("inf"), np.ones(2), 1j])
def test_other_things_are_not(value):
    assert not is_seconds(value)


EXPECTED = np.array([[1, 2], [3, 4]], np.float32)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (EXPECTED[0], r"shape \(2, 2\); it has \(2,\)"),
        (EXPECTED.astype(np.float64), "must be float32; it is float64"),
        (EXPECTED + np.float32(0.5), r"element \(0, 0\) of the result must be 1.0; got 1.5"),
        (np.where(EXPECTED == 4, np.float32(np.nan), EXPECTED), r"element \(1, 1\).*must be 4.0; got nan"),
        (None, "must be an array of NumPy; got None"),
        ([[1, 2], [3, 4]], "must be an array of NumPy; got"),
    ],
)
def test_values_that_differ_are_told(result, message):
    finding = compare_values("Here", result, EXPECTED, 0.1)
    assert finding.kind == "wrong"
    assert re.search(message, finding.message)


def test_values_within_the_tolerance_pass():
    assert compare_values("Here", EXPECTED + np.float32(0.05), EXPECTED, 0.1) is None
    assert compare_values("Here", np.float32(3), np.float32(3)) is None


def test_a_changed_input_is_seen_bit_for_bit():
    x, copy = np.array([0.0, np.nan]), np.array([0.0, np.nan])
    assert unchanged("Here", "x", x, copy) is None
    x[0] = -0.0
    assert unchanged("Here", "x", x, copy).kind == "input_changed"


class Anything:
    """Says that it equals whatever it is compared with."""

    __hash__ = None

    def __eq__(self, other):
        return True

    def __getattr__(self, name):
        return Anything()


class AnyNumber(float):
    __hash__ = None

    def __eq__(self, other):
        return True

    def __le__(self, other):
        return True

    __lt__ = __ge__ = __gt__ = __le__

    def __sub__(self, other):
        return AnyNumber(0)

    __rsub__ = __sub__

    def __abs__(self):
        return AnyNumber(0)


FUNCTIONS = [name for name in names() if isinstance(get(name).task, FunctionTask)]


@pytest.mark.parametrize("result", [Anything(), AnyNumber(1), (AnyNumber(1), AnyNumber(1)), [Anything()] * 3])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_result_does_not_judge_itself(name, result):
    parameters = ", ".join(get(name).task.parameters)
    namespace = {"result": result}
    exec(f"def answer({parameters}):\n    return result\n", namespace)
    assert judge_function(get(name), namespace["answer"]).findings


@pytest.mark.parametrize("name", FUNCTIONS)
def test_leaving_is_no_answer(name):
    parameters = ", ".join(get(name).task.parameters)
    namespace = {}
    exec(f"def answer({parameters}):\n    raise SystemExit(0)\n", namespace)
    (finding, *_) = judge_function(get(name), namespace["answer"]).findings
    assert (finding.kind, finding.line) == ("exception", 2)


@pytest.mark.parametrize("limit", ["LIMIT_S", "CALL_LIMIT_S"])
def test_a_function_has_its_time(monkeypatch, limit):
    monkeypatch.setattr(host_function, limit, 0.2)
    source = "def crossing_point(sizes, cpu_s, gpu_s):\n    while True:\n        try:\n"
    source += "            x = 1\n        except Exception:\n            pass\n"
    namespace = {}
    exec(compile(source, "<answer>", "exec"), namespace)
    (finding,) = judge_function(get("crossing_point"), namespace["crossing_point"]).findings
    assert finding.kind == "endless"
    assert finding.line in range(2, 7)
    assert "had not ended after 0.2 s" in finding.message


def test_a_part_of_a_reduction_that_never_ends_is_named(monkeypatch):
    """Once is enough: the parts are not tried again, to see what they remember."""
    monkeypatch.setattr(host_function, "CALL_LIMIT_S", 0.2)
    source = get("any_grouping").solution.replace(
        "def finish(a):", "def finish(a):\n        while a[1]: pass"
    )
    namespace = {}
    exec(compile(source, "<answer>", "exec"), namespace)
    begun = process_time()
    (finding,) = judge_function(get("any_grouping"), namespace["mean_above"]).findings
    assert process_time() - begun < 0.4
    assert finding.kind == "endless"
    assert finding.message == ("For the readings [6] and limit = 0, finish had not ended after 0.2 s.")


def test_each_call_has_its_time_anew():
    def busy():
        until = process_time() + 0.2
        while process_time() < until:
            pass

    with time_limit(20, 0.3):
        assert [attempt(busy, "Now")[1] for _ in range(3)] == [None] * 3
