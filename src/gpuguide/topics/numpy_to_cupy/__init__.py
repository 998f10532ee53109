"""Functions and studies of the page numpy_to_cupy."""
