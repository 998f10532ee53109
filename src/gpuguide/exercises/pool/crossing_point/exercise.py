"""Between which of the measured sizes the GPU overtakes the CPU for good."""

from gpuguide.exercises.judging import difference, require
from gpuguide.exercises.model import Case, HostExercise, Mistake

# What it shows; sizes, seconds on the CPU, seconds on the GPU; the bracket. Made up, not measured.
TABLES = (
    ("a plain crossing", [10, 100, 1000, 10_000], [1, 10, 100, 1000], [50, 50, 55, 80], (100, 1000)),
    ("a crossing at the first pair", [1, 2, 4, 8], [1, 9, 10, 20], [5, 5, 6, 7], (1, 2)),
    ("a crossing at the last pair", [1, 2, 4, 8], [1, 2, 3, 20], [5, 5, 6, 7], (4, 8)),
    ("a GPU that is ahead from the start", [1, 2, 4], [5, 6, 7], [1, 1, 1], None),
    ("a GPU that never gets ahead", [1, 2, 4], [1, 1, 1], [5, 6, 7], None),
    ("a GPU that falls back at the end", [1, 2, 4, 8], [1, 9, 9, 9], [5, 5, 5, 10], None),
    ("two columns that are equal", [1, 2, 4], [3, 4, 5], [3, 4, 5], None),
    ("one size", [1024], [2], [1], None),
    ("times that cross three times", [1, 2, 4, 8, 16], [1, 9, 3, 9, 30], [5, 5, 5, 5, 6], (4, 8)),
    ("a tie between behind and ahead", [1, 2, 4], [1, 5, 9], [5, 5, 5], (1, 4)),
    ("a tie after the first crossing", [1, 2, 4, 8], [1, 9, 5, 9], [5, 5, 5, 5], (1, 8)),
    ("a GPU that is ahead, then behind, then ahead", [1, 2, 4], [5, 1, 9], [4, 5, 5], (2, 4)),
    ("rows with the same times", [1, 2, 4, 8], [1, 9, 9, 9], [5, 5, 5, 5], (1, 2)),
    ("a tie at the start, ahead afterwards", [1, 2, 4], [5, 6, 9], [5, 5, 5], None),
    ("a tie at the end", [1, 2, 4], [1, 9, 5], [5, 5, 5], None),
    ("a GPU that falls back by a little", [1, 2, 4, 8], [1, 9, 100, 200], [5, 5, 101, 100], (4, 8)),
    ("sizes in no order", [1000, 10, 10_000, 100], [100, 1, 1000, 10], [55, 50, 80, 50], (100, 1000)),
    ("two sizes, the larger one first", [128, 64], [3, 1], [2, 2], (64, 128)),
    ("times of a few microseconds", [1, 2, 4], [1e-6, 3.2e-6, 9e-6], [4e-6, 3.4e-6, 4e-6], (2, 4)),
    ("times that hardly differ", [1, 2], [1, 1 + 1e-10], [1 + 1e-10, 1], (1, 2)),
)


def cases():
    for title, sizes, cpu_s, gpu_s, bracket in (*TABLES, ("no size at all", [], [], [], None)):
        about = f"For {title}, sizes = {sizes}, cpu_s = {cpu_s}, gpu_s = {gpu_s}"
        yield Case(about, ([*sizes], [*cpu_s], [*gpu_s]), extra=bracket)


def judge(case, result):
    # Here None is an answer.
    wrong = f"Expected {case.extra}; got None." if result is None else difference(result, case.extra)
    require(result is case.extra or not wrong, wrong)


EXERCISE = HostExercise(
    name="crossing_point",
    title="Where the order changes",
    level="beginner",
    minutes=15,
    teaches="A crossover lies between two measured sizes, and counts only if it lasts.",
    pages=("why_gpu", "sort_search", "linear_algebra"),
    tags=("measuring", "crossover"),
    cases=cases,
    judge=judge,
    in_page=True,
)

MISTAKES = (
    Mistake("sorted(zip(sizes, cpu_s, gpu_s, strict=True))", "list(zip(sizes, cpu_s, gpu_s))", "wrong"),
    Mistake("if gpu >= cpu", "if gpu > cpu", "wrong"),
    Mistake("if gpu > cpu]", "if gpu >= cpu]", "wrong"),
    Mistake("slower[-1], rows", "slower[0], rows", "wrong"),
    Mistake("rows[not_faster[-1] + 1]", "rows[not_faster[0] + 1]", "wrong"),
    Mistake("not slower or not_faster[-1] == len(rows) - 1", "not slower", "exception"),
    Mistake("not slower or not_faster[-1]", "not_faster[-1]", "exception"),
    Mistake("    rows = sorted(zip", "    sizes.sort()\n    rows = sorted(zip", "input_changed"),
)
