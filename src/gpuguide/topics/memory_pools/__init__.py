"""Studies of the page memory_pools."""
