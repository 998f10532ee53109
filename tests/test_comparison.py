"""Several machines side by side: only what is comparable, and what differs is said exactly."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gpuguide as gg
from gpuguide import cli
from gpuguide.comparison import Side, compare
from gpuguide.errors import ArgumentError, RecordingError, UnknownNameError
from gpuguide.recordings import store
from gpuguide.recordings.keys import Key
from gpuguide.recordings.recording import Run
from gpuguide.results.results import Results
from study_results import SIZES, VARIANTS, cell, make, missing, on_starts

PAGE = "first_kernel"


def twice_as_slow(**changes: Any) -> Results:
    return replace(on_starts(make(**changes), 2.0), start="")


def run_of(study: Results, **changes: Any) -> Run:
    """A run like one of the guide's, of another machine."""
    recorded = store.read(store.ROOT / store.PRIMARY_MACHINE / PAGE)
    where = replace(recorded.provenance, machine="laptop", gpu="RTX", **changes)
    return Run("laptop", PAGE, where, recorded.key, studies={study.name: study})


def rows(comparison: Any) -> list[list[str]]:
    return [line.split() for line in comparison.studies["add"].table().text().splitlines()]


def test_times_and_their_ratio_stand_beside_one_another() -> None:
    comparison = compare(Side("slow", {"add": twice_as_slow()}), Side("fast", {"add": make()}))
    assert ["2^10", "NumPy", "4.0", "µs", "2.0", "µs", "2.0×"] in rows(comparison)
    assert "<td" in comparison._repr_html_()


def test_a_time_within_the_range_of_the_other_machine_is_the_same() -> None:
    steady = on_starts(make(), 0.9, 1.0, 1.1)
    text = str(compare(Side("mine", {"add": make()}), Side("theirs", {"add": steady})))
    assert "(same)" in text
    assert "nine of ten further runs" in " ".join(text.split())


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"sizes": SIZES[:2], "measurements": (cell("one", SIZES[0], 9),)}, ["Size 2^26: only here."]),
        (
            {"variants": VARIANTS[:2], "measurements": (cell("one", SIZES[0], 9),)},
            ["Variant 'four': only here."],
        ),
        (
            {"variants": (replace(VARIANTS[0], threads=8), *VARIANTS[1:])},
            ["Threads of 'numpy': 1 (here); 8 (there)."],
        ),
        (
            {"measurements": (cell("one", SIZES[0], 9), missing("numpy", SIZES[0], "no time left"))},
            ["Not measured on there: 'numpy' at 2^10: no time left."],
        ),
        ({"quick": True}, ["Quick runs, with fewer samples: there."]),
    ],
)
def test_a_difference_is_said_exactly(other: dict[str, Any], words: list[str]) -> None:
    comparison = compare(Side("here", {"add": make()}), Side("there", {"add": make(**other)}))
    for part in words:
        assert part in " ".join(comparison.studies["add"].notes)


def test_what_no_machine_measured_is_no_difference() -> None:
    notes = compare(make(), make()).studies["add"].notes
    assert notes == ()


@pytest.mark.parametrize(
    ("field", "value"),
    [("dtype", "float64"), ("title", "Add two"), ("cache", "cold"), ("size_name", "bytes")],
)
def test_another_study_of_the_same_name_is_not_compared(field: str, value: str) -> None:
    with pytest.raises(ArgumentError, match=value):
        compare(Side("here", {"add": make()}), Side("there", {"add": make(**{field: value})}))


def test_other_code_and_other_versions_are_said() -> None:
    mine = run_of(make())
    key = Key(mine.key.cells, ((PAGE, "0123"),), 7)
    other = replace(run_of(make(), versions=(("numpy", "1.2"),)), machine="other", key=key)
    notes = " ".join(compare(mine, other).notes)
    assert f"Code of {PAGE}" in notes
    assert "Version of the harness: 1 (laptop); 7 (other)." in notes
    assert "numpy: 2.4.6 (laptop); 1.2 (other)" in notes


