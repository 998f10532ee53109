"""The topic of the miniature pages."""
