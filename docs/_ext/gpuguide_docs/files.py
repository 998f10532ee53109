"""Writing generated files so that an unchanged one keeps its time stamp and Sphinx reads nothing again."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["write_if_changed"]


def write_if_changed(path: Path, data: bytes | str) -> bool:
    """Write a file unless it already holds just that.

    Parameters
    ----------
    path : pathlib.Path
        Its folder is made when it is missing.
    data : bytes or str
        Text is written as UTF-8.

    Returns
    -------
    bool
        Whether the file was written.
    """
    raw = data.encode() if isinstance(data, str) else data
    if path.is_file() and path.read_bytes() == raw:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_bytes(raw)
    os.replace(part, path)
    return True
