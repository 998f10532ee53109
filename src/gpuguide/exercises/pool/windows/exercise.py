"""Overlapping windows of a recording: what no window needs stays, and the rest crosses once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gpuguide.exercises.cases import eighths
from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.array_cases import compare_values, unchanged
from gpuguide.exercises.stand_ins.fake_cupy import FakeCupy
from gpuguide.exercises.stand_ins.judging import attempt, count, known_lines, lines_text
from gpuguide.exercises.stand_ins.lines import source_of
from gpuguide.exercises.stand_ins.virtual_gpu import VirtualGpu
from gpuguide.exercises.stand_ins.work_on_host import work_on_host
from gpuguide.machine.backends import cupy

# Its first numbers are so large that sums over both windows lose the digits of the others.
LOUD = 600
# Numbers of the recording, where the windows begin, and how long they are. Places of the last need 32 bits.
CASES = (
    (1000, (300, 350, 400), 100),
    (1000, (450, 300, 380, 300), 100),
    (64, (10,), 5),
    (200, (0, 60, 100), 100),
    (257, (100, 101, 103), 1),
    (LOUD, (0, 300, 450), 64),
    (66_000, (65_600, 65_500, 65_550), 100),
)
# What the second and the third call find; nothing of an earlier call fits.
TURNS = ("", " with other numbers in the same array,", " with the same numbers once more,")
TOLERANCE = 1e-4


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Compare the means of several recordings, and look at what crossed over."""
    for case in CASES:
        if found := _findings(function, case, FakeCupy(VirtualGpu(source=source_of(function)))):
            yield from found
            return
    n, starts, length = CASES[0]
    cp, arguments = FakeCupy(VirtualGpu()), (_recording(n), list(starts), length)
    # What comes back was compared with the means: sums may be divided on the host.
    if finding := work_on_host(function, _said(CASES[0]), cp, arguments, _means, TOLERANCE, fetched=False):
        yield finding


def judge_on_gpu(function: Callable[..., Any]) -> Iterator[Finding]:
    """Call it with the real CuPy."""
    cp = cupy()
    for case in CASES:
        if found := _findings(function, case, cp):
            yield from found
            return


def praise(function: Callable[..., Any]) -> str:
    """Say what a right answer moved."""
    cp = FakeCupy()
    n, starts, length = CASES[0]
    function(cp, _recording(n), list(starts), length)
    nbytes = sum(copy.nbytes for copy in cp.gpu.events("to_device"))
    return f"One copy of {nbytes} bytes out of {4 * n}, for {count(len(starts), 'window')}."


def _findings(function: Callable[..., Any], case: tuple[Any, ...], cp: Any) -> list[Finding]:
    """Call it several times with one array: it may hold other numbers each time."""
    n, starts, length = case
    signal, before = _recording(n), None
    for turn, words in enumerate(TURNS):
        if turn == 1:
            signal[:] = -signal[::-1]
        if isinstance(cp, FakeCupy):
            cp.gpu.log.clear()
            cp.fetched.clear()
        copy, places, said = signal.copy(), list(starts), _said(case) + words
        result, finding = attempt(function, said, cp, signal, places, length)
        if finding is None and isinstance(result, cp.ndarray):
            message = f"{said} the result must be an array of NumPy; it was left on the GPU."
            finding = Finding("wrong", message)
        finding = finding or compare_values(said, result, _means(copy, starts, length), TOLERANCE)
        if finding and before is not None and np.array_equal(result, before):
            message = f"{finding.message} These are the means of the call before."
            finding = replace(finding, message=message)
        changed = unchanged(said, "signal", signal, copy), unchanged(said, "starts", places, [*starts])
        found = [each for each in (finding, *changed) if each]
        if not found and isinstance(cp, FakeCupy):
            found = list(_crossings(said, case, cp, result))
        if found:
            return found
        before = result.copy()
    return []


def _crossings(said: str, case: tuple[Any, ...], cp: FakeCupy, result: Any) -> Iterator[Finding]:
    _, starts, length = case
    needed = 4 * (max(starts) + length - min(starts))
    for kind, where in (("to_device", "to the GPU"), ("to_host", "back to the host")):
        copies = cp.gpu.events(kind)
        if not copies:
            why = "the means belong on the GPU"
            if said != _said(case):
                why = "a call before kept what was used again, though the numbers may have changed"
            yield Finding("limit", f"{said} nothing was copied {where}: {why}.")
            return
        if len(copies) > 1:
            lines = [event.line for event in copies]
            message = f"{said} data were copied {where} {count(len(copies), 'time')}{lines_text(lines)}"
            yield Finding(
                "limit", f"{message}; once is enough.", line=copies[1].line, lines=known_lines(lines)
            )
        elif kind == "to_device" and copies[0].nbytes > needed:
            yield Finding(
                "limit",
                f"{said} {copies[0].nbytes} bytes were copied to the GPU; from the first window to the end "
                f"of the last one there are {needed}.",
                line=copies[0].line,
            )
    if len(cp.fetched) == 1:
        # Sums will do: one division is soon done on the host.
        back = cp.fetched[0].reshape(-1, 1)
        near = np.isclose(back, result, TOLERANCE) | np.isclose(back, result * length, TOLERANCE)
        if not near.any(axis=0).all():
            line = cp.gpu.events("to_host")[0].line
            message = f"{said} what came back are not the means: the GPU is to work them out."
            yield Finding("limit", message, line=line)


def _means(signal: Any, starts: Sequence[int], length: int) -> Any:
    return np.array([signal[at : at + length].mean(dtype=np.float64) for at in starts], np.float32)


def _said(case: tuple[Any, ...]) -> str:
    n, starts, length = case
    return f"For windows of {count(length, 'number')} at {', '.join(map(str, starts))} of {n},"


def _recording(n: int) -> Any:
    # Exact in single precision, as are their sums, and too long for half.
    signal = eighths(np.random.default_rng(n), -999, 1000, n)
    signal[: 64 if n == LOUD else 0] *= 2**20
    return signal


EXERCISE = Exercise(
    name="windows",
    title="Copy what the windows cover",
    level="beginner",
    minutes=10,
    teaches="Leave on the host what no slice needs, copy the rest once, and cut it on the GPU.",
    task=FunctionTask(
        judge=judge, parameters=("cp", "signal", "starts", "length"), praise=praise, on_gpu=judge_on_gpu
    ),
    lanes=("simulator", "gpu"),
    pages=("slicing", "transfers"),
    tags=("CuPy", "copies", "slicing"),
)
