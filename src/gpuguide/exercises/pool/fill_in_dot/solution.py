def dot(cp, a, b):
    """Work out the dot product of two vectors on the GPU."""
    a_gpu = cp.asarray(a)
    b_gpu = cp.asarray(b)
    product = cp.dot(a_gpu, b_gpu)
    return float(product)
