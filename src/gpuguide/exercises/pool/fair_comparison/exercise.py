"""A blur on the CPU against the same blur on the GPU, including the copies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.array_cases import unchanged
from gpuguide.exercises.stand_ins.blurs import ON_DEVICE, ON_HOST, VirtualBlur, blurred
from gpuguide.exercises.stand_ins.fake_cupy import FakeCupy
from gpuguide.exercises.stand_ins.host_memory import FakeNumpy
from gpuguide.exercises.stand_ins.judging import attempt, explained, is_near, is_seconds, seconds, shown
from gpuguide.exercises.stand_ins.lines import source_of
from gpuguide.exercises.stand_ins.timed_regions import (
    Region,
    clock_mistakes,
    of_another_kind,
    regions,
    used_for,
)
from gpuguide.exercises.stand_ins.virtual_gpu import Costs, VirtualGpu

SIDES = ("CPU", "GPU")
_NAMES = (ON_HOST, ON_DEVICE)
_WAYS = (("to_device", "to the GPU"), ("to_host", "back to the host"))


@dataclass(frozen=True)
class Machine:
    """A virtual machine with an image to blur.

    Attributes
    ----------
    title : str
        In words.
    costs : Costs
        Costs of the machine; launches and waiting take next to nothing, because they are not the subject.
    host_rate, device_rate : float
        Bytes per nanosecond of the blur.
    shape : tuple of int
        Of the image.
    dtype : type
        Of the image.
    """

    title: str
    costs: Costs
    host_rate: float
    device_rate: float
    shape: tuple[int, int]
    dtype: type


MACHINES = (
    Machine(
        "a machine with a slow link",
        Costs(launch_ns=100, wake_up_ns=100, link_rate=2.0, staging_rate=6.0, first_touch_rate=0.5),
        host_rate=0.05,
        device_rate=20.0,
        shape=(200, 300),
        dtype=np.float32,
    ),
    Machine(
        "a machine that pays for new memory",
        Costs(launch_ns=100, wake_up_ns=100, link_rate=5.0, staging_rate=2.0, first_touch_rate=0.1),
        host_rate=0.1,
        device_rate=2.0,  # a blur still at work when the clock starts delays the copy after it
        shape=(128, 257),
        dtype=np.float64,
    ),
)


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Compare both figures with those of a fair comparison on the same machine."""
    # Once more the first one, for who remembers figures, or what was called before.
    for i, machine in enumerate((*MACHINES, MACHINES[0])):
        is_second = i == len(MACHINES)
        gpu = VirtualGpu(machine.costs, source_of(function))
        cp, blur = _tools(gpu, machine)
        host, copy = FakeNumpy(gpu), _image(machine)
        image = host.array(copy)  # so that a copy of it costs, too
        on = "In a second call, on" if is_second else "On"
        case = f"{on} {machine.title}, with an image of {np.dtype(machine.dtype)},"
        result, finding = attempt(function, case, host, cp, gpu.clock, blur, image)
        finding = finding or _not_two_times(case, result) or unchanged(case, "image", image, copy)
        if finding is None and is_second and not gpu.events("clock"):
            message = "the function did not read the clock: keep no figures from call to call."
            finding = Finding("wrong", f"{case} {message}")
        if finding is not None:
            yield finding
            return
        found = list(_explain(case, result, machine, blur, gpu))
        if found := found or list(_other_results(case, copy, cp, blur)):
            yield from found
            return


def praise(function: Callable[..., Any]) -> str:
    """Say what a right answer found out on the first machine."""
    gpu = VirtualGpu(MACHINES[0].costs)
    cp, blur = _tools(gpu, MACHINES[0])
    cpu_s, gpu_s = function(FakeNumpy(gpu), cp, gpu.clock, blur, _image(MACHINES[0]))
    kernels = [call.event for call in blur.calls if call.event.name.startswith(ON_DEVICE)]
    # It may have warmed up with a part of the image.
    alone = max(kernel.done_ns - kernel.started_ns for kernel in kernels) * 1e-9
    return (
        f"On {MACHINES[0].title} the blur takes {seconds(cpu_s)} on the CPU and {seconds(gpu_s)} on the GPU, "
        f"of which {seconds(alone)} are the kernel. (Virtual times.)"
    )


def _tools(gpu: VirtualGpu, machine: Machine) -> tuple[FakeCupy, VirtualBlur]:
    cp = FakeCupy(gpu)
    rates = machine.host_rate, machine.device_rate
    image = _image(machine)
    return cp, VirtualBlur(cp, image.dtype, *rates, set_up_ns=3_000_000, image=image)


def _image(machine: Machine) -> Any:
    return np.random.default_rng(1).integers(0, 255, machine.shape).astype(machine.dtype)


def _fair(machine: Machine) -> tuple[float, float]:
    """Return the true figures: everything was called once, and every destination written before."""
    gpu = VirtualGpu(machine.costs)
    cp, blur = _tools(gpu, machine)
    image = _image(machine)
    out = np.zeros_like(image)
    times = []
    for _ in range(2):
        gpu.synchronize()
        start = gpu.clock()
        blur(image, out)
        middle = gpu.clock()
        image_device = cp.asarray(image)
        out_device = cp.empty_like(image_device)
        blur(image_device, out_device)
        out_device.get(out=out)
        times = [middle - start, gpu.clock() - middle]
    return times[0], times[1]


def _not_two_times(case: str, result: Any) -> Finding | None:
    if isinstance(result, tuple | list) and len(result) == 2 and all(map(is_seconds, result)):
        return None
    return Finding("wrong", f"{case} two numbers of seconds were expected; got {shown(result)}.")


