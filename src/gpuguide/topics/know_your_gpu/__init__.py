"""Kernels and studies of the page know_your_gpu."""
