"""The race finder against a brute force over all pairs of accesses, on random launches."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from gpuguide.tracer.memory import ATOMIC, GUESS, READ, WRITE, Access, Array, Memory
from gpuguide.tracer.numbers import DTYPES
from gpuguide.tracer.races import races
from gpuguide.tracer.run import Grid


def brute_force(accesses: list[Access], grid: Grid) -> set[tuple[str, int, int]]:
    """Return array and lines of all races, by the definition."""
    found = set()
    for a, b in combinations(accesses, 2):
        if a.array.memory is not b.array.memory or a.cell != b.cell or a.thread == b.thread:
            continue
        kinds = {a.kind, b.kind}
        if kinds <= {READ, GUESS} or kinds <= {ATOMIC, GUESS}:
            continue
        if kinds == {WRITE} and a.value == b.value:
            continue
        if a.thread // grid.per_block == b.thread // grid.per_block:
            same_warp = grid.warp(a.thread) == grid.warp(b.thread)
            if a.epoch != b.epoch or (same_warp and a.phase != b.phase):
                continue
        found.add((a.array.name, *sorted((a.site, b.site))))
    return found


@pytest.mark.parametrize("seed", range(300))
def test_finds_what_a_brute_force_finds(seed: int) -> None:
    rng = random.Random(seed)
    grid = Grid((rng.choice((1, 2, 3)),), (rng.choice((2, 33, 64)),))
    arrays = [Array(Memory(DTYPES["int32"], [0] * 3), (3,), (1,), name=name) for name in "ab"]
    accesses = [
        Access(
            rng.choice(arrays), rng.randrange(3), kind, rng.randrange(4), rng.randrange(grid.n_threads),
            rng.randrange(2), rng.randrange(2), rng.randrange(2) if kind == WRITE else None, 0,
        )
        for _ in range(rng.randrange(2, 40))
        for kind in rng.choices((READ, WRITE, ATOMIC, GUESS), (6, 2, 3, 1))
    ]  # fmt: skip
    found = {
        (race.first.array.name, *sorted((race.first.site, race.second.site)))
        for race in races(accesses, grid, lambda site: site)
    }
    assert found == brute_force(accesses, grid)
