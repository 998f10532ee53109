"""The version of the package: the one place that names it."""

__all__ = ["__version__"]

__version__ = "0.4.0"
