"""Data classes as JSON and back: a field that is missing, unknown or of another type has its place named."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import json
import os
import types
import typing
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from gpuguide.errors import GpuGuideError, RecordingError, unknown

__all__ = ["build", "dumps", "label", "loads", "to_plain", "write"]

T = TypeVar("T")


def dumps(thing: Any) -> str:
    r"""Write a data class as JSON: an entry or record on each line, and no field that has its default.

    >>> from gpuguide.results.records import Traffic
    >>> dumps(Traffic(bytes_read=8))
    '{\n "bytes_read": 8\n}\n'
    """
    plain = to_plain(thing)
    try:
        text = _layout(plain, 1) + "\n"
    except ValueError as error:
        raise RecordingError(f"{type(thing).__name__} cannot be written: {error}") from None
    # What is not read back as it was measured is refused while its author is present.
    if loads(type(thing), text, "") != thing:
        raise RecordingError(f"{type(thing).__name__} is not read back as it was written")
    return text


def loads(kind: type[T], text: str | bytes, where: str) -> T:
    """Read what `dumps` wrote; `where` names the file in messages."""
    try:
        data = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"expected JSON, perhaps the file was cut short: {error}", file=where) from None
    return build(kind, data, where)


def write(thing: Any, path: Path) -> None:
    """Write a file in one step: readers see the old one or the new one, and a failure leaves the old one."""
    data = dumps(thing).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    # In the same folder: a file can be renamed in one step only inside of one file system.
    part = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        part.write_bytes(data)
        os.replace(part, path)
    # Whatever ended it, an interruption too, must not leave half a file.
    except BaseException as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            message = f"the disk is full: expected room for {len(data)} bytes. What was there stays"
            raise RecordingError(f"{message}; make room, and record again.", file=label(path)) from error
        raise


def label(path: Path) -> str:
    """Name a file of a recording as messages do: machine, page, file."""
    return "/".join(path.parts[-3:])


def build(kind: type[T], data: Any, where: str) -> T:
    """Build what an annotation names from plain data."""
    return typing.cast("T", _build(kind, data, f"{where}: " if where else ""))


def to_plain(thing: Any) -> Any:
    """Return a data class as dicts, lists and scalars."""
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        values = {name: getattr(thing, name) for name in _defaults(type(thing))}
        return {
            name: to_plain(value)
            for name, value in values.items()
            if not _is_default(value, _defaults(type(thing))[name])
        }
    if isinstance(thing, Mapping):
        return {name: to_plain(value) for name, value in thing.items()}
    if isinstance(thing, list | tuple):
        # Samples are most of a recording.
        return list(thing) if set(map(type, thing)) <= {int} else [to_plain(item) for item in thing]
    # NumPy's scalars become Python's.
    return thing.item() if hasattr(thing, "item") else thing


def _build(kind: Any, data: Any, where: str) -> Any:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return _one_of(inner, data, where)
    if dataclasses.is_dataclass(kind):
        return _record(kind, data, where)
    if origin is dict:
        _expect(isinstance(data, dict), "an object", data, where)
        return {name: _build(inner[1], value, _at(where, name)) for name, value in data.items()}
    if origin is tuple:
        return _tuple(inner, data, where)
    return _scalar((kind,), data, where)


def _one_of(kinds: tuple[Any, ...], data: Any, where: str) -> Any:
    if data is None and type(None) in kinds:
        return None
    kinds = tuple(kind for kind in kinds if kind is not type(None))
    return _build(kinds[0], data, where) if len(kinds) == 1 else _scalar(kinds, data, where)


def _tuple(kinds: tuple[Any, ...], data: Any, where: str) -> Any:
    any_number = kinds[-1] is Ellipsis
    fits = isinstance(data, list) and (any_number or len(data) == len(kinds))
    _expect(fits, "a list" if any_number else f"a list of {len(kinds)} items", data, where)
    if any_number and kinds[0] in (int, float) and set(map(type, data)) <= {int}:
        return tuple(data)
    kinds = kinds[:1] * len(data) if any_number else kinds
    pairs = enumerate(zip(kinds, data, strict=True))
    return tuple([_build(kind, item, f"{where}[{i}]") for i, (kind, item) in pairs])


def _record(kind: Any, data: Any, where: str) -> Any:
    _expect(isinstance(data, dict), f"an object ({kind.__name__})", data, where)
    hints, defaults = _hints(kind), _defaults(kind)
    for name in data:
        if name not in hints:
            raise _error(where, str(unknown("field", name, hints)))
    for name, default in defaults.items():
        if name not in data and default is dataclasses.MISSING:
            raise _error(where, f"expected the field {name!r}, got none")
    values = {name: _build(hints[name], value, _at(where, name)) for name, value in data.items()}
    try:
        return kind(**values)
    except GpuGuideError as error:
        raise _error(where, str(error)) from error


def _scalar(kinds: tuple[Any, ...], data: Any, where: str) -> Any:
    # To Python, True is an integer; and a whole number stands where a float does.
    taken = (*kinds, int) if float in kinds else kinds
    fits = isinstance(data, bool) if kinds == (bool,) else isinstance(data, taken) and type(data) is not bool
    _expect(fits, " or ".join(_WORDS.get(kind, kind.__name__) for kind in kinds), data, where)
    return data


_WORDS = {int: "an integer", float: "a number", str: "a text", bool: "true or false"}


@cache
def _hints(kind: Any) -> dict[str, Any]:
    # Evaluating the text of every annotation takes long for thousands of records.
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


@cache
def _defaults(kind: Any) -> dict[str, Any]:
    return {
        field.name: field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        for field in dataclasses.fields(kind)
    }


def _is_default(value: Any, default: Any) -> bool:
    # To Python, False equals 0; in a file it is another value.
    same_kind = isinstance(value, type(default)) and isinstance(value, bool) == isinstance(default, bool)
    return default is not dataclasses.MISSING and value == default and same_kind


def _at(where: str, name: str) -> str:
    return f"{where}{name}" if not where or where.endswith(": ") else f"{where}.{name}"


def _error(where: str, message: str) -> RecordingError:
    file, colon, field = where.rpartition(": ")
    return RecordingError(message, file=file if colon else "", field=field)


def _expect(fits: bool, words: str, data: Any, where: str) -> None:
    if not fits:
        shown = json.dumps(data, default=repr)
        shown = shown if len(shown) <= 60 else f"{shown[:60]}..."
        raise _error(where, f"expected {words}, got {shown}")


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _layout(value: Any, indent: int) -> str:
    """Write JSON with one dict entry per line, and one item per line for lists that are not of scalars."""
    start, end = "\n" + " " * indent, "\n" + " " * (indent - 1)
    if isinstance(value, dict) and value:
        entries = (f"{_line(key)}: {_layout(item, indent + 1)}" for key, item in value.items())
        return "{" + start + f",{start}".join(entries) + end + "}"
    if isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        return "[" + start + f",{start}".join(map(_line, value)) + end + "]"
    return _line(value)


def _line(value: Any) -> str:
    # Letters as they are, because people read recordings in a diff.
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
