"""What `gpuguide run` prints: beside the guide's machines, findings below, no wider than the terminal."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from gpuguide.results.findings import Finding
from gpuguide.run_table import findings_here, left_out_words, recorded_on, run_table
from study_results import SIZES, cell, make, missing, on_starts


def recorded(gpu: str = "NVIDIA H200", machine: str = "nvidia-h200") -> Any:
    """Half as fast as what `make` gives, without the variant `four`."""
    cells = tuple(each for each in make().measurements if each.variant != "four")
    study = on_starts(make(measurements=cells), 2.0, 2.0, 2.0)
    about = SimpleNamespace(
        gpu=gpu, utc_date="2026-11-23T13:22:29Z", n_cpus=16, cpu="Intel Emerald Rapids (family 6)"
    )
    return SimpleNamespace(machine=machine, provenance=about, n_starts=3, studies={"add": study})


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_each_row_has_time_share_and_ratio_of_each_machine() -> None:
    h100 = recorded("NVIDIA H100 80GB HBM3", "nvidia-h100-80gb-hbm3")
    _, heading, *lines = rows(run_table(make(), [recorded(), h100], 200))
    start = "elements variant region threads here share H200 share here/H200 H100 share here/H100"
    assert " ".join(heading).startswith(start)
    one, four = (" ".join(line) for line in lines[-3:-1])
    assert one.startswith("One a thread kernel 200 µs 67 % 400 µs 33.6 % 0.50× 400 µs 33.6 % 0.50×")
    assert four.startswith("Four a thread kernel 160 µs 84 % 2.4 µs")


def test_what_was_not_measured_here_is_shown_of_the_guide() -> None:
    """Without a GPU, for example."""
    cells = tuple(
        each if each.variant == "numpy" else missing(each.variant, each.size, "no GPU on this machine")
        for each in make().measurements
        if each.clock != "launch"
    )
    text = run_table(make(measurements=cells), [recorded()], 200)
    assert "2^20      NumPy" in text
    assert ["One", "a", "thread", "–", "16", "µs", "(1)"] in rows(text)
    assert ["Four", "a", "thread", "not", "measured", "(1)"] in rows(text)
    assert "(1) no GPU on this machine" in text


@pytest.mark.parametrize("sizes", [SIZES, (1000,)])
def test_without_a_time_of_the_guide_s_there_is_no_column(sizes: tuple[int, ...]) -> None:
    mine = make(sizes=sizes, measurements=(cell("one", sizes[0], 3_000),))
    assert "H200" not in run_table(mine, [] if sizes == SIZES else [recorded()], 200)


def test_the_guide_s_machines_are_described() -> None:
    text = recorded_on([recorded(), recorded(machine="nvidia-h200-x2")])
    assert "2 H200, the median of 3 runs, the latest on 2026-11-23, with 16 virtual CPUs" in text


def test_sizes_without_any_time_are_a_sentence_and_no_rows() -> None:
    cells = tuple(
        missing(each.variant, each.size, "too large") if each.size > SIZES[0] else each
        for each in make().measurements
        if each.clock != "launch"
    )
    results = make(measurements=cells)
    assert left_out_words(results) == ["Left out: 2^20, 2^26 elements: too large."]
    assert not any(line[0].startswith("2^2") for line in rows(run_table(results, [recorded()], 200)) if line)


FINDINGS = (
    Finding("add", "one", SIZES[1], ("numpy",), 50),
    Finding("add", "one", SIZES[0], ("numpy",)),
    Finding("add", "one", SIZES[2], ("numpy",)),
)


def test_each_finding_holds_here_or_not_or_was_not_checked() -> None:
    page = SimpleNamespace(**vars(recorded()) | {"studies": {"add": make()}})
    lines = findings_here(FINDINGS, {"add": make()}, [page], 300)
    assert [line.split(":")[0].strip() for line in lines] == ["holds", "not here", "not checked, 1 of 3"]
    assert lines[0].endswith("100× here, 100× on the H200")
    assert "0.67×, down to" in lines[1]
    assert lines[2].endswith("skipped: the previous size predicts 3 s")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal_and_the_times_stay(width: int) -> None:
    shared = "the host's processor was shared while this was measured, so it may be slower than elsewhere"
    cells = tuple(replace(each, notes=(shared,)) if each.n else each for each in make().measurements)
    text = run_table(make(measurements=cells), [recorded(), recorded("NVIDIA L4")], width)
    assert max(map(len, text.splitlines())) <= width
    assert {"here", "H200", "remarks"} <= set(rows(text)[1])
    assert text.count("the host's processor was shared") == 1
    left_out = text.partition("Left out, because this terminal is narrow: ")[2]
    assert left_out.startswith("method")
