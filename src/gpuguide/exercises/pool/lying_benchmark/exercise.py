"""A timing script that lies in several ways, on virtual machines that know the truth."""

from itertools import cycle
from statistics import median
from types import SimpleNamespace

from gpuguide.exercises.judging import (
    clock_mistake,
    is_number,
    near,
    refuse,
    require,
    samples_of,
    seconds,
    shown,
)
from gpuguide.exercises.model import Case, HostExercise, Mistake
from gpuguide.exercises.virtual_gpu import Costs, VirtualGpu
from gpuguide.tracer.findings import count

# In words, costs, seconds of the work and of the preparation, the share of the work on used data, and what
# others do to the time of each run.
MACHINES = (
    ("that is all yours", Costs(), 8e-3, 2e-3, 0.3, (1,)),
    ("with slow launches", Costs(launch_s=9e-5, wake_s=3e-5), 4e-2, 6e-3, 1.7, (1,)),
    ("that others use, too", Costs(), 8e-3, 2e-3, 0.3, (1, 2.7, 1.9, 1, 1, 1, 1, 1)),
    ("whose clock rate rises at times", Costs(), 1.2e-2, 1e-3, 1, (1, 1, 1, 0.9, 1, 1.4)),
    ("that compiles quickly", Costs(compile_s=4e-3), 5e-3, 3e-3, 0.8, (1,)),
)


class Operation:
    def __init__(self, gpu, work_s, prepare_s, used_share, rhythm):
        self.gpu, self.work_s, self.prepare_s = gpu, work_s, prepare_s
        self.used_share, self.rhythm = used_share, cycle(rhythm)
        self.is_used, self.on_used_data = False, []

    def prepare(self):
        self.gpu.launch("prepare", self.prepare_s)
        self.is_used = False

    def run(self):
        share = next(self.rhythm) * (self.used_share if self.is_used else 1)
        self.gpu.launch("run", self.work_s * share)
        if self.is_used:
            self.on_used_data.append(self.gpu.log[-1])
        self.is_used = True


def cases():
    for about, costs, *numbers in MACHINES:
        gpu = VirtualGpu(costs)
        operation = Operation(gpu, *numbers)
        # Nothing that knows the answer.
        arguments = (
            SimpleNamespace(clock=gpu.clock, synchronize=gpu.synchronize),
            SimpleNamespace(run=operation.run, prepare=operation.prepare),
        )
        yield Case(f"On a machine {about}", arguments, extra=(gpu, operation))


def judge(case, figure):
    gpu, operation = case.extra
    require(is_number(figure), f"Expected a number of seconds; got {shown(figure)}.")
    figures = f"The figure is {seconds(figure)}; the work takes {seconds(operation.work_s)}."
    if near(figure, operation.work_s):
        return f"On the last machine: {figures[0].lower()}{figures[1:]}"
    samples = samples_of(gpu, "run")
    inside = [step for sample in samples for step in sample.steps]
    restoring = [step for step in inside if step.name == "prepare"]
    message = f"{figures} The clock ran while the data were restored: prepare before it starts, and wait."
    require(not restoring, message, restoring)
    clock_mistake(gpu, "run", figures)
    used = [step for step in inside if step in operation.on_used_data]
    message = f"{figures} A run found the data as the one before had left them: prepare before each run."
    require(not used, message, used)
    middle = seconds(median(sample.seconds for sample in samples))
    taken = count(len(samples), "sample")
    return refuse("wrong", f"{figures} Single runs may be disturbed: the median of {taken} is {middle}.")


EXERCISE = HostExercise(
    name="lying_benchmark",
    title="A benchmark that lies",
    level="intermediate",
    minutes=20,
    teaches="Run once before, restore the data, wait before and after the clock is read, take the median.",
    pages=("how_to_time", "benchmark_well"),
    tags=("measuring", "synchronisation", "first call"),
    cases=cases,
    judge=judge,
    in_page=True,
)

FRESH = "        operation.prepare()\n        gpu.synchronize()  # the preparation must be finished\n"
CLOCK = "        start = gpu.clock()\n"
MISTAKES = (
    Mistake(FRESH, "", "wrong"),
    Mistake("        gpu.synchronize()  # the preparation must be finished\n", "", "wrong"),
    Mistake(FRESH + CLOCK, CLOCK + FRESH, "wrong"),
    Mistake("        operation.run()\n        gpu.synchronize()\n", "        operation.run()\n", "wrong"),
    Mistake("N_SAMPLES = 15", "N_SAMPLES = 1", "wrong"),
    Mistake("median(samples)", "sum(samples) / N_SAMPLES", "wrong"),
    Mistake("median(samples)", "min(samples)", "wrong"),
    Mistake("median(samples)", "1000 * median(samples)", "wrong"),
)
