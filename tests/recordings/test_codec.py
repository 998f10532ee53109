"""The JSON codec: exact both ways, and strict about everything else."""

import copy
import dataclasses
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpuguide.errors import RecordingError
from gpuguide.recordings.codec import SCHEMA_VERSION, dumps, from_json, loads, to_json
from gpuguide.results.ceilings import Ceiling
from gpuguide.results.records import CheckResult, ClaimResult, Fact, Measurement, Provenance, Traffic
from gpuguide.results.results import Results
from study_results import make

PROVENANCE = Provenance(
    machine="nvidia-h200",
    gpu="NVIDIA H200",
    compute_capability=(9, 0),
    sm_count=132,
    l2_bytes=62_914_560,
    memory_bytes=150_000_000_000,
    sm_clock_hz=1.98e9,
    memory_clock_hz=None,
    power_limit_w=700.0,
    ecc=True,
    driver="580.159",
    cuda="13.0",
    compiler="numba-cuda 0.30.4",
    versions=(("numpy", "2.4.6"), ("cupy", "14.2.0")),
    cpu="Intel Xeon",
    n_cpus=16,
    threads=16,
    blas="OpenBLAS",
    steal_s=0.02,
    utc_date="2026-11-21T10:00:00Z",
    commit="0123abc",
    run_time_s=12.5,
    peak_memory_bytes=None,
    python="3.12.3",
    platform="Linux",
    start="5f0c6d1e",
    virtualisation="kvm",
    clock_source="tsc",
    cpu_signature="GenuineIntel 6/207/2",
    cpu_caches=(("L2", 2**21), ("L3", 260 * 2**20)),
    cpu_clock_hz=None,
    sm_clock_seen_hz=(1.5e9, 1.98e9),
    power_seen_w=None,
    pace_s=1.25e-4,
    shared_host=0.0,
)
RESULTS = make(
    checks=(CheckResult("one", 1024, "random", 2.1e-7, 1.4e-6),),
    warnings=("Clock fell: 1.98 → 1.2 GHz",),
)


@pytest.mark.parametrize(
    "record",
    [
        RESULTS,
        make(ceilings=None, l2_bytes=None),
        PROVENANCE,
        Fact("copies", 3, "1"),
        Fact("change", -0.25, "s", samples=(-0.25, 0.1 + 0.2, 5e-324)),
        Fact("blas", "OpenBLAS\n\t0.3", "text", note="µ"),
        ClaimResult("It holds", None),
        ClaimResult("It holds", True, -1.5, 2.5, "ratio", False),
        Measurement("one", 8, samples_ns=(0, 2**63), rounds=(0, 1)),
    ],
    ids=lambda record: type(record).__name__,
)
def test_records_come_back_equal(record: Any) -> None:
    text = dumps(record)
    back = from_json(type(record), loads(text, "run.json"), "run.json")
    assert back == record
    assert repr(back) == repr(record)
    assert dumps(back) == text


def test_a_count_stays_whole_and_a_float_stays_a_float() -> None:
    assert type(from_json(Fact, to_json(Fact("n", 3, "1")), "f").value) is int
    assert type(from_json(Fact, to_json(Fact("n", 3.0, "1")), "f").value) is float


def test_numpy_scalars_are_written_as_pythons() -> None:
    fact = Fact("rate", np.float64(1.5), "B/s", samples=(np.float32(0.5),))  # type: ignore[arg-type]
    data = to_json(fact)
    assert (data["value"], data["samples"]) == (1.5, [0.5])
    measured = Measurement("one", np.int64(8), samples_ns=(5,), rounds=(0,), host_bound=np.True_)  # type: ignore[arg-type]
    assert json.dumps(to_json(measured)).count("true") == 1


def plain() -> dict[str, Any]:
    return {"studies": {"sort": to_json(RESULTS)}}


def read(data: dict[str, Any]) -> Results:
    return from_json(Results, data["studies"]["sort"], "studies.sort")


def put(*path: Any) -> Callable[[Any], None]:
    """Set the place that all but the last items lead to, from a study on, to the last item."""

    def change(study: Any) -> None:
        *steps, last, value = path
        for step in steps:
            study = study[step]
        study[last] = value

    return change


def drop(*path: Any) -> Callable[[Any], None]:
    def change(study: Any) -> None:
        *steps, last = path
        for step in steps:
            study = study[step]
        del study[last]

    return change


