"""The compile lane: what NVIDIA's compiler says of a kernel, in this process and in a worker."""

import re
import sys

import answers
import numpy as np
import pytest

from gpuguide.errors import ArgumentError, BackendError
from gpuguide.exercises import compile_lane, ptxas
from gpuguide.exercises.check import check_file
from gpuguide.exercises.compile_lane import judge_compile
from gpuguide.exercises.kernels import build
from gpuguide.exercises.model import Limits
from gpuguide.exercises.pool import get
from gpuguide.exercises.reading import Answer, read_source
from gpuguide.exercises.report import FAILED, NOT_AT_HAND, PASSED
from gpuguide.exercises.worker_process import LIMIT_S, WorkerProcess, describe, read_ending

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="NVIDIA's compiler is installed on Linux only"
)
needs_ptxas = pytest.mark.skipif(ptxas.find() is None, reason="ptxas is not installed")


def judged(body: str, before: str = "", **limits: int):
    """What the lane says of a kernel with this body, which begins in line 7."""
    source = f"from numba import cuda, float32\nimport numpy as np\nimport math\n{before}"
    source += "@cuda.jit\ndef k(x, out):\n    i = cuda.grid(1)\n"
    source += "".join(f"    {line}\n" for line in body.splitlines())
    return judge_compile(answers.exercise(Limits(**limits)), Answer(source, "k", place="mine.py"))


@needs_ptxas
def test_a_right_kernel_passes_with_its_registers() -> None:
    report = judge_compile(answers.exercise(), answers.answer())
    assert report.state == PASSED
    assert (
        report.notes[0] == "It compiles for compute capability 9.0, with no instruction in double precision."
    )
    assert re.fullmatch(r"A thread takes \d+ registers and 0 bytes of local memory.", report.notes[1])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("out[i] = absent(x[i])", "line 7: name 'absent' is not defined."),
        (
            "out[i] = (x[i] * 2.0).astype(np.float32)",
            "line 7: Unknown attribute 'astype' of type float64; write float32(...) around a number.",
        ),
        ("out[i] = x.foo", "line 7: Unknown attribute 'foo' of type array(float32, 1d, C)."),
        ("out[i] = cuda.gridd(1)", "line 7: module 'numba.cuda' has no attribute 'gridd'."),
        ("out[i] = math.sqrtt(1.0)", "line 7: module 'math' has no attribute 'sqrtt'."),
        ("out[i] = 'a'", "line 7: it knows no setitem(array(float32, 1d, C), int64, str)."),
        (
            "out[i, 0] = 1",
            "line 7: it knows no setitem(array(float32, 1d, C), Tuple(int64, int), int): cannot index "
            "array(float32, 1d, C) with 2 indices: Tuple(int64, Literal[int](0)).",
        ),
        ("s = cuda.shared.array(x.size, float32)", "line 7: it knows no array(int64, class(float32))."),
    ],
)
def test_what_cannot_be_compiled_is_one_sentence_with_the_reader_s_line(body: str, message: str) -> None:
    report = judged(body)
    assert report.state == FAILED
    (finding,) = report.findings
    assert finding.kind == "compile"
    assert finding.message == f"Numba cannot compile {message}"
    assert finding.line == 7


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("y = [1, 2]", "a list: a kernel cannot make one; use cuda.local.array or a tuple"),
        ("try:\n    pass\nexcept ValueError:\n    pass", "a try statement: a kernel cannot catch exceptions"),
        ("return x[0]", "a return with a value: a kernel returns nothing, it writes to its arguments"),
        ("yield x[0]", "yield: a kernel returns nothing, it writes to its arguments"),
        ("print(f'{i}')", "an f-string: a kernel cannot make strings; print takes the values themselves"),
        ("import os", "an import: imports stand outside of a kernel"),
    ],
)
def test_what_no_kernel_can_hold_is_found_before_compiling(body: str, what: str) -> None:
    (finding,) = judged(body).findings
    assert str(finding) == f"Line 7 holds {what}."
    assert finding.line == 7


