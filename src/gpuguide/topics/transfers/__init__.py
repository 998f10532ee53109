"""Studies of the page transfers."""
