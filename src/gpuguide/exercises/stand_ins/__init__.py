"""Stand-ins that judge functions of the host: a GPU with a clock of its own, and a CuPy on top of it."""
