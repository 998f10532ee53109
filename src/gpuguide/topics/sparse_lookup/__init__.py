"""Kernels and studies of the page sparse_lookup."""
