"""Sums of three neighbours along a column: two of them are known from the turn before."""

from random import Random

from gpuguide.exercises.launches import array, blocks_for, eighths, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

# Layers, columns, and threads per block.
LAUNCHES = (
    (1, 1, 32),
    (2, 5, 32),
    (3, 64, 32),
    (1, 33, 32),
    (5, 70, 256),
    (67, 3, 32),
    (7, 257, 96),
    (0, 5, 32),
)
LARGE = 2.0**80


def launches():
    for layers, columns, threads in LAUNCHES:
        x = array(eighths(Random(layers + columns), -999, 999, layers * columns), shape=(layers, columns))
        for z in range(2, layers, 7):  # nothing shows beside these, and nothing is left if they are taken off
            x[z, 0] = x[z, columns // 2] = LARGE
        expected = [
            sum(x[k, i] for k in range(max(z - 1, 0), min(z + 2, layers)))
            for z in range(layers)
            for i in range(columns)
        ]
        arguments = {"x": x, "out": empty((layers, columns))}
        about, blocks = f"{layers} x {columns} numbers", blocks_for(columns, threads)
        # A loop over the columns, of which each thread has one, makes one turn more than there are layers.
        yield Launch(about, blocks, threads, arguments, {"out": expected}, loop_turns=layers + 1)


EXERCISE = KernelExercise(
    name="carry_values",
    title="Carry values along",
    level="intermediate",
    minutes=15,
    teaches="What a loop needs again in its next turn stays in a register, and is loaded once.",
    pages=("registers",),
    tags=("registers", "memory", "loop"),
    launches=launches,
    limits=Limits(sectors_per_request=5, reads_per_element=1, writes_per_element=1),
)

BELOW = "x[z + 1, i] if z < n_layers - 1 else float32(0)"
MISTAKES = (
    Mistake(BELOW, "x[z + 1, i]", "out_of_range"),
    Mistake(BELOW, "x[z + 1, i] if z < n_layers else float32(0)", "out_of_range"),
    Mistake("above + here + below", "above + x[z, i] + below", "limit"),
    Mistake("above, here = here, below", "here = below", "wrong"),
    Mistake("above, here = here, below", "here = below\n            above = here", "wrong"),
    Mistake("above, here = float32(0), x[0, i]", "above, here = x[0, i], x[0, i]", "wrong"),
    Mistake("if n_layers and i < x.shape[1]:", "if i < x.shape[1]:", "out_of_range"),
    Mistake("if n_layers and i < x.shape[1]:", "if n_layers:", "out_of_range"),
)
