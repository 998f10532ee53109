"""Kernels and studies of the page convolution_ladder."""
