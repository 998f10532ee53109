"""Recording is safe: a page that fails loses its new run alone, and the exit status says so."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest
from mini_project import MACHINE, TOY, Project, run_file

from gpuguide.machine import backends
from gpuguide.recordings import store as recordings
from gpuguide.recordings.harness import read_harness
from gpuguide_docs.pages.pages_toml import Needs, Page, read_pages
from gpuguide_docs.record.needs import Machine, lacking, this_machine
from gpuguide_docs.record.process import Outcome
from gpuguide_docs.record.recorder import (
    Course,
    fewest_starts_first,
    former_recordings,
    former_times,
)
from gpuguide_docs.show.guide import new_states

STUDY = "src/gpuguide/topics/toy/study.py"
ADD = "values = np.arange(4)"
LINE = TOY.splitlines().index(ADD) + 1
SHOW = "results\n\n# %%"
# What is wrong with a page: its text, what is written instead, and what the recorder says of it.
FAILURES = {
    "raises": (ADD, "values = np.nothing(4)", f"examples/start/raises.py:{LINE}: AttributeError"),
    "ends": (ADD, f"import sys\nsys.exit(0)\n{ADD}", "ended the process"),
    "crashes": (ADD, f"import os\nos.kill(os.getpid(), 11)\n{ADD}", "SIGSEGV"),
    "hangs": (
        ADD,
        f"import subprocess, time\nsubprocess.Popen(['sleep', '61'])\ntime.sleep(60)\n{ADD}",
        "no end after 8 s",
    ),
    "claims": (
        SHOW,
        'import gpuguide as gg\ngg.claim(results, "numpy", faster_than="dot", at=65536)\n\n# %%',
        "claim: a recorded cell only measures",
    ),
    "draws": (SHOW, "import matplotlib.pyplot as plt\nplt.figure()\n\n# %%", "leaves a figure open"),
    "computes": ("toy.study()", "toy.wrong_study()", "MismatchError"),
}
WRONG_STUDY = """

def wrong_study():
    \"\"\"Whose first variant is one off.\"\"\"
    import dataclasses

    right = study()
    first, *others = right.variants
    off = dataclasses.replace(first, call=lambda x, out: np.add(sum_numpy(x, out), 1, out=out))
    return dataclasses.replace(right, variants=(off, *others))
