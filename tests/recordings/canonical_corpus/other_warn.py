"""A function called warn that is not the one of warnings."""

# ruff: noqa
# fmt: off
import warnings
from .messages import warn

warn("text")
warnings.warn("text")
