"""The most device memory that a page holds, watched from outside the process that measures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["MemoryWatch", "watched"]


class MemoryWatch:
    """Keeps the largest use of GPU 0's memory in a file; does nothing where NVML is missing.

    What was in use before the page's process began does not count, nor what is in use outside the window
    that the process opens with `watched`: there the recorder's own copy sentinel runs.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.window = _window(path)
        for left_over in (self.path, self.window):
            left_over.unlink(missing_ok=True)
        self.most = 0
        from gpuguide.machine.backends import nvml

        self._nvml: Any = nvml()
        self._before = self._used()

    def look(self) -> None:
        """Read the use once, if the page is running."""
        if not self.window.exists():
            return
        used = self._used() - self._before
        # A reading that lasted past the end of the window may be the sentinel's.
        if used > self.most and self.window.exists():
            self.most = used
            self.path.write_text(str(used), encoding="ascii")

    def _used(self) -> int:
        """Return the bytes in use; 0 where that cannot be read."""
        if self._nvml is None:
            return 0
        try:
            handle = self._nvml.nvmlDeviceGetHandleByIndex(0)
            return int(self._nvml.nvmlDeviceGetMemoryInfo(handle).used)
        except Exception:
            # That memory cannot be read is no reason to lose the page.
            self._nvml = None
            return 0


@contextmanager
def watched(path: Path | None) -> Iterator[None]:
    """Let the recorder's watch count what this process holds now."""
    if path is None:
        yield
        return
    _window(path).touch()
    try:
        yield
    finally:
        _window(path).unlink(missing_ok=True)


def _window(path: Path) -> Path:
    return path.with_name(f"{path.name}.window")
