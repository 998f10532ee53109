"""A strict JSON codec for records: what is not exactly as declared is refused, and the error says where."""

from __future__ import annotations

import dataclasses
import json
import operator
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

import numpy as np

from gpuguide.errors import ArgumentError, RecordingError, unknown

__all__ = ["SCHEMA_VERSION", "Place", "dumps", "from_json", "loads", "to_json", "written"]

SCHEMA_VERSION = 1
"""Version of the form in which records are written; another one is not read."""

LARGEST = 2**63
MOST_CHARACTERS = 10_000
MOST_ITEMS = 100_000
ODD_CHARACTERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

T = TypeVar("T")

# Where a value lies: a text, or the place of what holds it with a name or a number. It is written out only
# for a message, because a recording has thousands of places.
Place = str | tuple[Any, str | int]


def to_json(obj: Any) -> dict[str, Any]:
    """Turn a record into plain dicts, lists, texts and numbers that `from_json` reads back as its equal.

    Parameters
    ----------
    obj : dataclass
        A frozen dataclass with annotated fields. NumPy scalars become Python's.

    Returns
    -------
    dict
        One item per field, in the order of the fields, including defaults except those of `OPTIONAL` fields.

    Raises
    ------
    RecordingError
        If a value is not what its field is annotated to be, or not finite; the message names the field.

    Examples
    --------
    >>> from gpuguide.results.records import Traffic
    >>> to_json(Traffic(bytes_read=8))
    {'bytes_read': 8, 'bytes_written': 0, 'flops': 0, 'unit': 'fp32'}
    """
    plain: dict[str, Any] = _plain(obj, "")
    # What could not be read back is refused now, while its author is present.
    from_json(type(obj), plain, "")
    return plain


def from_json(cls: type[T], data: Any, where: str) -> T:
    """Build a record from plain data, refusing whatever its fields are not annotated to hold.

    Parameters
    ----------
    cls : type
        A dataclass, or a dict or tuple of some: ``dict[str, Results]``.
    data : dict
        What `loads` or `to_json` returned.
    where : str
        Where the data lies, for messages: a file, a path of fields, or ``"file.json: path.of.fields"``.

    Returns
    -------
    object of type ``cls``
        Equal to the one that was written.

    Raises
    ------
    RecordingError
        If a field is missing, unknown, of another type, not finite, too large, too long, or negative
        where that makes no sense; or if the record itself refuses the values.

    Examples
    --------
    >>> from gpuguide.results.records import Traffic
    >>> data = {"bytes_read": 8, "bytes_written": -4, "flops": 0, "unit": "fp32"}
    >>> from_json(Traffic, data, "study.traffic")
    Traceback (most recent call last):
    gpuguide.errors.RecordingError: study.traffic.bytes_written: expected an integer from 0 to 2**63, got -4
    """
    # The colon tells `_error` where the file ends and the path of fields begins.
    result: T = _reader(cls, {})(data, f"{where}: " if where.endswith(".json") else where)
    return result


def dumps(obj: Any, *, read_back: bool = True) -> str:
    r"""Write a record, or a dict of records and plain data, as text: the same for equal input.

    Parameters
    ----------
    obj : dataclass or dict
        The document.
    read_back : bool
        Whether to refuse a record that could not be read again. One that was read need not be tried.

    Returns
    -------
    str
        JSON, to be stored as UTF-8. The schema version comes first. Dicts have one entry per line, and lists
        of dicts or lists one item per line, so that a changed measurement is a changed line.

    Raises
    ------
    RecordingError
        If something cannot be written exactly; the message names the place.

    Examples
    --------
    >>> print(dumps({"sizes": (8, 16), "points": [{"x": 1}, {"x": 2}]}), end="")
    {
     "schema_version": 1,
     "sizes": [8,16],
     "points": [
      {"x":1},
      {"x":2}
     ]
    }
    """
    plain = to_json(obj) if read_back and dataclasses.is_dataclass(obj) else _plain(obj, "")
    _refuse_numbers(plain, "")
    rest = {key: value for key, value in plain.items() if key != "schema_version"}
    return _layout({"schema_version": SCHEMA_VERSION, **rest}, 1) + "\n"


