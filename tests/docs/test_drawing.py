"""Drawn cells are drawn again when something they depend on changed, and only then."""

from __future__ import annotations

import dataclasses
import re
import sys
from pathlib import Path

import pytest
from mini_project import Project

import gpuguide
from gpuguide.measure.kept import written_down
from gpuguide.recordings import store as recordings
from gpuguide.recordings.recording import Recording, Run
from gpuguide.results.ceilings import Ceiling, Ceilings
from gpuguide.results.records import Fact
from gpuguide_docs.pages.cells import Cell, read_cells
from gpuguide_docs.record.execution import CellError
from gpuguide_docs.replay.drawn_cells import draw, drawing_key, drawing_of, run_drawn_cell
from gpuguide_docs.replay.states import States
from gpuguide_docs.show.guide import GpuGuide

PLOT = "gg.plot_time(results)"
CLAIM = 'gg.claim(results, "numpy", faster_than="dot", at=65536)'
OTHER = 'print(gg.load("pictures", root=ROOT).facts["answer"].value)'


def drawn(project: Project, *codes: str, recording: Recording | None = None):
    """Draw the page `toy` with these pieces of code in its drawn cells."""
    states = States(project.layout, GpuGuide())
    script = project.layout.script("start", "toy")
    state = states["toy"]
    root = f"__import__('pathlib').Path({str(project.layout.recorded)!r})"
    codes = tuple(f"# draw\n{code.replace('ROOT', root)}\n" for code in codes or (PLOT,))
    cells = tuple(Cell("drawn", i, code, 10 * i + 1) for i, code in enumerate(codes))
    return draw(states, "toy", cells, recording or state.recording, state.digest, script)


def stamps(project: Project) -> dict[str, int]:
    folder = project.layout.cache / "drawn" / "toy"
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_unchanged_cells_come_from_the_cache(project):
    first = drawn(project)
    before = stamps(project)
    assert drawn(project) == first
    assert stamps(project) == before


@pytest.mark.parametrize(
    ("path", "old", "new", "again"),
    [
        ("src/gpuguide/charts/style.py", '"""How', '"""This is how', True),
        (
            "src/gpuguide/measure/study.py",
            "from __future__ import annotations",
            "from __future__ import annotations\n\nX = 1",
            False,
        ),
    ],
)
def test_the_key_covers_what_draws_and_not_what_only_measures(project, path, old, new, again):
    cells = tuple(cell for cell in read_cells(project.layout.script("start", "toy")) if cell.kind == "drawn")
    states = States(project.layout, GpuGuide())
    before = drawing_key(states, cells, "0")
    project.edit(path, old, new)
    assert (drawing_key(states, cells, "0") != before) is again


DRAWS = 'gg.plot_time(results)\ngg.plot_speedup(results, "numpy")\ngg.plot_samples(results, 65536)\nresults'
STATES = f'gg.fact("one", 1, unit="1")\ngg.explained("two", [1.0], 1.0)\n{CLAIM}'


@pytest.mark.parametrize("code", [DRAWS, STATES, OTHER], ids=["draws", "states", "loads"])
def test_the_key_covers_what_a_drawn_cell_runs(built, code):
    """Of the package; its `__init__` only says where a public name is."""
    guide, source, ran = GpuGuide(), Path(gpuguide.__file__).parents[1], set()
    cells = guide.page_cells(recordings.load("toy", root=built.layout.recorded))
    code = code.replace("ROOT", f"__import__('pathlib').Path({str(built.layout.recorded)!r})")
    sys.setprofile(lambda frame, _event, _arg: ran.add(frame.f_code.co_filename))
    try:
        run_drawn_cell(Cell("drawn", 0, code, 1), cells, "toy.py", guide)
    finally:
        sys.setprofile(None)
    ran = {path for path in map(Path, ran) if path.is_relative_to(source / "gpuguide")}
    assert len(ran) > 2
    assert ran - {source / "gpuguide" / "__init__.py"} <= set(guide.drawing_code(source))


