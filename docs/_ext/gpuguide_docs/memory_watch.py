"""The most device memory in use, watched from outside the process that measures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["MemoryWatch"]


class MemoryWatch:
    """Keeps the largest use of GPU 0's memory in a file; does nothing where NVML is missing.

    Parameters
    ----------
    path : pathlib.Path
        Holds the bytes as text; the measuring process reads it when it ends.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.path.unlink(missing_ok=True)
        self.most = 0
        from gpuguide.loading import nvml

        self._nvml: Any = nvml()

    def look(self) -> None:
        """Read the use once."""
        if self._nvml is None:
            return
        try:
            handle = self._nvml.nvmlDeviceGetHandleByIndex(0)
            used = int(self._nvml.nvmlDeviceGetMemoryInfo(handle).used)
        except Exception:
            self._nvml = None
            return
        if used > self.most:
            self.most = used
            self.path.write_text(str(used), encoding="ascii")
