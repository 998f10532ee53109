"""Remembers which exercises were passed: one small JSON file in the user's data folder."""

from __future__ import annotations

import contextlib
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gpuguide.errors import GpuGuideError

__all__ = ["Progress", "ProgressError", "location", "read", "remember"]

_SCHEMA = 1


class ProgressError(GpuGuideError):
    """The progress file cannot be read or written."""


Progress = dict[str, str]
"""Exercise -> date on which it was first passed (UTC, ISO 8601)."""


def location() -> Path:
    """Return the file that holds the progress.

    >>> location().suffix
    '.json'
    """
    named = os.environ.get("GPUGUIDE_PROGRESS")
    if named:
        return Path(named)
    # A Python that has the tracer alone, such as a browser's, remembers nothing.
    from platformdirs import user_data_path

    return user_data_path("gpuguide", appauthor=False) / "progress.json"


def read() -> Progress:
    """Read the progress."""
    path = location()
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return _checked(data)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise _elsewhere("read from", path, error) from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ProgressError(
            f"{path} does not hold the progress of gpuguide ({error}). Delete it to start afresh."
        ) from None


def _checked(data: Any) -> Progress:
    if data["schema"] != _SCHEMA:
        raise ValueError(f"expected schema {_SCHEMA}, got {data['schema']!r}")
    return {str(name): str(date) for name, date in data["passed"].items()}


def remember(name: str) -> None:
    """Note that an exercise was passed today; the first time counts."""
    progress = read()
    if name not in progress:
        progress[name] = datetime.now(UTC).date().isoformat()
        _write({"schema": _SCHEMA, "passed": progress})


def _write(data: dict[str, Any]) -> None:
    """Replace the file in one step, so that a crash leaves the old one or the new one."""
    path = location()
    draft = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise _elsewhere("written to", path, error) from None


def _elsewhere(done: str, path: Path, error: OSError) -> ProgressError:
    return ProgressError(
        f"The progress cannot be {done} {path}: {error.strerror}. "
        "The variable GPUGUIDE_PROGRESS can name another file."
    )
