"""The commit that is measured."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

__all__ = ["commit_of"]


def commit_of(root: Path) -> str:
    """Name the commit that is measured."""
    given = os.environ.get("GPUGUIDE_COMMIT", "")
    if given:
        return given
    try:
        head = _git(root, "rev-parse", "HEAD")
        # Recordings are what is being written: they do not make the measured code another.
        changed = _git(root, "status", "--porcelain", "--", ".", ":(exclude)src/gpuguide/recorded")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{head}+dirty" if changed else head


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()
