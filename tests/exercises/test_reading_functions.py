"""A reader's function is taken apart: its lines keep their numbers, and what it needs travels along."""

import linecache
import sys
from pathlib import Path

import numpy as np
import pytest
import some_kernels
from numba import njit, vectorize

from gpuguide.errors import ArgumentError
from gpuguide.exercises.reading import (
    Answer,
    check_parameters,
    plain_function,
    quotable,
    read,
    unsupported,
)

FILE = Path(some_kernels.__file__).read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", ["decorated", "plain"])
def test_each_line_has_the_number_that_it_has_in_the_file(name: str) -> None:
    answer = read("guard", getattr(some_kernels, name))
    assert answer.name == name
    assert answer.place == "some_kernels.py"
    number = FILE.index(f"def {name}(a, b, out):") + 1
    for line in range(number, number + 4):
        assert answer.line(line) == FILE[line - 1]


def test_functions_constants_and_imports_travel_along() -> None:
    answer = read("guard", some_kernels.rich)
    assert set(answer.constants) == {"WIDTH", "MARGIN", "WEIGHTS", "ONE"}
    assert answer.constants["WEIGHTS"] is some_kernels.WEIGHTS
    for definition in ("def rich(", "def deep_helper(", "def step("):
        assert answer.source.count(definition) == 1
    namespace = dict(answer.constants)
    exec(answer.source, namespace)
    assert {"step", "math", "cuda", "int32", "float32"} <= set(namespace)


def test_a_value_of_the_function_around_travels_along() -> None:
    answer = read("guard", some_kernels.make(2.5))
    assert answer.constants == {"scale": 2.5}
    assert "\n@cuda.jit\ndef inner(a, b, out):\n    i = cuda.grid(1)\n" in answer.source


