"""Kernels and studies of the page reductions."""
