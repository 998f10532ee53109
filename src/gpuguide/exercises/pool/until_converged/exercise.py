"""A solver that runs until its result hardly changes: rounds of steps in a graph, and a look per round."""

from types import SimpleNamespace

from gpuguide.exercises.judging import at_most, is_number, require, seconds, shown
from gpuguide.exercises.model import Case, HostExercise, Mistake
from gpuguide.exercises.virtual_gpu import Costs, VirtualGpu

COSTS = Costs(launch_s=1e-5, compile_s=0, wake_s=2e-5)
STEP_S = 1e-6
ROUND = 50
# In words, how much each step shrinks the change, the tolerance, the most steps.
SOLVERS = (
    ("a solver that converges", 0.97, 1e-5, 2000),
    ("one that converges within a few steps", 0.1, 1e-5, 2000),
    ("one that never does", 1.0, 1e-5, 500),
    ("one whose result changes by exactly the tolerance after the first round", 0.5, 0.5**ROUND, 1000),
)


class Solver:
    """Counts the steps, and shrinks the change in each."""

    def __init__(self, shrinks):
        self.gpu, self.shrinks, self.done = VirtualGpu(COSTS), shrinks, 0
        self.records, self.launches = 0, 0

    def step(self):
        self.gpu.launch("a step", STEP_S)
        self.done += 1

    def record(self, n):
        self.gpu.host("record", n * COSTS.launch_s)
        self.records += 1

        def launch(stream=None):
            self.gpu.launch("a graph", n * STEP_S)
            self.done += n
            self.launches += 1

        return SimpleNamespace(launch=launch)

    def change(self):
        self.gpu.synchronize()
        require(self.done > 0, "There is no last change before the first step.")
        return self.shrinks**self.done


def cases():
    for about, shrinks, tolerance, most in SOLVERS:
        solver = Solver(shrinks)
        arguments = (solver.record, solver.step, solver.change, tolerance, most)
        yield Case(f"For {about}", arguments, extra=solver)


def judge(case, result):
    solver, (*_, tolerance, most) = case.extra, case.arguments
    require(is_number(result), f"The number of steps was expected; got {shown(result)}.")
    message = f"{solver.done} steps were done; {shown(result)} was returned."
    require(result == solver.done, message)
    needed = next((n for n in range(1, most) if solver.shrinks**n < tolerance), most)
    require(solver.done >= needed, f"{solver.done} steps were done, and {needed} are needed.")
    message = f"{solver.done} steps were done; {needed} are needed, and at most {ROUND} more do no harm."
    require(solver.done <= needed + ROUND, message, kind="limit")
    require(solver.records <= 1, f"{solver.records} graphs were recorded; once is enough.", kind="limit")
    require(solver.launches >= solver.records, "A graph was recorded, and never launched.", kind="limit")
    enough = solver.done // ROUND + 2
    at_most(enough, solver.gpu.steps("launch"), "Something was launched")
    at_most(enough, solver.gpu.steps("wait"), "Python waited for the GPU")
    alone = solver.done * (COSTS.launch_s + STEP_S + COSTS.wake_s)
    log = solver.gpu.log
    return f"{solver.done} steps in {seconds(log[-1].end_s - log[0].begin_s)}; one by one {seconds(alone)}."


EXERCISE = HostExercise(
    name="until_converged",
    title="Until it has converged",
    level="intermediate",
    minutes=10,
    teaches="A graph of many steps, and one look per round, keep the GPU at work.",
    pages=("graphs",),
    tags=("CUDA graph", "launch", "synchronisation", "solver"),
    cases=cases,
    judge=judge,
)

MISTAKES = (
    Mistake("        graph.launch()\n", "        record(50).launch()\n", "limit"),
    Mistake("graph.launch()", "step()", "wrong"),
    Mistake("done += 50", "done += 1", "wrong"),
    Mistake("record(50)", "record(1)", "wrong"),
    Mistake("change() < tolerance", "change() > tolerance", "wrong"),
    Mistake("while done < most:", "while True:", "endless"),
    Mistake("        if change() < tolerance:\n            break\n", "    change()\n", "limit"),
    Mistake("    return done", "    print(done)", "wrong"),
)
