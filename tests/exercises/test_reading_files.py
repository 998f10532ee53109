"""A kernel is taken out of a file without executing the file."""

from pathlib import Path

import numpy as np
import pytest

from gpuguide.errors import ArgumentError, UnknownNameError
from gpuguide.exercises import get
from gpuguide.exercises.check import judge
from gpuguide.exercises.reading import execute, read_file, read_source, undefined, unsupported

KERNEL = '''\
"""My answer."""
from numba import cuda, float32
import numpy as np; import math
import pandas_that_nobody_has

TILE = 16
WIDTH: int = 2 * TILE + 2
WEIGHTS = np.array([0.25, 0.5, 0.25], dtype=np.float32)
BIG = [1, 2, 3]
SIZE = len(BIG)

raise SystemExit("the file was executed")


def other(x):
    return pandas_that_nobody_has.frame(x)


@cuda.jit(device=True)
def scaled(x):
    return float32(x) * WEIGHTS[1]


@cuda.jit
def kernel(x, out):
    part = cuda.shared.array(WIDTH, float32)
    i = cuda.grid(1)
    out[i] = math.sqrt(scaled(x[i]))


def main():
    kernel[1, 32](BIG)
'''


def test_nothing_but_what_the_kernel_needs_is_taken() -> None:
    answer = read_source(KERNEL, "kernel", place="mine.py")
    assert answer.constants.keys() == {"WIDTH", "WEIGHTS"}
    assert answer.constants["WIDTH"] == 34
    assert answer.constants["WEIGHTS"].dtype == np.float32
    namespace = dict(answer.constants)
    exec(answer.source, namespace)
    assert callable(namespace["kernel"])
    for name in ("pandas_that_nobody_has", "BIG", "SIZE", "main", "other"):
        assert name not in namespace


def test_lines_keep_their_numbers() -> None:
    answer = read_source(KERNEL, "kernel", place="mine.py")
    lines = KERNEL.splitlines()
    for text in ("@cuda.jit(device=True)", "def kernel(x, out):", "    out[i] = math.sqrt(scaled(x[i]))"):
        assert answer.line(lines.index(text) + 1) == text
    assert answer.place == "mine.py"


