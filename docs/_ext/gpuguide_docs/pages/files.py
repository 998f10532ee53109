"""Generated files: written so that an unchanged one keeps its time stamp, and told apart by their content."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

__all__ = ["file_digest", "write_if_changed"]


def file_digest(path: Path) -> str:
    """Hash what a file holds."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def write_if_changed(path: Path, data: bytes | str) -> bool:
    """Write a file unless it already holds just that."""
    raw = data.encode() if isinstance(data, str) else data
    if path.is_file() and path.read_bytes() == raw:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    # A build that is interrupted here leaves the old file whole.
    part = path.with_name(path.name + ".part")
    part.write_bytes(raw)
    os.replace(part, path)
    return True
