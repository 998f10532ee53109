"""Recording is safe: a page that fails loses its new run alone, and the exit status says so."""

from __future__ import annotations

import json
import os
import re
import shutil

import pytest
from mini_project import MACHINE, Project, tree

from gpuguide.errors import RecordingError
from gpuguide.recordings import format
from gpuguide.recordings import store as recordings
from gpuguide_docs.record.page_run import save_checked

ADD = "values = np.arange(4)"


@pytest.fixture
def failing(make_project):
    """A function that breaks the page `toy`, records both pages, and checks what must hold in each case."""

    def record(old: str, new: str, *options: str, path: str = "examples/start/toy.py") -> tuple[Project, str]:
        project = make_project()
        before = project.recordings()
        project.edit(path, old, new)
        ran = project.record(*options)
        after = project.recordings()
        assert ran.code == 1, ran.output
        changed = {name.split("/")[1] for name in after if after[name] != before.get(name)}
        assert changed == {"pictures"}, "the other page is recorded, this one keeps its former recording"
        assert "its former recording stays" in ran.output
        return project, ran.output

    return record


def test_a_cell_that_raises_is_named_with_its_line(failing):
    project, output = failing(ADD, "values = np.nothing(4)")
    line = (project.root / "examples/start/toy.py").read_text().splitlines().index(
        "values = np.nothing(4)"
    ) + 1
    assert f"examples/start/toy.py:{line}: AttributeError" in output


def test_drawn_cells_are_not_run_while_recording(make_project):
    """What they import and change could otherwise hide in a recording."""
    project = make_project()
    project.edit("examples/start/toy.py", "gg.plot_time(results)", "open('drawn.txt', 'w')")
    ran = project.record("toy")
    assert ran.code == 0, ran.output
    assert not (project.root / "drawn.txt").exists()


def test_a_page_that_ends_its_process_records_nothing(failing):
    _, output = failing(ADD, f"import sys\nsys.exit(0)\n{ADD}")
    assert "the page ended the process" in output


def test_a_page_that_crashes_is_reported_with_its_signal(failing):
    _, output = failing(ADD, f"import os\nos.kill(os.getpid(), 11)\n{ADD}")
    assert "crashed (SIGSEGV)" in output


def test_a_page_that_hangs_is_killed_with_what_it_started(failing):
    code = f"import subprocess, time\nsubprocess.Popen(['sleep', '61'])\ntime.sleep(60)\n{ADD}"
    _, output = failing(ADD, code, "--timeout", "5")
    assert "no end after 5 s: killed" in output


def test_a_gate_that_fails_records_nothing(failing):
    _, output = failing("out[0] = x.sum()", "out[0] = x.sum() + 1", path="src/gpuguide/topics/toy/study.py")
    assert "MismatchError" in output


def test_a_claim_in_a_recorded_cell_records_nothing(failing):
    claim = 'gg.claim(results, "numpy", faster_than="dot", at=65536)'
    _, output = failing("results\n\n# %%", f"import gpuguide as gg\n{claim}\n\n# %%")
    assert "claim: a recorded cell measures, a drawn cell states" in output


def test_a_figure_of_a_recorded_cell_records_nothing(failing):
    _, output = failing("results\n\n# %%", "import matplotlib.pyplot as plt\nplt.figure()\n\n# %%")
    assert "this recorded cell leaves a figure open. Draw it in a cell of its own" in output


def test_a_spent_budget_ends_after_the_page_in_hand(make_project):
    project = make_project()
    before = project.recordings()
    ran = project.record("--budget", "0.5")
    after = project.recordings()
    assert ran.code == 3, ran.output
    assert {name.split("/")[1] for name in after if after[name] != before.get(name)} == {"toy"}
    assert "pictures" in ran.output
    assert "budget spent" in ran.output


def test_a_quick_run_keeps_nothing(make_project):
    project = make_project()
    before = project.recordings()
    ran = project.record("--quick", "toy")
    assert ran.code == 0, ran.output
    assert "ran, not kept" in ran.output
    assert project.recordings() == before


def test_without_a_gpu_one_sentence_says_so(project):
    ran = project.run("-m", "gpuguide_docs.record.recorder", "toy")
    assert ran.code == 2
    assert ran.output.startswith("Nothing recorded: ")
    assert "GPU" in ran.output or "CuPy" in ran.output
    assert "Traceback" not in ran.output


def test_an_unknown_page_names_the_nearest(project):
    ran = project.record("tyo")
    assert ran.code == 2
    assert "'toy'" in ran.output


