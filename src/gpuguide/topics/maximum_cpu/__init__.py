"""Kernels and studies of the page maximum_cpu."""
