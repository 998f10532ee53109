"""Kernels and studies of the page image."""
