"""Fill in: a clock that is read when the GPU is done."""

from gpuguide.exercises.judging import clock_mistake, is_number, near, require, seconds, shown
from gpuguide.exercises.model import Case, HostExercise, Mistake
from gpuguide.exercises.virtual_gpu import Costs, VirtualGpu

# In words, the machine's costs, and how many seconds the work takes there.
MACHINES = (
    ("a machine whose work is long", Costs(), 0.0403),
    ("a machine whose launches are slow", Costs(launch_s=6e-4), 0.00177),
    ("a machine that compiles quickly", Costs(compile_s=1e-3), 0.0254),
)


def cases():
    for about, costs, work_s in MACHINES:
        gpu = VirtualGpu(costs)
        true_s = costs.launch_s + work_s + costs.wake_s
        yield Case(f"On {about}", (gpu, work(gpu, work_s)), extra=true_s)


def work(gpu, busy_s):
    return lambda: gpu.launch("work", busy_s)


def judge(case, figure):
    true_s = case.extra
    require(is_number(figure), f"A number of seconds was expected; got {shown(figure)}.")
    if not near(figure, true_s):
        clock_mistake(case.arguments[0], "work")
        require(False, f"The figure is {seconds(figure)}; a call takes {seconds(true_s)} until it is done.")
    return f"A call takes {seconds(true_s)} here, and so says your clock."


EXERCISE = HostExercise(
    name="fill_in_wait",
    title="Fill in: wait, then read",
    level="beginner",
    minutes=5,
    teaches="A launch returns at once; wait before the clock starts and before it stops.",
    pages=("how_to_time",),
    tags=("measuring", "synchronisation", "fill in"),
    cases=cases,
    judge=judge,
    in_page=True,
)

MISTAKES = (
    Mistake("compiles\n    gpu.synchronize()\n", "compiles\n", "wrong"),
    Mistake("work()\n    gpu.synchronize()\n    return", "work()\n    return", "wrong"),
    Mistake("    work()  # the first call compiles\n", "", "wrong"),
    Mistake(
        "    gpu.synchronize()\n    start = gpu.clock()",
        "    start = gpu.clock()\n    gpu.synchronize()",
        "wrong",
    ),
    Mistake("gpu.clock() - start", "1000 * (gpu.clock() - start)", "wrong"),
    Mistake("gpu.clock() - start", "start - gpu.clock()", "wrong"),
    Mistake("return gpu.clock() - start", "gpu.clock() - start", "wrong"),
)