@pytest.mark.parametrize(("preferred", "taken"), [("kernel", "kernel"), ("absent", "main"), ("", "main")])
def test_the_exercise_s_own_name_comes_first_then_the_last_function(preferred: str, taken: str) -> None:
    source = KERNEL.replace("kernel[1, 32](BIG)", "pass")
    assert read_source(source, preferred=preferred).name == taken


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def k(x:\n    pass\n", "mine.py is not Python: line 1, '(' was never closed: def k(x:"),
        ("x = 1\nif x\n", "mine.py is not Python: line 2, expected ':': if x"),
        ("x = 1\n", "mine.py has no function at its top level. Define one with def."),
        ("", "mine.py has no function at its top level. Define one with def."),
        (
            "from numba import *\ndef k(x): pass",
            "mine.py, line 1: 'from numba import *' does not say which names it imports. Import the "
            "names that you "
            "use.",
        ),
        (
            "import os\nN = os.cpu_count()\ndef k(x):\n    x[0] = N\n",
            "mine.py, line 2: 'k' uses 'N', which is known only when the file is executed, and a kernel's "
            "file is not. Write a number, such as 16 or np.float32(5 / 9), or make it an argument.",
        ),
        ("class A: pass\ndef k(x):\n    A(x)\n", "mine.py: 'k' uses the class 'A'; a kernel cannot."),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(tmp_path: Path, source: str, message: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(source)
    with pytest.raises(ArgumentError) as caught:
        read_file(file)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("N, M = 1, (2, 3)", 1),
        ("M = N = 1", 1),
        ("N = -np.inf", -np.inf),
        ("N = float('-inf')", -np.inf),
        ("N = np.float32(-np.inf)", -np.inf),
        ("N = np.iinfo(np.uint8).max", 255),
        ("from math import inf\nN = -inf", -np.inf),
        ("N = np.finfo('float32').eps", 2.0**-23),
        ("if True:\n    N = 1", 1),
        ("WIDE = 4 > 3\nif WIDE and not False:\n    N = 1\nelse:\n    N = 2", 1),
        ("B = 64\nif B == 32:\n    N = 1\nelif B == 64:\n    N = 2", 2),
        ("B = 64\nN = 1 if B < 32 else 2", 2),
        ("SIDES = 32, 33\nN = SIDES[-1]", 33),
        ("N = np.array([[1, 2]], np.int32)[0, 1]", 2),
        ("SIDES = 32, 33\nN = len(SIDES) + max(SIDES) - min(3, 4)", 32),
        ("import math\nTILE = 32\nN = int(math.log2(TILE))", 5),
        ("import math\nN = math.sqrt(2)", 2**0.5),
        ("from math import sqrt as root\nN = root(2)", 2**0.5),
        ("f32 = np.float32\nN = f32(5) / f32(10)", 0.5),
        ("from numba import types\nf = types.float32\nN = f(5 / 10)", 0.5),
    ],
)
def test_a_constant_may_be_written_in_many_ways(line: str, value: float) -> None:
    source = f"import numpy as np\n{line}\ndef k(x):\n    x[0] = N\n"
    assert read_source(source).constants == {"N": value}


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("(1, 2, 4)", (1, 2, 4)),
        ("tuple(2**i for i in range(3))", (1, 2, 4)),
        ("np.array([2**i for i in range(3)], np.uint8)", np.array([1, 2, 4], np.uint8)),
        ("2 ** np.arange(3, dtype=np.int32)", np.array([1, 2, 4], np.int32)),
        ("np.arange(255, -1, -1).astype(np.uint8)", np.arange(255, -1, -1).astype(np.uint8)),
        ("np.full(3, 2.5, np.float32)", np.full(3, 2.5, np.float32)),
        ("np.linspace(0, 1, 5)", np.linspace(0, 1, 5)),
        ("np.zeros((2, 3), dtype='int8')", np.zeros((2, 3), "int8")),
        ("np.ones(4)", np.ones(4)),
    ],
)
def test_a_table_may_be_written_in_many_ways(line: str, value: object) -> None:
    found = read_source(f"import numpy as np\nT = {line}\ndef k(x):\n    x[0] = T[1]\n").constants["T"]
    assert type(found) is type(value)
    np.testing.assert_array_equal(np.asarray(found), np.asarray(value))
    assert np.asarray(found).dtype == np.asarray(value).dtype


@pytest.mark.parametrize("line", ["if divmod(7, 2):\n    N = 1", "N = 1\nN += 1", "N, M = divmod(7, 2)"])
def test_what_only_executing_would_settle_is_not_called_undefined(line: str) -> None:
    with pytest.raises(ArgumentError, match="'k' uses 'N', which is known only when the file is executed"):
        read_source(f"{line}\ndef k(x):\n    x[0] = N\n")


def test_a_function_may_stand_under_an_if() -> None:
    source = (
        "FAST = 1 > 0\nif FAST:\n    def k(x):\n        x[0] = 1\nelse:\n    def k(x):\n        x[0] = 2\n"
    )
    assert read_source(source).source == "\n\ndef k(x):\n    x[0] = 1\n"


def test_another_name_for_a_type_is_an_import() -> None:
    source = "import numpy as np\nfrom numba import cuda\n\nreal = np.float32\ngrid = cuda.grid\n"
    answer = read_source(source + "def k(x):\n    x[grid(1)] = real(1)\n")
    assert answer.line(4) == "from numpy import float32 as real"
    assert answer.line(5) == "from numba.cuda import grid as grid"
    source = "from numba import cuda; from numba import int32\ngpu, whole = cuda, int32\n"
    source += "sync = gpu.syncthreads\ndef k(x):\n    sync()\n"
    source += "    x[gpu.grid(1)] = whole(int32(1) + cuda.blockDim.x)\n"
    lines = read_source(source).source.splitlines()
    for bound in ("cuda", "int32", "cuda as gpu", "int32 as whole"):
        assert f"from numba import {bound}" in lines
    assert lines[2] == "from numba.cuda import syncthreads as sync"
    source = "import numba.cuda\nreal = numba.float32\nN = numba + 1\ndef k(x):\n    x[0] = real(1)\n"
    assert read_source(source).line(2) == "from numba import float32 as real"
    with pytest.raises(ArgumentError, match="which is known only when"):
        read_source(source.replace("real(1)", "N"))


