"""What goes wrong, why, and what to do: the table that the doctor and the guide's page share."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gpuguide.errors import unknown

__all__ = ["PATH", "Symptom", "in_message", "symptom", "symptoms"]

PATH = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True)
class Symptom:
    """A row of the table, whose first lines say what each part is."""

    name: str
    group: str
    title: str
    cause: str
    cure: str
    command: str = ""
    messages: tuple[str, ...] = ()
    more: str = ""
    see: tuple[str, ...] = ()


@cache
def symptoms() -> tuple[Symptom, ...]:
    """Read the table."""
    rows: list[dict[str, Any]] = tomllib.loads(PATH.read_text(encoding="utf-8"))["symptom"]
    for row in rows:
        row |= {key: tuple(value) for key, value in row.items() if isinstance(value, list)}
    return tuple(Symptom(**row) for row in rows)


def symptom(name: str) -> Symptom:
    """Find a row by its name."""
    by_name = {row.name: row for row in symptoms()}
    if name not in by_name:
        raise unknown("symptom", name, by_name)
    return by_name[name]


def in_message(text: str) -> Symptom | None:
    """Find the row of an error's message; of several, the one that knows most of its words."""
    matches = [
        (len(message), row)
        for row in symptoms()
        for message in row.messages
        if _pattern(message).search(text)
    ]
    return max(matches, key=lambda match: match[0])[1] if matches else None


def _pattern(message: str) -> re.Pattern[str]:
    return re.compile(".*?".join(re.escape(part) for part in message.split("…")), re.IGNORECASE)