def test_device_functions_are_compiled_without_a_gpu() -> None:
    before = "@cuda.jit(device=True)\ndef twice(v):\n    return v + v\n"
    assert judged("if i < out.size:\n    out[i] = twice(x[i])", before=before).passed
    report = judged("out[i] = twice(x[i])", before=before.replace("v + v", "v.foo"))
    assert str(report.findings[0]) == "Numba cannot compile line 6: Unknown attribute 'foo' of type float32."


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "for k in (0, cuda.blockDim.x):\n    out[k] = x[i]",
            "line 7: Numba loops over a tuple only if all its elements are of one type, not of int64 and "
            "int32.",
        ),
        (
            "part = cuda.shared.array(1, 'int32')\ncuda.atomic.add(part, (0,), 1)",
            "line 8: Cannot cast UniTuple(int x 1) to int64.",
        ),
        (
            "out[i] = x[0:2].max()",
            "line 7: what is called there makes an array and returns it, which a kernel cannot do: take "
            "single elements.",
        ),
        (
            "out[i] = cuda.shfl_sync(0xFFFFFFFF, np.uint32(i), 0)",
            "line 7: a shuffle takes float32, float64 and signed integers, int32 and int64, alone; write "
            "int32(...) around the value.",
        ),
    ],
)
def test_what_numba_says_is_put_in_words_and_in_its_place(body: str, said: str) -> None:
    (finding,) = judged(body).findings
    assert finding.message == f"Numba cannot compile {said}"


def test_double_precision_is_counted_and_limited() -> None:
    report = judged("out[i] = x[i] * 0.1", float64_instructions=0)
    assert report.state == FAILED
    assert str(report.findings[0]) == (
        "The compiled kernel has 3 instructions in double precision, where none is needed. Line 7: 0.1 is a "
        "Python float, which has 64 bits."
    )
    assert report.findings[0].lines == (7,)
    assert judged("out[i] = x[i] * 0.1", float64_instructions=3).passed
    assert judged("out[i] = x[i] * float32(0.1)", float64_instructions=0).passed


TWICE = "@cuda.jit(device=True)\ndef twice(v):\n    return {}\n"


@pytest.mark.parametrize(
    ("body", "before", "said"),
    [
        ("out[i] = x[i] * (5 / 9)", "", "Line 7: 5 / 9 is a Python float, which has 64 bits."),
        ("y = 0.5\nout[i] = x[i] * y + x[i]", "", "Line 7: 0.5 is a Python float, which has 64 bits."),
        ("y = 0.0\ny += x[i]\nout[i] = y * y", "", "Line 7: 0.0 is a Python float, which has 64 bits."),
        (
            "out[i] = x[i] * 3 + x[i]",
            "",
            "Line 7: float32 meets int64, which makes float64 in Numba, and 3 is an int64.",
        ),
        (
            "out[i] = x[i] * np.int32(3) + x[i]",
            "",
            "Line 7: float32 meets int32, which makes float64 in Numba.",
        ),
        (
            "out[i] = x[i] * (i / 3)",
            "",
            "Line 7: int64 is divided by int64, which makes float64 in Numba; // makes a whole number.",
        ),
        (
            "y = cuda.shared.array(32, 'float64')\ny[i % 32] = x[i]\nout[i] = y[i % 32] * x[i]",
            "",
            "Line 7: y is made as an array of float64.",
        ),
        (
            "y = cuda.shared.array(32, 'float64')\ny[i % 32] = x[i]\nn = 1\nwhile n < 8:\n"
            "    y[i % 32] += x[i] if i > n else float32(0)\n    n *= 2\nout[i] = y[i % 32]",
            "",
            "Line 7: y is made as an array of float64.",
        ),
        (
            "for k in range(i):\n    out[k] = x[k] if k > 2 else 0",
            "",
            "Line 8: 0 is an int64, and what may be float32 as well is float64 in Numba.",
        ),
        (
            "for k in range(i):\n    v = 0\n    if k > 2:\n        v = x[k]\n    out[k] = v",
            "",
            "Line 8: 0 is an int64, and what may be float32 as well is float64 in Numba.",
        ),
        (
            "total = 0\nfor k in range(i):\n    total = math.fabs(x[k]) + total\nout[i] = total",
            "",
            "Line 7: 0 is an int64, and what may be float32 as well is float64 in Numba.",
        ),
        (
            "for k in range(i):\n    out[k] = x[k] if k > 2 else 0.0",
            "",
            "Line 8: 0.0 is a Python float, which has 64 bits.",
        ),
        (
            "v = x[i] if i > 2 else 0\nout[i] = v * 2 / 2",
            "",
            "Line 7: 0 is an int64, and what may be float32 as well is float64 in Numba.",
        ),
        ("out[i] = x[i] * np.float64(0.5) + x[i]", "", "Line 7: a number is converted to float64."),
        ("out[i] = x[i] * math.sqrt(i)", "", "Line 7: sqrt makes a float64."),
        (
            "out[i] = twice(x[i])",
            TWICE.format("v * 2.0 + v"),
            "Line 6: 2.0 is a Python float, which has 64 bits.",
        ),
        (
            "out[i] = x[i] * twice(i)",
            TWICE.format("0.3"),
            "Line 6: 0.3 is a Python float, which has 64 bits.",
        ),
        (
            "out[i] = twice(x[i] - 0.1)",
            TWICE.format("float32(v * v)"),
            "Line 10: 0.1 is a Python float, which has 64 bits.",
        ),
        (
            "y = x[i] * 3\nz = x[i] - 0.1\nout[i] = y + z",
            "",
            "Line 7: float32 meets int64, which makes float64 in Numba, and 3 is an int64; line 8: 0.1 is a "
            "Python float, which has 64 bits.",
        ),
    ],
)
def test_where_double_precision_begins_is_named(body: str, before: str, said: str) -> None:
    (finding,) = judged(body, before=before, float64_instructions=0).findings
    assert finding.kind == "float64"
    assert finding.message.partition("needed. ")[2] == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (np.float64(0.1), "F, from outside the kernel, is a float64."),
        (0.1, "F, from outside the kernel, is a Python float, which has 64 bits."),
        (np.array([0.1]), "F, from outside the kernel, is an array of float64."),
        ((0.1, 1), "F, from outside the kernel, holds a Python float, which has 64 bits."),
    ],
)
def test_a_constant_of_64_bits_is_named(value: object, said: str) -> None:
    element = "F" if np.ndim(value) == 0 else "F[0]"
    source = f"from numba import cuda\ndef k(x, out):\n    i = cuda.grid(1)\n    out[i] = x[i] * {element}\n"
    kernel = Answer(source, "k", {"F": value})
    (finding,) = judge_compile(answers.exercise(Limits(float64_instructions=0)), kernel).findings
    assert finding.message.endswith(f"Line 4: {said}")


