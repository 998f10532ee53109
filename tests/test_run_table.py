"""What `gpuguide run` prints: beside the guide's times, remarks below, no wider than the terminal."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from gpuguide.run_table import recorded_on, run_table
from study_results import SIZES, cell, make, on_starts

PROVENANCE = SimpleNamespace(
    gpu="NVIDIA H200", utc_date="2026-11-23T13:22:29Z", n_cpus=16, cpu="Intel Emerald Rapids (family 6)"
)


@pytest.fixture
def recording() -> Any:
    """Half as fast as what `make` gives, without the variant `four`."""
    cells = tuple(each for each in make().measurements if each.variant != "four")
    study = on_starts(make(measurements=cells), 2.0, 2.0, 2.0)
    return SimpleNamespace(provenance=PROVENANCE, n_starts=3, studies={"add": study})


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_each_row_has_the_guide_s_time_where_the_guide_has_that_variant_and_size(recording: Any) -> None:
    lines = run_table(make(), recording, 200).splitlines()
    place = lines[1].index("NVIDIA H200")
    shown = {line[10:25].strip(): line[place - 2 : place + 11].split() for line in lines[5:8]}
    assert shown == {"NumPy": ["1.6", "ms"], "One a thread": ["16", "µs"], "Four a thread": []}


@pytest.mark.parametrize("sizes", [SIZES, (1000,)])
def test_without_a_time_of_the_guide_s_there_is_no_column(sizes: tuple[int, ...], recording: Any) -> None:
    mine = make(sizes=sizes, measurements=(cell("one", sizes[0], 3_000),))
    other = None if sizes == SIZES else recording
    assert "NVIDIA" not in run_table(mine, other, 200)


def test_the_guide_s_machine_is_described(recording: Any) -> None:
    assert recorded_on(recording) == (
        "In the column NVIDIA H200: the guide's medians over 3 machine starts, latest on 2026-11-23, with "
        "16 virtual CPUs of an Intel Emerald Rapids."
    )


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_terminal_and_the_times_stay(width: int, recording: Any) -> None:
    shared = "the host's processor was shared while this was measured, so it may be slower than elsewhere"
    cells = tuple(replace(each, notes=(shared,)) if each.n else each for each in make().measurements)
    text = run_table(make(measurements=cells), recording, width)
    assert max(map(len, text.splitlines())) <= width
    assert {"median", "NVIDIA", "remarks"} <= set(rows(text)[1])
    assert text.count("the host's processor was shared") == 1
    assert " ".join(text.split()).count("(2) skipped: the previous size predicts 3 s") == 1
    left_out = text.partition("Left out, because this terminal is narrow: ")[2]
    assert left_out.startswith("method")
    assert ("rate" in left_out) == (width == 80)
