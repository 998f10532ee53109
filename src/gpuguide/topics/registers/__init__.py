"""Kernels and study of the page registers."""
