"""Kernels and studies of the page sort_search."""
