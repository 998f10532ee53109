"""The rules that every page is held to."""
