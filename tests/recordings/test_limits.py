"""Files made to keep the reader busy: each is read, or refused by a named error, in no time."""

from __future__ import annotations

import dataclasses
import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_counters import CELL as COUNTED
from test_runs import run
from test_store import MACHINE, PAGE, folder_of, hash_again, provenance

from gpuguide.errors import RecordingError
from gpuguide.measure.kept import written_down
from gpuguide.recordings import format
from gpuguide.recordings import store as recordings
from gpuguide.recordings.counters import Counters, save_counters
from gpuguide.recordings.limits import MOST_BYTES, MOST_VALUES, check_json, read_toml
from gpuguide.recordings.recording import Recording
from gpuguide.statements import claim

# Seconds of the processor, which other processes do not use up.
MOST_SECONDS = 2.0


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("sound")
    recordings.save(run(0), root)
    image = written_down(np.arange(6, dtype="int16"))
    saved = recordings.save(dataclasses.replace(run(1), arrays={"image": image}), root)
    of = (MACHINE, PAGE, saved.keys.measuring)
    save_counters(Counters(*of, "Nsight Compute 2025.3", provenance(), (COUNTED,)), root)
    return folder_of(saved)


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    """A copy of a sound recording: to save one for each test would take longer than to read it."""
    return Path(shutil.copytree(sound, tmp_path / sound.parent.name / sound.name))


def refused(folder: Path, *words: str) -> None:
    """Read in the strictest way there is; a bare error of Python is a failure, and so is taking long."""
    start = time.process_time()
    with pytest.raises(RecordingError) as caught:
        recordings.validate(folder)
    assert time.process_time() - start < MOST_SECONDS
    for word in words:
        assert word in str(caught.value)[:2000], str(caught.value)[:2000]
    assert caught.value.file


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    if name != "run.json":
        hash_again(folder)


def change(folder: Path, name: str, edit: Callable[[Any], None]) -> None:
    data = json.loads((folder / name).read_text())
    edit(data)
    write(folder, name, json.dumps(data))


NAMES = ("run.json", "measurements.json", "earlier.json", "transcript.json", "arrays.json", "counters.json")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "text",
    [
        '{"a": "' + '\\"' * 80_000,
        '{"a": "' + '\\"' * 80_000 + '"}',
        '"' + '\\"' * 2_000_000,
        '"\\' * 80_000,
        "\\" * 160_000 + '"',
        '{"a": ' + '"' * 160_001,
        '{"a": "' + "[" * 160_000,
        '"' + "\\\\" * 2_000_000,
    ],
    ids=[
        "escaped quotes, open",
        "escaped quotes, closed",
        "four megabytes of them",
        "backslashes between quotes",
        "backslashes",
        "quotes",
        "brackets in a text",
        "four megabytes of backslashes",
    ],
)
def test_texts_that_never_end_are_refused(name: str, text: str, folder: Path) -> None:
    write(folder, name, text)
    refused(folder, name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["[" * 2_000_000, '{"a":' * 500_000, "[{" * 1_000_000, '{"a": [' * 40 + "1"])
def test_depth_is_refused_before_it_is_read(name: str, text: str, folder: Path) -> None:
    write(folder, name, text)
    refused(folder, name)


@pytest.mark.parametrize("name", NAMES)
def test_twenty_thousand_keys_are_refused(name: str, folder: Path) -> None:
    for more in ({f"k{i}": i for i in range(20_000)}, {"run_id": {f"k{i}": i for i in range(20_000)}}):
        write(folder, name, json.dumps({**json.loads((folder / name).read_text()), **more}))
        refused(folder, name)
    pairs = ",".join(f'"k{i}": 0' for i in range(20_000))
    write(folder, name, "{" + pairs + ', "k19999": 1}')
    refused(folder, name, "the key 'k19999' stands twice")


@pytest.mark.parametrize(
    ("field", "item"),
    [
        ("files", {"name": "measurements.json", "sha256": "0" * 64, "content": "0" * 64}),
        ("runs", {"measuring": "0" * 64, "provenance": {}}),
    ],
)
def test_ten_thousand_files_or_runs_are_refused(field: str, item: Any, folder: Path) -> None:
    change(folder, "run.json", lambda data: data[field].extend([item] * 10_000))
    refused(folder, f"run.json: {field}: expected at most")


def test_twenty_thousand_parts_of_the_key_are_refused(folder: Path) -> None:
    parts = [[f"gpuguide.m{i}", "0" * 64] for i in range(20_000)]
    change(folder, "run.json", lambda data: data["keys"]["parts"].extend(parts))
    refused(folder, "run.json: keys.parts: expected at most 1000, got 20003")


@pytest.mark.parametrize("field", ["facts", "names", "studies"])
def test_twenty_thousand_names_are_refused(field: str, folder: Path) -> None:
    def more(data: Any) -> None:
        first = next(iter(data[field].values()))
        data[field] |= {f"k{i}": first for i in range(20_000)}

    change(folder, "measurements.json", more)
    refused(folder, "measurements.json: ")


