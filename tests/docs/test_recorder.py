"""Recording is safe: a page that fails loses its new run alone, and the exit status says so."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from mini_project import MACHINE, TOY, Project, run_file

from gpuguide.recordings import store as recordings
from gpuguide.recordings.harness import read_harness
from gpuguide_docs.pages.pages_toml import Page, read_pages
from gpuguide_docs.record import process
from gpuguide_docs.record.process import START, Outcome, run_process
from gpuguide_docs.record.recorder import Course, former_times, told

ADD = "values = np.arange(4)"
LINE = TOY.splitlines().index(ADD) + 1
SHOW = "results\n\n# %%"
# What is wrong with a page: its text, what is written instead, and what the recorder says of it.
FAILURES = {
    "raises": (ADD, "values = np.nothing(4)", f"examples/start/raises.py:{LINE}: AttributeError"),
    "ends": (ADD, f"import sys\nsys.exit(0)\n{ADD}", "the page ended the process"),
    "crashes": (ADD, f"import os\nos.kill(os.getpid(), 11)\n{ADD}", "crashed (SIGSEGV)"),
    "hangs": (
        ADD,
        f"import subprocess, time\nsubprocess.Popen(['sleep', '61'])\ntime.sleep(60)\n{ADD}",
        "no end after 8 s: killed",
    ),
    "claims": (
        SHOW,
        'import gpuguide as gg\ngg.claim(results, "numpy", faster_than="dot", at=65536)\n\n# %%',
        "claim: a recorded cell only measures",
    ),
    "draws": (
        SHOW,
        "import matplotlib.pyplot as plt\nplt.figure()\n\n# %%",
        "this recorded cell leaves a figure open. Draw it in a cell of its own",
    ),
    "computes": ("toy.study()", "toy.wrong_study()", "MismatchError"),
}
WRONG_STUDY = """

def wrong_study():
    \"\"\"Whose first variant is one off.\"\"\"
    right = study()
    first, *others = right.variants
    off = dataclasses.replace(first, call=lambda x, out: np.add(sum_numpy(x, out), 1, out=out))
    return dataclasses.replace(right, variants=(off, *others))
