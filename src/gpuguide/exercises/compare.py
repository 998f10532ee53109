"""Compares the results of a kernel with the expected ones: the first wrong element, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpuguide.exercises.cases import poisoned
from gpuguide.exercises.model import Call
from gpuguide.exercises.trace.findings import Finding, numbers

__all__ = ["arrays", "changed_inputs", "snapshot", "wrong_results"]

Array = np.ndarray[Any, Any]


def arrays(arguments: Mapping[str, Any]) -> dict[str, Array]:
    """Return the arrays among a call's arguments, without scalars.

    Parameters
    ----------
    arguments : mapping
        Arrays and scalars by name.

    Returns
    -------
    dict
        The arrays themselves.

    Examples
    --------
    >>> list(arrays({"x": np.zeros(3), "n": 3}))
    ['x']
    """
    return {name: x for name, x in arguments.items() if isinstance(x, np.ndarray) and x.ndim}


def snapshot(arguments: Mapping[str, Any]) -> dict[str, Array]:
    """Copy the arrays of a call before it is made.

    Parameters
    ----------
    arguments : mapping
        Arrays and scalars by name.

    Returns
    -------
    dict
        Copies of the arrays.

    Examples
    --------
    >>> snapshot({"x": np.ones(2), "n": 2})
    {'x': array([1., 1.])}
    """
    return {name: x.copy() for name, x in arrays(arguments).items()}


def wrong_results(
    call: Call, got: Mapping[str, Any], called: Mapping[str, str] | None = None
) -> list[Finding]:
    """Compare results with what was expected.

    Parameters
    ----------
    call : Call
        The launch.
    got : mapping
        Its arguments afterwards, by the call's names.
    called : mapping, optional
        What the reader's kernel calls each argument.

    Returns
    -------
    list of Finding
        One of the kind ``"wrong"`` for each array that differs: its first wrong element, with the expected
        and the actual value.

    Examples
    --------
    >>> call = Call("n = 2", (1,), (2,), {}, {"out": np.float32([1, 2])})
    >>> wrong_results(call, {"out": np.float32([1, 3])})[0].message
    'out[1] should be 2.0 and is 3.0; 1 of 2 elements is wrong.'
    """
    findings = []
    for name, expected in call.expected.items():
        result = np.asarray(got[name])
        wrong = _differs(result, np.asarray(expected), call.tolerance)
        if wrong.any():
            findings.append(_wrong((called or {}).get(name, name), result, np.asarray(expected), wrong))
    return findings


def changed_inputs(
    call: Call, before: Mapping[str, Array], got: Mapping[str, Any], called: Mapping[str, str] | None = None
) -> list[Finding]:
    """Compare inputs, which must not change, bit for bit.

    Parameters
    ----------
    call : Call
        The launch.
    before : mapping
        Of `snapshot`.
    got, called : mapping
        As for `wrong_results`.

    Returns
    -------
    list of Finding
        One of the kind ``"input_changed"`` for each input that differs.

    Examples
    --------
    >>> call = Call("n = 1", (1,), (1,), {}, {"out": np.ones(1)})
    >>> changed_inputs(call, {"x": np.zeros(1)}, {"x": np.ones(1), "out": np.ones(1)})[0].message
    'x is an input, but the kernel changed it: x[0] was 0.0 and is 1.0 now.'
    """
    findings = []
    for name, old in before.items():
        if name in call.expected:
            continue
        changed = _bits(old) != _bits(np.asarray(got[name]))
        if changed.any():
            shown, index = (called or {}).get(name, name), _first(changed.reshape(*old.shape, -1).any(-1))
            message = (
                f"{shown} is an input, but the kernel changed it: {shown}[{_inside(index)}] was "
                f"{old[index]!s} and is {got[name][index]!s} now."
            )
            findings.append(Finding("input_changed", message, array=shown, index=index))
    return findings


def _differs(got: Array, expected: Array, tolerance: float) -> Any:
    """Return where two arrays differ; NaN equals NaN, and infinity itself."""
    if tolerance == 0:
        expected = expected.astype(got.dtype)
        wrong = np.atleast_1d(got != expected)
    else:
        wide = np.complex128 if got.dtype.kind == "c" else np.float64
        with np.errstate(invalid="ignore", over="ignore"):
            off = np.abs(got.astype(wide) - expected.astype(wide))
        wrong = np.atleast_1d(~(off <= tolerance) & (got != expected))
    if got.dtype.kind in "fc":
        wrong &= ~np.atleast_1d(np.isnan(got) & np.isnan(expected))
    return wrong


def _wrong(name: str, got: Array, expected: Array, wrong: Array) -> Finding:
    index, n_wrong, n = _first(wrong), int(wrong.sum()), wrong.size
    place = f"{name}[{_inside(index)}]"
    untouched = _bits(got[index]).tobytes() == poisoned((), got.dtype).tobytes()
    came = "nothing was written there" if untouched else f"is {got[index]!s}"
    of_all = f"; {n_wrong} of {n} elements {'is' if n_wrong == 1 else 'are'} wrong" if n > 1 else ""
    message = f"{place} should be {expected[index]!s}{', but' if untouched else ' and'} {came}{of_all}."
    return Finding("wrong", message, array=name, index=index)


def _first(wrong: Array) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(int(wrong.reshape(-1).argmax()), wrong.shape))


def _inside(index: tuple[int, ...]) -> str:
    return numbers(index) if len(index) == 1 else ", ".join(map(str, index))


def _bits(x: Any) -> Array:
    """Return the bytes of an array, one row per element."""
    rows = np.ascontiguousarray(x)
    return rows.reshape(-1, 1).view(np.uint8)
