"""The types of a decorator's signature are compared with what a launch hands over, which Numba does not."""

import numpy as np
import pytest

from gpuguide.exercises import get
from gpuguide.exercises.check import judge
from gpuguide.exercises.reading import Answer
from gpuguide.exercises.signatures import mismatch

X, WIDE = np.zeros(8, np.float32), np.zeros((4, 4), np.int32)


def said(signature, *arguments):
    """What is said of a kernel with a decorator for as many parameters as arguments."""
    names = "xyz"[: len(arguments)]
    source = f"@cuda.jit({signature})\ndef k({', '.join(names)}):\n    pass\n"
    return [
        str(finding) for finding in mismatch(Answer(source, "k"), dict(zip(names, arguments, strict=True)))
    ]


@pytest.mark.parametrize(
    ("signature", "arguments"),
    [
        ("'void(float32[:], int64)'", (X, 3)),
        ("'(float32[::1], int32)'", (X, np.int64(3))),
        ("'float32[:], float32'", (X, 3)),
        ("void(types.float32[:], int32)", (X, 3)),
        ("(numba.float32[:],)", (X[::2],)),
        ("['void(float64[:])', 'void(float32[:])']", (X,)),
        ("'void(int32[:, ::1])'", (WIDE,)),
        ("'void(int32[::1, :])'", (WIDE.T,)),
        ("SIGNATURE, fastmath=True", (X,)),
        ("'no type'", (X,)),
        ("fastmath=True", (X,)),
    ],
)
def test_a_signature_that_fits_is_fine(signature, arguments) -> None:
    assert said(signature, *arguments) == []


@pytest.mark.parametrize(
    ("signature", "arguments", "message"),
    [
        ("'void(float64[:])'", (X,), "says float64[:] of x, and this launch hands over float32[::1]"),
        ("'(float32[::1],)'", (X[::2],), "says float32[::1] of x, and this launch hands over float32[:]"),
        ("'void(int32[:])'", (WIDE,), "says int32[:] of x, and this launch hands over int32[:, ::1]"),
        (
            "void(int32[:, ::1])",
            (WIDE.T,),
            "says int32[:, ::1] of x, and this launch hands over int32[::1, :]",
        ),
        ("'void(float32, int32)'", (X, 3), "says float32 of x, and this launch hands over float32[::1]"),
        ("'void(float32[:], int32)'", (X, 2.5), "says int32 of y, and this launch hands over the number 2.5"),
        ("['void(float64[:])', 'void(int32[:])']", (X,), "says float64[:] of x, and this"),
        ("'void(float32[:])'", (X, 3), "names 1 types for 2 parameters"),
    ],
)
def test_a_signature_that_does_not_fit_is_told(signature, arguments, message) -> None:
    (found,) = said(signature, *arguments)
    assert found.startswith(f"Line 1 {message}")


def test_an_answer_with_a_wrong_signature_is_refused_at_its_line() -> None:
    exercise = get("map")
    source = exercise.solution.replace("@cuda.jit", '@cuda.jit("void(float64[:], float64[:])")')
    report = judge(exercise, source)
    assert [finding.kind for finding in report.findings] == ["signature"]
    line = source.splitlines().index('@cuda.jit("void(float64[:], float64[:])")') + 1
    assert report.findings[0].line == line
    assert judge(exercise, source.replace("float64", "uint8")).passed
