"""A program of four steps, profiled: which step is slow, and why."""
