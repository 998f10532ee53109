"""A kernel is taken out of a file without executing the file."""

from pathlib import Path

import numpy as np
import pytest

from gpuguide.errors import ArgumentError, UnknownNameError
from gpuguide.exercises.reading import execute, read_file, read_source

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
            "file is not. Write a number, or make it an argument.",
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
