from numba import cuda


@cuda.jit
def boxes_kernel(labels, boxes):
    """Widen the box of a pixel's star, if it belongs to one."""
    col, row = cuda.grid(2)
    if row < labels.shape[0] and col < labels.shape[1]:
        label = labels[row, col]
        if label > 0:
            # Other threads may change the same box now, so compare and store in one step.
            cuda.atomic.min(boxes, (label - 1, 0), row)
            cuda.atomic.max(boxes, (label - 1, 1), row)
            cuda.atomic.min(boxes, (label - 1, 2), col)
            cuda.atomic.max(boxes, (label - 1, 3), col)
