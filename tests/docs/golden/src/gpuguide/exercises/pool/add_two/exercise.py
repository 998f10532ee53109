"""An exercise of the tests."""

from gpuguide.exercises.model import KernelExercise

EXERCISE = KernelExercise(
    name="add_two",
    title="Add two",
    level="advanced",
    minutes=5,
    teaches="It teaches add_two.",
    pages=("toy",),
    tags=("shared memory",),
    launches=list,
)
