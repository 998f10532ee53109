"""Kernels and studies of the page how_to_time."""
