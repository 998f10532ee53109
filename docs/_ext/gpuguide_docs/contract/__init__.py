"""The rules that every page must follow."""
