from numba import cuda, int32


@cuda.jit
def grades_kernel(grades, counts):
    """Count grades from 0 to 5: in shared memory first, then for all blocks."""
    own = cuda.shared.array(6, int32)
    for grade in range(cuda.threadIdx.x, 6, cuda.blockDim.x):
        own[grade] = 0  # shared memory holds what the block before has left there
    cuda.syncthreads()  # all are zero
    i = cuda.grid(1)
    if i < grades.size:
        cuda.atomic.add(own, grades[i], 1)
    cuda.syncthreads()  # the block has counted
    for grade in range(cuda.threadIdx.x, 6, cuda.blockDim.x):
        cuda.atomic.add(counts, grade, own[grade])
