"""A solution in double precision, from solutions in single precision and residuals in double."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from itertools import chain
from typing import Any

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.array_cases import unchanged
from gpuguide.exercises.stand_ins.judging import attempt, count, explained, known_lines, shown
from gpuguide.exercises.stand_ins.lines import line_now, source_of
from gpuguide.exercises.stand_ins.time_limit import TooLongError
from gpuguide.exercises.stand_ins.watched_arrays import watched

SMALLEST = 1e-14
MOST_SOLUTIONS = 10
# So many that a loop does not end: what a judge stops need not run until its time is over.
ENDLESS = 100
# Rows; the ratio of the largest singular value to the smallest; what a and b are multiplied by; whether the
# solution's numbers are about 1, or else those of b before.
CASES = (
    (1, 1.0, (1.0, 1.0), False),
    (5, 10.0, (1.0, 1.0), False),
    (40, 1e2, (1.0, 1.0), False),
    (64, 3e3, (1.0, 1.0), False),
    (40, 5e6, (1.0, 1.0), False),
    # As large as the one before, for who keeps its matrix.
    (40, 5e6, (1e-10, 1e-10), False),
    # A small correction is not a small one next to x, nor a small residual next to b.
    (40, 5e6, (1.0, 1e-10), False),
    # After the third solution the residual is small next to b, and not small enough.
    (20, 1e6, (1.0, 1.0), True),
)


class Solver:
    """Elimination with pivoting in single precision, which counts its calls.

    NumPy's own solver computes in double precision, whatever it gets.
    """

    def __init__(self) -> None:
        self.n_calls = 0
        self.solutions: list[Any] = []
        self.largest: list[float] = []

    def __call__(self, a: Any, b: Any) -> Any:
        """Solve one system."""
        for name, array in (("a", a), ("b", b)):
            if not isinstance(array, np.ndarray) or array.dtype != np.float32:
                got = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
                raise TypeError(f"solve takes arrays of float32; {name} is {got}")
        if b.ndim != 1 or a.shape != (len(b), len(b)):
            raise ValueError(f"solve takes a matrix and a vector; got the shapes {a.shape} and {b.shape}")
        if self.n_calls == ENDLESS:
            raise TooLongError(f"{ENDLESS} calls of solve")
        self.n_calls += 1
        self.largest.append(float(abs(b).max()))
        solution = solve_single(a, b)
        self.solutions.append(solution.copy())
        return solution


def solve_single(a: Any, b: Any) -> Any:
    """Solve in single precision, as a GPU does.

    >>> solve_single(np.array([[0, 2], [1, 0]], np.float32), np.array([4, 3], np.float32)).tolist()
    [3.0, 2.0]
    """
    rows, n = np.column_stack([a, b]), len(b)
    for i in range(n):
        pivot = i + int(np.abs(rows[i:, i]).argmax())
        rows[[i, pivot]] = rows[[pivot, i]]
        rows[i] /= rows[i, i]
        others = np.arange(n) != i
        rows[others] -= np.outer(rows[others, i], rows[i])
    return rows[:, n].copy()


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Look at the residuals for several matrices, and count the solutions."""
    for n, condition, scales, is_plain in CASES:
        solve = Solver()
        case = f"For {count(n, 'unknown')}"
        found = list(_findings(function, case, solve, *system(n, condition, scales, is_plain)))
        if not found and solve.n_calls > MOST_SOLUTIONS:
            message = f"{case} solve was called {solve.n_calls} times; at most {MOST_SOLUTIONS} are allowed."
            found.append(Finding("limit", message))
        if found:
            yield from found
            return


def _findings(function: Callable[..., Any], case: str, solve: Solver, a: Any, b: Any) -> Iterator[Finding]:
    copies = a.copy(), b.copy()
    x, finding = attempt(function, case, solve, a, b)
    if finding is not None and finding.kind == "endless" and solve.n_calls == ENDLESS:
        before, last = solve.largest[-2:]
        why = (
            f"At most {MOST_SOLUTIONS} are allowed, and the last two vectors that it got had numbers up to "
            f"{before:.1e} and {last:.1e}."
        )
        finding = replace(finding, message=f"{finding.message} {why}")
    if finding is None:
        finding = _misshapen(case, x, copies[1])
    if finding is None:
        largest = float(residual(copies[0], x, copies[1]))
        if not largest < SMALLEST:  # so that NaN fails
            solutions = count(solve.n_calls, "solution")
            message = (
                f"{case} the residual is {largest:.1e} after {solutions}; below {SMALLEST:.0e} is wanted."
            )
            causes = chain(_not_finite(solve), _in_single(function, x, *copies))
            (finding, *_) = explained(message, causes)
        elif not made_of(solve.solutions, x):
            message = f"{case} the result is not a sum of what solve returned: leave the solving to it."
            finding = Finding("limit", message)
    found = (finding, unchanged(case, "a", a, copies[0]), unchanged(case, "b", b, copies[1]))
    yield from (each for each in found if each)


