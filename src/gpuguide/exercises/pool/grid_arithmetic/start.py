def blocks_per_grid(shape, threads_per_block):
    """Return the blocks that give each element of an array a thread, x first."""
    blocks = []
    for axis in range(len(shape)):
        n, threads = shape[axis], threads_per_block[axis]  # is this the same axis?
        blocks.append(n // threads)  # and the rest?
    return tuple(blocks)
