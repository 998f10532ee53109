"""Checks a file in a process of its own, which may crash: `python -m gpuguide.exercises.worker NAME FILE`."""

from __future__ import annotations

import sys
from pathlib import Path

from gpuguide.errors import GpuGuideError

PASSED, NOT_YET, REFUSED = 5, 3, 4
"""How the process ends; anything else is a crash, and 0 an answer that ended Python itself."""


def main(name: str, path: str, *options: str) -> int:
    """Check an answer, print the verdict, and return how the process ends."""
    from gpuguide.exercises.checking import check_file

    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    try:
        verdict = check_file(name, Path(path), gpu="--gpu" in options)
    except GpuGuideError as error:
        print(error)
        return REFUSED
    print(verdict)
    return PASSED if verdict.passed else NOT_YET


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
