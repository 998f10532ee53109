def dot(cp, a, b):
    """Work out the dot product of two vectors on the GPU."""
    a_gpu = ...  # copy a to the GPU
    b_gpu = ...  # copy b to the GPU
    product = ...  # multiply there, and add up
    return ...  # the number, on the host
