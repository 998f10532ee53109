"""Kernels and studies of the page grids_2d_3d."""