def test_where_numba_hides_its_types_the_count_has_to_do(monkeypatch) -> None:
    monkeypatch.setattr(compile_lane.doubles, "causes", lambda *_: 1 / 0)
    (finding,) = judged("out[i] = x[i] * 0.1", float64_instructions=0).findings
    assert finding.message.endswith("3 instructions in double precision, where none is needed.")


@needs_ptxas
def test_registers_and_local_memory_are_told_of() -> None:
    local = "a = cuda.local.array(64, float32)\nfor k in range(64):\n    a[int(x[k])] = k\nout[i] = a[i]"
    report = judged(local)
    assert report.passed
    assert re.fullmatch(r"A thread takes \d+ registers and 256 bytes of local memory\.", report.notes[-1])


def test_without_ptxas_nothing_is_said_of_registers(monkeypatch) -> None:
    monkeypatch.setattr(ptxas, "find", lambda: None)
    report = judged("out[i] = x[i]")
    assert report.passed
    assert not [note for note in report.notes if "registers" in note]


def test_in_the_simulator_nothing_is_compiled(monkeypatch) -> None:
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    report = judge_compile(answers.exercise(), answers.answer())
    assert report.state == NOT_AT_HAND
    assert "NUMBA_ENABLE_CUDASIM is set. Unset it" in report.reason


def test_a_missing_tool_is_no_finding(monkeypatch) -> None:
    def missing() -> None:
        raise BackendError("Numba is not installed. Install it: 'pip install numba numba-cuda'.")

    monkeypatch.setattr(compile_lane, "numba_cuda", missing)
    report = judge_compile(answers.exercise(), answers.answer())
    assert (report.state, report.reason) == (
        NOT_AT_HAND,
        "Numba is not installed. Install it: 'pip install numba numba-cuda'.",
    )


class NvvmSupportError(ImportError):
    """As Numba calls it."""


class DynamicLibNotFoundError(RuntimeError):
    """As NVIDIA's search for libraries calls it."""


