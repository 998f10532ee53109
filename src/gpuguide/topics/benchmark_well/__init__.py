"""Kernels and studies of the page benchmark_well."""