def test_a_class_has_its_ends_and_its_middle_and_the_guide_a_column_of_its_own() -> None:
    students = [
        Side(f"student {i}", {"add": replace(on_starts(make(), float(i)), start="")}) for i in range(1, 31)
    ]
    comparison = compare(*students, Side("guide", {"add": make()}, recorded=True))
    line = next(" ".join(row) for row in rows(comparison) if row[:2] == ["2^10", "NumPy"])
    assert line == "2^10 NumPy 2.0 µs (student 1) 30 µs (student 15) 60 µs (student 30) 30 2.0 µs"
    ax = comparison.figure("add").axes[0]
    named = [text.get_text() for text in ax.texts]
    assert named == ["student 1", "student 30"] * 2
    labels = ax.get_legend_handles_labels()[1]
    assert labels == ["guide", "30 others"]


def test_a_recorded_machine_is_found_by_the_study_alone() -> None:
    study = gg.load("sort_search").studies["argsort"]
    comparison = gg.compare(study, "nvidia-h200")
    assert list(comparison.studies) == ["argsort"]
    assert comparison.sides[1].page == "sort_search"


def test_a_file_alone_is_compared_with_the_guide(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = store.read(store.ROOT / store.PRIMARY_MACHINE / PAGE)
    path = tmp_path / "mine.json"
    path.write_bytes((run.folder / run.files[-1]).read_bytes() if run.folder else b"")
    assert cli.main(["compare", str(path), "--plot", str(tmp_path / "mine.svg")]) == 0
    out = capsys.readouterr().out
    assert "mine / nvidia-h200" in out
    assert (tmp_path / "mine.svg").read_text().startswith("<?xml")


def test_another_version_s_study_alone_is_told_how_it_differs_from_the_guide_s():
    study = store.load(PAGE).studies["increment"]
    with pytest.raises(ArgumentError, match="not 'Adding two'"):
        compare(run_of(replace(study, title="Adding two")))


def test_a_file_of_one_page_of_several_is_named(tmp_path: Path) -> None:
    """`run primes ufuncs --json mine.json` wrote two."""
    (tmp_path / "mine-primes.json").touch()
    with pytest.raises(RecordingError, match="there is mine-primes"):
        compare(str(tmp_path / "mine.json"))


def test_a_plot_shows_the_size_that_most_machines_have() -> None:
    """A laptop without a GPU has none of the largest."""
    small = make(sizes=SIZES[:1], measurements=(cell("numpy", SIZES[0], 9),))
    comparison = compare(make(), make(), small)
    assert comparison.plot().get_title("left") == "Add one, 2^10 elements"
    assert comparison.plot(size=SIZES[1]).get_title("left") == "Add one, 2^20 elements"


def test_no_table_is_wider_than_the_terminal() -> None:
    text = compare(run_of(make()), run_of(make())).text(80)
    assert max(map(len, text.splitlines())) <= 80
    assert "because this terminal is narrow: CUDA" in text


@pytest.mark.parametrize(
    ("what", "error", "word"),
    [
        ((), ArgumentError, "got nothing"),
        (("nvidia-h200",), ArgumentError, "gg.load"),
        ((make(), "nvidia-h20"), UnknownNameError, "nvidia-h200"),
        ((make(), "nvidia-h200"), ArgumentError, "'add'"),
        ((make(), make(name="sub")), ArgumentError, "'sub'"),
        ((run_of(make()),), ArgumentError, "the guide has no recording of 'add' of the page 'first_kernel'"),
        ((make(), 3), ArgumentError, "int"),
        (("no.json", make()), RecordingError, "no.json"),
    ],
)
def test_an_error_says_what_is_missing(what: Any, error: type[Exception], word: str) -> None:
    with pytest.raises(error, match=word):
        compare(*what)


def test_a_study_or_size_that_is_not_common_is_refused_with_the_nearest() -> None:
    comparison = compare(make(), make())
    with pytest.raises(UnknownNameError, match="add"):
        comparison.plot("adding")
    with pytest.raises(UnknownNameError, match="1024"):
        comparison.plot(size=1000)