NOT_INSTALLED = "NVIDIA's compiler is not installed. 'gpuguide doctor' says what to install."


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (NvvmSupportError("\nlibNVVM cannot be found. Do `conda install cudatoolkit`:\n"), NOT_INSTALLED),
        (DynamicLibNotFoundError('Failure finding "libnvrtc.so.13": No such file'), NOT_INSTALLED),
        (DynamicLibNotFoundError('Failure finding "nvrtc64_130_0.dll"'), NOT_INSTALLED),
        (
            ValueError("cc 9.0 is too new\nfor this"),
            "NVIDIA's compiler compiles nothing here: cc 9.0 is too new. "
            "'gpuguide doctor' says what to install.",
        ),
    ],
)
def test_where_nothing_compiles_it_is_no_fault_of_the_reader_s(monkeypatch, error, reason) -> None:
    numba = compile_lane.numba_cuda()

    def compile_ptx(*arguments: object, **options: object) -> None:
        raise error

    monkeypatch.setattr(numba, "compile_ptx", compile_ptx)
    for answer in (answers.answer(), answers.answer(answers.NOT_COMPILED)):
        report = judge_compile(answers.exercise(), answer)
        assert (report.state, report.reason) == (NOT_AT_HAND, reason)


def test_without_a_signature_the_first_launch_has_the_types() -> None:
    task = answers.exercise().task
    exercise = answers.exercise(task=type(task)(task.calls, task.limits, (), task.parameters))
    assert judge_compile(exercise, answers.answer()).passed


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(ArgumentError, match="2 of them; got 1"):
        judge_compile(answers.exercise(), Answer("def k(x): pass", "k"))


def test_nothing_but_functions_and_imports_is_executed() -> None:
    source = (
        "from numba import cuda\nraise SystemExit\n"
        "@nowhere.decorator(nothing)\ndef k(x: missing, out: list[absent] = boom()) -> gone:\n"
        "    out[0] = x[0]\n"
    )
    built = build(Answer(source, "k"))
    assert built.function.__defaults__ == (None,)
    assert built.options == {}
    assert build(Answer(source.replace("(nothing)", "(fastmath=True, signature=f())"), "k")).options == {
        "fastmath": True
    }


def test_ptx_s_double_precision_is_arithmetic_only() -> None:
    ptx = """
    ld.global.f64   %fd1, [%rd1];
    @%p1 fma.rn.f64 \t%fd2, %fd1, %fd1, %fd1;
    @!%p1 cvt.rn.f32.f64 %f1, %fd2;
    mov.f64 %fd3, 0d0000000000000000;
    st.global.f64 [%rd1], %fd2;
    add.f32 %f2, %f1, %f1;
"""
    assert ptxas.count_float64(ptx) == 2


def test_a_check_compiles_in_a_process_of_its_own(tmp_path) -> None:
    """The stub has right results and too many bits: the simulator passes it, the compiler's lane does not."""
    exercise = get("float64_by_accident")
    file = tmp_path / "mine.py"
    file.write_text(exercise.stub)
    verdict = check_file(exercise.name, file, lanes=["simulator", "compile"])
    assert verdict.lanes == {"simulator": PASSED, "compile": FAILED}
    here = judge_compile(exercise, read_source(exercise.stub, place="mine.py"))
    assert verdict.findings == here.findings
    assert verdict.reports[1].notes == here.notes
    assert "Look at this next: The results are right. Of which type is each number" in str(verdict)


def test_what_an_import_prints_does_not_disturb_the_verdict(tmp_path, monkeypatch) -> None:
    (tmp_path / "noisy.py").write_text(
        "import os\nprint('noise')\nos.write(1, b'raw noise\\n')\nFACTOR = 2\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    guard = get("guard")
    source = guard.solution.replace("from numba", "from noisy import FACTOR\nfrom numba", 1)
    answer = read_source(source.replace("max(a[i], b[i])", "FACTOR * max(a[i], b[i])"))
    with WorkerProcess(["compile"]) as worker:
        ended = worker.judge("compile", describe(guard, answer), LIMIT_S["compile"])
    report = read_ending("compile", ended)
    assert report.passed
    assert sorted(report.printed.splitlines()) == ["noise", "raw noise"]


def test_an_error_is_told_though_numba_s_objects_know_no_line() -> None:
    """Some of them look up any attribute among their fields, and raise what no attribute raises."""

    class Fields:
        def __getattr__(self, name: str) -> None:
            raise KeyError(name)

    def busy(self: Fields) -> None:
        raise TypeError("no such type")

    with pytest.raises(TypeError) as caught:
        busy(Fields())
    assert (
        compile_lane.compile_finding(caught.value, answers.answer()).message
        == "Numba cannot compile it: no such type."
    )