def loads(text: str, where: str) -> dict[str, Any]:
    """Read a document that `dumps` wrote.

    Parameters
    ----------
    text : str
        JSON.
    where : str
        The file that it comes from, for messages.

    Returns
    -------
    dict
        The document without its schema version; parts of it are for `from_json`.

    Raises
    ------
    RecordingError
        If the text is no JSON object, repeats a key, holds numbers that are not finite or too large,
        or was written by another schema version.

    Examples
    --------
    >>> loads('{"schema_version": 1, "sizes": [8]}', "run.json")
    {'sizes': [8]}
    >>> loads('{"schema_version": 2}', "run.json")
    Traceback (most recent call last):
    gpuguide.errors.RecordingError: run.json: schema_version: expected 1, got 2: record again, or install \
the gpuguide that wrote it
    """
    try:
        data = json.loads(text, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"expected JSON: {error}", file=where) from error
    if not isinstance(data, dict):
        raise RecordingError(f"expected an object, got {_shown(data)}", file=where)
    version = data.pop("schema_version", None)
    # Not `isinstance`: True is an int, and equals 1.
    if type(version) is not int or version != SCHEMA_VERSION:
        cure = "record again, or install the gpuguide that wrote it"
        message = f"expected {SCHEMA_VERSION}, got {_shown(version)}: {cure}"
        raise RecordingError(message, file=where, field="schema_version")
    # Python's JSON takes NaN, Infinity, and integers of thousands of digits.
    _refuse_numbers(data, f"{where}: ")
    return data