"""


@pytest.fixture(scope="module")
def failed(make_project) -> tuple[Project, dict[str, bytes], str]:
    """A project of which most pages fail, its recordings before, and what the recorder said."""
    project = make_project()
    study = project.root / "src/gpuguide/topics/toy/study.py"
    study.write_text(
        study.read_text().replace("import math\n", "import dataclasses\nimport math\n") + WRONG_STUDY
    )
    text = project.layout.script("start", "toy").read_text()
    entries = project.layout.pages_toml.read_text()
    toy = "[[page]]" + entries.split("[[page]]")[1]
    for name, (old, new, _) in FAILURES.items():
        assert old in text
        project.layout.script("start", name).write_text(text.replace(old, new))
        shutil.copytree(project.layout.recorded / MACHINE / "toy", project.layout.recorded / MACHINE / name)
        entries += "\n" + toy.replace('name = "toy"', f'name = "{name}"\ntopic = "toy"')
    project.layout.pages_toml.write_text(entries)
    before = project.recordings()
    ran = project.record("--timeout", "8")
    assert ran.code == 1, ran.output
    return project, before, ran.output


@pytest.mark.parametrize("name", FAILURES)
def test_a_page_that_fails_is_named_and_keeps_its_former_recording(failed, name):
    project, before, output = failed
    assert f"\n{name}: " in output
    assert FAILURES[name][2] in output
    of_this = {file: data for file, data in project.recordings().items() if f"/{name}/" in file}
    assert of_this == {file: before[file] for file in of_this}
    assert of_this


def test_the_other_pages_are_recorded(failed):
    project, before, output = failed
    after = project.recordings()
    changed = {name.split("/")[1] for name in after if after[name] != before.get(name)}
    assert changed == {"toy", "pictures"}
    assert output.count("its former recording stays") == len(FAILURES)


def test_drawn_cells_are_not_run_while_recording(make_project):
    """What they import and change could otherwise hide in a recording."""
    project = make_project()
    project.edit("examples/start/toy.py", "gg.plot_time(results)", "open('drawn.txt', 'w')")
    ran = project.record("toy")
    assert ran.code == 0, ran.output
    assert not (project.root / "drawn.txt").exists()


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
    toy = recordings.read(folder / "toy")
    assert toy.names == {"results": "sums"}
    assert [cell.cell for cell in toy.cells] == [0, 1]
    assert toy.cells[0].stdout == "6 |not a substitution| `nor a role`_\n"
    assert (toy.cells[1].stdout, toy.cells[1].shows) == ("", "sums")
    assert ("results", "gpuguide.results.results", "Results", "gpuguide.results.results", False) in toy.cells[
        1
    ].names
    assert toy.provenance.cpu
    assert dict(toy.provenance.versions)["numpy"]
    pictures = recordings.read(folder / "pictures")
    assert pictures.facts["answer"].value == 42
    assert "twice" not in pictures.facts
    assert pictures.cells[0].stdout == "   indented\nnp.float64(0.5)\n"
    assert pictures.cells[1].study.title == "Sums"


def test_the_key_holds_recorded_cells_topics_and_the_harness(recorded_template):
    key = recordings.read(recorded_template.layout.recorded / MACHINE / "toy").key
    assert len(key.cells) == 2
    assert [name for name, _ in key.topics] == ["toy"]
    assert key.harness == read_harness(recorded_template.layout.source).version


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


def test_files_are_data(recorded_template):
    for path in (recorded_template.layout.recorded / MACHINE).rglob("*"):
        assert path.is_dir() or path.suffix == ".json"
    json.loads(run_file(recorded_template).read_text())


@dataclass
class FakeRecorder:
    """Takes as long for a page as it is told, on a clock that nothing else moves."""

    takes_s: dict[str, float]
    now_s: float = 0.0
    budgets: dict[str, float] = field(default_factory=dict)

    def record(self, page: Page, budget_s: float) -> Outcome:
        self.budgets[page.name] = budget_s
        self.now_s += self.takes_s[page.name]
        return Outcome(page.name, True, seconds=self.takes_s[page.name], n_runs=1, n_starts=1)


def course(pages, took_s, takes_s, budget_s=100.0, **options):
    """A course that is through, what it said, and the budgets that it gave."""
    recorder, said = FakeRecorder(takes_s), []
    made = Course(recorder, budget_s, took_s, now=lambda: recorder.now_s, **options)
    made.run(pages, said.append)
    return made, said, recorder.budgets


@pytest.fixture
def pages(recorded_template):
    return read_pages(recorded_template.layout)


def test_the_budget_is_shared_by_what_the_pages_took_before(pages):
    _, _, budgets = course(pages, {"toy": 40.0, "pictures": 10.0}, {"toy": 40.0, "pictures": 10.0})
    assert budgets == {"toy": 80.0, "pictures": 60.0}, "the second gets all that the first left"


def test_the_budget_is_shared_equally_among_pages_that_were_never_recorded(pages):
    _, _, budgets = course(pages, {}, {"toy": 50.0, "pictures": 1.0})
    assert budgets == {"toy": 50.0, "pictures": 50.0}


def test_a_new_page_counts_as_one_in_the_middle(pages):
    _, _, budgets = course(pages, {"toy": 7.0}, {"toy": 20.0, "pictures": 1.0})
    assert budgets["toy"] == 50.0


@pytest.mark.parametrize(
    ("took_s", "first_s", "left_out"),
    [
        # A page that was never recorded needs a tenth of the budget, any other most of what it took.
        ({}, 89.0, []),
        ({}, 91.0, ["pictures"]),
        ({"toy": 90.0, "pictures": 10.0}, 92.0, []),
        ({"toy": 90.0, "pictures": 10.0}, 94.0, ["pictures"]),
    ],
)
def test_no_page_is_begun_for_which_too_little_of_the_budget_is_left(pages, took_s, first_s, left_out):
    done, said, _ = course(pages, took_s, {"toy": first_s, "pictures": 1.0})
    assert [page.name for page in done.left_out] == left_out
    assert len(said) == len(done.outcomes) == 2 - len(left_out)


def test_a_line_says_which_run_was_added_and_where_the_time_went():
    phases = {"gate": 1.25, "timing": 8.0, "saving": 0.01}
    outcome = Outcome("toy", True, "", 9.3, (), MACHINE, 3, 2, phases)
    assert told(outcome) == "toy: recorded (run 3, machine start 2) in 9.3 s: timing 8.0, gate 1.2"
    assert told(Outcome("toy", False, "crashed (SIGSEGV)", 1.0)) == "toy: crashed (SIGSEGV) in 1.0 s"
    assert told(Outcome("toy", True, "", 1.0)) == "toy: ran, not kept in 1.0 s"


@pytest.fixture
def recordable(recorded_template, tmp_path):
    """A copy of the recorded project that nothing was built of."""
    shutil.copytree(recorded_template.root, tmp_path / "mini")
    return Project(tmp_path / "mini")


def test_what_a_page_took_is_read_from_its_recording(recordable):
    layout = recordable.layout
    pages = read_pages(layout)
    found = former_times(pages, MACHINE, layout.recorded)
    assert found.keys() == {"toy", "pictures"}
    assert all(seconds > 0 for seconds in found.values())
    assert former_times(pages, "another", layout.recorded) == {}
    run_file(recordable).write_text("{")
    assert former_times(pages, MACHINE, layout.recorded).keys() == {"pictures"}, "it is about to be replaced"


def test_a_recording_session_says_what_it_added_and_where_the_time_went(recordable):
    ran = recordable.record("toy")
    assert re.search(r"toy: recorded \(run 2, machine start 1\) in [\d.]+ s: .*start and imports", ran.output)
    assert "all pages: " in ran.output
    assert "phases" not in str(recordable.recordings()), "it is told, not kept"


def test_what_saving_has_to_say_is_printed(recordable):
    recordable.edit("src/gpuguide/topics/toy/study.py", "np.ones((8, x.size))", "np.ones((7, x.size))")
    ran = recordable.record("toy")
    assert ran.code == 0, ran.output
    assert "toy: warning: the recording begins anew" in ran.output
    assert "toy: recorded (run 1, machine start 1)" in ran.output


def test_what_the_page_could_not_time_is_its_start(tmp_path, monkeypatch):
    """How the process was started, and how it ended."""
    outcome = tmp_path / "outcome.json"
    said = {"ok": True, "message": "", "warnings": [], "machine": MACHINE, "runs": 1, "starts": 1}
    phases = {"timing": 2.0, START: 0.5}

    class Child:
        pid = returncode = 0

        def __init__(self, command, start_new_session):
            assert start_new_session
            assert command[-2:] == ["--recorder", str(os.getpid())]
            outcome.write_text(json.dumps({**said, "phases": phases}))

        def poll(self):
            return 0

    ended = []
    monkeypatch.setattr(process.subprocess, "Popen", Child)
    monkeypatch.setattr(process, "_end", ended.append)
    monkeypatch.setattr(process.time, "monotonic", iter([10.0, 14.0]).__next__)
    got = run_process("toy", [], outcome=outcome, peak=tmp_path / "peak", timeout_s=9.0)
    assert (got.seconds, got.phases) == (4.0, {"timing": 2.0, START: 2.0})
    assert len(ended) == 1


def test_a_recording_can_be_written_elsewhere(recordable, tmp_path):
    before = recordable.recordings()
    ran = recordable.record("toy", "--into", str(tmp_path / "elsewhere"))
    assert ran.code == 0, ran.output
    assert recordable.recordings() == before
    assert recordings.read(tmp_path / "elsewhere" / MACHINE / "toy").page == "toy"


SLEEP = """\
import os, subprocess, sys, time
late = "import time, pathlib; time.sleep(20); pathlib.Path('late.txt').touch()"
started = subprocess.Popen([sys.executable, "-c", late])
with open("begun.part", "w") as file:
    file.write(f"{os.getpid()} {started.pid}")
