"""Launches a reader's kernel on the GPU, in a worker process: guard zones, poisoned outputs, many repeats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from gpuguide.errors import BackendError
from gpuguide.exercises.cases import poisoned
from gpuguide.exercises.compile_lane import compile_finding, why_nothing_compiles
from gpuguide.exercises.guarded import GUARD_BYTES, GuardedBytes
from gpuguide.exercises.kernels import build
from gpuguide.exercises.model import Call, Exercise, KernelTask
from gpuguide.exercises.numpy_views import values
from gpuguide.exercises.reading import Answer, check_parameters, unsupported
from gpuguide.exercises.report import FAILED, NOT_AT_HAND, PASSED, LaneReport
from gpuguide.exercises.simulate import with_line
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.simulator.number_rules import NUMBER_TYPES
from gpuguide.exercises.simulator.results import first_changed, first_wrong
from gpuguide.machine import compilers
from gpuguide.machine.backends import cupy, current_stream, numba_view
from gpuguide.machine.memory import is_out_of_memory

__all__ = ["N_REPEAT", "CudaGpu", "Gpu", "judge_launches", "judge_on_gpu"]

N_REPEAT = 20
"""Launches of each call, with new outputs each time, because a race may show in only one of many."""

_NEWER_THAN_THE_DRIVER = ("UNSUPPORTED_PTX_VERSION", "unsupported toolchain")

Array = np.ndarray[Any, Any]


class Gpu(Protocol):
    """What launches and copies: a GPU, or a stand-in for one in tests."""

    def launch(self, call: Call, images: Mapping[str, GuardedBytes]) -> dict[str, Array]:
        """Copy the images over, launch with the arrays in them, and return the images afterwards."""


class CudaGpu:
    """The real one: CuPy holds the bytes, Numba launches the kernel."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._cupy = cupy()

    def launch(self, call: Call, images: Mapping[str, GuardedBytes]) -> dict[str, Array]:
        """Launch once and wait."""
        held = {name: self._cupy.asarray(image.image) for name, image in images.items()}
        arguments = [
            self._array(held[name], images[name]) if name in held else value
            for name, value in call.arguments.items()
        ]
        self._kernel[call.grid, call.block, current_stream(), call.shared_bytes](*arguments)
        self._cupy.cuda.get_current_stream().synchronize()
        return {name: raw.get() for name, raw in held.items()}

    def _array(self, raw: Any, image: GuardedBytes) -> Any:
        pointer = raw.data + GUARD_BYTES
        return numba_view(self._cupy.ndarray(image.shape, image.dtype, pointer, image.strides))


def judge_on_gpu(exercise: Exercise, answer: Answer, say: Callable[[str], None]) -> LaneReport:
    """Compile a kernel for this machine's GPU and judge all its launches.

    Each is said before it is made, so that one that never ends has a name.
    """
    task = exercise.task
    assert isinstance(task, KernelTask)
    check_parameters(exercise.name, task.parameters, answer)
    found = unsupported(answer)
    if found:
        return LaneReport("gpu", FAILED, findings=tuple(found))
    try:
        gpu = CudaGpu(build(answer).kernel)
    except BackendError as error:
        return LaneReport("gpu", NOT_AT_HAND, str(error))
    return judge_launches(task, answer, gpu, say)


def judge_launches(
    task: KernelTask, answer: Answer, gpu: Gpu, say: Callable[[str], None], n_repeat: int = N_REPEAT
) -> LaneReport:
    """Judge all launches, each several times, until one is wrong."""
    names = check_parameters("", task.parameters, answer)
    report = LaneReport("gpu", PASSED)
    for call in task.calls():
        say(call.label)
        called = dict(zip(call.arguments, names, strict=False))
        try:
            findings = _repeat(call, gpu, called, n_repeat)
        except Exception as error:  # Numba and CuPy raise classes of their own
            if reason := _why_nothing_launches(error):
                return LaneReport("gpu", NOT_AT_HAND, reason)
            findings = [_launch_failed(error, answer)]
        if findings:
            located = tuple(with_line(finding, answer) for finding in findings)
            return replace(report, state=FAILED, findings=located, call=call.label)
        report = replace(report, n_calls=report.n_calls + 1)
    return replace(report, notes=(f"Each was repeated {n_repeat} times.",))