def study_of(data: Any, n_variants: int, n_sizes: int) -> Any:
    study = data["studies"]["sample"]
    cell, check, variant = (study[name][0] for name in ("measurements", "checks", "variants"))
    names, sizes = [f"v{i}" for i in range(n_variants)], [2**10 + i for i in range(n_sizes)]
    cells = [(name, size) for name in names for size in sizes]
    return {
        **study,
        "variants": [{**variant, "name": name} for name in names],
        "sizes": sizes,
        "measurements": [
            {**cell, "variant": name, "size": size, "samples_ns": [5], "rounds": [0]} for name, size in cells
        ],
        "checks": [{**check, "variant": name, "size": size} for name, size in cells],
    }


def test_a_study_of_forty_thousand_cells_is_refused(folder: Path) -> None:
    change(folder, "measurements.json", lambda data: data["studies"].update(sample=study_of(data, 40, 30)))
    refused(folder, "measurements.json: studies: measurements: expected at most 1000, got 1200")
    change(folder, "measurements.json", lambda data: data["studies"].update(sample=study_of(data, 200, 200)))
    refused(folder, "measurements.json: expected at most")


def test_forty_studies_with_all_cells_that_there_may_be_are_read_and_a_claim_is_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(format, "MOST_PAGE_BYTES", MOST_BYTES)
    whole = [forty_studies(n) for n in range(3)]
    for each in whole:
        saved = recordings.save(each, tmp_path)
    start = time.process_time()
    recordings.validate(folder_of(saved))
    loaded = recordings.load(PAGE, root=tmp_path)
    claim(loaded.studies["study 39"], "v1", at=1027, faster_than="v0")
    assert time.process_time() - start < MOST_SECONDS
    assert len(loaded.studies["study 0"].runs) == 3
    assert capsys.readouterr().out


def forty_studies(n: int) -> Recording:
    """As many studies and cells as a page may have."""
    made = run(n)
    sample = made.studies["sample"]
    names, sizes = [f"v{i}" for i in range(5)], tuple(range(1024, 1029))
    info, cell = sample.variants[1], sample.measurements[-1]
    study = dataclasses.replace(
        sample,
        variants=tuple(dataclasses.replace(info, name=name, label=name) for name in names),
        sizes=sizes,
        measurements=tuple(
            dataclasses.replace(cell, variant=name, size=size) for name in names for size in sizes
        ),
        checks=(),
    )
    studies = {f"study {i}": dataclasses.replace(study, name=f"study {i}") for i in range(40)}
    return dataclasses.replace(made, studies=studies, names={}, cells=())


@pytest.mark.parametrize(
    ("change_it", "words"),
    [
        (lambda image: {f"k{i}": image for i in range(9_000)}, "arrays: expected at most 1000, got 9000"),
        (lambda image: {"k": {**image, "shape": [1] * 90_000}}, "expected at most 8 lengths"),
        (lambda image: {"k": {**image, "shape": [10**4000] * 8}}, "expected a number from -2**63"),
        (lambda image: {"k": {**image, "shape": [2**62] * 8}}, "expected at most 131072 bytes"),
        (lambda image: {"k": {**image, "data": [""] * 90_000 + ["A"]}}, "expected 16 characters"),
        (lambda image: {"k": {**image, "data": ["A" * 9_000] * 400}}, "expected 16 characters"),
    ],
    ids=["many", "many axes", "huge numbers", "huge", "many pieces", "long"],
)
def test_arrays_of_impossible_size_are_refused(change_it: Any, words: str, folder: Path) -> None:
    change(folder, "arrays.json", lambda data: data.update(arrays=change_it(data["arrays"]["image"])))
    refused(folder, "arrays.json: ", words)


@pytest.mark.parametrize("what", ["cells", "kernels", "values", "names"])
def test_many_counters_are_refused(what: str, folder: Path) -> None:
    def more(data: Any) -> None:
        (kernel,) = data["counted"][0]["kernels"][:1]
        if what == "cells":
            data["counted"] *= 1_000
        elif what == "kernels":
            data["counted"][0]["kernels"] *= 500
        elif what == "values":
            kernel["values"] *= 5_000
        else:
            kernel["values"] = [[f"k{i}", 1.0] for i in range(9_000)]

    change(folder, "counters.json", more)
    refused(folder, "counters.json: ")


@pytest.mark.parametrize("n", [10_000, 60_000])
def test_many_lines_of_output_are_refused(n: int, folder: Path) -> None:
    change(folder, "transcript.json", lambda data: data["cells"][0].update(stdout=["\u2028"] * n))
    refused(folder, "transcript.json: ")


def test_real_recordings_fit_several_times_over() -> None:
    for path in recordings.ROOT.glob("*/*/*.json"):
        text = path.read_text(encoding="utf-8")
        assert len(text) < MOST_BYTES / 4
        assert 4 * (text.count(",") + text.count(":")) < MOST_VALUES


@pytest.mark.parametrize(
    "text", ['{"a": "[[[[\\"]]]]"}', '{"a": "\\\\"}', '["\\\\\\"[", []]', json.dumps({"a": ['"\\[{' * 40]})]
)
def test_brackets_in_texts_do_not_count(text: str) -> None:
    json.loads(text)
    check_json(text, "x.json")


# TOML


def test_common_toml_is_read() -> None:
    text = (
        '# a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r\n[a."b.c"]\nx = [1.5, "'
        + "." * 40
        + "\"]\ny = '''\n"
        + "." * 40
        + "'''\n"
    )
    assert read_toml(text, "x.toml") == {"a": {"b.c": {"x": [1.5, "." * 40], "y": "." * 40}}}
