from numba import cuda


@cuda.jit
def boxes_kernel(labels, boxes):
    """Search the picture for one star."""
    col, row = cuda.grid(2)
    star = row * cuda.gridsize(2)[0] + col
    if star < boxes.shape[0]:
        for r in range(labels.shape[0]):  # every star reads all pixels
            for c in range(labels.shape[1]):
                if labels[r, c] == star + 1:
                    boxes[star, 0] = min(boxes[star, 0], r)
                    boxes[star, 1] = max(boxes[star, 1], r)
                    boxes[star, 2] = min(boxes[star, 2], c)
                    boxes[star, 3] = max(boxes[star, 3], c)
