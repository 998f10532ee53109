"""`check` takes whatever a reader hands in: a verdict for a kernel, one clear sentence for anything else."""

import math
from pathlib import Path

import answers
import pytest
import some_kernels
from numba import cuda

import gpuguide
from gpuguide.errors import ArgumentError, BackendError, NoGpuError, UnknownNameError
from gpuguide.exercises import check as check_module_or_function
from gpuguide.exercises import get, lanes, names, pool, progress
from gpuguide.exercises.check import check, check_file
from gpuguide.exercises.model import FunctionTask
from gpuguide.exercises.simulator.findings import Finding

SIMULATOR = ["simulator"]


def test_a_right_kernel_passes() -> None:
    verdict = check("guard", some_kernels.decorated, lanes=SIMULATOR)
    assert verdict.passed
    assert verdict.lanes == {"simulator": "passed"}
    assert verdict.exercise is get("guard")


def test_what_was_not_made_a_kernel_is_refused_in_each_lane(tmp_path: Path) -> None:
    """A launch of it would fail, however right its body is."""
    file = tmp_path / "mine.py"
    undecorated = get("guard").solution.replace("@cuda.jit\n", "")
    file.write_text(undecorated)
    for verdict in (
        check("guard", some_kernels.plain, lanes=SIMULATOR),
        check_file("guard", file, lanes=SIMULATOR),
        check_file("guard", file, lanes=["compile"]),
    ):
        assert not verdict.passed
        (finding,) = verdict.findings
        assert "a plain Python function, which no GPU can run: decorate it with @cuda.jit" in finding.message
        assert verdict.answer.line(finding.line).startswith("def ")
    file.write_text(undecorated + "maximum_kernel = cuda.jit(maximum_kernel)\n")
    assert check_file("guard", file, lanes=SIMULATOR).passed
    assert check("guard", cuda.jit(some_kernels.plain), lanes=SIMULATOR).passed


