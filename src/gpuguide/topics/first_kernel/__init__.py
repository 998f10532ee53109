"""Kernels and studies of the page first_kernel."""
