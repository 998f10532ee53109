"""Studies of the page sort_search."""
