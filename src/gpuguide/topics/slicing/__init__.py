"""Studies of the page slicing."""
