"""Random programs: races and early reads against a slow rule that follows every path of waiting.

Some threads of two blocks follow random lists of loads, stores and atomic operations on a few elements,
between barriers of the block and synchronisations of some lanes of a warp. The slow rule draws a graph of
what waits for what and asks of every two accesses whether a path leads from one to the other.
"""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np
import pytest
from launching import findings

READ, WRITE, ATOMIC, BARRIER, SYNCWARP, NOTHING = range(6)
BLOCKS, THREADS, STEPS, CELLS = 2, 35, 7, 4
SOURCE = """
def kernel(program, x, y):
    {space}
    i = cuda.grid(1)
    for k in range(program.shape[1]):
        what, where = program[i, k, 0], program[i, k, 1]
        if what == 0:
            y[i] += x[where]
        elif what == 1:
            x[where] = k
        elif what == 2:
            cuda.atomic.add(x, where, 1)
        elif what == 3:
            cuda.syncthreads()
        elif what == 4:
            cuda.syncwarp(where)
"""
LINES = {READ: 8, WRITE: 10, ATOMIC: 12}


def random_program(seed: int) -> np.ndarray:
    """What each thread does at each step, and with which element or mask: from crowded to well ordered."""
    random = np.random.default_rng(seed)
    program = np.full((BLOCKS * THREADS, STEPS, 2), NOTHING)
    n_busy, neighbours, waits = [(9, False, 0.5), (4, False, 0.5), (4, True, 0.8), (2, True, 0.9)][seed % 4]
    busy = random.choice(8 if neighbours else BLOCKS * THREADS, n_busy, replace=False)
    for step in range(STEPS):
        for thread in busy:
            program[thread, step] = random.choice([READ, WRITE, ATOMIC, NOTHING]), random.integers(CELLS)
        for block in range(BLOCKS):
            mine = program[block * THREADS : (block + 1) * THREADS, step]
            if step % 2 and random.random() < waits / 3:
                mine[:] = BARRIER, 0
            elif step % 2 and random.random() < waits:
                lanes = random.random(THREADS) < random.choice([0.5, 1.1])
                lanes[32:] = False  # the second warp has three lanes and goes its own way
                mine[lanes] = SYNCWARP, sum(1 << int(lane) for lane in np.flatnonzero(lanes))
    return program


class Graph:
    """Which step of which thread comes before which, by following what waits for what."""

    def __init__(self, program: np.ndarray) -> None:
        after: dict[object, list[object]] = defaultdict(list)
        for thread in range(len(program)):
            for step in range(STEPS):
                what, where = program[thread, step]
                before, behind = (thread, step, "in"), (thread, step, "out")
                if what == BARRIER:
                    meeting: object = ("barrier", thread // THREADS, step)
                elif what == SYNCWARP:
                    meeting = ("warp", thread // THREADS, step, int(where))
                else:
                    meeting = (thread, step)
                after[before].append(meeting)
                after[meeting].append(behind)
                after[behind].append((thread, step + 1, "in"))
        self.after = after
        self.reached: dict[object, set[object]] = {}

    def before(self, first: tuple[int, int], second: tuple[int, int]) -> bool:
        """Whether a path leads from one access to the other."""
        if first not in self.reached:
            seen, pending = set(), [first]
            while pending:
                for node in self.after[pending.pop()]:
                    if node not in seen:
                        seen.add(node)
                        pending.append(node)
            self.reached[first] = seen
        return second in self.reached[first]


def accesses(program: np.ndarray, shared: bool) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """Threads and steps that touch each element; every block has its own shared memory."""
    found = defaultdict(list)
    for thread, step in itertools.product(range(len(program)), range(STEPS)):
        what, where = program[thread, step].tolist()
        if what in LINES:
            found[thread // THREADS if shared else 0, where].append((thread, step))
    return found


def slow_races(program: np.ndarray, shared: bool) -> dict[tuple[int, ...], set[tuple[int, int]]]:
    """Elements over which each pair of lines races."""
    graph, found = Graph(program), defaultdict(set)
    for cell, touching in accesses(program, shared).items():
        for first, second in itertools.combinations(touching, 2):
            kinds = {int(program[first][0]), int(program[second][0])}
            harmless = kinds in ({READ}, {ATOMIC}) or first[0] == second[0]
            harmless |= kinds == {WRITE} and first[1] == second[1]  # each step stores its own number
            if not harmless and not graph.before(first, second) and not graph.before(second, first):
                found[tuple(sorted(LINES[kind] for kind in kinds))].add(cell)
    return found


def slow_early_reads(program: np.ndarray, shared: bool) -> dict[int, set[int]]:
    """Threads that read, in each line, what every write to it comes after."""
    graph, found = Graph(program), defaultdict(set)
    for touching in accesses(program, shared).values():
        # An atomic operation reads what is there; in global memory it may also be what sets it first.
        sets = {WRITE} if shared else {WRITE, ATOMIC}
        for read in touching:
            kind = int(program[read][0])
            others = [each for each in touching if int(program[each][0]) in sets and each != read]
            if kind != WRITE and all(graph.before(read, other) for other in others):
                found[LINES[kind]].add(read[0])
    return found


@pytest.mark.parametrize("shared", [False, True], ids=["global", "shared"])
@pytest.mark.parametrize("seed", range(40))
def test_the_quick_rule_finds_what_the_slow_one_does(seed: int, shared: bool) -> None:
    program = random_program(seed)
    space = f"x = cuda.shared.array({CELLS}, int32)" if shared else "pass"
    found = findings(
        SOURCE.format(space=space), BLOCKS, THREADS, program=program, x=np.zeros(CELLS, np.int32),
        y=np.zeros(BLOCKS * THREADS, np.int32), outputs=["x"],
    )  # fmt: skip
    races = {finding.lines: elements_of(finding.message) for finding in found if finding.kind == "race"}
    assert races == {lines: len(cells) for lines, cells in slow_races(program, shared).items()}
    early = {
        finding.line: (finding, threads_of(finding.message))
        for finding in found
        if finding.kind == "uninitialised"
    }
    expected = slow_early_reads(program, shared)
    assert {line: n for line, (_, n) in early.items()} == {line: len(who) for line, who in expected.items()}
    for line, (finding, _) in early.items():
        block, thread = divmod(min(expected[line]), THREADS)
        assert finding.threads[0] == ((block,), (thread,))


def elements_of(message: str) -> int:
    """How many elements a race concerns, from its message."""
    return 1 + (int(message.split()[-3]) if "The same holds for" in message else 0)


def threads_of(message: str) -> int:
    """How many threads read early, from the message."""
    return 1 + (int(message.split()[-3]) if "The same happens in" in message else 0)


def test_the_random_programs_are_worth_trying() -> None:
    """Some race and some do not, some read early, and lanes are left out of synchronisations."""
    programs = [random_program(seed) for seed in range(40)]
    racing = [len(slow_races(program, shared)) for program in programs for shared in (False, True)]
    early = [len(slow_early_reads(program, True)) for program in programs]
    assert racing.count(0) > 5
    assert sum(n > 0 for n in racing) > 20
    assert sum(n > 0 for n in early) > 20
    assert any((program[..., 0] == SYNCWARP).any() for program in programs)