M3 = ("measurements", 3)
A_SAMPLE = "measurements[3].samples_ns[2]: expected an integer from 0 to 2**63"
SAMPLES = "measurements[3].samples_ns: expected a list of at most 100000 items"
A_NUMBER = "expected a number from -2**63 to 2**63"
A_TEXT = "expected a plain text of at most 10000 characters"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put(*M3, "samples_ns", 2, math.nan), f"{A_SAMPLE}, got NaN"),
        (put(*M3, "samples_ns", 2, math.inf), f"{A_SAMPLE}, got Infinity"),
        (put(*M3, "samples_ns", 2, 5.0), f"{A_SAMPLE}, got 5.0"),
        (put(*M3, "samples_ns", 2, True), f"{A_SAMPLE}, got true"),
        (put(*M3, "samples_ns", 2, None), f"{A_SAMPLE}, got null"),
        (put(*M3, "samples_ns", 2, -1), f"{A_SAMPLE}, got -1"),
        (put(*M3, "samples_ns", 2, 2**63 + 1), f"{A_SAMPLE}, got an integer of 64 bits"),
        (put(*M3, "samples_ns", 2, 10**5000), f"{A_SAMPLE}, got an integer of 16610 bits"),
        (put(*M3, "samples_ns", 2, "5"), f'{A_SAMPLE}, got "5"'),
        (put(*M3, "samples_ns", {"a": 1}), f"{SAMPLES}, got an object"),
        (put(*M3, "samples_ns", [1] * 100_001), f"{SAMPLES}, got a list of 100001 items"),
        (
            put(*M3, "samples_ns", [1, 2]),
            "measurements[3]: Measurement of 'one' at 1024: expected a round for each of 2 samples; got 6.",
        ),
        (put(*M3, "n_calls", 0), "measurements[3].n_calls: expected an integer from 1 to 2**63, got 0"),
        (put(*M3, "floor_ns", 1.5), "measurements[3].floor_ns: expected an integer from 0 to 2**63, got 1.5"),
        (put(*M3, "host_bound", 1), "measurements[3].host_bound: expected true or false, got 1"),
        (put(*M3, "variant", 7), f"measurements[3].variant: {A_TEXT}, got 7"),
        (
            put(*M3, "variant", "x" * 10_001),
            f'measurements[3].variant: {A_TEXT}, got "{"x" * 59}... (10001 characters)',
        ),
        (put(*M3, "variant", "\x1b[31mred"), f'measurements[3].variant: {A_TEXT}, got "\\u001b[31mred"'),
        (put(*M3, "variant", "\ud800"), f'measurements[3].variant: {A_TEXT}, got "\\ud800"'),
        (put(*M3, "variant", "two"), ": Results of 'add': the study has no variant 'two' at 1024."),
        (
            put(*M3, "clock", "wall"),
            (
                "measurements[3].clock: expected one of 'device', 'launch', 'end_to_end', "
                "'host', 'first_call', got \"wall\""
            ),
        ),
        (
            put(*M3, "traffic", "flops", -1),
            "measurements[3].traffic.flops: expected an integer from 0 to 2**63, got -1",
        ),
        (
            put(*M3, "traffic", []),
            "measurements[3].traffic: expected an object (Traffic), got a list of 0 items",
        ),
        (
            put(*M3, "notes", "two modes"),
            'measurements[3].notes: expected a list of at most 100000 items, got "two modes"',
        ),
        (
            put(*M3, "sampels_ns", []),
            "measurements[3]: Unknown field 'sampels_ns'. Did you mean 'samples_ns'?",
        ),
        (drop(*M3, "rounds"), "measurements[3]: expected the field 'rounds', got none"),
        (drop(*M3, "traffic", "unit"), "measurements[3].traffic: expected the field 'unit', got none"),
        (
            put("checks", 0, "tolerance", math.nan),
            "checks[0].tolerance: expected a number from 0 to 2**63, got NaN",
        ),
        (
            put("checks", 0, "tolerance", -1e-9),
            "checks[0].tolerance: expected a number from 0 to 2**63, got -1e-09",
        ),
        (
            put("checks", 0, "tolerance", 1e19),
            "checks[0].tolerance: expected a number from 0 to 2**63, got 1e+19",
        ),
        (
            put("checks", 0, "tolerance", False),
            "checks[0].tolerance: expected a number from 0 to 2**63, got false",
        ),
        (
            put("ceilings", "items", 1, "mix", "write"),
            "ceilings: Ceilings: expected each mix once; got 'write' again.",
        ),
        (put("sizes", 1, 1024), ": Results of 'add': expected each size once; got 1024 again."),
        (put("quick", None), "quick: expected true or false, got null"),
        (put("name", None), f"name: {A_TEXT}, got null"),
    ],
)
def test_what_is_not_as_declared_is_refused(change: Callable[[Any], None], message: str) -> None:
    data = copy.deepcopy(plain())
    change(data["studies"]["sort"])
    with pytest.raises(RecordingError) as error:
        read(data)
    joint = "" if message.startswith(":") else "."
    assert str(error.value) == f"studies.sort{joint}{message}"


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(Provenance)])
def test_no_field_of_the_provenance_may_lack(field: str) -> None:
    data = to_json(PROVENANCE)
    del data[field]
    with pytest.raises(RecordingError, match=f"^run: expected the field '{field}', got none$"):
        from_json(Provenance, data, "run")


