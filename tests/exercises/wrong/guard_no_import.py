"""Forgets to import cuda.

Found: exception.
"""
# ruff: noqa: F821


@cuda.jit
def maximum_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = max(a[i], b[i])
