"""Where pages, their scripts and cells lie."""
