"""Studies of the page linear_algebra."""