def _not_finite(solve: Solver) -> Iterator[Finding]:
    """Say which call of solve got NaN or infinity first."""
    for call, largest in enumerate(solve.largest, 1):
        if not math.isfinite(largest):
            yield Finding("wrong", f"In call {call} solve got a vector with NaN or infinity in it.")
            return


def _in_single(function: Callable[..., Any], x: Any, a: Any, b: Any) -> Iterator[Finding]:
    """Say what is in single precision, and where: another call of the function shows its products."""
    lines, source = list[int | None](), source_of(function)

    def tell(product: Any, matrix: Any) -> None:
        if product.__name__ in ("dot", "matmul", "matvec") and matrix.dtype == np.float32:
            lines.append(line_now(source))

    with redirect_stdout(StringIO()):  # what it prints was printed before
        attempt(function, "", Solver(), watched(a.copy(), tell), b.copy())  # it may change its inputs
    for line in known_lines(lines):
        message = f"In line {line} the matrix that is multiplied is float32: a residual needs it in float64."
        yield Finding("wrong", message, line=line)
        return
    if (x == x.astype(np.float32)).all():
        yield Finding("wrong", "Each number of the result has the digits of float32 alone.")


def residual(a: Any, x: Any, b: Any) -> Any:
    """Return the largest element of b - a @ x, over what its terms come to.

    >>> float(residual(np.eye(2), np.array([1.0, 2.0]), np.array([1.0, 6.0])))
    0.5
    """
    return abs(b - a @ x).max() / (abs(a) @ abs(x) + abs(b)).max()


def made_of(solutions: list[Any], x: Any) -> bool:
    """Say whether x is a sum of multiples of some vectors; of as many as it has numbers, it always is.

    >>> e1, e2, e3 = np.eye(3)
    >>> made_of([e1, e2], 3 * e1 - 1e-9 * e2), made_of([e1], e1 + 1e-9 * e2), made_of([], e3)
    (True, False, False)
    """
    if not solutions:
        return False
    vectors = np.array(solutions, np.float64).T
    lengths = np.linalg.norm(vectors, axis=0)
    usable = np.isfinite(lengths) & (lengths > 0)
    if not usable.any():
        return False
    vectors = vectors[:, usable] / lengths[usable]
    nearest = vectors @ np.linalg.lstsq(vectors, x)[0]
    return bool(np.linalg.norm(x - nearest) <= 1e-12 * np.linalg.norm(x))


def _misshapen(case: str, x: Any, b: Any) -> Finding | None:
    if not isinstance(x, type(b)):
        return Finding("wrong", f"{case} the result must be an array as b is one; got {shown(x)}.")
    if x.shape != b.shape:
        return Finding("wrong", f"{case} the result must have the shape {b.shape}; it has {x.shape}.")
    if x.dtype != b.dtype:
        return Finding("wrong", f"{case} the result must be {b.dtype}; it is {x.dtype}.")
    return None


def system(
    n: int, condition: float, scales: tuple[float, float] = (1.0, 1.0), is_plain: bool = False
) -> tuple[Any, Any]:
    """Make a matrix with singular values from its scale down, and a right side."""
    rng = np.random.default_rng(n)
    left, right = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
    a, b = (left * np.geomspace(1, 1 / condition, n)) @ right * scales[0], rng.standard_normal(n)
    return a, a @ b if is_plain else b * scales[1]


EXERCISE = Exercise(
    name="refine",
    title="Double from single",
    level="intermediate",
    minutes=15,
    teaches="A residual in double precision shows what a solution lacks, and a cheap solver corrects it.",
    task=FunctionTask(judge=judge, parameters=("solve", "a", "b")),
    lanes=("simulator",),
    pages=("linear_algebra",),
    tags=("linear algebra", "residual", "float32", "CuPy"),
)
