"""Kernels and studies of the page precision."""
