"""A simulator of our own: runs a kernel's source thread by thread and sees everything it touches.

It imports nothing but the standard library; launches and expected results are handed in as data. Threads
run one after the other, always in the same order; what is wrong is worked out afterwards, from who touched
what between which barriers, so that no race hides behind a lucky order.

To read it, begin with `source` (from text to a kernel), `rewriting` (how a barrier becomes a ``yield``) and
`scheduler` (how threads take turns). `memory` and `names` are what a kernel works with, `number_rules` how
it calculates. `machine` holds the log of a launch, which `races` and `trace` look through, and `judge`
compares with what an exercise asks for. `pictures` chooses what is worth drawing; `drawing_text` and
`drawing_svg` draw it.

Numbers are those that Numba computes with, but for one thing that only a compiler and a GPU show: a fused
multiply-add is not used where nobody asks for it.
"""