def test_a_function_is_renamed_to_what_its_caller_calls_it(tmp_path, monkeypatch) -> None:
    (tmp_path / "aliased.py").write_text(
        "from some_kernels import helper as other\ndef kernel(x):\n    x[0] = other(x[0])\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import aliased

    answer = read("guard", aliased.kernel)
    assert "def other(x):" in answer.source
    assert answer.line(3) == "    x[0] = other(x[0])"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "with_dictionary",
            "'with_dictionary' refers to 'TABLE', which is an object of the type dict. From outside a kernel "
            "takes only numbers, tuples and small arrays: make it an argument.",
        ),
        (
            "with_long_array",
            "'with_long_array' refers to 'LONG', which is an object of the type numpy.ndarray. From outside "
            "a kernel takes only numbers, tuples and small arrays: make it an argument.",
        ),
        (
            "device_function",
            "check('guard', my_function) expects a kernel; got a device function, which only a kernel can "
            "call. Decorate it with @cuda.jit, without device=True.",
        ),
        ("Guard", "check('guard', my_function) expects a function; got the class 'Guard'."),
        (
            "anonymous",
            "check('guard', my_function) expects a function that was defined with def; got a lambda.",
        ),
    ],
)
def test_what_is_no_kernel_is_refused_in_a_sentence(name: str, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        read("guard", getattr(some_kernels, name))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("thing", "got"),
    [
        (len, "the built-in function 'len'"),
        (3, "an object of the type int"),
        (np.add, "an object of the type numpy.ufunc"),
        (
            "guard.py",
            "an object of the type str. To check a file, run: gpuguide exercises check guard FILE",
        ),
    ],
)
def test_what_is_no_function_is_refused_in_a_sentence(thing: object, got: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        read("guard", thing)
    start = "check('guard', my_function) expects a function that was defined with def; got "
    assert str(caught.value).removesuffix(".") == start + got.removesuffix(".")


def test_a_kernel_with_its_launch_is_refused() -> None:
    class Configured:
        dispatcher, griddim, blockdim = some_kernels.decorated, (1, 1, 1), (32, 1, 1)

    with pytest.raises(ArgumentError) as caught:
        read("guard", Configured())
    assert str(caught.value) == (
        "check('guard', my_function) expects the kernel itself; got one with its launch, "
        "kernel[grid, block]. Leave the brackets out: the check launches it with grids of its own."
    )


@pytest.mark.skipif(sys.platform == "darwin", reason="numba-cuda does not exist for macOS")
@pytest.mark.filterwarnings("ignore:Grid size 1 will likely")
def test_numba_s_own_is_refused_too() -> None:
    with pytest.raises(ArgumentError, match="got one with its launch"):
        read("guard", some_kernels.decorated[1, 32])


@pytest.mark.parametrize("compiler", [njit, vectorize])
def test_functions_compiled_for_the_cpu_are_refused(compiler) -> None:
    with pytest.raises(ArgumentError) as caught:
        read("guard", compiler(some_kernels.helper))
    assert str(caught.value) == (
        "check('guard', my_function) expects a kernel for the GPU; this function was compiled for the CPU. "
        "Decorate it with @cuda.jit instead."
    )


def test_a_function_without_source_names_the_command() -> None:
    namespace: dict = {}
    exec("def typed(a, b, out):\n    out[0] = 1\n", namespace)
    with pytest.raises(ArgumentError) as caught:
        read("guard", namespace["typed"])
    assert str(caught.value) == (
        "The source of 'typed' cannot be found, perhaps because it was typed at Python's prompt. Save it to "
        "a file and run: gpuguide exercises check guard FILE"
    )
    assert quotable("guard", namespace["typed"]).source == ""


@pytest.mark.parametrize("first", ["print('from -c')\n", "def other(): pass\n", "x = (\n"])
def test_a_function_is_not_given_the_text_of_something_else(monkeypatch, first: str) -> None:
    """Since Python 3.13 the text after ``-c`` is that of "<string>", where what `exec` makes says it is."""
    text = first + "def typed(a, b, out):\n    out[0] = 1\n"
    lines = text.splitlines(keepends=True)
    monkeypatch.setitem(linecache.cache, "<string>", (len(text), None, lines, "<string>"))
    namespace: dict = {}
    exec("def typed(a, b, out):\n    out[0] = 1\n", namespace)
    with pytest.raises(ArgumentError, match="The source of 'typed' cannot be found"):
        read("guard", namespace["typed"])
    assert quotable("guard", namespace["typed"]).source == ""


def test_a_device_function_made_of_a_lambda_is_one(tmp_path, monkeypatch) -> None:
    source = (
        "from numba import cuda\n\n\ntwice = cuda.jit(device=True)(lambda x: 2 * x)\n\n"
        "plain = lambda x: 2 * x\n\nfirst, second = (lambda x: x), (lambda x: x)\n\n"
        "def kernel(x):\n    x[0] = twice(x[0])\n\ndef others(x):\n    x[0] = plain(x[0])\n\n"
        "def several(x):\n    x[0] = second(x[0])\n"
    )
    (tmp_path / "made_of_lambdas.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    import made_of_lambdas

    answer = read("guard", made_of_lambdas.kernel)
    assert answer.line(3) == "@cuda.jit(device=True)"
    assert answer.line(4) == "def twice(x): return 2 * x"
    assert not unsupported(answer)
    (finding,) = unsupported(read("guard", made_of_lambdas.others))
    assert str(finding).startswith("Line 6: plain is a plain Python function; decorate it")
    with pytest.raises(ArgumentError, match="'second' is made of a lambda in line 8"):
        read("guard", made_of_lambdas.several)


def test_a_device_function_may_be_made_by_a_call(tmp_path, monkeypatch) -> None:
    source = "from numba import cuda\n\n\n\ndef twice(x):\n    return 2 * x\n\n"
    source += "other = cuda.jit(device=True)(twice)\n\ndef kernel(x):\n    x[0] = other(x[0])\n"
    (tmp_path / "made_by_a_call.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    import made_by_a_call

    answer = read("guard", made_by_a_call.kernel)
    assert [answer.line(4), answer.line(5)] == ["@cuda.jit(device=True)", "def other(x):"]
    assert not unsupported(answer)


def test_what_numba_looks_up_only_inside_is_named(tmp_path, monkeypatch) -> None:
    source = "from numba import cuda\n\nadd, sync = cuda.atomic.add, cuda.syncthreads\n\n"
    source += "def kernel(x):\n    sync()\n    add(x, 0, 1)\n"
    (tmp_path / "other_names.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    import other_names

    (finding,) = unsupported(read("guard", other_names.kernel))
    assert str(finding).startswith("Line 7 uses add, which stands for cuda.atomic.add from outside")


def test_the_simulator_s_kernels_are_taken_too(simulator_python) -> None:
    folder = Path(__file__).parent
    found = simulator_python(f"""
import sys
sys.path.insert(0, {str(folder)!r})
import some_kernels
from gpuguide.exercises.reading import read
print(type(some_kernels.rich).__name__, sorted(read("guard", some_kernels.rich).constants))
print(type(some_kernels.decorated[1, 32]).__name__, read("guard", some_kernels.decorated[1, 32]).name)
try:
    read("guard", some_kernels.device_function)
except ValueError as error:
    print(str(error)[:70])
""")
    assert found.splitlines() == [
        "FakeCUDAKernel ['MARGIN', 'ONE', 'WEIGHTS', 'WIDTH']",
        "FakeCUDAKernel decorated",
        "check('guard', my_function) expects a kernel; got a device function, w",
    ]


def test_two_meanings_of_a_name_are_refused(tmp_path, monkeypatch) -> None:
    (tmp_path / "first_meaning.py").write_text("N = 1\ndef inner(x):\n    return x + N\n")
    (tmp_path / "second_meaning.py").write_text(
        "from first_meaning import inner\nN = 2\ndef kernel(x):\n    x[0] = inner(N)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import second_meaning

    with pytest.raises(ArgumentError, match="'inner' and another function of the same kernel use"):
        read("guard", second_meaning.kernel)


def test_a_host_function_may_be_any_function() -> None:
    assert plain_function("one_launch", some_kernels.helper, kernel=False) is some_kernels.helper
    with pytest.raises(ArgumentError, match="got the class 'Guard'"):
        plain_function("one_launch", some_kernels.Guard, kernel=False)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("a, out", "3 of them; got 2: k(a, out)."),
        ("a, b, out, n", "3 of them; got 4: k(a, b, out, n)."),
        ("out, a, b", "in this order; got k(out, a, b)."),
        ("*arrays", "each with a name of its own; got k(*arrays)."),
    ],
)
def test_wrong_parameters_are_named(parameters: str, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        check_parameters("guard", ("a", "b", "out"), Answer(f"def k({parameters}): pass", "k"))
    assert str(caught.value) == f"guard asks for a function with the parameters (a, b, out), {message}"


def test_other_names_of_the_parameters_are_fine() -> None:
    answer = Answer("def k(x, y, result): pass", "k")
    assert check_parameters("guard", ("a", "b", "out"), answer) == ("x", "y", "result")
