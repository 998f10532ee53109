"""Data classes as JSON: written and read back equal; what does not fit is named with its place."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from gpuguide.errors import RecordingError
from gpuguide.recordings.plain import dumps, loads, to_plain
from gpuguide.results.records import Fact, Measurement, Traffic, Work
from gpuguide.results.results import Results
from gpuguide.results.sample import sample_results


@dataclass(frozen=True)
class Bag:
    """A bit of everything that records have."""

    numbers: tuple[int, ...]
    rates: tuple[float, ...] = ()
    pair: tuple[str, int] | None = None
    named: dict[str, Traffic] | None = None
    value: float | int | str = 0
    certain: bool = False


BAG = Bag((1, 2), (1.5, 2), ("a", 1), {"one": Traffic(8)}, "text", True)
CELL = Measurement("four", 8, samples_ns=(5, 6), rounds=(0, 1), traffic=Traffic(8), work=(Work("step", 3),))


@pytest.mark.parametrize(
    "record",
    [
        BAG,
        Bag((), value=1.5),
        CELL,
        Measurement("four", 8, reason="too long"),
        Fact("name", "a\nb \u2028", "text"),
        Fact("name", -1, "1", (-1.0, 2)),
        sample_results(),
        replace(sample_results(), start="a", others=(sample_results(),)),
    ],
    ids=lambda record: type(record).__name__,
)
def test_what_is_written_is_read_back_equal(record: Any) -> None:
    back = loads(type(record), dumps(record), "file.json")
    assert back == record
    assert repr(back) == repr(record)


def test_a_changed_measurement_is_a_changed_line_and_defaults_are_left_out() -> None:
    lines = dumps(sample_results()).splitlines()
    assert sum('"variant":"numba","size":1024,"samples_ns":[' in line for line in lines) == 1
    assert "quick" not in "".join(lines)
    # False equals 0, and is another value in a file.
    assert to_plain(Bag((), value=False)) == {"numbers": [], "value": False}


def test_numpy_scalars_are_written_as_pythons() -> None:
    bag = Bag((np.int64(3),), (np.float32(0.5),), certain=np.bool_(True))  # type: ignore[arg-type]
    assert json.loads(dumps(bag)) == {"numbers": [3], "rates": [0.5], "certain": True}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("numbres",), [1], "file.json: Unknown field 'numbres'. Did you mean 'numbers'?"),
        (("numbers",), None, "file.json: numbers: expected a list, got null"),
        (("numbers",), [1, "2"], 'file.json: numbers[1]: expected an integer, got "2"'),
        (("numbers",), [1, True], "numbers[1]: expected an integer, got true"),
        (("numbers",), [1.5], "numbers[0]: expected an integer, got 1.5"),
        (("pair",), ["a"], "pair: expected a list of 2 items"),
        (("named", "one"), 8, "named.one: expected an object (Traffic), got 8"),
        (("named", "one", "flops"), "8", 'named.one.flops: expected an integer, got "8"'),
        (("named", "one", "flops"), -8, "named.one: Traffic.flops: expected at least 0; got -8"),
        (("value",), [], "value: expected a number or an integer or a text, got []"),
        (("certain",), 1, "certain: expected true or false, got 1"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(path: tuple[str, ...], value: Any, message: str) -> None:
    data = json.loads(dumps(BAG))
    place = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(RecordingError) as caught:
        loads(Bag, json.dumps(data), "file.json")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "file.json: expected the field 'numbers', got none"),
        ("[]", "file.json: expected an object (Bag), got []"),
        ('{"numbers": [1', "file.json: expected JSON, perhaps the file was cut short"),
        ("", "file.json: expected JSON"),
        ('{"numbers": [], "value": NaN}', "NaN is no number"),
        (b"\xff\xfe\x00", "file.json: expected JSON"),
    ],
)
def test_what_is_no_such_file_says_so(text: str, message: str) -> None:
    with pytest.raises(RecordingError) as caught:
        loads(Bag, text, "file.json")
    assert message in str(caught.value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None])
def test_what_could_not_be_read_back_is_not_written(value: Any) -> None:
    with pytest.raises(RecordingError):
        dumps(Bag((), value=value))


def test_results_of_another_form_are_refused() -> None:
    """As a study's downloaded file that somebody edits."""
    data = json.loads(dumps(sample_results()))
    data["measurements"][0]["clock"] = "wall"
    with pytest.raises(RecordingError, match=r"measurements\[0\]: .*clock: expected one of"):
        loads(Results, json.dumps(data), "file.json")
