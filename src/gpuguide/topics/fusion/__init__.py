"""Studies of the page fusion."""
