"""Kernels and studies of the page ufuncs."""
