"""Recordings as they were when they were last read and checked, kept beside the drawings.

To read and check the recordings takes half of a build in which nothing changed.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from typing import TYPE_CHECKING

from gpuguide_docs.pages.files import file_digest, write_if_changed

if TYPE_CHECKING:
    from gpuguide.recordings.recording import Recording
    from gpuguide_docs.pages.layout import Layout

__all__ = ["checked_recording"]


def checked_recording(page: str, machine: str | None, layout: Layout, code: str) -> Recording | None:
    """Load a page's recording: what an earlier build kept, if no byte of it or of the code has changed."""
    from gpuguide.recordings import store

    files = sorted(layout.recorded.glob(f"*/{page}/*"))
    found = [f"{path} {file_digest(path)}" for path in files]
    stamp = "\n".join((sys.version, code, *found)).encode()
    kept = layout.cache / "checked" / f"{page}@{machine or ''}"
    whole = kept.read_bytes() if kept.is_file() else b""
    data = whole[_SEAL:]
    if whole[:_SEAL] == _seal(stamp, data):
        same: Recording = pickle.loads(data)
        return same
    recording = store.load_or_none(page, machine, layout.recorded)
    if recording is not None:
        data = pickle.dumps(recording, pickle.HIGHEST_PROTOCOL)
        write_if_changed(kept, _seal(stamp, data) + data)
    return recording


_SEAL = hashlib.sha256().digest_size


def _seal(stamp: bytes, data: bytes) -> bytes:
    # Over the data as well: a disk may have been full.
    return hashlib.sha256(hashlib.sha256(stamp).digest() + data).digest()
