"""Topics of the miniature guide."""
