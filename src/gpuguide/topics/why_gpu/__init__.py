"""Kernels and studies of the page why_gpu."""
