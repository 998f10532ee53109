"""Kernels and studies of the page launch_overhead."""
