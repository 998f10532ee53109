"""Kernels and studies of the page primes."""
