"""Sphinx extension of the guide: replays recordings, draws figures, and puts measured numbers into prose."""
