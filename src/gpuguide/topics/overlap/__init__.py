"""Studies of the page overlap."""
