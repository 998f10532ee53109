"""Pages whose recording waits for a GPU: named with a reason and a date, and not for long."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from gpuguide.errors import RecordingError
from gpuguide.recordings.limits import read_toml, toml_text

__all__ = ["MOST_DAYS", "Pending", "pending"]

MOST_DAYS = 14
"""Days that a page may wait."""


@dataclass(frozen=True)
class Pending:
    """A page whose recording waits for a GPU.

    Parameters
    ----------
    page, reason : str
        Which and why.
    date : datetime.date
        First day of waiting.
    """

    page: str
    reason: str
    date: date


def pending(root: Path, today: date | None = None) -> tuple[Pending, ...]:
    """Read which pages wait for a GPU.

    Parameters
    ----------
    root : Path
        Folder of the recordings, with ``pending.toml`` in it; or that file.
    today : datetime.date, optional
        The day to count to; today in UTC.

    Returns
    -------
    tuple of Pending
        In the order of the file; empty without one.

    Raises
    ------
    RecordingError
        If an entry is not a page, a reason and a date, stands twice, lies in the future, or has waited
        for more than 14 days.
    """
    path = root if root.suffix == ".toml" else root / "pending.toml"
    if not path.exists():
        return ()
    data = read_toml(toml_text(path), str(path))
    entries = data.pop("pending", [])
    if data or not isinstance(entries, list):
        raise RecordingError(
            f"expected one list, 'pending'; got {', '.join(data) or 'something else'}.", file=str(path)
        )
    day = today or datetime.now(UTC).date()
    found = [_entry(entry, f"pending[{i}]", path, day) for i, entry in enumerate(entries)]
    names: set[str] = set()
    for i, each in enumerate(found):
        _expect(each.page not in names, "each page once", each.page, f"pending[{i}].page", path)
        names.add(each.page)
    return tuple(found)


def _entry(entry: object, field: str, path: Path, today: date) -> Pending:
    keys = ("page", "reason", "date")
    if not isinstance(entry, dict) or set(entry) != set(keys):
        raise RecordingError(f"expected {', '.join(keys)}; got {entry!r}.", file=str(path), field=field)
    page, reason, since = (entry[key] for key in keys)
    for key, text in (("page", page), ("reason", reason)):
        _expect(isinstance(text, str) and bool(text.strip()), "a text", text, f"{field}.{key}", path)
    # Not `isinstance`: a datetime is a date as well, and cannot be compared with one.
    _expect(type(since) is date and since <= today, "a past day as 2026-11-21", since, f"{field}.date", path)
    waited = (today - since).days
    if waited > MOST_DAYS:
        raise RecordingError(
            f"{page} has waited for a GPU for {waited} days; at most {MOST_DAYS} are allowed. "
            "Record it, or take it off the list of pages.",
            file=str(path),
            field=f"{field}.date",
        )
    return Pending(page, reason, since)


def _expect(holds: bool, expected: str, got: object, field: str, path: Path) -> None:
    if not holds:
        raise RecordingError(f"expected {expected}; got {got!r}.", file=str(path), field=field)
