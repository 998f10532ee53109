"""Studies of the page kernel_families."""
