"""Kernels and studies of the page compile_cost."""