def _plain(value: Any, path: Place) -> Any:
    """Return a value as dicts, lists and Python scalars."""
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | int | float):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {
            name: getattr(value, name)
            for name, optional, default in _fields(type(value))
            if not (optional and getattr(value, name) == default)
        }
    if isinstance(value, Mapping):
        return {_key(key, path): _plain(item, (path, key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        # Samples are most of a recording.
        if set(map(type, value)) <= {int}:
            return list(value)
        return [_plain(item, (path, i)) for i, item in enumerate(value)]
    raise _error(path, f"expected a record, dict, list, text or number, got {type(value).__name__}")


@cache
def _fields(cls: Any) -> tuple[tuple[str, bool, Any], ...]:
    """Give name and default of each field, and between them whether a default is left out."""
    return tuple((f.name, bool(f.metadata.get("optional")), f.default) for f in dataclasses.fields(cls))


Reader = Callable[[Any, Place], Any]


def _reader(kind: Any, limits: Mapping[str, Any]) -> Reader:
    """Give what returns a value as an annotation wants it; ``limits`` is the field's metadata."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return _union_reader(arguments, limits)
    if origin is tuple:
        return _tuple_reader(arguments, limits)
    if origin is dict:
        return _dict_reader(arguments[1], limits)
    if dataclasses.is_dataclass(kind):
        return lambda value, path: _read_record(kind, value, path)

    def read(value: Any, path: Place) -> Any:
        if not _fits(kind, value, limits):
            raise _error(path, f"expected {_words(kind, limits)}, got {_shown(value)}")
        return value  # also an int where a float stands: what is read back must be what was written

    return read


def _dict_reader(kind: Any, limits: Mapping[str, Any]) -> Reader:
    read = _reader(kind, limits)

    def read_dict(value: Any, path: Place) -> dict[str, Any]:
        _expect(isinstance(value, dict), "an object", value, path)
        return {_key(k, path): read(v, (path, k)) for k, v in value.items()}

    return read_dict


def _union_reader(kinds: Sequence[Any], limits: Mapping[str, Any]) -> Reader:
    """Give what returns a value if it is of one of the kinds: a record, or one of several scalars."""
    with_none = type(None) in kinds
    kinds = [kind for kind in kinds if kind is not type(None)]
    read = _reader(kinds[0], limits) if len(kinds) == 1 else None

    def read_union(value: Any, path: Place) -> Any:
        if value is None and with_none:
            return None
        if read is not None:
            return read(value, path)
        if any(_fits(kind, value, limits) for kind in kinds):
            return value
        words = " or ".join(_words(kind, limits) for kind in kinds)
        raise _error(path, f"expected {words}, got {_shown(value)}")

    return read_union


def _tuple_reader(kinds: Sequence[Any], limits: Mapping[str, Any]) -> Reader:
    readers = [_reader(kind, limits) for kind in kinds if kind is not Ellipsis]

    def read_many(value: Any, path: Place) -> tuple[Any, ...]:
        fits = isinstance(value, list) and len(value) <= MOST_ITEMS
        _expect(fits, f"a list of at most {MOST_ITEMS} items", value, path)
        # Seven of ten values of a recording are samples and rounds; one by one they take most of the time.
        if kinds[0] in (int, float) and _are_numbers(value, kinds[0], limits.get("minimum", 0)):
            return tuple(value)
        read = readers[0]
        return tuple([read(item, (path, i)) for i, item in enumerate(value)])

    def read_each(value: Any, path: Place) -> tuple[Any, ...]:
        fits = isinstance(value, list) and len(value) == len(kinds)
        _expect(fits, f"a list of {len(kinds)} items", value, path)
        pairs = enumerate(zip(readers, value, strict=True))
        return tuple([read(item, (path, i)) for i, (read, item) in pairs])

    return read_many if kinds[-1] is Ellipsis else read_each


def _read_record(cls: Any, value: Any, path: Place) -> Any:
    _expect(isinstance(value, dict), f"an object ({cls.__name__})", value, path)
    readers = _field_readers(cls)
    for name in value:
        if name not in readers:
            raise _error(path, str(unknown("field", name, readers)))
    for name, (_, optional) in readers.items():
        if name not in value and not optional:
            raise _error(path, f"expected the field {name!r}, got none")
    found = {name: read(value[name], (path, name)) for name, (read, _) in readers.items() if name in value}
    try:
        return cls(**found)
    except ArgumentError as error:
        raise _error(path, str(error)) from error


# `get_type_hints` evaluates the text of every annotation, which takes long for thousands of records.
@cache
def _field_readers(cls: Any) -> dict[str, tuple[Reader, bool]]:
    """Give for each field what reads it, and whether it may be missing."""
    hints = typing.get_type_hints(cls)
    return {
        field.name: (_reader(hints[field.name], field.metadata), bool(field.metadata.get("optional")))
        for field in dataclasses.fields(cls)
    }


def _fits(kind: Any, value: Any, limits: Mapping[str, Any]) -> bool:
    """Tell whether a scalar is of a kind and within its limits."""
    # First, for to Python True is an int.
    if kind is bool or isinstance(value, bool):
        return kind is bool and isinstance(value, bool)
    if kind is str:
        return isinstance(value, str) and _is_sane(value) and value in limits.get("choices", (value,))
    number = isinstance(value, int) or (kind is float and isinstance(value, float))
    return number and limits.get("minimum", 0) <= value <= LARGEST


def _are_numbers(values: list[Any], kind: type = float, least: float = -LARGEST) -> bool:
    """Tell at once whether all are numbers within limits: samples are many, and one by one takes long."""
    found = set(map(type, values))
    if not found <= ({int} if kind is int else {int, float}):
        return False
    # A NaN, which differs from itself, would hide from `min` and `max`.
    no_nan = float not in found or all(map(operator.eq, values, values))
    return not values or (no_nan and least <= min(values) and max(values) <= LARGEST)


def _is_sane(text: str) -> bool:
    """Tell whether a text is short, and free of control characters and lone surrogates."""
    return len(text) <= MOST_CHARACTERS and not ODD_CHARACTERS.search(text)


def _words(kind: Any, limits: Mapping[str, Any]) -> str:
    """Say what a scalar field takes."""
    if kind is bool:
        return "true or false"
    if kind is str:
        choices = ", ".join(map(repr, limits.get("choices", ())))
        return f"one of {choices}" if choices else f"a plain text of at most {MOST_CHARACTERS} characters"
    least = limits.get("minimum", 0)
    start = "-2**63" if least == -LARGEST else f"{least:g}"
    return f"{'an integer' if kind is int else 'a number'} from {start} to 2**63"


def _shown(value: Any) -> str:
    """Show a value that was refused, shortly and as JSON names it."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else f"a list of {len(value)} items"
    if isinstance(value, int) and abs(value) > LARGEST:
        # Python refuses to write integers of more than 4300 digits.
        return f"an integer of {value.bit_length()} bits"
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}... ({len(value)} characters)"


def _expect(fits: bool, words: str, value: Any, path: Place) -> None:
    if not fits:
        raise _error(path, f"expected {words}, got {_shown(value)}")


def _error(path: Place, message: str) -> RecordingError:
    file, colon, field = written(path).rpartition(": ")
    return RecordingError(message, file=file if colon else "", field=field)


def written(path: Place) -> str:
    """Write a place as messages name it: ``studies.sum.runs[0].starts``."""
    parts: list[str | int] = []
    while not isinstance(path, str):
        path, part = path
        parts.append(part)
    for part in reversed(parts):
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += part if not path or path.endswith(": ") else f".{part}"
    return path


def _key(key: object, path: Place) -> str:
    if not isinstance(key, str) or len(key) > 200 or not _is_sane(key):
        raise _error(path, f"expected names of at most 200 characters, got {str(key)[:60]!r}")
    return key


def _refuse_numbers(value: Any, path: Place) -> None:
    """Raise where plain data holds a number that is not finite or too large."""
    if isinstance(value, dict):
        for key, item in value.items():
            _refuse_numbers(item, (path, key))
    elif isinstance(value, list) and not _are_numbers(value):
        for i, item in enumerate(value):
            _refuse_numbers(item, (path, i))
    elif isinstance(value, int | float):
        _expect(-LARGEST <= value <= LARGEST, "a number from -2**63 to 2**63", value, path)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    # JSON lets the last of two equal keys win, so that two readers may see two things in one file.
    if len(data) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"the key {key[:60]!r} stands twice")
            seen.add(key)
    return data


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
