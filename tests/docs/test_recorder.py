"""Recording is safe: a page that fails loses its new run alone, and the exit status says so."""

from __future__ import annotations

import json

import pytest
from mini_project import MACHINE, Project

from gpuguide.recordings import store as recordings

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


def test_a_drawn_cell_that_raises_is_found_while_recording(failing):
    _, output = failing("gg.plot_time(results)", "gg.plot_time(values)")
    assert "toy.py" in output


def test_a_page_that_crashes_is_reported_with_its_signal(failing):
    _, output = failing(ADD, f"import os\nos.kill(os.getpid(), 11)\n{ADD}")
    assert "crashed (SIGSEGV)" in output


def test_a_page_that_hangs_is_killed_with_what_it_started(failing):
    code = f"import subprocess, time\nsubprocess.Popen(['sleep', '61'])\ntime.sleep(60)\n{ADD}"
    _, output = failing(ADD, code, "--timeout", "10")
    assert "no end after 10 s: killed" in output


def test_a_gate_that_fails_records_nothing(failing):
    _, output = failing("out[0] = x.sum()", "out[0] = x.sum() + 1", path="src/gpuguide/topics/toy.py")
    assert "MismatchError" in output


def test_a_claim_in_a_recorded_cell_records_nothing(failing):
    claim = 'gg.claim("It takes time", results, lambda r: r.measurement("dot", 65536).median_s > 0)'
    _, output = failing("results\n\n# %%", f"import gpuguide as gg\n{claim}\n\n# %%")
    assert "claim 'It takes time': a recorded cell measures, a drawn cell states" in output


def test_a_figure_of_a_recorded_cell_records_nothing(failing):
    _, output = failing("results\n\n# %%", "import matplotlib.pyplot as plt\nplt.figure()\n\n# %%")
    assert "this recorded cell leaves a figure open. Draw it in a cell of its own" in output


def test_a_spent_budget_ends_after_the_page_in_hand(make_project):
    project = make_project()
    before = project.recordings()
    ran = project.record("--budget", "0.5")
    after = project.recordings()
    assert ran.code == 3, ran.output
    assert {name.split("/")[1] for name in after if after[name] != before[name]} == {"toy"}
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


def test_measuring_modules_are_in_the_key_and_drawing_modules_are_not(recorded_template):
    folder = recorded_template.layout.recorded / MACHINE / "toy"
    parts = {name for name, _ in recordings.read(folder).keys.parts}
    assert {
        "cell 1",
        "cell 2",
        "gpuguide.topics.toy",
        "gpuguide.measure.study",
        "gpuguide.measure.timing",
    } <= parts
    assert not parts & {"gpuguide.charts.style", "gpuguide.plotting", "cell 3"}


def test_files_are_data(recorded_template):
    for path in (recorded_template.layout.recorded / MACHINE).rglob("*"):
        assert path.is_dir() or path.suffix == ".json"
    json.loads((recorded_template.layout.recorded / MACHINE / "toy" / "run.json").read_text())
