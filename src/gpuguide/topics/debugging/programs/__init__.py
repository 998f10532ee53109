"""Programs with a mistake each, to be run as they are: ``python later.py``."""
