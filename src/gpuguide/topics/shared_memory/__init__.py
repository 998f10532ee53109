"""Studies of the page shared_memory."""
