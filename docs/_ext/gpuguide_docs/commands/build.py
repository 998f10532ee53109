"""Sphinx's command: ``python -m gpuguide_docs.commands.build``, which ends as soon as the build has."""

from __future__ import annotations

import atexit
import gc
import os
import sys

from sphinx.cmd.build import main

if __name__ == "__main__":
    # A build makes millions of objects and keeps most of them to its end; Python would search for cycles in
    # them as often as in a program that drops what it makes.
    gc.set_threshold(100_000, 20, 50)
    code = main(sys.argv[1:])
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    # Python would take the millions of objects of a build apart first, which takes two seconds.
    os._exit(code)
