"""Kernels and studies of the page graphs."""
