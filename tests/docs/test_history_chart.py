"""The chart of a page's history, in the card of a page with several runs; clean and incremental builds."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from mini_project import MACHINE, Project
from test_record_replay import assert_incremental_equals_clean, built_ok

from gpuguide.recordings import store as recordings
from gpuguide_docs.show import history as charts


def add_run(project: Project, start: str, factor: float, page: str = "toy") -> None:
    """Save the newest run again, as made on another machine start, with other times."""
    folder = project.layout.recorded / MACHINE / page
    newest = recordings.read(folder, complete=True)
    studies = {
        name: replace(
            study,
            measurements=tuple(
                replace(cell, samples_ns=tuple(round(factor * ns) for ns in cell.samples_ns))
                for cell in study.measurements
            ),
        )
        for name, study in newest.studies.items()
    }
    provenance = replace(newest.provenance, start=start)
    run = replace(newest, runs=(), run_id="", folder=None, studies=studies, provenance=provenance)
    recordings.add(run, project.layout.recorded)


def card(project: Project) -> str:
    html = project.page()
    return html[html.index("gg-measured-card") :]


@pytest.fixture
def project(built_template) -> Project:
    return built_template.restored()


def test_a_page_of_one_run_has_no_chart(built):
    assert "gg-measured-card" in built.page()
    assert "of this page’s numbers moved" not in built.page()
    assert not (built.layout.docs / "_generated" / "history").exists()


def test_the_second_run_brings_a_chart_in_both_themes_with_its_words(project):
    add_run(project, "second", 1.5)
    built_ok(project)
    pictures = re.findall(
        r'<img alt="([^"]+)" class="recorded-figure only-(\w+)"[^>]* src="([^"]+)"', card(project)
    )
    assert [theme for _, theme, _ in pictures] == ["light", "dark"]
    assert pictures[0][0] == pictures[1][0]
    assert pictures[0][0].startswith("Numbers against 2 runs on two machine starts, each in per cent of its")
    assert "from 82 to 122 %" in pictures[0][0]
    light, dark = ((project.html / "gallery" / "start" / src).resolve() for *_, src in pictures)
    assert light.read_bytes() != dark.read_bytes()
    assert_incremental_equals_clean(project)


def test_a_third_run_an_edited_chart_and_other_words_are_seen_by_the_next_build(project):
    add_run(project, "second", 1.5)
    built_ok(project)
    add_run(project, "third", 1.1)
    built_ok(project)
    assert "3 runs on 3 machine starts" in card(project)
    project.edit("src/gpuguide/charts/history.py", "linewidth=1.0", "linewidth=1.7")
    project.edit("src/gpuguide/results/history.py", "Numbers against", "Three numbers against")
    built_ok(project)
    assert "Three numbers against 3 runs" in card(project)
    assert_incremental_equals_clean(project)


def test_without_its_former_runs_a_page_loses_the_chart(project):
    add_run(project, "second", 1.5)
    built_ok(project)
    folder = project.layout.recorded / MACHINE / "toy"
    newest = replace(recordings.read(folder, complete=True), runs=(), run_id="", folder=None)
    for path in folder.iterdir():
        path.unlink()
    recordings.save(newest, project.layout.recorded)
    built_ok(project)
    assert "numbers moved" not in card(project)
    assert not list((project.layout.docs / "_generated" / "history").iterdir())
    assert_incremental_equals_clean(project)


def test_only_what_changed_is_drawn_and_a_tampered_picture_is_drawn_again(project):
    from gpuguide_docs.show.guide import new_states

    add_run(project, "second", 1.5)
    layout = project.layout
    new_states(layout)
    assert charts.draw_histories(layout) == ["toy"]
    assert charts.draw_histories(layout) == []
    picture = layout.docs / "_generated" / "history" / "toy-dark.svg"
    drawn = picture.read_bytes()
    picture.write_text("<svg/>")
    assert charts.draw_histories(layout) == ["toy"]
    assert picture.read_bytes() == drawn