def test_only_one_set_of_drawings_of_a_page_is_kept(project):
    drawn(project)
    drawn(project, f"ax = {PLOT}")
    assert len(list((project.layout.cache / "drawn" / "toy").iterdir())) == 1


def test_a_drawn_cell_finds_what_the_design_says(project):
    (output,) = drawn(project, "print(gg, plt, np, results, facts, ceilings)").outputs
    assert output.stdout


def three_starts(recording: Recording) -> Recording:
    """Give a recording two former runs; the ceiling of the newest one was throttled."""

    def ceilings(value: float) -> Ceilings:
        return Ceilings((Ceiling("fp16_tensor", value, "FLOP/s"),))

    former = [
        Run(
            recording.machine,
            recording.page,
            dataclasses.replace(recording.provenance, start=start),
            recording.key,
            facts={"peak": Fact("peak", 10e14, "FLOP/s")},
            ceilings=ceilings(value),
            studies=dict(recording.studies),
        )
        for start, value in (("a", 9.0e14), ("b", 8.9e14))
    ]
    return dataclasses.replace(
        recording,
        runs=tuple(former),
        facts={"peak": Fact("peak", 10e14, "FLOP/s", samples=(9e14, 12e14))},
        ceilings=ceilings(7.5e14),
        arrays={"counts": written_down([1, 2])},
    )


def test_a_fact_of_a_drawn_cell_is_the_median_over_the_starts(project):
    """Not what the newest run alone had; what comes from arrays that only that one has is its own."""
    codes = (
        'rate = ceilings.get("fp16_tensor").value\nprint(rate)',
        'print(gg.fact("share", rate / facts["peak"].value, unit="share").value)',
        'gg.fact("slowest", max(facts["peak"].samples), unit="FLOP/s", note="of two")',
        'gg.fact("counted", int(arrays["counts"].sum()), unit="1")',
        'gg.explained("parts", [facts["share"].value], 0.9)',
    )
    whole = three_starts(States(project.layout, GpuGuide())["toy"].recording)
    for _ in ("drawn", "kept"):
        drawing = drawn(project, *codes, recording=whole)
        facts = drawing.stated.facts
        assert {name: fact.value for name, fact in facts.items() if name != "parts"} == {
            "share": 0.89,
            "slowest": 12e14,
            "counted": 3,
        }
        assert "3 machine starts" in facts["share"].basis
        assert not any("3 machine starts" in facts[name].basis for name in ("slowest", "counted"))
        assert facts["parts"].value == pytest.approx(0.89 / 0.9)
        assert [output.stdout for output in drawing.outputs[:2]] == ["890000000000000.0\n", "0.89\n"]


def test_what_drawn_cells_state_is_kept_with_their_outputs(project):
    codes = ('gg.fact("one", 1, unit="1")', f'gg.fact("two", 2 * facts["one"].value, unit="1")\n{CLAIM}')
    first = drawn(project, *codes)
    assert {name: fact.value for name, fact in first.stated.facts.items()} == {"one": 1, "two": 2}
    assert [claim.holds for claim in first.stated.claims] == [True]
    before = stamps(project)
    assert drawn(project, *codes) == first
    assert stamps(project) == before


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        (
            ('gg.fact("one", 1, unit="1")', 'gg.fact("one", 2, unit="1")'),
            r"toy\.py:12: .* a fact 'one' already",
        ),
        ((CLAIM, CLAIM), r"toy\.py:12: .* a claim 'Sums: .*' already"),
        (
            (CLAIM.replace('"numpy", faster_than="dot"', '"dot", faster_than="numpy"'),),
            r"toy\.py:2: .* does not hold\. speedup over .*, host time: .*s \(.*, host time: .*s \(",
        ),
        (('gg.explained("wrong", [1.0], 2.0)',), r"toy\.py:2: .* explain 50 % of the whole"),
    ],
    ids=["fact twice", "claim twice", "claim that fails", "parts that do not add up"],
)
def test_a_statement_that_cannot_stand_names_file_and_line(project, codes, message):
    with pytest.raises(CellError, match=message):
        drawn(project, *codes)