def test_a_recording_holds_typed_outputs_names_and_provenance(recorded_template):
    folder = recorded_template.layout.recorded / MACHINE
    toy = recordings.read(folder / "toy", complete=True)
    assert toy.names == {"results": "sums"}
    assert [cell.cell for cell in toy.cells] == [0, 1]
    assert toy.cells[0].stdout == "6 |not a substitution| `nor a role`_\n"
    assert (toy.cells[1].stdout, toy.cells[1].shows) == ("", "sums")
    assert ("results", "gpuguide.results.results", "Results", "gpuguide", False) in toy.cells[1].names
    assert toy.provenance.cpu
    assert dict(toy.provenance.versions)["numpy"]
    pictures = recordings.read(folder / "pictures", complete=True)
    assert pictures.facts["answer"].value == 42
    assert "twice" not in pictures.facts
    assert pictures.cells[0].stdout == "   indented\nnp.float64(0.5)\n"
    assert pictures.cells[1].study.title == "Sums"


def test_the_key_holds_what_measured_and_nothing_that_draws(recorded_template):
    folder = recorded_template.layout.recorded / MACHINE / "toy"
    parts = {name for name, _ in recordings.read(folder).keys.parts}
    assert {
        "cell 1",
        "cell 2",
        "gpuguide",
        "gpuguide.topics",
        "gpuguide.topics.toy.study",
        "gpuguide.machine.device",
        "gpuguide.measure.study",
        "gpuguide.measure.timing",
        "gpuguide_docs",
        "gpuguide_docs.record.execution",
        "gpuguide_docs.record.process",
        "gpuguide_docs.record.page_run",
    } <= parts
    rooms = {".".join(name.split(".")[:2]) for name in parts}
    assert not rooms & {"gpuguide.charts", "gpuguide.recordings", "gpuguide_docs.replay", "cell 3"}
    assert not {name for name in parts if name.startswith("gpuguide_docs.") and ".record" not in name}


def test_a_module_that_a_drawn_cell_imports_too_counts(make_project):
    """It counts because a recorded cell loads it, wherever else it is imported, and only then."""
    project = make_project()
    (project.root / "src/gpuguide/topics/toy/late.py").write_text("FACTOR = 1\n")
    project.edit("examples/start/toy.py", "# draw\n", "# draw\nfrom gpuguide.topics.toy import late\n")
    assert project.record("toy").code == 0
    folder = project.layout.recorded / MACHINE / "toy"
    assert "gpuguide.topics.toy.late" not in dict(recordings.read(folder).keys.parts)
    page = project.root / "examples/start/toy.py"
    page.write_text(page.read_text() + "\n# %%\n# Text.\n\nfrom gpuguide.topics.toy import late\n")
    assert project.record("toy").code == 0
    assert "gpuguide.topics.toy.late" in dict(recordings.read(folder).keys.parts)


def test_a_package_loaded_from_elsewhere_is_refused(make_project, tmp_path):
    """Or the digests would be those of another tree."""
    project = make_project()
    shutil.copytree(project.root / "src" / "gpuguide", tmp_path / "gpuguide")
    before = project.recordings()
    paths = (tmp_path, project.root / "docs" / "_ext", project.root / "src")
    ran = project.record("toy", PYTHONPATH=os.pathsep.join(map(str, paths)))
    assert ran.code == 1, ran.output
    assert f"loaded from {tmp_path}" in ran.output
    assert project.recordings() == before


@pytest.fixture
def measured(recorded_template, tmp_path):
    """A recording as it is before it is saved, and a folder that holds the former one."""
    shutil.copytree(recorded_template.layout.recorded, tmp_path / "recorded")
    return recordings.read(tmp_path / "recorded" / MACHINE / "toy", complete=True), tmp_path / "recorded"


@pytest.mark.parametrize(
    ("written", "instead", "field"),
    [
        (r'("samples_ns":\[)\d+', r"\g<1>7", "studies"),
        (r'"flops":256\b', '"flops":257', "studies"),
        (r'"6 \|not', '"7 |not', "cells"),
    ],
)
def test_what_is_not_read_back_as_it_was_measured_is_refused(measured, monkeypatch, written, instead, field):
    """An encoder that drops or changes data cannot pass unnoticed: all its hashes fit what it wrote."""
    recording, root = measured
    before = tree(root)
    dumps = format.dumps
    monkeypatch.setattr(format, "dumps", lambda thing: re.sub(written, instead, dumps(thing)))
    with pytest.raises(RecordingError, match="not read back as it was measured") as caught:
        save_checked(recording, root)
    assert caught.value.field == field
    assert tree(root) == before, "the former recording stays"
    monkeypatch.undo()
    save_checked(recording, root)
    assert tree(root) == before, "the same run is written as the same bytes"


def test_files_are_data(recorded_template):
    for path in (recorded_template.layout.recorded / MACHINE).rglob("*"):
        assert path.is_dir() or path.suffix == ".json"
    json.loads((recorded_template.layout.recorded / MACHINE / "toy" / "run.json").read_text())
