"""An exercise of the tests."""

from gpuguide.exercises.model import KernelExercise

EXERCISE = KernelExercise(
    name="add_one",
    title="Add one",
    level="beginner",
    minutes=5,
    teaches="It teaches add_one.",
    pages=("toy",),
    tags=("grid",),
    launches=list,
)