@pytest.mark.parametrize(
    ("kind", "data", "message"),
    [
        (
            Provenance,
            to_json(PROVENANCE) | {"compute_capability": [9]},
            "f.compute_capability: expected a list of 2 items, got a list of 1 items",
        ),
        (
            Provenance,
            to_json(PROVENANCE) | {"versions": [["numpy", 2]]},
            f"f.versions[0][1]: {A_TEXT}, got 2",
        ),
        (Provenance, to_json(PROVENANCE) | {"ecc": "on"}, 'f.ecc: expected true or false, got "on"'),
        (
            Provenance,
            to_json(PROVENANCE) | {"sm_clock_hz": -1.0},
            "f.sm_clock_hz: expected a number from 0 to 2**63, got -1.0",
        ),
        (
            Fact,
            to_json(Fact("a", 1, "1")) | {"value": None},
            f"f.value: {A_NUMBER} or an integer from -2**63 to 2**63 or {A_TEXT[9:]}, got null",
        ),
        (
            Fact,
            to_json(Fact("a", 1, "1")) | {"value": math.nan},
            f"f.value: {A_NUMBER} or an integer from -2**63 to 2**63 or {A_TEXT[9:]}, got NaN",
        ),
        (
            Fact,
            to_json(Fact("a", 1, "1")) | {"value": "1"},
            "f: Fact 'a': expected a number for unit '1'; got '1'.",
        ),
        (dict[str, Traffic], [1], "f: expected an object, got a list of 1 items"),
        (dict[str, Traffic], {"a": 3}, "f.a: expected an object (Traffic), got 3"),
        (
            dict[str, Traffic],
            {"x" * 201: {}},
            f"f: expected names of at most 200 characters, got '{'x' * 60}'",
        ),
        (Traffic, 3, "f: expected an object (Traffic), got 3"),
    ],
)
def test_other_kinds_are_strict_too(kind: Any, data: Any, message: str) -> None:
    with pytest.raises(RecordingError) as error:
        from_json(kind, data, "f")
    assert str(error.value) == message


def test_many_records_are_read_at_once() -> None:
    traffic = {"a": Traffic(8), "b": Traffic(4)}
    data = loads(dumps(traffic), "run.json")
    assert from_json(dict[str, Traffic], data, "run.json") == traffic


@pytest.mark.parametrize(
    ("where", "file", "field"),
    [
        ("run.json", "run.json", "unit"),
        ("h200/sort/run.json: studies.sort", "h200/sort/run.json", "studies.sort.unit"),
        ("studies.sort", "", "studies.sort.unit"),
        ("", "", "unit"),
    ],
)
def test_errors_carry_file_and_field(where: str, file: str, field: str) -> None:
    with pytest.raises(RecordingError) as error:
        from_json(Traffic, to_json(Traffic()) | {"unit": 3}, where)
    assert (error.value.file, error.value.field) == (file, field)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (
            Fact("a", 1.0, "s", samples=(1.0, 1e19)),
            "samples[1]: expected a number from -2**63 to 2**63, got 1e+19",
        ),
        (
            Fact("a", 1.0, "s", note=b"bytes"),
            "note: expected a record, dict, list, text or number, got bytes",
        ),
        (Fact("a", 1.0, "s", note=3), "note: expected a plain text of at most 10000 characters, got 3"),
    ],
)
def test_what_could_not_be_read_is_not_written(record: Any, message: str) -> None:
    with pytest.raises(RecordingError) as error:
        to_json(record)
    assert str(error.value) == message


# Text


