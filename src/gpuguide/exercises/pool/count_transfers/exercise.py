"""An image made comparable with others, in steps that need not leave the GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.array_cases import compare_values, unchanged
from gpuguide.exercises.stand_ins.fake_cupy import FakeCupy
from gpuguide.exercises.stand_ins.judging import attempt, count, known_lines, lines_text
from gpuguide.exercises.stand_ins.lines import source_of
from gpuguide.exercises.stand_ins.virtual_gpu import VirtualGpu
from gpuguide.exercises.stand_ins.work_on_host import substitute, work_on_host
from gpuguide.machine.backends import cupy

SHAPES = ((4, 6), (1, 2), (33, 17), (128, 64))
TOLERANCE = 1e-5


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Compare the result for each image; if all are right, see what crossed over and what the host did."""
    runs = []
    for image in _images():
        cp = FakeCupy(VirtualGpu(source=source_of(function)))
        result, found = _run(function, cp, image)
        if found:
            yield from found
            return
        runs.append((cp, image, result))
    for cp, image, result in runs:
        found = list(_on_the_host(cp, image, result)) or list(_crossings(cp, image))
        if not found:
            finding = work_on_host(function, _case(image), FakeCupy(), (image,), _expected, TOLERANCE)
            found = [finding] if finding else []
        if found:
            yield from found
            return


def judge_on_gpu(function: Callable[..., Any]) -> Iterator[Finding]:
    """Call it with the real CuPy."""
    cp = cupy()
    for image in _images():
        if found := _run(function, cp, image)[1]:
            yield from found
            return


def praise(function: Callable[..., Any]) -> str:
    """Say what a right answer moved and launched."""
    cp = FakeCupy()
    function(cp, _image(SHAPES[-1]))
    there, back = (cp.gpu.events(kind)[0].nbytes for kind in ("to_device", "to_host"))
    launches = count(len(cp.gpu.events("launch")), "launch", "launches")
    return f"One copy there ({there} bytes), {launches}, one copy back ({back} bytes)."


def _run(function: Callable[..., Any], cp: Any, image: Any) -> tuple[Any, list[Finding]]:
    """Return the result for an image, and what is wrong with it."""
    copy = image.copy()
    case = _case(image)
    result, finding = attempt(function, case, cp, image)
    if finding is None and isinstance(result, cp.ndarray):
        finding = Finding("wrong", f"{case} the result must be an array of NumPy; it was left on the GPU.")
    finding = finding or compare_values(case, result, _expected(copy), TOLERANCE)
    return result, [found for found in (finding, unchanged(case, "image", image, copy)) if found]


def _on_the_host(cp: FakeCupy, image: Any, result: Any) -> Iterator[Finding]:
    """Say if a step was left to NumPy: the image goes over as it is, and the result is what comes back."""
    case = _case(image)
    if len(cp.sent) == 1 and not (isinstance(cp.sent[0], np.ndarray) and _same_numbers(cp.sent[0], image)):
        line = cp.gpu.events("to_device")[0].line
        message = f"{case} what was copied to the GPU is not the image: all steps belong on the GPU."
        if _same_numbers(np.asarray(cp.sent[0]).astype(image.dtype), image):
            form = getattr(cp.sent[0], "dtype", f"a {type(cp.sent[0]).__name__}")
            message = f"{case} the image must go to the GPU as it is, in {image.dtype}; it went as {form}."
        yield Finding("limit", message, line=line)
    elif len(cp.fetched) == 1 and not _same_numbers(cp.fetched[0], result):
        line = cp.gpu.events("to_host")[0].line
        message = f"{case} what came back is not the result yet: all steps belong on the GPU."
        yield Finding("limit", message, line=line)


def _same_numbers(a: Any, b: Any) -> bool:
    """Compare two arrays, of which one may have been reshaped: that moves nothing."""
    return a.dtype == b.dtype and np.array_equal(a.ravel(), b.ravel())


def _crossings(cp: FakeCupy, image: Any) -> Iterator[Finding]:
    case = _case(image)
    for kind, where in (("to_device", "to the GPU"), ("to_host", "back to the host")):
        copies = cp.gpu.events(kind)
        if not copies:
            yield Finding("limit", f"{case} nothing was copied {where}: the steps belong on the GPU.")
        elif len(copies) > 1:
            asked = [event for event in copies if event.name.startswith("the number of elements")]
            small = [event for event in copies if event.nbytes <= 16 and event not in asked]
            single = " A single number that the host reads is a copy, too." if small else ""
            if asked:
                lines = lines_text(event.line for event in asked)
                single += f" Among them is {asked[0].name}{lines}, which the host has to wait for."
            yield Finding(
                "limit",
                f"{case} data were copied {where} {count(len(copies), 'time')}"
                f"{lines_text(event.line for event in copies)}; once is enough.{single}",
                line=copies[1 if kind == "to_device" else 0].line,
                lines=known_lines(event.line for event in copies),
            )


def _case(image: Any) -> str:
    return f"For an image of {image.shape[0]} x {image.shape[1]}"


def _images() -> Iterator[Any]:
    for shape in SHAPES:
        yield _image(shape)
        yield substitute(_image(shape))


def _image(shape: tuple[int, int]) -> Any:
    # Most numbers are near the middle, so that even few of them have some beyond either limit.
    far = np.random.default_rng(shape[1]).uniform(-1, 1, shape) ** 3
    return (125 + 125 * far).astype(np.float32)


def _expected(image: Any) -> Any:
    exact = image.astype(np.float64)
    exact -= exact.mean()
    limit = 2 * np.abs(exact).mean()
    return (np.clip(exact, -limit, limit) / limit).astype(np.float32)


EXERCISE = Exercise(
    name="count_transfers",
    title="One copy each way",
    level="beginner",
    minutes=15,
    teaches="Data that the next step needs stay on the GPU; a number that the host reads is a copy, too.",
    task=FunctionTask(judge=judge, parameters=("cp", "image"), praise=praise, on_gpu=judge_on_gpu),
    lanes=("simulator", "gpu"),
    pages=("numpy_to_cupy", "sort_search", "transfers", "data_where_it_is", "slicing"),
    tags=("CuPy", "copies", "synchronisation"),
)