os.rename("begun.part", "begun.txt")
time.sleep(20)
"""


def interrupted(project: Project, number: int) -> tuple[int, str, list[int]]:
    """Record until `pictures` has begun, send a signal; return status, output and the page's processes."""
    project.edit("examples/later/pictures.py", "import gpuguide as gg\n", f"{SLEEP}import gpuguide as gg\n")
    # No pipe: when the recorder is killed, what its page started would hold it open.
    printed = project.root / "printed.txt"
    with printed.open("w") as output:
        recorder = subprocess.Popen(
            [sys.executable, "-m", "gpuguide_docs.record.recorder", "--machine", MACHINE, "--allow-cpu"],
            cwd=project.root,
            env={**os.environ, "PYTHONPATH": project.path},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    begun = project.root / "begun.txt"
    wait_until(lambda: begun.exists() or recorder.poll() is not None)
    recorder.send_signal(number)
    code = recorder.wait(timeout=60)
    return code, printed.read_text(), [int(word) for word in begun.read_text().split()]


def wait_until(happened, limit_s: float = 60.0) -> None:
    deadline = time.monotonic() + limit_s
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_running(process: int) -> bool:
    """Whether it can still do something: a zombie cannot."""
    try:
        os.kill(process, 0)
        stat = Path(f"/proc/{process}/stat")
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_recorder_ends_its_page_and_keeps_what_was_whole(recordable, number):
    before = recordable.recordings()
    code, output, processes = interrupted(recordable, number)
    assert code == 128 + number, output
    assert "Interrupted: the page was stopped and keeps its former recording." in output
    assert "Traceback" not in output
    wait_until(lambda: not any(map(is_running, processes)), 5)
    after = recordable.recordings()
    changed = {name.split("/")[1] for name in after if after[name] != before.get(name)}
    assert changed == {"toy"}, "the page that was through is recorded"
    assert "toy: recorded" in output


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_killed_recorder_takes_its_page_with_it(recordable):
    before = recordable.recordings()
    _, _, (page, started) = interrupted(recordable, signal.SIGKILL)
    wait_until(lambda: not is_running(page), 10)
    os.kill(started, signal.SIGKILL)
    after = recordable.recordings()
    assert {name.split("/")[1] for name in after if after[name] != before.get(name)} == {"toy"}


def test_a_page_whose_recorder_is_gone_does_not_begin(recordable, tmp_path):
    outcome = tmp_path / "outcome.json"
    command = ["-m", "gpuguide_docs.record.page_run", "--page", "toy", "--machine", MACHINE]
    options = ["--root", str(recordable.root), "--outcome", str(outcome), "--recorder", "0"]
    assert recordable.run(*command, *options).code == 1
    assert not outcome.exists()
