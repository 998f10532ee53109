"""Sphinx's command: ``python -m gpuguide_docs.commands.build``, which ends as soon as the build has."""

from __future__ import annotations

import atexit
import os
import sys

from sphinx.cmd.build import main

if __name__ == "__main__":
    code = main(sys.argv[1:])
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    # Python would take the millions of objects of a build apart first, which takes two seconds.
    os._exit(code)
