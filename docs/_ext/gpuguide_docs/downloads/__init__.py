"""Pages as notebooks and scripts."""
