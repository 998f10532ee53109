"""The eight rules of ``make check``: mistakes that people make on pages."""
