"""Kernels and studies of the page stencil."""
