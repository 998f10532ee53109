"""Which text a recording may hold: nothing that could break out of the block it is shown in."""

from __future__ import annotations

import re

from gpuguide.errors import RecordingError

__all__ = ["check_text", "is_plain"]

#: Controls but newline and tab, line breaks that only some programs know, reordering marks, surrogates.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def is_plain(text: str) -> bool:
    """Say whether `check_text` lets a text pass, without asking where it stands."""
    return _UNSAFE.search(text) is None


def check_text(text: str, *, file: str = "", field: str = "") -> None:
    r"""Refuse text that could break out of the block it is shown in.

    Parameters
    ----------
    text : str
        Any text of a recording.
    file, field : str
        Where it stands, for the message.

    Raises
    ------
    RecordingError
        If it holds a control character other than newline and tab, a line break that only some programs
        take for one, or a character that reorders what is shown.

    Examples
    --------
    >>> check_text(".. include:: /etc/passwd")  # reST is text as any other: it is never parsed
    >>> check_text("one\x0ctwo", file="run.json", field="page")
    Traceback (most recent call last):
    gpuguide.errors.RecordingError: run.json: page: expected printable text; got U+000C at 3.
    """
    found = _UNSAFE.search(text)
    if found:
        place = f"U+{ord(found.group()):04X} at {found.start()}"
        raise RecordingError(f"expected printable text; got {place}.", file=file, field=field)
