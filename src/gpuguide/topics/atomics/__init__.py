"""Studies of the page atomics."""
