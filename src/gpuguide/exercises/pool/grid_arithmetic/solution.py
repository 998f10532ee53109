from math import prod

MOST_BLOCKS = (2**31 - 1, 65_535, 65_535)  # along x, y and z


def blocks_per_grid(shape, threads_per_block):
    """Return the blocks that give each element of an array a thread, x first."""
    if prod(threads_per_block) > 1024 or threads_per_block[2:] > (64,):
        raise ValueError(f"CUDA has no block of {threads_per_block} threads.")
    blocks = []
    for axis, threads in enumerate(threads_per_block):
        n = shape[-1 - axis]  # x walks along the last axis
        blocks.append(max(1, -(-n // threads)))
        if blocks[axis] > MOST_BLOCKS[axis]:
            raise ValueError(f"CUDA has no grid of so many blocks along axis {axis}.")
    return tuple(blocks)