@pytest.mark.parametrize(
    "made", ["cuda.jit(device=True)(lambda x: 2 * x)", "cuda.jit(lambda x: 2 * x, device=True)"]
)
def test_a_device_function_made_of_a_lambda_is_one(made: str) -> None:
    source = f"from numba import cuda\n\ntwice = {made}\n"
    answer = read_source(source + "def k(x):\n    x[0] = twice(x[0])\n")
    assert answer.line(2) == "@cuda.jit(device=True)"
    assert answer.line(3) == "def twice(x): return 2 * x"
    assert not unsupported(answer)


MADE_BY_CALL = [
    "twice = cuda.jit(device=True)(twice)",
    "other = cuda.jit(device=True)(twice)",
    "other = cuda.jit(twice, device=True)",
]


@pytest.mark.parametrize("line", MADE_BY_CALL)
def test_a_device_function_may_be_made_by_a_call(line: str) -> None:
    name = line.partition(" ")[0]
    source = f"from numba import cuda\n\n\n\ndef twice(x):\n    return 2 * x\n\n{line}\n"
    source += f"def k(x):\n    x[0] = {name}(x[0])\n"
    answer = read_source(source)
    assert [answer.line(number) for number in (4, 5, 6)] == [
        "@cuda.jit(device=True)",
        f"def {name}(x):",
        "    return 2 * x",
    ]
    assert not unsupported(answer)


def test_a_device_function_may_have_another_name_too() -> None:
    source = (
        "from numba import cuda\n\n@cuda.jit(device=True)\ndef twice(x):\n    return 2 * x\n\nother = twice\n"
    )
    answer = read_source(source + "def k(x):\n    x[0] = other(x[0]) + twice(x[0])\n")
    assert answer.source.count("@cuda.jit(device=True)\ndef ") == 2
    assert not unsupported(answer)
    assert not undefined(answer)


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "answer.py"
    path.write_text("def k(x):\n    x[0] = 1\n", encoding="utf-8-sig")
    assert read_file(path).source == "def k(x):\n    x[0] = 1\n"


def test_a_function_that_a_call_makes_is_to_be_defined() -> None:
    source = "f = made_of(lambda x: 2 * x)\ndef k(x):\n    x[0] = f(x[0])\n"
    with pytest.raises(ArgumentError, match="define f with def, under @cuda"):
        read_source(source)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "def half(v):\n    return v / 2\n@cuda.jit\ndef k(x):\n    x[0] = half(x[0])\n",
            "Line 1: half is a plain Python function; decorate it with @cuda.jit(device=True).",
        ),
        (
            "@numba.njit(fastmath=True)\ndef k(x):\n    x[0] = 1\n",
            "Line 2: @numba.njit makes no kernel for the GPU; decorate it with @cuda.jit.",
        ),
        (
            "@cuda.jit(device=True)\ndef k(x):\n    x[0] = 1\n",
            "Line 2: only a kernel can call a device function; decorate it with @cuda.jit, without "
            "device=True.",
        ),
        (
            "def k(x):\n    if (i := cuda.grid(1)) < x.size:\n        x[i] = 1\n",
            "Line 2 holds (i := ...) inside an expression: set i on a line of its own.",
        ),
        (
            "from numba import cuda\natomic = cuda.atomic\nadd = atomic.add\ndef k(x):\n    add(x, 0, 1)\n",
            "Line 5 uses add, which stands for cuda.atomic.add from outside of the kernel. Numba looks that "
            "up only inside: write cuda.atomic.add there.",
        ),
        (
            "def k(x):\n    first, *others = x[0], 1, 2\n    x[0] = first * others[0]\n",
            "Line 2 holds *others on the left of =: name each part of the tuple.",
        ),
        (
            "from numba.cuda import threadIdx, grid\ndef k(x):\n    x[grid(1)] = threadIdx.x\n",
            "Line 3 uses threadIdx, which stands for cuda.threadIdx from outside of the kernel. Numba looks "
            "that up only inside: write cuda.threadIdx there.",
        ),
    ],
)
def test_what_numba_could_not_compile_or_launch_is_refused(source: str, message: str) -> None:
    assert [str(finding) for finding in unsupported(read_source(source, "k"))] == [message]