def test_what_passes_in_all_lanes_is_remembered(miniature, monkeypatch, tmp_path) -> None:
    miniature(lanes=SIMULATOR)

    @cuda.jit
    def double(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[i] + x[i]

    assert check("double", double, lanes=SIMULATOR).passed
    assert not check("double", kernel).passed
    assert progress.read() == {}
    assert check("double", double).passed
    assert list(progress.read()) == ["double"]
    (tmp_path / "file").touch()
    monkeypatch.setenv("GPUGUIDE_PROGRESS", str(tmp_path / "file" / "progress.json"))
    assert check("double", double).passed, "a verdict comes where nothing can be written"


def test_a_wrong_kernel_is_told_its_own_line() -> None:
    @cuda.jit
    def mine(a, b, out):
        i = cuda.grid(1)
        out[i] = max(a[i], b[i])

    verdict = check("guard", mine, lanes=SIMULATOR)
    assert not verdict.passed
    assert verdict.findings[0].kind == "out_of_range"
    line = mine.py_func.__code__.co_firstlineno + 3
    assert verdict.findings[0].line == line
    assert f"    {line} |         out[i] = max(a[i], b[i])\n" in str(verdict).replace(
        "|     out", "|         out"
    )


def test_constants_and_device_functions_of_the_session_are_judged_with_it() -> None:
    verdict = check("guard", some_kernels.rich, lanes=SIMULATOR)
    assert not verdict.passed
    assert verdict.findings[0].kind == "wrong", "it runs: its results are wrong, no name is missing"


def test_a_kernel_that_fails_says_where() -> None:
    @cuda.jit
    def fails(a, b, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = math.sqrt(a[i]) + undefined_name  # noqa: F821

    verdict = check("guard", fails, lanes=SIMULATOR)
    assert not verdict.passed
    assert f"line {fails.py_func.__code__.co_firstlineno + 4}" in str(verdict)


def test_nothing_is_told_but_on_a_terminal(capsys, monkeypatch) -> None:
    check("guard", some_kernels.decorated, lanes=SIMULATOR)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    check("guard", some_kernels.decorated, lanes=SIMULATOR, quiet=True)
    assert capsys.readouterr() == ("", "")
    check("guard", some_kernels.decorated, lanes=SIMULATOR)
    assert capsys.readouterr() == ("", "Simulator ...\n")


@pytest.mark.parametrize(
    ("name", "function", "message"),
    [
        ("gaurd", some_kernels.plain, "Unknown exercise 'gaurd'. Did you mean 'guard'?"),
        (
            "guard",
            some_kernels.helper,
            "guard asks for a function with the parameters (a, b, out), 3 of them; got 1: helper(x).",
        ),
        (
            "guard",
            some_kernels.Guard,
            "check('guard', my_function) expects a function; got the class 'Guard'.",
        ),
        (
            "guard",
            "guard.py",
            "check('guard', my_function) expects a function that was defined with def; got an object of the "
            "type str. To check a file, run: gpuguide exercises check guard FILE",
        ),
    ],
)
def test_bad_input_is_one_clear_sentence(name: str, function, message: str) -> None:
    with pytest.raises((ArgumentError, UnknownNameError)) as caught:
        check(name, function)
    assert str(caught.value) == message


@pytest.fixture
def miniature(monkeypatch, tmp_path):
    """Puts an exercise into the pool, with a stub and hints of its own."""

    def put(**options):
        (tmp_path / "stub.py").write_text(options.pop("stub", answers.NO_GUARD))
        (tmp_path / "hints.md").write_text("Look.")
        exercise = answers.exercise(folder=tmp_path, **options)
        monkeypatch.setattr(pool, "get", lambda name: exercise)
        return exercise

    return put


@pytest.fixture
def no_gpu(monkeypatch):
    def require():
        raise NoGpuError("This needs a GPU, and CUDA sees none.")

    monkeypatch.setattr(lanes, "require_gpu", require)
    monkeypatch.setattr(lanes, "nvml", object)


@cuda.jit
def kernel(x, out):
    out[0] = x[0]


def test_an_exercise_for_gpus_only_says_so(miniature, no_gpu) -> None:
    miniature(lanes=("gpu",))
    with pytest.raises(NoGpuError) as caught:
        check("double", kernel)
    assert str(caught.value) == "'double' can be judged on a GPU only. This needs a GPU, and CUDA sees none."


def test_asking_for_a_missing_gpu_says_so(miniature, no_gpu) -> None:
    miniature()
    with pytest.raises(NoGpuError) as caught:
        check("double", kernel, lanes=["gpu"])
    assert str(caught.value) == (
        "The lane gpu cannot judge 'double' here. This needs a GPU, and CUDA sees none."
    )


def test_no_lane_at_all_says_so(miniature, no_gpu, monkeypatch) -> None:
    monkeypatch.setattr(lanes.sys, "platform", "darwin")
    miniature(lanes=("compile", "gpu"))
    with pytest.raises(BackendError, match=r"The lanes compile, gpu cannot judge 'double' here\. This"):
        check("double", kernel)


def test_what_the_simulator_cannot_judge_says_what_is_missing_for_the_others(
    miniature, no_gpu, monkeypatch, tmp_path
) -> None:
    monkeypatch.setattr(lanes.sys, "platform", "darwin")
    miniature()
    path = tmp_path / "mine.py"
    path.write_text(answers.RIGHT.replace("x[i] + x[i]", "x[i] + x.sum()"))
    with pytest.raises(BackendError) as caught:
        check_file("double", path)
    assert "only a GPU can show whether the results are right. Compiler: NVIDIA's" in str(caught.value)
    assert str(caught.value).endswith("GPU: This needs a GPU, and CUDA sees none.")


def test_a_missing_gpu_is_a_line_of_the_verdict(miniature, no_gpu) -> None:
    miniature(lanes=("simulator", "gpu"))

    @cuda.jit
    def double(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = 2 * x[i]

    verdict = check("double", double)
    assert verdict.passed
    assert str(verdict).splitlines()[3] == "GPU        not at hand. This needs a GPU, and CUDA sees none."


def watched(function):
    if function(3) != 6:
        yield Finding("wrong", "With 3 the result must be 6.", line=function.__code__.co_firstlineno + 1)


HOST = FunctionTask(watched, parameters=("x",), on_gpu=watched)
TABLE = {"factor": 2}


def test_a_function_of_the_host_is_called_in_this_session(miniature) -> None:
    miniature(task=HOST, lanes=("simulator",))

    def from_a_table(x):
        return TABLE["factor"] * x

    assert check("double", from_a_table).passed
    verdict = check("double", lambda_like)
    assert verdict.findings[0].message == "With 3 the result must be 6."
    assert "|     return x\n" in str(verdict)


def lambda_like(x):
    return x


def test_a_function_that_cannot_travel_is_judged_without_the_gpu(miniature, monkeypatch) -> None:
    miniature(task=HOST, lanes=("simulator", "gpu"))
    monkeypatch.setattr(lanes, "require_gpu", lambda: None)

    def from_a_table(x):
        return TABLE["factor"] * x

    def no_worker(lane):
        raise AssertionError("no process is started for what cannot travel")

    monkeypatch.setattr(
        lanes.judge_in_lanes, "__kwdefaults__", {**lanes.judge_in_lanes.__kwdefaults__, "start": no_worker}
    )
    verdict = check("double", from_a_table)
    assert verdict.passed
    assert verdict.lanes["gpu"] == (
        "not at hand: 'from_a_table' refers to 'TABLE', which is an object of the type dict. From outside a "
        "kernel takes only numbers, tuples and small arrays: make it an argument."
    )


def test_a_file_is_judged_without_being_executed(miniature, tmp_path: Path) -> None:
    miniature()
    file = tmp_path / "mine.py"
    file.write_text(answers.RIGHT + "\nraise SystemExit('executed')\n")
    assert check_file("double", file, lanes=SIMULATOR).passed
    file.write_text(answers.RIGHT.replace("double_kernel", "renamed") + "\ndef other():\n    pass\n")
    assert check_file("double", file, function="renamed", lanes=SIMULATOR).passed
    with pytest.raises(ArgumentError, match=r"got 0: other\(\)"):
        check_file("double", file, lanes=SIMULATOR)


def test_a_file_with_a_function_of_the_host_is_executed(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    right = get("crossing_point").solution
    (tmp_path / "beside.py").write_text(right)
    file.write_text(
        "print('loaded')\nfrom beside import crossing_point as found\n"
        "def crossing_point(*columns):\n    return found(*columns)\ndef g():\n    pass\n"
    )
    verdict = check_file("crossing_point", file)
    assert verdict.passed
    assert "Your code printed:\n\n    loaded" in str(verdict)
    file.write_text("def crossing_point(sizes, cpu_s, gpu_s):\n    return sizes + 1\n")
    assert "    2 |     return sizes + 1\n" in str(check_file("crossing_point", file))


ENDINGS = [
    ("import os\n    os._exit(0)", "The code ended the process (exit status 0) before there was a result."),
    ("exit(0)", "raised SystemExit: 0."),
    ("while True: pass", "had not ended after 0.5 s."),
]


@pytest.mark.parametrize(("body", "said"), ENDINGS)
def test_a_file_passes_only_with_a_result(tmp_path: Path, monkeypatch, body: str, said: str) -> None:
    """Whatever it does to its process: a grading script that asks for the exit status is not fooled."""
    file = tmp_path / "mine.py"
    monkeypatch.setenv("GPUGUIDE_TIME_LIMIT", "0.5")
    file.write_text(f"def crossing_point(sizes, cpu_s, gpu_s):\n    {body}\n")
    verdict = check_file("crossing_point", file)
    assert not verdict.passed
    assert verdict.findings[0].message.endswith(said)


def test_a_file_that_stops_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def crossing_point(sizes, cpu_s, gpu_s):\n    return None\n1 / 0\n")
    with pytest.raises(ArgumentError, match=r"mine\.py stops at line 3 when it is executed: ZeroDivision"):
        check_file("crossing_point", file)


def test_the_package_offers_it_as_an_attribute_without_numba(fresh_python) -> None:
    found = fresh_python("""
import gpuguide, sys
print(len(gpuguide.exercises.names()) > 10, callable(gpuguide.exercises.check), "exercises" in dir(gpuguide))
import gpuguide.exercises.check
print(callable(gpuguide.exercises.check), gpuguide.exercises.get("guard").name)
print([name for name in ("numba", "cupy", "scipy", "matplotlib") if name in sys.modules])
""")
    assert found == "True True True\nTrue guard\n[]\n"
    assert check_module_or_function is check
    assert gpuguide.exercises.names() == names()


def test_a_check_in_the_simulator_does_not_import_numba(fresh_python, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(get("guard").solution)
    found = fresh_python(f"""
import sys
from pathlib import Path
from gpuguide.exercises.check import check_file
print(check_file("guard", Path({str(file)!r}), lanes=["simulator"]).passed, "numba" in sys.modules)
""")
    assert found == "True False\n"


def test_in_numba_s_simulator_it_says_the_same(simulator_python) -> None:
    found = simulator_python(f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import some_kernels
from gpuguide.exercises import check
print(check("guard", some_kernels.decorated, lanes=["simulator"]).passed)
print(check("guard", some_kernels.decorated[1, 32], lanes=["simulator"]).passed)
print(check("guard", some_kernels.rich, lanes=["simulator"]).passed)
""")
    assert found == "True\nTrue\nFalse\n"


def test_what_the_simulator_lacks_is_told_where_there_is_nothing_else(tmp_path: Path, monkeypatch) -> None:
    """And not that a GPU is missing."""
    monkeypatch.setattr(lanes, "_why_not", lambda lane: "Not today." if lane != "simulator" else "")
    file = tmp_path / "mine.py"
    file.write_text(get("guard").solution.replace("max(a[i], b[i])", "cuda.libdevice.fmaxf(a[i], b[i])"))
    with pytest.raises(BackendError, match=r"Line 9 uses cuda\.libdevice"):
        check_file("guard", file)