def test_a_measurement_is_a_line() -> None:
    lines = dumps({"studies": {"sort": RESULTS}}).splitlines()
    assert lines[:3] == ["{", ' "schema_version": 1,', ' "studies": {']
    measured = [line for line in lines if '"samples_ns":[' in line and '"clock"' in line]
    assert len(measured) == len(RESULTS.measurements)
    assert measured[3] == (
        '    {"variant":"one","size":1024,"clock":"device","samples_ns":[3000,3030,2970,3000,2970,3030],'
        '"rounds":[0,0,1,1,2,2],"n_calls":1,"method":"events","cache":"warm","host_bound":false,'
        '"floor_ns":null,"traffic":{"bytes_read":4096,"bytes_written":4096,"flops":1024,"unit":"fp32"},'
        '"reason":"","notes":[],"summary":null},'
    )


def test_one_changed_sample_is_one_changed_line() -> None:
    first = RESULTS.measurements[3]
    changed = dataclasses.replace(first, samples_ns=(1, *first.samples_ns[1:]))
    cells = (*RESULTS.measurements[:3], changed, *RESULTS.measurements[4:])
    before, after = (
        dumps(r).splitlines() for r in (RESULTS, dataclasses.replace(RESULTS, measurements=cells))
    )
    assert sum(a != b for a, b in zip(before, after, strict=True)) == 1


def test_text_is_utf8_and_ends_with_a_line_break() -> None:
    text = dumps({"unit": "µs", "empty": {}, "none": [], "pairs": [[1, 2], []]})
    assert text == (
        '{\n "schema_version": 1,\n "unit": "µs",\n "empty": {},\n "none": [],\n'
        ' "pairs": [\n  [1,2],\n  []\n ]\n}\n'
    )


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"a": [1.0, math.nan]}, r"^a\[1\]: expected a number from -2\*\*63 to 2\*\*63, got NaN$"),
        (
            {"a": {"b": 10**30}},
            r"^a\.b: expected a number from -2\*\*63 to 2\*\*63, got an integer of 100 bits$",
        ),
        ({"a": {1, 2}}, "^a: expected a record, dict, list, text or number, got set$"),
        ({"a": {3: 1}}, "^a: expected names of at most 200 characters, got '3'$"),
    ],
)
def test_documents_are_finite_and_plain(document: Any, message: str) -> None:
    with pytest.raises(RecordingError, match=message):
        dumps(document)


ONE, CURE = "expected 1", "record again, or install the gpuguide that wrote it"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "run.json: expected JSON: Expecting value: line 1 column 1 (char 0)"),
        ("[1]", "run.json: expected an object, got a list of 1 items"),
        ('{"schema_version": 1, "a": 1, "a": 2}', "run.json: expected JSON: the key 'a' stands twice"),
        (
            '{"schema_version": 1, "a": {"b": [NaN]}}',
            "run.json: a.b[0]: expected a number from -2**63 to 2**63, got NaN",
        ),
        (
            '{"schema_version": 1, "a": 1e400}',
            "run.json: a: expected a number from -2**63 to 2**63, got Infinity",
        ),
        ("{}", f"run.json: schema_version: {ONE}, got null: {CURE}"),
        ('{"schema_version": true}', f"run.json: schema_version: {ONE}, got true: {CURE}"),
        ('{"schema_version": 2}', f"run.json: schema_version: {ONE}, got 2: {CURE}"),
    ],
)
def test_only_documents_of_this_version_are_read(text: str, message: str) -> None:
    with pytest.raises(RecordingError) as error:
        loads(text, "run.json")
    assert str(error.value) == message


@pytest.mark.parametrize("text", ["[" * 200_000, f'{{"a": {"9" * 5000}}}', '{"schema_version": 1'])
def test_hostile_text_is_a_recording_error(text: str) -> None:
    with pytest.raises(RecordingError, match=r"^run\.json: expected JSON: "):
        loads(text, "run.json")


def test_the_version_is_written_first_and_once() -> None:
    text = dumps({"a": 1, "schema_version": SCHEMA_VERSION})
    assert text == '{\n "schema_version": 1,\n "a": 1\n}\n'
    assert loads(text, "run.json") == {"a": 1}


def test_a_whole_number_in_a_float_field_is_read_back_as_it_was_written():
    """A run id is a hash over the text: 1980000000 must not come back as 1980000000.0."""
    ceiling = Ceiling("copy", 4_000_000_000_000, "B/s", (1_000_000,), 4_000_000_000, "a kernel")
    text = dumps(ceiling)
    assert dumps(from_json(Ceiling, loads(text, "x.json"), "x.json")) == text


def test_limits_are_inclusive() -> None:
    fact = Fact("n" * 10_000, 2**63, "1", samples=(0.0,) * 100_000)
    assert from_json(Fact, to_json(fact), "f") == fact
    assert loads(dumps({"k" * 200: [2**63, -(2**63)]}), "f.json") == {"k" * 200: [2**63, -(2**63)]}
