"""Studies of the page streams."""
