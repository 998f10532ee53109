"""The message of a host exercise names the cause: a right answer with one mistake, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuguide.exercises import get
from gpuguide.exercises.check import judge

FORK, REUSE, MEAN = "fork_and_join", "reuse_a_buffer", "any_grouping"

# Exercise; what stands in its solution and what replaces it; what is said.
CAUSES = {
    "a kernel that is asked for twice": (
        FORK, "        prepare()\n", "        prepare()\n        prepare()\n",
        "prepare was asked for 2 times, and not once.",
    ),
    "a kernel that is forgotten": (FORK, "        join()\n", "        pass\n", "join was never asked for."),
    "an event that is recorded too early": (
        FORK, "    with one:\n        prepare()\n    two.wait_event(one.record())",
        "    two.wait_event(one.record())\n    with one:\n        prepare()",
        "no event recorded after the one is waited for before the other.",
    ),
    "one stream": (FORK, "with two:", "with one:", "but all four kernels are in one stream."),
    "one stream for three": (
        REUSE, "copy_in, compute, copy_out = streams", "copy_in = compute = copy_out = streams[0]",
        "All steps are in one stream, where nothing overlaps.",
    ),
    "one pair of two": (
        REUSE, "    worked, fetched = [], []\n", "    worked, fetched, pairs = [], [], pairs[:1]\n",
        "Only 1 of 2 pairs is used.",
    ),
    "an identity that counts": (
        MEAN, "(0, 0), finish", "(0, 1), finish",
        "finish(reduce_two(reduce_two(identity, map_one(6)), identity)) must be 6.0; got 2.0.",
    ),
    "parts in another order": (
        MEAN, "map_one, reduce_two, (0, 0)", "(0, 0), map_one, reduce_two",
        "map_one, the first of the four, must be a function; got (0, 0).",
    ),
}  # fmt: skip


def said(name: str, source: str) -> Iterator[str]:
    exercise = get(name)
    for finding in judge(exercise, source, name=exercise.function_name).findings:
        yield finding.message


@pytest.mark.parametrize("title", CAUSES)
def test_the_cause_is_named(title: str) -> None:
    name, right, wrong, words = CAUSES[title]
    solution = get(name).solution
    assert right in solution
    assert words in " ".join(said(name, solution.replace(right, wrong)))


def test_parts_that_share_a_count_are_told_apart_from_wrong_ones() -> None:
    source = (Path(__file__).parents[1] / "wrong" / "any_grouping_counts_beside.py").read_text(
        encoding="utf-8"
    )
    assert "Four new parts give the right answer for these readings alone." in " ".join(said(MEAN, source))