def _repeat(call: Call, gpu: Gpu, called: Mapping[str, str], n_repeat: int) -> list[Finding]:
    images = {
        name: GuardedBytes(x, "sentinel" if name in call.expected else "exact")
        for name, x in call.arguments.items()
        if isinstance(x, np.ndarray) and x.ndim
    }
    before = {name: image.view(image.image) for name, image in images.items()}
    right = {**before, **call.expected}
    for repeat in range(n_repeat):
        after = gpu.launch(call, images)
        got = {name: images[name].view(after[name]) for name in images}
        findings = _outside(images, after, called)
        # To look at each element takes long, and most launches leave what an earlier one did.
        if not all(_same_bits(got[name], right[name]) for name in got):
            findings += compared(call, before, got, called)
            right = got
        if findings:
            return [_after(repeat, finding) for finding in findings]
    return []


def compared(
    call: Call, before: Mapping[str, Array], got: Mapping[str, Array], called: Mapping[str, str]
) -> list[Finding]:
    """Return the first changed element of each input, then the first wrong one of each result."""
    inputs = [name for name in got if name not in call.expected]
    changed = [
        first_changed(called.get(name, name), got[name].shape, values(before[name]), values(got[name]))
        for name in inputs
    ]
    wrong = [
        first_wrong(
            called.get(name, name),
            got[name].shape,
            values(got[name]),
            values(expected),
            tolerance=call.tolerance,
            cast=NUMBER_TYPES[got[name].dtype.name].cast,
            is_untouched=partial(_holds_nothing, got[name]),
        )
        for name, expected in call.expected.items()
    ]
    return [finding for finding in (*changed, *wrong) if finding is not None]


def _same_bits(a: Array, b: Array) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def _holds_nothing(array: Array, place: int) -> bool:
    return bool(array.ravel()[place].tobytes() == poisoned((), array.dtype).tobytes())


def _outside(
    images: Mapping[str, GuardedBytes], after: Mapping[str, Array], called: Mapping[str, str]
) -> list[Finding]:
    found = []
    for name, image in images.items():
        side = image.damage(after[name])
        if side:
            shown = called.get(name, name)
            message = f"The kernel wrote outside its arrays: {side} {shown}."
            found.append(Finding("gpu", message, array=shown))
    return found


def _after(repeat: int, finding: Finding) -> Finding:
    """Say that earlier repeats were right, which points to a race."""
    if repeat == 0:
        return finding
    times = "once" if repeat == 1 else f"{repeat} times"
    message = f"{finding.message} The same launch was right {times} before, so the threads race."
    return replace(finding, message=message)


def _why_nothing_launches(error: Exception) -> str:
    """Say what the machine lacks, if a launch failed because of that and not through the reader's fault."""
    if is_out_of_memory(error):
        return "The GPU has too little free memory at the moment."
    if any(sign in str(error) for sign in _NEWER_THAN_THE_DRIVER):
        return (
            "The driver cannot run the compiler's code, because the compiler is newer. "
            "'gpuguide doctor' says what to install."
        )
    if compilers.names_a_library(error):
        return why_nothing_compiles(compilers.capability())
    return ""


def _launch_failed(error: Exception, answer: Answer) -> Finding:
    """Say in one sentence why a launch failed."""
    text = str(error)
    if any(sign in text for sign in ("ILLEGAL_ADDRESS", "IllegalAddress", "MISALIGNED_ADDRESS")):
        return Finding("gpu", "The GPU stopped the kernel because it touched memory outside all its arrays.")
    if "OUT_OF_RESOURCES" in text or "OutOfResources" in text:
        return Finding("gpu", "The GPU cannot hold a block of this kernel: it takes too many registers.")
    if "LAUNCH_TIMEOUT" in text or "LaunchTimeout" in text:
        return Finding("endless", "The kernel did not end on the GPU, so the driver stopped it.")
    if "cuda" in type(error).__module__ and "errors" not in type(error).__module__:
        first = next((line.strip() for line in text.splitlines() if line.strip()), "")
        return Finding("gpu", f"The launch failed: {type(error).__name__}: {first}.")
    return compile_finding(error, answer)