def test_numba_compiles_an_assignment_that_is_a_whole_value_or_of_a_variable() -> None:
    source = "def k(x):\n    x[0] = (v := x[1] + 1)\n    while (w := v) < 3:\n        v += w\n"
    assert not unsupported(read_source(source))


def test_a_name_that_no_thread_came_to_must_be_defined_all_the_same() -> None:
    source = (
        "from numba import cuda\nN = 2\ndef k(x):\n    for i in range(N):\n        x[i] = abs(cuda.grid(1))\n"
    )
    source += "        match x[i], 0:\n            case first, *_:\n                x[i] = first\n"
    assert not undefined(read_source(source))
    (finding,) = undefined(read_source(source + "    if x.size < 0:\n        x[0] = nothing\n"))
    assert (finding.kind, finding.line) == ("compile", 10)


def test_what_numba_cannot_compile_is_not_left_to_the_compiler() -> None:
    source = (
        get("guard").solution.replace("max(", "math.fmax(").replace("from numba", "import math\nfrom numba")
    )
    findings = judge(get("guard"), source).findings
    assert "uses math.fmax, which no kernel has." in str(findings[0])
    assert not any("this simulator does not have" in str(finding) for finding in findings)


@pytest.mark.parametrize("value", ["(1, 2)[2]", "math.sqrt(-1)", "max(1)", "len(3)", "3[0]", "M[0]"])
def test_a_constant_that_fails_is_left_to_the_reader(value: str) -> None:
    with pytest.raises(ArgumentError, match="which is known only when"):
        read_source(f"import math\nM = 1\nN = {value}\ndef k(x):\n    x[0] = N\n")


def test_a_constant_made_of_itself_is_refused() -> None:
    with pytest.raises(ArgumentError, match="line 1: 'k' uses 'N', which is known only when"):
        read_source("N = N + 1\ndef k(x):\n    x[0] = N\n", place="mine.py")


def test_a_file_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError) as caught:
        read_file(tmp_path / "none.py")
    assert str(caught.value) == f"The file {tmp_path / 'none.py'} does not exist."
    with pytest.raises(ArgumentError, match="cannot be read: Is a directory"):
        read_file(tmp_path)
    (tmp_path / "picture.py").write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(ArgumentError, match=r"picture.py is not a text in UTF-8. Save it as a Python file."):
        read_file(tmp_path / "picture.py")
    (tmp_path / "null.py").write_bytes(b"def k(x):\n    x[0] = '\0'\n")
    with pytest.raises(ArgumentError, match=r"null.py is not Python: "):
        read_file(tmp_path / "null.py")


def test_an_unknown_function_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError) as caught:
        read_source(KERNEL, "kernal", place="mine.py")
    assert str(caught.value) == "Unknown function of mine.py: 'kernal'. Did you mean 'kernel'?"


def test_a_file_may_define_a_dataclass(tmp_path: Path) -> None:
    text = "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\ndef f(x):\n    return P(x)\n"
    assert execute(text, "f", tmp_path / "mine.py")(3).x == 3


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise SystemExit('bye')", "SystemExit: bye"),
        ("import no_such_module_at_all", "ModuleNotFoundError: No module named 'no_such_module_at_all'"),
    ],
)
def test_a_file_that_stops_is_named_with_its_line(tmp_path: Path, statement: str, said: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(f"def f(x):\n    return x\n{statement}\n")
    with pytest.raises(ArgumentError) as caught:
        execute(file.read_text(), "f", file)
    assert str(caught.value) == f"mine.py stops at line 3 when it is executed: {said}"
