"""Stand-ins that judge host functions: a GPU with a clock of its own, and a CuPy on top of it."""
