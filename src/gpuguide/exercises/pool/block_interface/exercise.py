"""A block of an array, described by hand as the CUDA array interface describes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.judging import attempt, count, equals, plain, shown

ADDRESS = 0x7F3A_4000_0000


@dataclass(frozen=True)
class Case:
    """An array in words, its interface, and the block: first row, first column, rows and columns."""

    title: str
    interface: dict[str, Any]
    block: tuple[int, int, int, int]


def _array(typestr: str, shape: tuple[int, int], **others: Any) -> dict[str, Any]:
    array = {"shape": shape, "typestr": typestr, "data": (ADDRESS, False), "version": 3, "strides": None}
    return {**array, **others}


CASES = (
    Case("a float32 image", _array("<f4", (6, 8), stream=1), (2, 3, 3, 4)),
    Case("a complex image", _array("<c16", (5, 3), stream=1), (1, 1, 3, 2)),
    Case("all of an image", _array("|u1", (5, 7), stream=1), (0, 0, 5, 7)),
    Case("every second column", _array("<f8", (4, 5), strides=(80, 16), stream=7), (1, 1, 2, 3)),
    Case("one row of every second column", _array("<f4", (6, 4), strides=(64, 8), stream=1), (1, 1, 1, 3)),
    Case("whole rows, every second one", _array("<f4", (6, 8), strides=(64, 4), stream=1), (2, 0, 3, 8)),
    Case("an image upside down", _array("<f4", (6, 8), strides=(-32, 4), stream=1), (1, 0, 3, 8)),
    Case("one column", _array("<f4", (6, 8), stream=1), (2, 3, 3, 1)),
    Case("a transposed matrix", _array("<c16", (3, 9), strides=(16, 48), stream=1), (1, 4, 2, 5)),
    Case("a mirrored image", _array("<f4", (4, 4), strides=(16, -4), version=2), (0, 1, 4, 2)),
    Case("a row that is repeated", _array("<f4", (5, 6), strides=(0, 4), stream=1), (1, 2, 3, 4)),
    Case("a read-only array", _array("<i8", (10, 3), data=(ADDRESS, True), stream=1), (9, 2, 1, 1)),
    Case("a block without a row", _array("<f4", (6, 8), stream=1), (3, 0, 0, 8)),
    Case("a block without a column", _array("<f4", (6, 8), stream=1), (1, 2, 3, 0)),
)


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Work out the address of each element by the dictionary that comes back."""
    for case in CASES:
        if found := _finding(function, case):
            yield found
            return


def praise(function: Callable[..., Any]) -> str:
    """Say how much memory was described without a copy."""
    array = CASES[0].interface
    made = function(array, *CASES[0].block)
    n = made["shape"][0] * made["shape"][1]
    start = made["data"][0] - array["data"][0]
    return (
        f"{n} elements of {count(len(CASES), 'array')} like this: the first begins {start} bytes further on."
    )


def _finding(function: Callable[..., Any], case: Case) -> Finding | None:
    top, left, rows, columns = case.block
    given = deepcopy(case.interface)
    array = f"{case.title}, shape {given['shape']}, strides {given['strides']}"
    words = f"For {array}, {count(rows, 'row')} from {top} on and {count(columns, 'column')} from {left} on,"
    made, finding = attempt(function, words, given, *case.block)
    if finding is not None:
        return finding
    if given != case.interface:
        return Finding(
            "input_changed", f"{words} the function changed interface, which belongs to the caller."
        )
    if not isinstance(made, dict):
        return Finding("wrong", f"{words} a dictionary was expected; got {shown(made)}.")
    made = {key: plain(value) for key, value in dict.items(made)}
    return _others(words, made, case) or _data_and_strides(words, made, case) or _addresses(words, made, case)


def _others(words: str, made: dict[str, Any], case: Case) -> Finding | None:
    """Compare the entries of which each has one right value, and find what was left out or added."""
    wanted = {**case.interface, "shape": case.block[2:]}
    for key, value in wanted.items():
        if key in ("data", "strides"):
            continue
        if key not in made:
            return Finding("wrong", f"{words} {key!r} is missing.")
        if not equals(made[key], value):
            return Finding("wrong", f"{words} {key!r} must be {value!r}; got {shown(made[key])}.")
    for key in made:
        if key not in wanted:
            return Finding("wrong", f"{words} {shown(key)} was added; interface has no such entry.")
    return None


def _data_and_strides(words: str, made: dict[str, Any], case: Case) -> Finding | None:
    data = made.get("data")
    if not isinstance(data, tuple) or len(data) != 2 or not isinstance(data[0], int):
        return Finding("wrong", f"{words} 'data' must be an address and a flag; got {shown(data)}.")
    if data[1] is not case.interface["data"][1]:
        flag = "may not be written to" if case.interface["data"][1] else "may be written to"
        return Finding("wrong", f"{words} the memory {flag}, and the flag in 'data' says {data[1]!r}.")
    strides = made.get("strides")
    if strides is not None and not (
        isinstance(strides, tuple) and len(strides) == 2 and all(isinstance(step, int) for step in strides)
    ):
        return Finding("wrong", f"{words} 'strides' must be two numbers of bytes; got {shown(strides)}.")
    return None


def _addresses(words: str, made: dict[str, Any], case: Case) -> Finding | None:
    top, left, rows, columns = case.block
    if not rows * columns:
        if made["data"][0]:
            return Finding("wrong", f"{words} there is no element, so the address must be 0.")
        return None
    down, across = _steps(case.interface)
    for row in range(rows):
        for column in range(columns):
            wanted = case.interface["data"][0] + (top + row) * down + (left + column) * across
            own_down, own_across = _steps(made)
            got = made["data"][0] + row * own_down + column * own_across
            if got != wanted:
                return Finding(
                    "wrong",
                    f"{words} element ({row}, {column}) of the block lies at the array's own address "
                    f"{wanted - ADDRESS:+d}, in bytes; by your dictionary it lies at {got - ADDRESS:+d}.",
                )
    return None


def _steps(interface: dict[str, Any]) -> tuple[int, int]:
    """Return the bytes from one row to the next, and from one column to the next."""
    itemsize = int(interface["typestr"][2:])
    down, across = interface.get("strides") or (interface["shape"][1] * itemsize, itemsize)
    return down, across


EXERCISE = Exercise(
    name="block_interface",
    title="A block by hand",
    level="intermediate",
    minutes=15,
    teaches="An address, a shape and strides in bytes describe any part of an array, without a copy.",
    task=FunctionTask(judge=judge, parameters=("interface", "top", "left", "rows", "columns"), praise=praise),
    lanes=("simulator",),
    pages=("interop",),
    tags=("CuPy", "interoperability", "strides"),
)
