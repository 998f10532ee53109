"""Kernel and studies of the page segmented_sieve."""