def _explain(
    case: str, result: Any, machine: Machine, blur: VirtualBlur, gpu: VirtualGpu
) -> Iterator[Finding]:
    """Say which figure is wrong and what the machine saw that explains it."""
    right = _fair(machine)
    for side, name, figure, true in zip(SIDES, _NAMES, result, right, strict=True):
        if is_near(float(figure), true):
            # Times are in proportion to sizes here, but not on real machines.
            if part := list(_smaller_blur(regions(gpu, name), blur, machine)):
                yield from explained(f"{case} the time of the {side} is not that of the whole image.", part)
            continue
        if all(map(is_near, map(float, result), reversed(right))):
            message = f"{case} (cpu_s, gpu_s) was expected, and the two figures came the other way round."
            yield Finding("wrong", message)
            return
        message = (
            f"{case} the {side} takes {seconds(true)}, timed fairly; the figure is {seconds(float(figure))}."
        )
        measured = regions(gpu, name)
        if slip := [*of_another_kind(float(figure), true), *_several(float(figure), measured)]:
            yield from explained(message, slip)
            continue
        timed = used_for(float(figure), measured)
        if not timed:
            never = f"The clock was never read before and after a blur on the {side}."
            yield from explained(message, [Finding("wrong", never)])
            continue
        work = [*_other_work(timed[-1], blur), *_smaller_blur(timed[-1:], blur, machine)]
        copies = [] if work else _smaller_copies(timed[-1], name, machine)
        yield from explained(message, [*clock_mistakes(timed), *work, *_unfair(timed[-1], name), *copies])


def _other_results(case: str, image: Any, cp: FakeCupy, blur: VirtualBlur) -> Iterator[Finding]:
    """Say if the right time is that of a blur of something else, or of a copy of something else."""
    for side, name in zip(SIDES, _NAMES, strict=True):
        calls = [call for call in blur.calls if call.event.name.startswith(name)]
        line, message = (calls[-1].event.line if calls else None), ""
        if not calls:
            message = f"nothing was blurred on the {side}."
        elif not calls[-1].is_of_image:
            message = f"the last blur on the {side} was not one of the image: its source held other numbers."
        elif name == ON_DEVICE:
            arrived = b"".join(each.tobytes() for each in cp.fetched[calls[-1].n_fetched :])
            if blurred(image).tobytes() not in arrived:
                message = "other numbers came back to the host than those that the last blur on the GPU made."
        if message:
            yield Finding("wrong", f"{case} {message}", line=line)


def _several(figure: float, measured: list[Region]) -> Iterator[Finding]:
    """Say if a figure is the sum of several stretches, each with a blur."""
    for n in range(2, len(measured) + 1):
        if abs(sum(region.seconds for region in measured[-n:]) - figure) < 1e-9 * n:
            yield Finding("wrong", f"That is the time of {n} blurs together, and one is wanted.")
            return


def _other_work(timed: Region, blur: VirtualBlur) -> Iterator[Finding]:
    """Say which side computed in another dtype than that of the image."""
    for call in blur.calls:
        dtypes = f"{call.source_dtype} into {call.out_dtype}"
        if call.event in timed.inside and dtypes != f"{blur.dtype} into {blur.dtype}":
            side = call.event.name.split(",")[0]
            message = f"The {side} went from {dtypes}, but the image is {blur.dtype}: that is different work."
            yield Finding("wrong", message, line=call.event.line)


def _smaller_blur(timed: list[Region], blur: VirtualBlur, machine: Machine) -> Iterator[Finding]:
    """Say if only a part of the image was blurred in all of some stretches."""
    inside = [event for region in timed for event in region.inside]
    calls = [call for call in blur.calls if call.event in inside]
    size = prod(machine.shape)
    if calls and all(call.size < size for call in calls):
        message = f"Only {calls[-1].size} of {size} elements were blurred while the clock ran."
        yield Finding("wrong", message, line=calls[-1].event.line)


def _smaller_copies(timed: Region, name: str, machine: Machine) -> Iterator[Finding]:
    """Say if only a part of the image was copied."""
    nbytes = prod(machine.shape) * np.dtype(machine.dtype).itemsize
    for kind, way in _WAYS:
        copies = [event for event in timed.inside if event.kind == kind]
        copied = sum(event.nbytes for event in copies)
        if name == ON_DEVICE and 0 < copied < nbytes:
            message = f"Only {copied} of {nbytes} bytes were copied {way}."
            yield Finding("wrong", message, line=copies[-1].line)


def _unfair(timed: Region, name: str) -> Iterator[Finding]:
    """Say what the time of a side includes besides its blur, or lacks."""
    for event in timed.inside:
        if event.name.startswith("first touch"):
            message = f"While the clock ran, memory was written for the first time: {event.nbytes} bytes."
            yield Finding("wrong", message, line=event.line)
        if event.name.startswith(ON_HOST) and not any(e.name.startswith(ON_HOST) for e in timed.before):
            message = "The first call on the CPU was timed: it starts the threads of the library."
            yield Finding("wrong", message, line=event.line)
    kinds = {event.kind for event in timed.inside}
    for kind, way in _WAYS:
        if name == ON_DEVICE and kind not in kinds:
            yield Finding("wrong", f"The copy {way} is not between the two readings of the clock.")


EXERCISE = Exercise(
    name="fair_comparison",
    title="A fair comparison",
    level="intermediate",
    minutes=20,
    teaches="Both sides get the same data, dtype and warm buffers, and the GPU's time includes both copies.",
    task=FunctionTask(judge=judge, parameters=("np", "cp", "clock", "blur", "image"), praise=praise),
    lanes=("simulator",),
    pages=("transfers", "convolution", "benchmark_well", "maximum_cpu"),
    tags=("measuring", "copies", "dtype", "CuPy"),
)