def test_a_label_that_cannot_be_drawn_names_file_and_line(project):
    label = "import matplotlib.pyplot as plt\n_ = plt.figure().suptitle(r'$\\frac{$')"
    with pytest.raises(CellError, match=r"toy\.py:\d+: the figure of this cell cannot be saved: ValueError"):
        drawn(project, label)


def test_a_page_states_what_its_own_cells_do(project):
    states = States(project.layout, GpuGuide())
    assert drawing_of(states, states["pictures"]).stated.facts["twice"].value == 84
    project.edit("examples/later/pictures.py", "np.float64(0.5)", "np.float64(0.6)")
    states = States(project.layout, GpuGuide())
    assert drawing_of(states, states["pictures"]).stated.facts == {}


def test_what_another_page_measured_can_be_drawn_until_it_goes_stale(project):
    (output,) = drawn(project, OTHER).outputs
    assert output.stdout == "42\n"
    project.edit("examples/later/pictures.py", "np.float64(0.5)", "np.float64(0.6)")
    assert drawn(project, OTHER).outputs == (None,)


def test_a_warning_in_a_drawn_cell_is_an_error(project):
    with pytest.raises(CellError, match="RuntimeWarning"):
        drawn(project, "np.float64(1) / np.float64(0)")


@pytest.mark.parametrize("file", ["0-0.svg", "outputs.json"])
def test_a_drawing_of_which_a_file_is_gone_is_drawn_again(project, file):
    first = drawn(project)
    (folder,) = (project.layout.cache / "drawn" / "toy").iterdir()
    (folder / file).unlink()
    assert drawn(project) == first


def test_a_chart_is_drawn_for_phones_too(project):
    made = drawn(project)
    (picture,) = made.outputs[0].pictures
    assert b"<svg" in picture.narrow
    assert picture.narrow != picture.data
    stamped = stamps(project)
    assert drawn(project) == made
    assert stamps(project) == stamped


def test_a_page_shows_the_narrow_chart_to_phones(project):
    ran = project.build("-j", "2")
    assert ran.code == 0, ran.output
    shown = re.findall(r'<img alt="([^"]*)" class="([^"]*)"[^>]* src="[./]*_images/([^"]*)"', project.page())
    assert [(classes.replace("recorded-figure ", ""), file) for _, classes, file in shown] == [
        ("gg-wide only-light", "toy-1-light.svg"),
        ("gg-wide only-dark", "toy-1-dark.svg"),
        ("gg-narrow only-light", "toy-1-narrow-light.svg"),
        ("gg-narrow only-dark", "toy-1-narrow-dark.svg"),
    ]
    assert len({alt for alt, _, _ in shown}) == 1


def test_a_chart_on_a_page_written_by_hand_has_a_form_for_phones(project):
    chart = "A page written by hand\n\n.. drawn:: toy\n\n   gg.plot_time(results)\n\nIt goes on"
    project.edit("docs/other.rst", "A page written by hand", chart)
    ran = project.build()
    assert ran.code == 0, ran.output
    html = (project.html / "other.html").read_text(encoding="utf-8")
    shown = re.findall(r'class="recorded-figure ([^"]*)"[^>]* src="_images/([^"]*)"', html)
    assert shown == [
        ("gg-wide only-light", "other-1-0-light.svg"),
        ("gg-wide only-dark", "other-1-0-dark.svg"),
        ("gg-narrow only-light", "other-1-0-narrow-light.svg"),
        ("gg-narrow only-dark", "other-1-0-narrow-dark.svg"),
    ]
