"""A sparse matrix times a vector, by a warp a row."""

from itertools import accumulate
from random import Random

from gpuguide.exercises.launches import array, eighths, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

# Elements in each row, columns of the matrix, and blocks more than there are rows.
MATRICES = (
    ((1,), 1, 0),
    ((3, 0, 2), 5, 0),
    ((0, 31, 32, 33, 0, 1), 50, 0),
    ((65, 0, 7), 90, 2),
    ((1, 300, 2, 64, 0), 311, 0),
    ((0, 0), 4, 1),
    ((), 3, 1),
)


def launches():
    for lengths, n_columns, more in MATRICES:
        random = Random(n_columns)
        starts = [0, *accumulate(lengths)]
        columns = [c for n in lengths for c in sorted(random.sample(range(n_columns), n))]
        values = eighths(random, -9, 9, len(columns))
        x = eighths(random, -9, 9, n_columns)
        terms = [value * x[column] for value, column in zip(values, columns, strict=True)]
        arguments = {
            "values": array(values),
            "columns": array(columns, "int32"),
            "starts": array(starts, "int32"),
            "x": array(x),
            "y": empty(len(lengths)),
        }
        expected = {"y": [sum(terms[starts[r] : starts[r + 1]]) for r in range(len(lengths))]}
        yield Launch(f"row lengths {lengths}", len(lengths) + more, 32, arguments, expected)


EXERCISE = KernelExercise(
    name="csr_times_vector",
    title="A sparse matrix times a vector",
    level="intermediate",
    minutes=20,
    teaches="Where rows differ in length, a warp shares each row, and neighbours read neighbours.",
    pages=("matmul", "sparse_lookup", "linear_algebra"),
    tags=("warp", "reduction", "sparse matrix", "CSR"),
    launches=launches,
    limits=Limits(atomics=0, loop_turns=25, float64=False),
)

MISTAKES = (
    Mistake("starts[row] + cuda.threadIdx.x", "cuda.threadIdx.x", "wrong"),
    Mistake("starts[row + 1], 32)", "starts[row + 1])", "wrong"),
    Mistake("x[columns[k]]", "x[k]", "wrong"),
    Mistake("    total = float32(0)\n", "    total = 0.0\n", "float64"),
    Mistake("(16, 8, 4, 2, 1)", "(8, 4, 2, 1)", "wrong"),
    Mistake("if cuda.threadIdx.x == 0:", "if True:", "race"),
    Mistake("    if row < y.size:\n", "    if True:\n", "out_of_range"),
)
