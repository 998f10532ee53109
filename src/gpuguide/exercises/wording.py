"""What to look at next, by kind of finding: a question or a step, not the answer."""

from __future__ import annotations

__all__ = ["LOOK_AT", "advice"]

#: Advice by kind of finding. It leaves the solution to the reader.
LOOK_AT = {
    "compile": (
        "A kernel is compiled before it runs: it takes numbers, tuples, arrays, loops and branches, and "
        "functions that are decorated with @cuda.jit(device=True)."
    ),
    "signature": (
        "A signature in @cuda.jit says for which types the kernel is compiled. Write those of the arguments, "
        "such as float32[:] for an array of float32, or leave the signature out: Numba then sees for itself."
    ),
    "limit": "The results are right. What does the kernel do more often, or with fewer threads, than needed?",
    "float64": (
        "The results are right. Of which type is each number, array and constant here, and which type should "
        "it have, so that nothing becomes float64?"
    ),
    "cold": (
        "CuPy compiles a kernel when it first comes to it. Which dtypes were answered at the start, and how "
        "many answers has each of them had?"
    ),
    "endless": (
        "Which condition ends the loop, what does each turn change in it, and how many turns should there be?"
    ),
    "exception": (
        "Read the line as the named thread does. What does each name in it stand for, and of which type is "
        "what it holds?"
    ),
    "memory": (
        "How many elements does each array have that the kernel makes, and how many bytes do they take "
        "together? Does the task need them all at once?"
    ),
    "out_of_range": (
        "Blocks are whole, so a grid may hold more threads than there are elements. What should a thread "
        "without an element do?"
    ),
    "no_elements": ("The array has no elements here, and that is allowed. What should a thread do then?"),
    "too_short": (
        "A shared or local array has the length that the kernel gives it, whatever the block. What is the "
        "largest index that a thread uses, and is there room for it?"
    ),
    "beyond_the_end": (
        "{index} is in general not the thread's own place in the grid. Where does it come from, how small or "
        "large can it become, and which condition keeps it inside the array?"
    ),
    "one_a_block": (
        "The array has one element for each block, and not for each thread. What counts the blocks?"
    ),
    "narrow": (
        "The kernel makes an array, in shared memory or of its own, whose type cannot hold the numbers of "
        "the result. Which type do its elements need?"
    ),
    "divergent_barrier": (
        "A barrier waits for every thread of its block. Let all of them reach the same cuda.syncthreads(), "
        "and put only the work inside the if."
    ),
    "missed_barrier": (
        "A barrier waits for every thread of its block. A thread that returns early never reaches it: let it "
        "skip the work and stay for the barrier."
    ),
    "missing_lane": (
        "A shuffle or a vote waits for the lanes that its mask names, and 0xFFFFFFFF names all 32 of a warp. "
        "Let every lane that is named come to it, and put only the work inside the if."
    ),
    "race": (
        "Nothing says which of the two threads comes first. Give the element one writer, put a barrier "
        "between the two accesses if one block does both, or use cuda.atomic."
    ),
    "unfinished": (
        "Python goes on while the GPU works. Which stream ends last, and what lets Python wait for it?"
    ),
    "came_between": (
        "An atomic operation is one step, but two of them are not: another thread can come between. Can a "
        "single operation do both? One that may fail must be tried again until it succeeds."
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
    "added_up": (
        "Each element of the input is to count once, and so is what the result held before. Which thread "
        "adds which of them, and is any left out or added twice?"
    ),
    "never_written": (
        "Which thread should write this element? Is there such a thread in this grid, and which condition "
        "keeps it from writing?"
    ),
    "unread": (
        "Each element of the input is to be read by one thread. Which index does a thread read, and how does "
        "it differ from that of a thread in another block?"
    ),
    "uncoalesced": (
        "The 32 threads of a warp are served best when they touch neighbouring elements at the same time. "
        "Which index changes from a thread to the next one?"
    ),
    "bank_conflict": (
        "Shared memory has 32 banks, and a bank serves one word at a time, to all threads that want it. "
        "How far apart are the elements that neighbouring threads touch?"
    ),
    "gpu": (
        "The GPU does not check indices and runs blocks in any order. Which line could touch memory outside "
        "its array, or depend on who comes first?"
    ),
}

# For a host function there are no threads to think of.
_OF_FUNCTIONS = {
    "race": (
        "A stream does not know what another one is doing. Which event says that the earlier of the two "
        "steps has ended, and which stream has to wait for it?"
    ),
    "limit": (
        "The result is right, but not yet the way to it. What does the task allow, and which line does more "
        "than that, or waits longer?"
    ),
    "memory": (
        "Which arrays exist at the same time on this line, those without a name too, and how many bytes do "
        "they take together?"
    ),
    "input_changed": "Others may still need what they passed in. Where could the new values go instead?",
    "exception": "Read the line: what do its variables hold at that moment?",
    "wrong": (
        "Go through this case by hand, line by line. Where does the function first do something other than "
        "the task asks for?"
    ),
}

_OF_MATRICES = {
    "out_of_range": (
        "Which number of the index is too small or too large, and does it count along the right axis? What "
        "should a thread do whose element, or the neighbour of whose element, does not exist?"
    ),
}


def advice(kind: str, *, kernel: bool, n_axes: int = 1, index: str = "This index") -> str:
    """Return what to look at next.

    >>> advice("input_changed", kernel=True)
    'Others may still need the input. Which array should be written instead?'
    """
    special = (_OF_MATRICES if n_axes > 1 else {}) if kernel else _OF_FUNCTIONS
    return special.get(kind, LOOK_AT[kind]).replace("{index}", index)