"""


def changed_pages(project: Project, before: dict[str, bytes]) -> set[str]:
    """Pages whose recordings are others than before."""
    after = project.recordings()
    return {name.split("/")[1] for name in {*before, *after} if after.get(name) != before.get(name)}


@pytest.fixture(scope="module")
def failed(recorded_template, tmp_path_factory) -> tuple[Project, set[str], str]:
    """A project of which most pages fail: which pages have another recording, and what the recorder said."""
    project = Project(tmp_path_factory.mktemp("failed") / "mini")
    shutil.copytree(recorded_template.root, project.root)
    # What drawn cells import and change could otherwise hide in a recording.
    project.edit("examples/start/toy.py", "gg.plot_time(results)", "open('drawn.txt', 'w')")
    (project.root / STUDY).write_text((project.root / STUDY).read_text() + WRONG_STUDY)
    entries = project.layout.pages_toml.read_text()
    toy = "[[page]]" + entries.split("[[page]]")[1]
    for name, (old, new, _) in FAILURES.items():
        assert old in TOY
        project.layout.script("start", name).write_text(TOY.replace(old, new))
        entries += "\n" + toy.replace('name = "toy"', f'name = "{name}"\ntopic = "toy"')
        shutil.copytree(project.layout.recorded / MACHINE / "toy", project.layout.recorded / MACHINE / name)
    project.layout.pages_toml.write_text(entries)
    before = project.recordings()
    ran = project.record("--timeout", "8")
    assert ran.code == 1, ran.output
    return project, changed_pages(project, before), ran.output


@pytest.mark.parametrize("name", FAILURES)
def test_a_page_that_fails_is_named_and_keeps_its_former_recording(failed, name):
    _, changed, output = failed
    assert re.search(rf"^{name}: .*{re.escape(FAILURES[name][2])}", output, re.MULTILINE), output
    assert name not in changed


def test_the_other_pages_are_recorded_without_their_drawn_cells(failed):
    project, changed, _ = failed
    assert changed == {"toy", "pictures"}
    assert not (project.root / "drawn.txt").exists()


def test_a_recording_holds_typed_outputs_names_provenance_and_its_key(failed):
    project, _, _ = failed
    folder = project.layout.recorded / MACHINE
    toy, pictures = recordings.read(folder / "toy"), recordings.read(folder / "pictures")
    assert toy.names == {"results": "sums"}
    assert [(cell.cell, cell.stdout, cell.shows) for cell in toy.cells] == [
        (0, "6 |not a substitution| `nor a role`_\n", ""),
        (1, "", "sums"),
    ]
    assert ("results", "gpuguide", "Results", "gpuguide", False) in toy.cells[1].names
    assert toy.provenance.cpu
    assert dict(toy.provenance.versions)["numpy"]
    assert len(toy.key.cells) == 2
    assert [name for name, _ in toy.key.topics] == ["toy"]
    assert toy.key.harness == read_harness(project.layout.source).version
    assert pictures.facts["answer"].value == 42
    assert "twice" not in pictures.facts, "a drawn cell states it"
    assert pictures.cells[0].stdout == "   indented\nnp.float64(0.5)\n"
    assert pictures.cells[1].study.title == "Sums"


def test_another_run_is_added_and_other_code_begins_anew(recordable, tmp_path):
    into = ("toy", "--into", str(tmp_path / "elsewhere"))
    before = recordable.recordings()
    assert recordable.record(*into).code == 0
    ran = recordable.record(*into)
    assert re.search(r"toy: recorded \(run 2, machine start 1\) in [\d.]+ s: .*start and imports", ran.output)
    assert recordable.recordings() == before
    recordable.edit(STUDY, "out[0] = x.sum()", "out[0] = x.sum() + 0")
    ran = recordable.record(*into)
    assert "toy: warning: the recording begins anew" in ran.output
    assert "toy: recorded (run 1, machine start 1)" in ran.output
    assert recordings.read(tmp_path / "elsewhere" / MACHINE / "toy").page == "toy"


def test_a_spent_budget_ends_after_the_page_in_hand(recordable):
    before = recordable.recordings()
    ran = recordable.record("--budget", "0.5")
    assert ran.code == 3, ran.output
    assert changed_pages(recordable, before) == {"toy"}
    assert re.search(r"pictures +not begun +budget spent", ran.output)


def test_a_quick_run_keeps_nothing(recordable):
    before = recordable.recordings()
    ran = recordable.record("--quick", "toy")
    assert ran.code == 0, ran.output
    assert recordable.recordings() == before


def test_without_a_gpu_one_sentence_says_so(recordable):
    ran = recordable.run("-m", "gpuguide_docs.record.recorder", "toy")
    assert ran.code == 2
    assert ran.output.startswith("Nothing recorded: ")
    assert "Traceback" not in ran.output


def test_an_unknown_page_names_the_nearest(recordable):
    ran = recordable.record("tyo")
    assert ran.code == 2
    assert "'toy'" in ran.output


def test_a_package_loaded_from_elsewhere_is_refused(recordable, tmp_path):
    """Or the digests would be those of another tree."""
    shutil.copytree(recordable.root / "src" / "gpuguide", tmp_path / "other" / "gpuguide")
    paths = (tmp_path / "other", recordable.root / "docs" / "_ext", recordable.root / "src")
    before = recordable.recordings()
    ran = recordable.record("toy", PYTHONPATH=os.pathsep.join(map(str, paths)))
    assert ran.code == 1, ran.output
    assert f"loaded from {tmp_path}" in ran.output
    assert recordable.recordings() == before


# Interrupted

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
    # Both pages are out of date, so the recorder takes them in their order.
    project.edit("examples/start/toy.py", ADD, f"{ADD} + 0")
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


def test_an_interrupted_recorder_ends_its_page_and_keeps_what_was_whole(recordable):
    before = recordable.recordings()
    code, output, processes = interrupted(recordable, signal.SIGINT)
    assert code == 128 + signal.SIGINT, output
    assert "keeps its former recording" in output
    assert "Traceback" not in output
    wait_until(lambda: not any(map(is_running, processes)), 5)
    assert changed_pages(recordable, before) == {"toy"}, "the page that was through is recorded"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_killed_recorder_takes_its_page_with_it(recordable):
    before = recordable.recordings()
    _, _, (page, started) = interrupted(recordable, signal.SIGKILL)
    wait_until(lambda: not is_running(page), 10)
    os.kill(started, signal.SIGKILL)
    assert changed_pages(recordable, before) == {"toy"}


# The budget


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


def course(pages, took_s, takes_s, **options):
    """A course with 100 seconds that is through, and the budgets that it gave."""
    recorder = FakeRecorder(takes_s)
    made = Course(recorder, 100.0, took_s, now=lambda: recorder.now_s, **options)
    made.run(pages, lambda line: None)
    return made, recorder.budgets


@pytest.fixture
def pages(recorded_template):
    return read_pages(recorded_template.layout)[:2]


@pytest.mark.parametrize(
    ("took_s", "takes_s", "budgets"),
    [
        # By what the pages took before; the second gets all that the first left.
        ({"toy": 40.0, "pictures": 10.0}, {"toy": 40.0, "pictures": 10.0}, {"toy": 80.0, "pictures": 60.0}),
        # Equally among pages that were never recorded.
        ({}, {"toy": 50.0, "pictures": 1.0}, {"toy": 50.0, "pictures": 50.0}),
        # A new page counts as one in the middle.
        ({"toy": 7.0}, {"toy": 20.0, "pictures": 1.0}, {"toy": 50.0, "pictures": 80.0}),
        # One that was never recorded needs a tenth of the budget, any other most of what it took.
        ({}, {"toy": 89.0, "pictures": 1.0}, {"toy": 50.0, "pictures": 11.0}),
        ({}, {"toy": 91.0}, {"toy": 50.0}),
        ({"toy": 90.0, "pictures": 10.0}, {"toy": 94.0}, {"toy": 90.0}),
    ],
)
def test_the_budget_is_shared_and_no_page_is_begun_with_too_little(pages, took_s, takes_s, budgets):
    done, given = course(pages, took_s, takes_s)
    assert given == pytest.approx(budgets)
    assert [page.name for page in done.left_out] == [
        name for name in ("toy", "pictures") if name not in given
    ]


def test_what_a_page_took_is_read_from_its_recording(recordable):
    layout = recordable.layout
    pages = read_pages(layout)
    found = former_times(former_recordings(pages, MACHINE, layout.recorded))
    assert found == {"toy": 12.5, "pictures": 12.5}
    run_file(recordable).write_text("{")
    assert former_times(former_recordings(pages, MACHINE, layout.recorded)).keys() == {"pictures"}


def test_pages_with_the_fewest_starts_come_first(recordable):
    """One whose code changed has none."""
    layout = recordable.layout
    pages = [page for page in read_pages(layout) if page.name in ("toy", "pictures")]
    former = former_recordings(pages, MACHINE, layout.recorded)
    assert [page.name for page in fewest_starts_first(pages, former, layout)] == ["toy", "pictures"]
    recordable.edit("examples/start/toy.py", ADD, f"{ADD} + 0")
    assert [page.name for page in fewest_starts_first(pages[::-1], former, layout)] == ["toy", "pictures"]


# What a machine lacks


@pytest.fixture
def driver(monkeypatch):
    """The driver's library, which knows GPUs of these many bytes."""

    def with_gpus(*totals):
        library = SimpleNamespace(
            nvmlDeviceGetCount=lambda: len(totals),
            nvmlDeviceGetHandleByIndex=lambda number: number,
            nvmlDeviceGetMemoryInfo=lambda handle: SimpleNamespace(total=totals[handle]),
        )
        monkeypatch.setattr(backends, "nvml", lambda: library)

    return with_gpus


