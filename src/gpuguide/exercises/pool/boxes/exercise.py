"""A box around each star: many threads look for the smallest and the largest of the same places."""

from random import Random

from gpuguide.exercises.launches import COVERING_2D, array
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake
from gpuguide.tracer.findings import count


def launches():
    for (rows, columns), blocks, threads in COVERING_2D:
        random = Random(rows + columns)
        size = rows * columns
        stars = min(size, 6)
        labels = [random.choice((0, 0, 0, *range(1, stars + 1))) for _ in range(size)]
        for star, pixel in enumerate(random.sample(range(size), stars), 1):
            labels[pixel] = star  # each has one pixel at least
        expected = []
        for star in range(1, stars + 1):
            places = [divmod(pixel, columns) for pixel in range(size) if labels[pixel] == star]
            for along in zip(*places, strict=True):
                expected += [min(along), max(along)]
        at_first = [rows, -1, columns, -1] * stars
        arguments = {
            "labels": array(labels, "int32", (rows, columns)),
            "boxes": array(at_first, "int32", (stars, 4)),
        }
        title = f"a picture of {rows} x {columns}, {count(stars, 'star')}"
        yield Launch(title, blocks, threads, arguments, {"boxes": expected})


EXERCISE = KernelExercise(
    name="boxes",
    title="A box around each star",
    level="intermediate",
    minutes=15,
    teaches="A pixel knows its star, and atomic operations let all pixels of a star change one box.",
    pages=("image", "atomics"),
    tags=("atomics", "race", "image"),
    launches=launches,
    limits=Limits(reads_per_element=1, loop_turns=2),
)

FIRST_ROW = "cuda.atomic.min(boxes, (label - 1, 0), row)"
MISTAKES = (
    Mistake(FIRST_ROW, "boxes[label - 1, 0] = min(boxes[label - 1, 0], row)", "race"),
    Mistake("if label > 0:", "if label >= 0:", "negative_index"),
    Mistake("(label - 1, 0)", "(label, 0)", "out_of_range"),
    Mistake("col, row = cuda.grid(2)", "row, col = cuda.grid(2)", "wrong"),
    Mistake("row < labels.shape[0] and col < labels.shape[1]", "row < labels.shape[0]", "out_of_range"),
    Mistake(
        "cuda.atomic.max(boxes, (label - 1, 1), row)", "cuda.atomic.min(boxes, (label - 1, 1), row)", "wrong"
    ),
    Mistake(
        "cuda.atomic.max(boxes, (label - 1, 3), col)", "cuda.atomic.max(boxes, (label - 1, 3), row)", "wrong"
    ),
)
