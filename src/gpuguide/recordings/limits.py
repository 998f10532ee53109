"""Limits on what is read: size, depth and counts are looked at first, in one pass, before it is decoded.

They fit real recordings several times over. What exceeds them would keep the reader busy, or is none of ours.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from gpuguide.errors import RecordingError

__all__ = ["MOST_BYTES", "MOST_DEPTH", "MOST_VALUES", "check_json", "read_toml", "toml_text"]

MOST_BYTES = 4 * 2**20
"""Most bytes of a file."""

MOST_DEPTH = 32
"""How deep lists and objects may be nested."""

MOST_VALUES = 100_000
"""Most values of a file, entries of objects and items of lists together."""

_MOST_DOTS = 16

# Possessive: what was passed over is never looked at again, so that an unclosed quote costs nothing.
_TOML_TEXT = re.compile(
    r'#[^\n]*+|"""(?s:[^"\\]++|\\.|"(?!""))*+(?:"""|\Z)|'
    r"'''(?s:[^']++|'(?!''))*+(?:'''|\Z)|"
    r'"(?:[^"\\\n]++|\\.)*+"?|'
    r"'[^'\n]*+'?"
)
_NO_BRACKET = re.compile(r"[^\[\]{}]++")


def check_json(text: str, file: str) -> None:
    """Refuse JSON that is nested too deeply, or holds too many values, without reading it.

    Parameters
    ----------
    text : str
        What may be JSON.
    file : str
        Where it stands, for the message.

    Raises
    ------
    RecordingError
        If it exceeds a limit.
    """
    # Without its escapes, a text lies between two quotes: every second piece is outside of texts.
    # Escaped backslashes go first: the quotation mark after one is a real one.
    outside = "".join(text.replace("\\\\", "").replace('\\"', "").split('"')[::2])
    n = outside.count(",") + outside.count(":")
    if n > MOST_VALUES:
        raise RecordingError(f"expected at most {MOST_VALUES} values, got {n}.", file=file)
    _check_depth(outside, "JSON", file)


def toml_text(path: Path) -> str:
    """Read the text of a TOML file, if it is one of a reasonable size; raise RecordingError if not."""
    if path.stat().st_size > MOST_BYTES:
        raise RecordingError(f"expected at most {MOST_BYTES} bytes.", file=str(path))
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise RecordingError(f"expected TOML in UTF-8: {error}", file=str(path)) from None


def read_toml(text: str, file: str) -> dict[str, Any]:
    """Read TOML that a person wrote, or that `make` did.

    Parameters
    ----------
    text : str
        What may be TOML.
    file : str
        Where it stands, for the message.

    Returns
    -------
    dict
        The document.

    Raises
    ------
    RecordingError
        If it is none, too large, nested too deeply, or has a key of too many parts.

    Examples
    --------
    >>> read_toml("a.b = 1", "pages.toml")
    {'a': {'b': 1}}
    """
    if len(text) > MOST_BYTES:
        raise RecordingError(f"expected at most {MOST_BYTES} characters, got {len(text)}.", file=file)
    outside = _TOML_TEXT.sub("", text)
    _check_depth(outside, "TOML", file)
    # Every part of a dotted key is a table of its own, looked up from the first one again.
    dots = max(piece.count(".") for piece in re.split(r"[=,{}\[\]\n]", outside))
    if dots > _MOST_DOTS:
        raise RecordingError(f"expected keys of at most {_MOST_DOTS} parts, got {dots + 1}.", file=file)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"expected TOML: {error}", file=file) from None


def _check_depth(outside: str, kind: str, file: str) -> None:
    depth = 0
    for bracket in _NO_BRACKET.sub("", outside):
        depth += 1 if bracket in "[{" else -1
        if depth > MOST_DEPTH:
            raise RecordingError(f"expected {kind} nested at most {MOST_DEPTH} deep, got more.", file=file)
