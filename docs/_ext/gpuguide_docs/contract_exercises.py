"""The rule C11: the exercises that a page lists are complete and shown, and it asks folded questions."""

from __future__ import annotations

from collections.abc import Iterator

from gpuguide.errors import GpuGuideError
from gpuguide.exercises.model import Exercise, FunctionTask, KernelTask
from gpuguide_docs.contract_page import PageFacts, Rule
from gpuguide_docs.exercise_pool import find_exercise
from gpuguide_docs.exercise_text import markdown_nodes

__all__ = ["EXERCISE_RULES", "check_exercise"]

_ALL = ("tutorial", "case", "clock", "how_to", "explanation")
_WITH_EXERCISES = ("tutorial", "case", "clock")
_HINTS, _QUESTIONS = 2, 2


def check_exercise(facts: PageFacts) -> Iterator[str]:
    """C11: each exercise has a checker, two hints and a solution, and is shown; two folded questions."""
    listed = facts.page.exercises
    if facts.page.kind in _WITH_EXERCISES:
        if not listed:
            yield "no exercise"
        yield from _questions(facts)
    for name in listed:
        try:
            yield from _incomplete(find_exercise(name), facts.page.name)
        except GpuGuideError as error:
            yield str(error)
    yield from _shown(facts)


def _incomplete(exercise: Exercise, page: str) -> Iterator[str]:
    name = f"exercise {exercise.name!r}"
    task: object = exercise.task
    if not isinstance(task, KernelTask | FunctionTask):
        yield f"{name} has no checker: its task is {type(task).__name__}"
    if page not in exercise.pages:
        yield f"{name} belongs to {', '.join(exercise.pages) or 'no page'} by its own entry, not to this page"
    if len(exercise.hints) < _HINTS:
        yield f"{name} has {len(exercise.hints)} hints; at least {_HINTS} are asked for"
    for what in ("statement", "stub", "solution"):
        if not getattr(exercise, what).strip():
            yield f"{name} has no {what}"
    if exercise.stub.strip() == exercise.solution.strip():
        yield f"{name}: its solution is its stub"
    for text in (exercise.statement, *exercise.hints):
        markdown_nodes(text, name)


def _shown(facts: PageFacts) -> Iterator[str]:
    uses = facts.source.directive("exercise")
    shown = [use.argument for use in uses]
    for name in facts.page.exercises:
        if name not in shown:
            yield f"exercise {name!r} is listed and not shown (.. exercise:: {name})"
    for use in uses:
        if use.argument not in facts.page.exercises:
            yield f"line {use.line}: exercise {use.argument!r} is shown and not listed in pages.toml"
        if shown.count(use.argument) > 1:
            yield f"line {use.line}: exercise {use.argument!r} is shown {shown.count(use.argument)} times"
        if facts.source.parts and "your-turn" not in use.parts:
            yield f"line {use.line}: exercise {use.argument!r} stands outside of part 'your-turn'"


def _questions(facts: PageFacts) -> Iterator[str]:
    asked = [use for use in facts.source.directive("question") if "your-turn" in use.parts]
    if len(asked) < _QUESTIONS:
        yield f"{len(asked)} folded questions in part 'your-turn'; at least {_QUESTIONS} are asked for"


EXERCISE_RULES = (Rule("C11", "exercise", check_exercise, _ALL),)
