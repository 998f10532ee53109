"""Kernels and study of the page transfers."""
