"""Two trees are compared on pages that show every clock and every changed module; the evidence decides."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from mini_project import PAGES
from small_site import PROVENANCE

from gpuguide.errors import ArgumentError
from gpuguide.recordings import equivalent, store
from gpuguide.recordings.keys import measuring_key, module_path, recorded_cells
from gpuguide.recordings.recording import Recording
from gpuguide.results.records import Measurement, VariantInfo
from gpuguide.results.results import Results
from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.record.equivalent import Trial, changed_modules, main, record_turn, tree_of

MACHINE = "nvidia-h200"
FILES = {
    "src/gpuguide/__init__.py": "",
    "src/gpuguide/topics/toy/study.py": "SIZES = (8, 16)\n",
    "src/gpuguide/machine/device.py": "PEAK = 1\n",
    "src/gpuguide/measure/timing.py": '"""Timing."""\nMIN_SAMPLES = 20\n',
    "src/gpuguide/measure/clocks.py": "TICK = 1\n",
    "docs/_ext/gpuguide_docs/record/execution.py": "def run(cell):\n    return cell\n",
    "docs/_ext/gpuguide_docs/record/recorder.py": "BUDGET = 600\n",
    "examples/pages.toml": PAGES,
    "examples/start/toy.py": '"""\nToy\n"""\n# %%\n# Text.\n\nfrom gpuguide.topics import toy\n',
    "examples/later/pictures.py": '"""\nPictures\n"""\n# %%\n# Text.\n\nx = 1\n',
}
LOADED = {
    "toy": ("topics.toy.study", "machine.device", "measure.timing"),
    "pictures": ("machine.device", "measure.clocks"),
}
CLOCKS = {"toy": ("device", "launch", "host"), "pictures": ("device", "end_to_end")}
#: Nanoseconds of a call, by the clock.
TIMES = {"device": 100_000, "launch": 3_000, "host": 2_000_000, "end_to_end": 500_000}


def write(root: Path, files: Mapping[str, str]) -> Layout:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Layout(root)


def recording(layout: Layout, page: str, factors: Mapping[str, float] | None = None) -> Recording:
    """What a machine records on which each clock takes `TIMES`, and as much longer as `factors` says."""
    script = next(layout.examples.rglob(f"{page}.py"))
    loaded = [f"gpuguide.{name}" for name in LOADED[page]] + ["gpuguide_docs.record.execution"]
    there = [name for name in loaded if module_path(name, layout.source).is_file()]
    variants = tuple(VariantInfo(f"on_{clock}", f"on {clock}") for clock in CLOCKS[page])
    cells = tuple(
        Measurement(f"on_{clock}", size, clock, (round(TIMES[clock] * (factors or {}).get(clock, 1)),), (0,))
        for clock in CLOCKS[page]
        for size in (8, 16)
    )
    study = Results("sums", "Sums", "n", "float64", variants=variants, sizes=(8, 16), measurements=cells)
    return Recording(
        machine=MACHINE,
        page=page,
        provenance=dataclasses.replace(PROVENANCE, run_time_s={"toy": 9.0, "pictures": 5.0}[page]),
        keys=measuring_key(recorded_cells(script.read_text()), there, layout.source),
        studies={"sums": study},
    )


@pytest.fixture
def trees(tmp_path: Path) -> tuple[Layout, Layout]:
    """An old tree, and a new one that is the same still; both with the recordings of the old."""
    old = write(tmp_path / "old", FILES)
    for page in LOADED:
        store.save(recording(old, page), old.recorded)
    shutil.copytree(old.root, tmp_path / "new")
    return old, Layout(tmp_path / "new")


class Lab:
    """Stands in for a machine: records at once, as long as told for each clock on the new tree."""

    def __init__(self, **factors: float) -> None:
        self.factors = factors
        self.turns: list[tuple[str, tuple[str, ...]]] = []

    def __call__(self, layout: Layout, pages: Sequence[str], machine: str) -> Mapping[str, Recording]:
        self.turns.append((layout.root.name, tuple(pages)))
        factors = self.factors if layout.root.name == "new" else {}
        return {page: recording(layout, page, factors) for page in pages}


def run(trees: tuple[Layout, Layout], lab: Lab) -> int:
    old, new = trees
    return main(
        [str(old.root), "--root", str(new.root), "--reason", "A faster gate", "--machine", MACHINE], lab
    )


def edit(layout: Layout, file: str, old: str, new: str) -> None:
    path = layout.root / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


TIMING, CLOCK = "src/gpuguide/measure/timing.py", "src/gpuguide/measure/clocks.py"


def staleness(layout: Layout, page: str) -> tuple[str, ...]:
    script = next(layout.examples.rglob(f"{page}.py"))
    return store.staleness(store.load(page, MACHINE, layout.recorded), script, layout.source)


def test_equal_trees_need_no_entry(trees, capsys):
    lab = Lab()
    assert run(trees, lab) == 0
    assert "Nothing to do" in capsys.readouterr().out
    assert not lab.turns
    assert not (trees[1].recorded / equivalent.FILE).exists()


def test_a_change_that_measures_the_same_keeps_recordings_current(trees, capsys):
    _, new = trees
    edit(new, TIMING, "MIN_SAMPLES = 20", "MIN_SAMPLES = 10 + 10")
    assert staleness(new, "toy") == (TIMING,)
    lab = Lab(device=1.009, host=0.975)
    assert run(trees, lab) == 0, capsys.readouterr()
    assert staleness(new, "toy") == ()
    assert staleness(new, "pictures") == ()
    assert not equivalent.problems(new.recorded)
    assert "device       new / old = 1.0090" in capsys.readouterr().out


def test_the_trees_take_turns(trees):
    edit(trees[1], TIMING, "20", "10 + 10")
    lab = Lab()
    run(trees, lab)
    assert [name for name, _ in lab.turns] == [
        "old",
        "new",
        "new",
        "old",
        "old",
        "new",
        "new",
        "old",
        "old",
        "new",
    ]


def test_pages_are_picked_so_that_each_clock_and_changed_module_is_seen(trees):
    """The toy alone loads timing, pictures alone has times end to end."""
    edit(trees[1], TIMING, "20", "21")
    assert set(Trial(*trees, MACHINE).pages()) == {"toy", "pictures"}


def test_of_two_pages_that_show_all_the_quicker_is_taken(trees, monkeypatch):
    monkeypatch.setitem(CLOCKS, "toy", ("device",))
    monkeypatch.setitem(CLOCKS, "pictures", ("device",))
    for layout in trees:
        for page in LOADED:
            # Not one more run of the same page, for it measures other cells.
            shutil.rmtree(layout.recorded / MACHINE / page)
            store.save(recording(layout, page), layout.recorded)
    edit(trees[1], "src/gpuguide/machine/device.py", "1", "2")
    assert Trial(*trees, MACHINE).pages() == ("pictures",)


def test_a_page_where_the_change_would_show_is_compared_too(trees):
    edit(trees[1], "src/gpuguide/machine/device.py", "1", "2")
    trial = Trial(*trees, MACHINE)
    assert set(trial.pages(["toy", "toy"])) == {"toy", "pictures"}
    with pytest.raises(ArgumentError, match="'cat' cannot be compared: has no recording"):
        trial.pages(["cat"])
    edit(trees[1], "src/gpuguide/topics/toy/study.py", "(8, 16)", "(8, 32)")
    with pytest.raises(ArgumentError, match=r"'toy' .*study changed"):
        Trial(*trees, MACHINE).pages(["toy"])


@pytest.mark.parametrize(
    ("factors", "words"),
    [
        ({"device": 1.011}, "clock device"),
        ({"launch": 0.96}, "clock launch"),
        ({"end_to_end": 1.04}, "clock end"),
    ],
)
def test_another_time_is_refused(trees, factors, words, capsys):
    edit(trees[1], TIMING, "20", "21")
    assert run(trees, Lab(**factors)) == 1
    assert words in capsys.readouterr().err
    assert not (trees[1].recorded / equivalent.FILE).exists()
    assert staleness(trees[1], "toy") == (TIMING,)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("src/gpuguide/topics/toy/study.py", "(8, 16)", "(8, 32)"),
        ("examples/start/toy.py", "import toy", "import toy as toys"),
    ],
)
def test_what_is_measured_must_be_the_same(trees, file, old, new, capsys):
    """No entry speaks of topics and cells: the page must be recorded."""
    edit(trees[1], TIMING, "20", "21")
    edit(trees[1], file, old, new)
    lab = Lab()
    assert run(trees, lab) == 2
    said = capsys.readouterr().err
    assert "toy: " in said
    assert "changed" in said
    assert not lab.turns


def test_a_page_whose_topic_changed_stays_stale_beside_an_entry(trees):
    """What others can show is shown; the entry says nothing of the topic."""
    edit(trees[1], CLOCK, "TICK = 1", "TICK = 2 - 1")
    edit(trees[1], "examples/start/toy.py", "import toy", "import toy as toys")
    for layout in trees:
        shutil.rmtree(layout.recorded / MACHINE / "toy")
    assert run(trees, Lab()) == 0
    store.save(recording(trees[0], "toy"), trees[1].recorded)
    assert staleness(trees[1], "pictures") == ()
    assert staleness(trees[1], "toy") == ("cell 1 of examples/start/toy.py",)


def test_cells_that_only_one_tree_measures_are_named(trees, monkeypatch, capsys):
    edit(trees[1], TIMING, "20", "21")

    def lab(layout, pages, machine):
        monkeypatch.setitem(
            CLOCKS, "toy", ("device", "launch") if layout.root.name == "new" else ("device", "host")
        )
        return {page: recording(layout, page) for page in pages}

    assert run(trees, lab) == 2
    assert "toy sums on_host 8 on clock host" in capsys.readouterr().err


def test_two_entries_lead_on(trees, tmp_path):
    first, second = trees
    edit(second, TIMING, "20", "10 + 10")
    assert run((first, second), Lab()) == 0
    third = Layout(tmp_path / "third" / "new")
    shutil.copytree(second.root, third.root)
    edit(third, TIMING, "10 + 10", "5 * 4")
    assert staleness(third, "toy") == (TIMING,)
    assert run((second, third), Lab()) == 0
    assert len(equivalent.read_entries(third.recorded)) == 2
    assert staleness(third, "toy") == ()
    # A later change is not covered.
    edit(third, TIMING, "5 * 4", "5 * 5")
    assert staleness(third, "toy") == (TIMING,)


def test_taking_a_change_back_needs_no_entry(trees):
    edit(trees[1], TIMING, "20", "10 + 10")
    assert run(trees, Lab()) == 0
    edit(trees[1], TIMING, "10 + 10", "20")
    assert staleness(trees[1], "toy") == ()


def test_a_module_that_pages_load_since_counts(trees, monkeypatch):
    """Or an edit of it would go unnoticed in recordings that were made before it was there."""
    _, new = trees
    (new.source / "gpuguide/measure/stopping.py").write_text("MIN_SAMPLES = 20\n")
    edit(new, TIMING, "MIN_SAMPLES = 20", "from gpuguide.measure.stopping import MIN_SAMPLES")
    monkeypatch.setitem(LOADED, "toy", (*LOADED["toy"], "measure.stopping"))
    assert run(trees, Lab()) == 0
    assert staleness(new, "toy") == ()
    edit(new, "src/gpuguide/measure/stopping.py", "20", "2")
    assert staleness(new, "toy") == ("src/gpuguide/measure/stopping.py",)


def test_a_module_that_moved_is_followed(trees, monkeypatch):
    _, new = trees
    (new.source / "gpuguide/measure/timing.py").rename(new.source / "gpuguide/measure/timers.py")
    assert staleness(new, "toy") == (f"{TIMING} is gone",)
    monkeypatch.setitem(LOADED, "toy", (*LOADED["toy"], "measure.timers"))
    assert run(trees, Lab()) == 0
    assert staleness(new, "toy") == ()
    edit(new, "src/gpuguide/measure/timers.py", "20", "2")
    assert staleness(new, "toy") == ("src/gpuguide/measure/timers.py",)


def test_an_entry_needs_all_that_it_names_as_it_was(trees):
    """Two changes were tried together: a recording with one of them already is another thing."""
    _, new = trees
    edit(new, TIMING, "20", "10 + 10")
    half = recording(new, "toy")
    edit(new, "src/gpuguide/machine/device.py", "PEAK = 1", "PEAK = 2 - 1")
    assert run(trees, Lab()) == 0
    assert staleness(new, "toy") == ()
    store.save(half, new.recorded)
    assert staleness(new, "toy") == ("src/gpuguide/machine/device.py",)


def entry_file(trees: tuple[Layout, Layout]) -> Path:
    edit(trees[1], TIMING, "20", "10 + 10")
    assert run(trees, Lab(device=1.005)) == 0
    return trees[1].recorded / equivalent.FILE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("100500.0", "100400.0"),
        ('reason = "A faster gate"', 'reason = "A better gate"'),
        ("[[entry]]", "[[entry]]\nparts = []"),
        ('"toy sums on_device 8", "device",', '"toy sums on_device 8", "host",'),
    ],
)
def test_an_entry_that_was_changed_by_hand_is_found(trees, old, new):
    path = entry_file(trees)
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    (_,) = equivalent.problems(trees[1].recorded)
    assert staleness(trees[1], "toy") == (TIMING,), "and it keeps nothing current"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cells": ()}, "there are no times of clock device"),
        ({"parts": ()}, "names no module that changed"),
        ({"clocks": (), "cells": ()}, "there are no times"),
    ],
)
def test_an_entry_without_evidence_is_found(trees, change, words):
    """Also one that somebody sealed: the verdict is computed from what is there."""
    path = entry_file(trees)
    (entry,) = equivalent.read_entries(trees[1].recorded)
    path.write_text(equivalent.render([equivalent.sealed(dataclasses.replace(entry, **change))]))
    assert any(words in finding for finding in equivalent.problems(trees[1].recorded))
    assert staleness(trees[1], "toy") == (TIMING,)


def test_evidence_that_does_not_give_the_verdict_is_found(trees):
    path = entry_file(trees)
    (entry,) = equivalent.read_entries(trees[1].recorded)
    slower = tuple(
        dataclasses.replace(cell, new_ns=tuple(1.5 * ns for ns in cell.new_ns)) for cell in entry.cells
    )
    path.write_text(equivalent.render([equivalent.sealed(dataclasses.replace(entry, cells=slower))]))
    assert any(
        "clock device: the new tree takes 1.5" in found for found in equivalent.problems(trees[1].recorded)
    )
    assert staleness(trees[1], "toy") == (TIMING,)


def test_an_entry_cannot_speak_of_topics(trees):
    path = entry_file(trees)
    (entry,) = equivalent.read_entries(trees[1].recorded)
    part = equivalent.Part("gpuguide.topics.toy.study", "a", "b", "a", "b", "toy")
    path.write_text(
        equivalent.render([equivalent.sealed(dataclasses.replace(entry, parts=(*entry.parts, part)))])
    )
    assert "gpuguide.topics.toy.study lies in none of" in equivalent.problems(trees[1].recorded)[0]


@pytest.mark.parametrize("empty", ["old", "reason"])
def test_without_an_old_tree_and_a_reason_nothing_is_compared(trees, empty, capsys):
    old, new = trees
    words = {"old": str(old.root), "reason": "A faster gate"} | {empty: " "}
    options = ["--root", str(new.root), "--reason", words["reason"], "--machine", MACHINE]
    assert main([words["old"], *options], Lab()) == 2
    assert "name the old tree and a reason" in capsys.readouterr().err


def test_a_commit_that_git_does_not_know_is_named(trees, capsys):
    new = trees[1].root
    assert main(["nonsense", "--root", str(new), "--reason", "x", "--machine", MACHINE], Lab()) == 2
    assert "'nonsense' is no folder, and no commit" in capsys.readouterr().err


def test_a_turn_records_with_the_recorder_of_its_tree(make_project):
    """In a copy: the tree keeps its recordings."""
    project = make_project()
    project.edit("src/gpuguide/topics/toy/study.py", "sizes=(256, 65536)", "sizes=(256,)")
    before = project.recordings()
    recorded = record_turn(["--allow-cpu"])(project.layout, ["toy"], "test-cpu")
    assert recorded["toy"].studies["sums"].sizes == (256,)
    assert project.recordings() == before


def test_a_turn_finds_packages_where_the_machine_keeps_them(make_project, tmp_path, monkeypatch):
    """The GPU build machine has some in a folder that PYTHONPATH names."""
    tmp_path.joinpath("kept_here.py").write_text("VALUES = 4\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    project = make_project()
    project.edit("examples/start/toy.py", "np.arange(4)", "np.arange(__import__('kept_here').VALUES)")
    assert record_turn(["--allow-cpu"])(project.layout, ["toy"], "test-cpu")


def test_a_turn_that_fails_says_what_the_recorder_said(make_project):
    project = make_project()
    project.edit("examples/start/toy.py", "values = np.arange(4)", "values = np.nothing(4)")
    with pytest.raises(ArgumentError, match=r"(?s)did not record toy.*AttributeError"):
        record_turn(["--allow-cpu"])(project.layout, ["toy"], "test-cpu")


def test_the_old_tree_may_be_a_commit(tmp_path):
    write(tmp_path, FILES)
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    edit(Layout(tmp_path), TIMING, "20", "21")
    with tree_of("HEAD", tmp_path) as old:
        assert (old.root / TIMING).read_text() == FILES[TIMING]
        assert changed_modules(old, Layout(tmp_path)) == ("gpuguide.measure.timing",)
