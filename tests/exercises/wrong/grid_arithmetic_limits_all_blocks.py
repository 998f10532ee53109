"""Takes the limit along x for one on all blocks together.

Found: exception.
"""

from math import prod

MOST = 2**31 - 1, 65_535, 65_535


def blocks_per_grid(shape, threads_per_block):
    if prod(threads_per_block) > 1024 or threads_per_block[2:] > (64,):
        raise ValueError("CUDA has no such block.")
    blocks = tuple(max(1, -(-n // t)) for n, t in zip(shape[::-1], threads_per_block, strict=True))
    if prod(blocks) > 2**31 - 1 or any(n > most for n, most in zip(blocks, MOST, strict=False)):
        raise ValueError("CUDA has no such grid.")
    return blocks
