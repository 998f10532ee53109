"""Kernels and studies of the page matmul."""
