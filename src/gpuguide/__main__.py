"""Runs the command line as ``python -m gpuguide``."""

from __future__ import annotations

import sys

from gpuguide.cli import main

if __name__ == "__main__":
    sys.exit(main())
