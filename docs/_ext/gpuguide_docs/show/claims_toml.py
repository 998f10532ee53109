"""What the source documents claimed: the reader of ``docs/claims.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpuguide.errors import ArgumentError, unknown

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Claim", "read_claims"]

_KEYS = {"source": str, "text": str, "value": int | float, "unit": str}
_UNITS = ("s", "ratio", "text")


@dataclass(frozen=True)
class Claim:
    """A figure as a source document gives it."""

    id: str
    source: str
    title: str
    text: str
    value: float
    unit: str

    @property
    def detail(self) -> str:
        """What hover, focus or tap shows."""
        return f"claimed by “{self.title}”, not measured here"


def read_claims(path: Path) -> dict[str, Claim]:
    """Read the table of claims."""
    if not path.exists():
        return {}
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ArgumentError(f"{path.name}: expected TOML: {error}") from None
    titles = {name: entry["title"] for name, entry in document.get("sources", {}).items()}
    return {name: _claim(name, entry, titles) for name, entry in document.get("claims", {}).items()}


def _claim(name: str, entry: dict[str, Any], titles: dict[str, str]) -> Claim:
    where = f"claims.toml: {name}"
    if set(entry) != set(_KEYS):
        raise ArgumentError(
            f"{where}: expected the keys {', '.join(_KEYS)}; got {', '.join(entry) or 'none'}."
        )
    for key, kind in _KEYS.items():
        if not isinstance(entry[key], kind):
            raise ArgumentError(f"{where}: {key} has the wrong type; got {entry[key]!r}.")
    if entry["source"] not in titles:
        raise unknown(f"source in {where}:", entry["source"], titles)
    if entry["unit"] not in _UNITS:
        raise unknown(f"unit in {where}:", entry["unit"], _UNITS)
    return Claim(name, title=titles[entry["source"]], **entry)
