"""The package's errors: one class per kind of failure, all of them `GpuGuideError`.

Every message says what was expected, what was found, and what to do about it.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "ArgumentError",
    "BackendError",
    "ClaimError",
    "GpuGuideError",
    "ImplausibleError",
    "LaunchError",
    "MismatchError",
    "NoGpuError",
    "OutOfMemoryError",
    "RecordingError",
    "UnknownNameError",
    "UnsupportedError",
    "unknown",
]

# A shorter part of a name is in many that have nothing to do with it.
_SHORTEST = 3


class GpuGuideError(Exception):
    """Base class of every error that gpuguide raises on purpose."""


class NoGpuError(GpuGuideError):
    """No GPU can be used where one is needed; the message holds the cure."""


class BackendError(GpuGuideError):
    """A library such as CuPy or Numba is missing, or does not work with the other packages installed."""


class ArgumentError(GpuGuideError, ValueError):
    """An argument has a value, type or shape that the function does not take."""


class MismatchError(GpuGuideError):
    """A variant's result differs from the reference: it is not timed."""


class ImplausibleError(GpuGuideError):
    """A measured rate exceeds what the hardware can physically do."""


class ClaimError(GpuGuideError):
    """A claim does not hold for the measured interval."""


class LaunchError(GpuGuideError):
    """A launch cannot start, or a kernel was stopped by the GPU."""


class OutOfMemoryError(GpuGuideError):
    """The GPU has too little free memory for this size."""


class RecordingError(GpuGuideError):
    """A recording cannot be read: a file is missing, changed or malformed."""

    def __init__(self, message: str, *, file: str = "", field: str = "") -> None:
        self.file, self.field = file, field
        super().__init__(": ".join(part for part in (file, field, message) if part))


class UnsupportedError(GpuGuideError, AttributeError):
    """Code uses something that the tracer does not know; the message names it."""


class UnknownNameError(GpuGuideError, LookupError):
    """A name that does not exist; the message lists the nearest known names."""


def unknown(kind: str, name: object, known: Iterable[object]) -> UnknownNameError:
    """Build the error for a name that does not exist, with the nearest names that do."""
    candidates = list(known)
    if not candidates:
        return UnknownNameError(f"Unknown {kind} {name!r}. There is none at all.")
    by_text = {str(candidate): candidate for candidate in candidates}
    near = [repr(by_text[text]) for text in _near(str(name), by_text)]
    if near:
        return UnknownNameError(f"Unknown {kind} {name!r}. Did you mean {_one_of(near)}?")
    shown = ", ".join(repr(candidate) for candidate in candidates[:12])
    more = f" and {len(candidates) - 12} more" if len(candidates) > 12 else ""
    return UnknownNameError(f"Unknown {kind} {name!r}. Known: {shown}{more}.")


def _near(name: str, known: Iterable[str]) -> list[str]:
    """Give at most three names that are spelt alike, hold the name, or have a word that it begins with."""
    import difflib  # here, because it takes longer to import than all the rest

    texts, given = list(known), name.lower()
    close = difflib.get_close_matches(name, texts, n=3, cutoff=0.6)
    if len(given) >= _SHORTEST:
        close += [
            text
            for text in texts
            if given in text.lower()
            or any(len(word) >= _SHORTEST and given.startswith(word) for word in text.lower().split("_"))
        ]
    return list(dict.fromkeys(close))[:3]


def _one_of(choices: list[str]) -> str:
    return choices[0] if len(choices) == 1 else f"{', '.join(choices[:-1])} or {choices[-1]}"
