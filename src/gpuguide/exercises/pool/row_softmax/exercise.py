"""The softmax of each row of a matrix, by a warp a row, without an overflow."""

from math import exp, inf
from random import Random

from gpuguide.exercises.launches import array, eighths, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

# Rows, columns, the smallest and the largest element, and blocks more than are needed. In the sixth, row i
# has an element of 500 in column i + 5: a thread that overlooks it gets infinity.
LAUNCHES = (
    (1, 1, 0, 1, 0),
    (2, 33, -3, 3, 0),
    (3, 31, -9, -5, 0),
    (3, 64, 900, 1000, 0),
    (2, 40, -1000, -900, 1),
    (40, 45, -4, 8, 0),
    (2, 200, -4, 8, 2),
    (0, 5, 0, 1, 1),
)


def softmax(row):
    exponentials = [exp(value - max(row)) for value in row]
    return [value / sum(exponentials) for value in exponentials]


def launches():
    for rows, columns, low, high, more in LAUNCHES:
        values = eighths(Random(rows + columns), low, high, rows * columns)
        if columns == 64:
            values[5] = values[70] = -inf
        if rows == 40:
            values[5::46] = [500.0] * rows
        parts = [values[row * columns : (row + 1) * columns] for row in range(rows)]
        arguments = {"x": array(values, shape=(rows, columns)), "out": empty((rows, columns))}
        expected = {"out": [share for part in parts for share in softmax(part)]}
        about = f"{rows} x {columns} from {low} to {high}"
        yield Launch(about, rows + more, 32, arguments, expected, tolerance=1e-5)


EXERCISE = KernelExercise(
    name="row_softmax",
    title="Softmax of each row",
    level="intermediate",
    minutes=25,
    teaches="Take the largest element away before you raise to a power: the result is the same, and fits.",
    pages=("precision", "which_tool", "matmul", "kernel_families"),
    tags=("warp", "reduction", "precision", "overflow"),
    launches=launches,
    limits=Limits(sectors_per_request=5, loop_turns=40, float64=False),
)

MISTAKES = (
    Mistake("math.exp(x[row, col] - largest)  # at most 1", "math.exp(x[row, col])", "wrong"),
    Mistake("largest = float32(-math.inf)", "largest = float32(0)", "wrong"),
    Mistake("largest = max(largest, cuda.shfl_xor_sync(0xFFFFFFFF, largest, distance))", "pass", "wrong"),
    Mistake("total += cuda.shfl_xor_sync(0xFFFFFFFF, total, distance)", "pass", "wrong"),
    Mistake("    total = float32(0)\n", "    total = 0.0\n", "float64"),
    Mistake("    if row < x.shape[0]:\n", "    if True:\n", "out_of_range"),
    Mistake("math.exp(x[row, col] - largest) / total", "math.exp(x[row, col]) / total", "wrong"),
)
