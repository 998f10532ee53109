"""Kernels and studies of the page divergence."""
