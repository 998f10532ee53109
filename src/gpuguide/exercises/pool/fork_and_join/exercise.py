"""Four kernels in two streams: two of them need the same result, and could run at the same time."""

from gpuguide.exercises.judging import at_most, in_order, in_time, require, seconds
from gpuguide.exercises.model import Case, HostExercise, Mistake
from gpuguide.exercises.stand_in_cupy import Cupy
from gpuguide.exercises.virtual_gpu import Costs, VirtualGpu

COSTS = Costs(launch_s=1e-6, compile_s=0, wake_s=1e-6)
NAMES = ("prepare", "left", "right", "join")
# In words, and the seconds of each kernel.
MACHINES = (
    ("all kernels take equally long", (1e-4, 1e-4, 1e-4, 1e-4)),
    ("left takes long", (5e-5, 3e-4, 1.2e-4, 4e-5)),
    ("right takes long", (8e-5, 9e-5, 2.5e-4, 6e-5)),
    ("prepare takes long", (4e-4, 9e-5, 1.1e-4, 9e-5)),
)
# What each kernel reads and writes, as places in memory.
X, A, B, OUT = ((place, place + 1) for place in range(4))
MEMORY = {"prepare": ((), X), "left": ((X,), A), "right": ((X,), B), "join": ((A, B), OUT)}


def cases():
    for about, times_s in MACHINES:
        gpu = Cupy(VirtualGpu(COSTS)).gpu
        kernels = [kernel(gpu, name, busy_s) for name, busy_s in zip(NAMES, times_s, strict=True)]
        arguments = ((gpu.stream(), gpu.stream()), *kernels)
        yield Case(f"On a machine on which {about}", arguments, extra=(gpu, times_s))


def kernel(gpu, name, busy_s):
    reads, writes = MEMORY[name]
    return lambda: gpu.launch(name, busy_s, reads=reads, writes=(writes,))


def judge(case, result):
    gpu, (prepare_s, left_s, right_s, join_s) = case.extra
    names = [step.name for step in gpu.steps("launch")]
    for name in NAMES:
        require(name in names, f"{name} was never called.")
        at_most(1, [step for step in gpu.steps("launch") if step.name == name], f"{name} was called")
    for first, then in (("prepare", "left"), ("prepare", "right"), ("left", "join"), ("right", "join")):
        message = f"{then} needs what {first} makes, and was called before it."
        require(names.index(first) < names.index(then), message)
    in_order(gpu)
    best_s = prepare_s + max(left_s, right_s) + join_s
    in_time(gpu, best_s)
    alone = seconds(prepare_s + left_s + right_s + join_s)
    return f"Four kernels in {seconds(best_s)}; one after the other they take {alone}."


EXERCISE = HostExercise(
    name="fork_and_join",
    title="Fork and join",
    level="intermediate",
    minutes=15,
    teaches="An event carries an order from one stream to another while Python goes on.",
    pages=("streams", "interop"),
    tags=("CuPy", "streams", "events"),
    cases=cases,
    judge=judge,
)

MISTAKES = (
    Mistake("    two.wait_event(one.record())  # before left, which right does not need\n", "", "race"),
    Mistake("    one.wait_event(two.record())\n", "", "race"),
    Mistake("two.wait_event(one.record())", "one.synchronize()", "limit"),
    Mistake("        left()\n", "        left()\n    two.wait_event(one.record())\n", "limit"),
    Mistake("    with two:\n", "    with one:\n", "limit"),
    Mistake("    one.synchronize()\n", "", "unfinished"),
    Mistake("    one.synchronize()\n", "    two.synchronize()\n", "unfinished"),
    Mistake("    with one:\n        join()", "    join()", "race"),
)