@pytest.mark.parametrize(
    ("visible", "gpus"),
    [(None, 4), ("0,1", 2), ("3", 1), ("", 0), ("-1", 0), ("GPU-8932f937,GPU-1cf41b2a", 2)],
)
def test_gpus_that_are_hidden_do_not_count_and_the_smallest_memory_does(driver, visible, gpus):
    driver(140 * 2**30, 24 * 2**30, 140 * 2**30, 140 * 2**30)
    assert this_machine({} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}).gpus == gpus
    assert this_machine({}).gib == 24.0


@pytest.mark.parametrize(
    ("needs", "reason"),
    [
        (Needs(0), ""),
        (Needs(1, 16), ""),
        (Needs(1, 17), "17 GiB"),
        (Needs(2, 1), "2 GPUs"),
        (Needs(1, 1, ("numpy",)), ""),
        (Needs(1, 1, ("numpy", "no-such", "nor-this")), "no-such and nor-this"),
    ],
)
def test_what_is_lacking_is_named(needs, reason):
    said = lacking(needs, Machine(1, 16.0))
    assert reason in said
    assert bool(said) is bool(reason)
    assert lacking(Needs(4, 100), Machine()) == "", "what the driver does not tell is no reason"


def test_a_page_that_needs_more_is_left_out_and_the_others_are_recorded(recordable):
    more = 'needs = { gpus = 0, extras = ["no-such"] }\nobjectives = ["Add numbers"'
    recordable.edit("examples/pages.toml", 'needs = { gpus = 0 }\nobjectives = ["Add numbers"', more)
    before = recordable.recordings()
    ran = recordable.record()
    assert ran.code == 0, ran.output
    assert re.search(r"toy +left out +needs no-such", ran.output)
    assert changed_pages(recordable, before) == {"pictures"}


def test_a_page_is_shown_from_the_machine_that_its_entry_names(recordable):
    """Each machine has a folder of its own, by its GPU and by how many of them it has."""
    before = recordable.recordings()
    options = ("toy", "--machine", f"{MACHINE}-x2", "--allow-cpu")
    ran = recordable.run("-m", "gpuguide_docs.record.recorder", *options)
    assert ran.code == 0, ran.output
    after = recordable.recordings()
    assert {name.split("/")[0] for name in after.keys() - before.keys()} == {f"{MACHINE}-x2"}
    assert before.items() <= after.items()
    entry = 'needs = { gpus = 0 }\nobjectives = ["Add numbers"'
    recordable.edit("examples/pages.toml", entry, f'machine = "{MACHINE}-x2"\n{entry}')
    assert new_states(recordable.layout)["toy"].shown.machine == f"{MACHINE}-x2"
