"""Kernels and studies of the page scan."""
