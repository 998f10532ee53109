"""Immutable data and the questions that one can ask of it; no file, no clock."""
