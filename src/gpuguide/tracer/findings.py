"""What can be wrong with a launch, as data: a kind, the place, and last the sentence that says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["KINDS", "QUESTIONS", "Finding", "ThreadId"]

#: Every kind of finding, the most important first.
KINDS = (
    "compile",
    "unsupported",
    "endless",
    "exception",
    "memory",
    "out_of_range",
    "divergent_barrier",
    "missed_barrier",
    "missing_lane",
    "race",
    "negative_index",
    "uninitialised",
    "input_changed",
    "wrong",
    "uncoalesced",
    "bank_conflict",
    "float64",
    "limit",
)

#: One question by kind of finding. It leaves the solution to the reader.
QUESTIONS = {
    "compile": (
        "A kernel is compiled before it runs: it takes numbers, tuples, arrays, loops and branches, and "
        "functions that are decorated with @cuda.jit(device=True). What could stand in this line instead?"
    ),
    "unsupported": "A GPU may well take this line; the tracer does not. Can the kernel do without it?",
    "endless": (
        "Which condition ends the loop, what does each turn change in it, and how many turns should there be?"
    ),
    "exception": (
        "Read the line as this thread does. What does each name in it stand for, and of which type is it?"
    ),
    "memory": "How many elements do the arrays have that the kernel makes? Does it need them all at once?",
    "out_of_range": (
        "Blocks are whole, so a grid may hold more threads than there are elements. What should a thread "
        "without an element do?"
    ),
    "divergent_barrier": (
        "A barrier waits for every thread of its block. Which work belongs inside the if, and how do all "
        "threads reach the same cuda.syncthreads()?"
    ),
    "missed_barrier": (
        "A barrier waits for every thread of its block. A thread that returns early never reaches it: how "
        "can it skip the work and stay for the barrier?"
    ),
    "missing_lane": (
        "A shuffle or a vote waits for the lanes that its mask names, and 0xFFFFFFFF names all 32 of a warp. "
        "How does every lane that is named come to it?"
    ),
    "race": (
        "Nothing says which of the two threads comes first. Can the element have one writer, or does a "
        "barrier between the two accesses (within a block) or a cuda.atomic operation help?"
    ),
    "negative_index": (
        "An index below zero counts from the end of the array, and Numba does not complain. "
        "What should the first threads do?"
    ),
    "uninitialised": (
        "Memory holds whatever was there before. Which thread should have written this element, and was "
        "it done by then?"
    ),
    "input_changed": "Others may still need the input. Which array should be written instead?",
    "wrong": "Work this one element out by hand: which thread computes it, and from which elements?",
    "uncoalesced": (
        "The 32 threads of a warp are served best when they touch neighbouring elements at the same time. "
        "Which index changes from a thread to the next one?"
    ),
    "bank_conflict": (
        "Shared memory has 32 banks, and a bank serves one word at a time, to all threads that want it. "
        "How far apart are the elements that neighbouring threads touch?"
    ),
    "float64": "Of which type is each number and array in this line, and which type should it have?",
    "limit": "The results are right. What does the kernel do more often, or with fewer threads, than needed?",
}


#: The same, for special cases of a kind.
SPECIAL_QUESTIONS = {
    "no_elements": "The array has no elements here, and that is allowed. What should a thread do then?",
    "too_short": (
        "A shared or local array has the length that the kernel gives it, whatever the block. What is the "
        "largest index that a thread uses, and is there room for it?"
    ),
    "beyond_the_end": (
        "This index is not the thread's own place in the grid. Where does it come from, how small or large "
        "can it become, and which condition keeps it inside the array?"
    ),
    "matrix": (
        "Which number of the index is too small or too large, and does it count along the right axis? What "
        "should a thread do whose element does not exist?"
    ),
    "never_written": (
        "Which thread should write this element? Is there such a thread in this grid, and which condition "
        "keeps it from writing?"
    ),
}


class ThreadId(NamedTuple):
    """One thread of a launch: its block and its place in the block, each with as many axes as the launch."""

    block: tuple[int, ...]
    thread: tuple[int, ...]

    def __str__(self) -> str:
        return f"thread {numbers(self.thread)} of block {numbers(self.block)}"


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a launch."""

    kind: str
    text: str
    line: int = 0
    lines: tuple[int, ...] = ()
    array: str = ""
    element: tuple[int, ...] = ()
    threads: tuple[ThreadId, ...] = ()
    times: int = 1
    question: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not self.lines and self.line:
            object.__setattr__(self, "lines", (self.line,))
        if not self.question:
            object.__setattr__(self, "question", QUESTIONS[self.kind])

    def __str__(self) -> str:
        return self.text

    @property
    def thread(self) -> tuple[int, ...]:
        """Place of the first thread in its block; empty if no thread is concerned."""
        return self.threads[0].thread if self.threads else ()

    @property
    def block(self) -> tuple[int, ...]:
        """Block of the first thread; empty if no thread is concerned."""
        return self.threads[0].block if self.threads else ()

    @property
    def order(self) -> tuple[object, ...]:
        """What findings are sorted by: the kind first, then the place."""
        return (KINDS.index(self.kind), self.lines, self.array, self.element, self.threads)


# --- Parts of sentences ---------------------------------------------------------------------------------


def numbers(index: Sequence[int]) -> str:
    """Write an index as a reader does: one number bare, several in parentheses."""
    return str(index[0]) if len(index) == 1 else str(tuple(index))


def count(n: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun."""
    return f"{n:,} {singular if n == 1 else plural or singular + 's'}"


def joined(words: Sequence[object]) -> str:
    """Return words with commas and an "and"."""
    texts = [str(word) for word in words]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def in_lines(lines: Sequence[int]) -> str:
    """Name lines of the source."""
    return f"in line{'s' if len(lines) > 1 else ''} {joined(lines)}"


def element(name: str, index: Sequence[object]) -> str:
    """Return an element as source code writes it."""
    return f"{name}[{', '.join(map(str, index))}]"


def more(n: int, what: str) -> str:
    """Say of how many others the same is true; nothing if there are none."""
    return "" if n < 1 else f" The same holds for {count(n, f'more {what}')}."


def with_capital(sentence: object) -> str:
    """Return a sentence with a capital first letter."""
    text = str(sentence)
    return text[:1].upper() + text[1:]
