"""Kernels and studies of the page which_tool."""
