"""Signals of many types, and a function that is compiled anew for each of them, or once for all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import wraps
from types import FunctionType
from typing import Any

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.array_cases import compare_values, unchanged
from gpuguide.exercises.stand_ins.judging import attempt, count, known_lines, lines_text, shown
from gpuguide.exercises.stand_ins.lines import line_now, source_of

TOLERANCE = 1e-12


class Compiler:
    """Stands in for ``numba.njit``: notes what would be compiled, and runs the function in Python."""

    def __init__(self, source: str = "") -> None:
        self.source = source
        self.versions: list[tuple[str, int | None]] = []
        self.n_declared = self.n_calls = 0
        self.plain: list[int | None] = []
        self._is_running = False

    def __call__(self, signature_or_function: Any = None, **options: Any) -> Callable[..., Any]:
        """Decorate a function, or return a decorator; each decorated one begins without versions."""
        unknown = sorted({*options} - _OPTIONS)
        if unknown:
            raise KeyError(f"Unrecognized options: {unknown}. Known options are {sorted(_OPTIONS)}")
        if isinstance(signature_or_function, FunctionType):
            return self._decorate(signature_or_function, [])
        given = signature_or_function
        signatures = given if isinstance(given, list) else [] if given is None else [given]
        return lambda function: self._decorate(function, [types_of(each) for each in signatures])

    def _decorate(self, function: Callable[..., Any], declared: list[str]) -> Callable[..., Any]:
        compiled = _Compiled(self, function)
        for types in declared:
            compiled.add(types)
        self.n_declared += len(compiled.known)
        compiled.takes_others = not declared
        return compiled

    def run(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Call a function as a compiled one."""
        self.n_calls += 1
        self._is_running = True
        try:
            return function(*arguments)
        finally:
            self._is_running = False

    def watch(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that notes the lines where it is called as it is."""

        @wraps(function)
        def watched(*arguments: Any) -> Any:
            if not self._is_running:
                self.plain.append(line_now(self.source))
            return function(*arguments)

        return watched


class _Compiled:
    """A decorated function, as a dispatcher of Numba."""

    def __init__(self, compiler: Compiler, function: Callable[..., Any]) -> None:
        self.py_func, self._compiler = function, compiler
        self.known: dict[str, None] = {}
        self.takes_others = True

    def __call__(self, *arguments: Any) -> Any:
        types = ", ".join(map(type_of, arguments))
        if self.takes_others:
            self.add(types)
        # What is declared for any layout takes arrays in one piece, too.
        elif not {types, types.replace(", C)", ", A)")} & self.known.keys():
            raise TypeError(
                f"No matching definition for argument type(s) {types}; there is one for "
                f"{' and one for '.join(self.known)}"
            )
        return self._compiler.run(self.py_func, arguments)

    def compile(self, sig: Any) -> Callable[..., Any]:
        """Compile for a signature, before there is a call."""
        if not self.takes_others:
            raise RuntimeError("compilation disabled")
        self.add(types_of(sig))
        return self

    def add(self, types: str) -> None:
        """Compile a version, unless there is one for these types."""
        if types not in self.known:
            self.known[types] = None
            self._compiler.versions.append((types, line_now(self._compiler.source)))


_OPTIONS = frozenset(
    {
        *("boundscheck", "cache", "debug", "error_model", "fastmath", "forceobj", "inline", "locals"),
        *("looplift", "nogil", "nopython", "parallel"),
    }
)
# Numba's short names of types.
_SHORT = {"f4": "float32", "f8": "float64", "i2": "int16", "i4": "int32", "i8": "int64", "double": "float64"}
_VECTOR = r"\s*(\w+)\s*\[\s*:(:1)?\s*\]\s*"
# With the type of the result, or without it as a tuple.
_DECLARED = re.compile(rf"[^(]*\w[^(]*\({_VECTOR},?\s*\)|\s*\({_VECTOR},\s*\)")


def types_of(signature: Any) -> str:
    """Name the types of a signature of one vector, which is a text or an object of Numba's.

    >>> types_of("float64[::1](float64[::1])"), types_of("(f8[:],)")
    ('array(float64, 1d, C)', 'array(float64, 1d, A)')
    """
    arguments = getattr(signature, "args", signature)
    if isinstance(arguments, tuple) and len(arguments) == 1 and hasattr(arguments[0], "layout"):
        (vector,) = arguments
        return f"array({vector.dtype}, {vector.ndim}d, {vector.layout})"
    match = _DECLARED.fullmatch(signature) if isinstance(signature, str) else None
    if match is None:
        wanted = "of one vector was expected, such as 'float64[::1](float64[::1])'"
        raise TypeError(f"A signature {wanted}; got {shown(signature)}")
    name, in_one_piece = match.group(1, 2) if match[1] else match.group(3, 4)
    return f"array({_SHORT.get(name, name)}, 1d, {'C' if in_one_piece else 'A'})"


def type_of(argument: object) -> str:
    """Name the type that Numba gives an argument: of an array also its axes and how it lies in memory.

    >>> x = np.zeros(8, np.float32)
    >>> type_of(x), type_of(x[::2]), type_of(1.0)
    ('array(float32, 1d, C)', 'array(float32, 1d, A)', 'float')
    """
    if not isinstance(argument, np.ndarray):
        return type(argument).__name__
    layout = "C" if argument.flags.c_contiguous else "A"
    return f"array({argument.dtype}, {argument.ndim}d, {layout})"


def _dtype(types: str) -> str:
    return types.partition(",")[0]


def smooth(signal: Any) -> Any:
    """Replace each number between two neighbours by the mean of the three."""
    out = signal.copy()
    for i in range(1, signal.size - 1):
        out[i] = (signal[i - 1] + signal[i] + signal[i + 1]) / 3
    return out


def weighted(signal: Any) -> Any:
    """Smooth as another function of the same name does: the number itself counts twice."""
    out = signal.copy()
    for i in range(1, signal.size - 1):
        out[i] = (signal[i - 1] + 2 * signal[i] + signal[i + 1]) / 4
    return out


weighted.__name__ = weighted.__qualname__ = smooth.__name__


def signals_of(case: int) -> tuple[str, list[Any]]:
    """Make the signals of a case, with the case in words."""
    rng = np.random.default_rng(case)
    whole, single = rng.integers(-1000, 1000, 9), rng.uniform(-1, 1, 8).astype(np.float32)
    exact = 1e6 + rng.uniform(0, 1, 7)
    return (
        ("For two signals of float64", [exact, rng.uniform(0, 1, 4)]),
        ("For signals of float32 and float64", [single, exact, single[:3].copy()]),
        ("For whole numbers of 16, 32 and 64 bits", [whole.astype(kind) for kind in ("i2", "i4", "i8")]),
        ("For every second sample of a signal", [exact, exact[::2], exact[::-1]]),
        ("For signals of every kind", [whole.astype("i2"), single[::2], exact, single, exact[1::3]]),
        ("For no signals at all", []),
        ("For another smooth", [exact, single]),
    )[case]


CASES = range(7)
# That of the other function.
OTHER = 6


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Compare the results of each case and count what was compiled."""
    # One for all cases: an answer may keep what it has compiled.
    compiler = Compiler(source_of(function))
    for case in CASES:
        words, signals = signals_of(case)
        compiler.versions, compiler.plain = [], []
        compiler.n_declared = compiler.n_calls = 0
        given = weighted if case == OTHER else smooth
        wrong = _wrong(function, given, words, signals, compiler)
        if found := [*wrong, *_compiled(words, signals, compiler)]:
            yield found[0]
            return


def praise(function: Callable[..., Any]) -> str:
    """Say what a right answer compiled."""
    compiler = Compiler()
    signals = signals_of(4)[1]
    function(compiler, smooth, signals)
    if not compiler.versions:
        return f"No new version for {len(signals)} signals: what was compiled before was kept."
    return (
        f"{count(len(compiler.versions), 'version')} for {len(signals)} signals: {compiler.versions[0][0]}."
    )


def _wrong(
    function: Callable[..., Any],
    given: Callable[..., Any],
    words: str,
    signals: list[Any],
    compiler: Compiler,
) -> Iterator[Finding]:
    copies = [signal.copy() for signal in signals]
    results, finding = attempt(function, words, compiler, compiler.watch(given), signals)
    if finding is None and not (isinstance(results, list) and len(results) == len(copies)):
        wanted = f"a list of {count(len(copies), 'array')}"
        finding = Finding("wrong", f"{words} the result must be {wanted}; got {shown(results)}.")
    if finding:
        yield finding
        return
    for number, (result, signal) in enumerate(zip(results, copies, strict=True), 1):
        expected = given(signal.astype(np.float64))
        if found := compare_values(f"{words}, in number {number},", result, expected, TOLERANCE):
            narrow = given(signal.astype(np.float32)).astype(np.float64)
            if compare_values("", result, narrow) is None:
                yield replace(found, message=f"{found.message} It was computed in float32.")
            if compare_values("", result, smooth(signal.astype(np.float64)), TOLERANCE) is None:
                yield replace(found, message=f"{found.message} It is what smooth returned in earlier calls.")
            yield found
    for number, (signal, copy) in enumerate(zip(signals, copies, strict=True), 1):
        if found := unchanged(words, f"signal {number}", signal, copy):
            yield found


def _compiled(words: str, signals: list[Any], compiler: Compiler) -> Iterator[Finding]:
    versions, lines = compiler.versions, known_lines(line for _, line in compiler.versions)
    if len(versions) > 1:
        types = list(dict.fromkeys(types for types, _ in versions))
        why = "and some of them for the same type: a function that is decorated anew knows no versions."
        if len(types) == len(versions):
            each = "one for each signature, called or not" if compiler.n_declared else "each for another type"
            one = "type, dtype and layout" if len({*map(_dtype, types)}) > 1 else "layout: their dtype is one"
            why = f"{each}: {'; '.join(types)}. Bring the signals to one {one}."
        yield Finding(
            "limit",
            f"{words} there were {len(versions)} compilations{lines_text(lines)}, {why}",
            line=versions[1][1],
            lines=lines,
        )
    elif compiler.n_calls < len(signals):
        plain = known_lines(compiler.plain)
        why = f": smooth itself was called{lines_text(plain)}." if compiler.plain else "."
        message = f"{words} not every signal went through a compiled function{why}"
        yield Finding("limit", message, line=plain[0] if plain else None, lines=plain)


EXERCISE = Exercise(
    name="compile_once",
    title="Compile once for all",
    level="beginner",
    minutes=10,
    teaches="Each decorated function has versions of its own: one for each dtype and layout that it meets.",
    task=FunctionTask(judge=judge, parameters=("jit", "smooth", "signals"), praise=praise),
    lanes=("simulator",),
    pages=("compile_cost",),
    tags=("Numba", "JIT", "types", "first call"),
)
