"""Small arrays as data: what is kept comes back, and what is not just that is refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from gpuguide.errors import ArgumentError, RecordingError
from gpuguide.measure.kept import written_down
from gpuguide.measure.session import current, keep, recording_session
from gpuguide.recordings.plain import build, dumps, loads
from gpuguide.results.arrays import MOST_ARRAY_BYTES, KeptArray

ARRAYS = [
    np.arange(12, dtype="int16").reshape(3, 4),
    np.arange(12, dtype=">f8")[::2],
    np.array([[True, False]]),
    np.array(1.5, dtype="float32"),
    np.array([1j, np.nan, -np.inf]),
    np.zeros((0, 3), "uint8"),
    np.arange(MOST_ARRAY_BYTES // 8, dtype="uint64"),
    np.asfortranarray(np.arange(6, dtype="float16").reshape(2, 3)),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape}")
def test_what_is_kept_comes_back(array: Any) -> None:
    kept = written_down(array)
    back = loads(KeptArray, dumps(kept), "run.json")
    assert back == kept
    np.testing.assert_array_equal(back.array(), array)
    assert back.array().dtype == array.dtype.newbyteorder("=")


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([{}], dtype=object), "got dtype object"),
        (["a"], "got dtype <U1"),
        (np.array(["2026-11-22"], "datetime64[D]"), "got dtype datetime64"),
        (np.zeros(2, [("a", "i4")]), "got dtype"),
        (np.zeros(MOST_ARRAY_BYTES + 1, "uint8"), "at most 131072 bytes; got 131073"),
    ],
)
def test_other_things_are_not_kept(array: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        keep("x", array)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dtype": "object"}, "dtype: expected one of"),
        ({"dtype": "int64"}, "expected 128 characters for shape"),
        ({"shape": [3, 5]}, "expected 40 characters for shape"),
        ({"shape": [2**40, 2**40]}, "expected at most 131072 bytes"),
        ({"shape": [1] * 9}, "expected at most 8 lengths"),
        ({"shape": [-3, -4]}, "shape"),
        ({"data": ["AAAA"]}, "expected 32 characters"),
        ({"data": ["!" * 32]}, "expected base64"),
        ({"data": ["A" * 30 + "=="]}, "expected 24 bytes; got 22"),
        ({"dtype": "bool", "shape": [24]}, "expected bytes 0 and 1"),
    ],
)
def test_a_forged_array_is_refused(changes: dict[str, Any], message: str) -> None:
    data = json.loads(dumps(written_down(ARRAYS[0])))
    with pytest.raises(RecordingError, match=message):
        build(KeptArray, {**data, **changes}, "run.json")


def test_a_page_keeps_each_name_once_and_not_too_much() -> None:
    with recording_session() as session:
        keep("image", np.zeros(100_000, "uint8"))
        with pytest.raises(ArgumentError, match="an array 'image' already"):
            keep("image", [1])
        with pytest.raises(ArgumentError, match="131072 bytes in all; with this one they have 200000"):
            keep("other", np.zeros(100_000, "uint8"))
        with pytest.raises(ArgumentError, match="keep: name must be a word"):
            keep("a b", [1])
        assert list(session.arrays) == ["image"]
    assert current() is not session


def test_an_array_of_the_device_is_fetched() -> None:
    class OnDevice:
        def get(self) -> Any:
            return np.arange(3)

    with recording_session():
        kept = keep("image", OnDevice())
    np.testing.assert_array_equal(kept, np.arange(3))
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 1
