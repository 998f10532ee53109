"""Kernels and studies of the page numba_types."""
