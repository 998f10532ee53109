"""Parts of a page that need more GPUs: from another recording, or a line that says what is needed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mini_project import MACHINE, Project, Snapshot

from gpuguide_docs.replay.states import States, gpus_of
from gpuguide_docs.show.guide import new_states

CHECK = ("-b", "contract", "-D", "gpuguide_strict=1")
WAITS = "Needs 4 GPUs: not measured yet."
PART = """# The study runs.
#
# .. needs-gpus:: 4
#
#    It takes :measured:`sums[numpy, 65536].time` there, :measured:`twice_there` in all.
#
# On the other machine it takes :measured:`sums[numpy, 65536].time`.
"""


def with_a_part(project: Project) -> Project:
    """Give the page a part that needs four GPUs."""
    entry = 'needs = {{ gpus = 0{} }}\nobjectives = ["Add numbers"'
    needs = ", parts = [2, 4]"
    project.edit("examples/pages.toml", entry.format(""), f'machine = "{MACHINE}"\n{entry.format(needs)}')
    project.edit("examples/start/toy.py", "# The study runs.\n", PART)
    claim = 'gg.claim(results, "numpy", faster_than="dot", at=65536)\n'
    fact = 'gg.fact("twice_there", 2 * results.time("numpy", 65536).value, unit="s")\n'
    project.edit("examples/start/toy.py", claim, claim + fact)
    return project


@pytest.fixture
def with_part(make_project: Any) -> Project:
    return with_a_part(make_project())


@pytest.fixture(scope="module")
def waiting(make_project: Any) -> Snapshot:
    """The page with its part, built before that was measured."""
    project = with_a_part(make_project())
    ran = project.build()
    assert ran.code == 0, ran.output
    return Snapshot.of(project)


def record_there(project: Project, n_gpus: int) -> Path:
    """Record on another machine; return the folder of its recordings."""
    machine = f"{MACHINE}-x{n_gpus}"
    ran = project.run("-m", "gpuguide_docs.record.recorder", "toy", "--machine", machine, "--allow-cpu")
    assert ran.code == 0, ran.output
    return project.layout.recorded / machine


@pytest.fixture(scope="module")
def recorded_there(make_project: Any, recorded_template: Project) -> Callable[[Project], None]:
    """A function that brings the recording of a machine with four GPUs, made once, into a project."""
    project = with_a_part(make_project())
    folder = record_there(project, 4)
    before, after = recorded_template.recordings(), project.recordings()
    assert {name: after[name] for name in before} == before, "the other machine's recording stays as it was"

    def bring(there: Project) -> None:
        shutil.copytree(folder, there.layout.recorded / folder.name)

    return bring


@pytest.mark.parametrize(
    ("slug", "machine", "n_gpus"),
    [("h200", "h200", 1), ("h200-x4", "h200", 4), ("a-x2-x16", "a-x2", 16), ("h200-x0", "h200-x0", 1)],
)
def test_a_machine_is_called_after_how_many_gpus_it_has(slug: str, machine: str, n_gpus: int) -> None:
    assert gpus_of(slug) == (machine, n_gpus)


def test_a_part_waits_for_its_machine_and_no_sentence_of_it_is_shown(waiting: Snapshot) -> None:
    page = waiting.kept.page()
    assert WAITS in page
    assert "It takes" not in page
    assert "On the other machine it takes" in page
    assert "parts need 2 and 4 GPUs" in page


def test_a_part_has_the_numbers_of_its_own_machine(
    waiting: Snapshot, recorded_there: Callable[[Project], None]
) -> None:
    with_part = waiting.restored()
    recorded_there(with_part)
    # Made afterwards, so an incremental build must notice that the part came in.
    ran = with_part.build()
    assert ran.code == 0, ran.output
    page = with_part.page()
    assert WAITS not in page
    states: States = new_states(with_part.layout)
    shown, own = states.part("toy", 4), states["toy"]
    assert (shown.status, own.status) == ("current", "current")
    assert shown.digest != own.digest
    assert states.part("toy", 2).digest == shown.digest, "a machine with four GPUs has two"
    there, here = page.index("It takes"), page.index("On the other machine it takes")
    assert page.index("Measured on") < here
    assert shown.recording is not None
    assert shown.recording.run_id in page, "the card says where the part comes from"
    assert there < here
    assert (with_part.layout.cache / "drawn" / "toy@4").is_dir()
    assert (with_part.layout.cache / "drawn" / "toy").is_dir()


def test_the_machine_with_the_fewest_gpus_is_taken(
    with_part: Project, recorded_there: Callable[[Project], None]
) -> None:
    recorded_there(with_part)
    record_there(with_part, 2)
    states = new_states(with_part.layout)
    machines = [states.part("toy", n_gpus).recording.machine for n_gpus in (2, 4)]  # type: ignore[union-attr]
    assert machines == [f"{MACHINE}-x2", f"{MACHINE}-x4"]


def test_a_part_whose_code_changed_waits_again(
    with_part: Project, recorded_there: Callable[[Project], None]
) -> None:
    recorded_there(with_part)
    with_part.edit("src/gpuguide/topics/toy/study.py", "np.ones((8, x.size))", "np.ones((7, x.size))")
    assert with_part.record("toy").code == 0
    state = new_states(with_part.layout).part("toy", 4)
    assert (state.status, state.shown) == ("stale", None)
    ran = with_part.build()
    assert ran.code == 0, ran.output
    assert WAITS in with_part.page()


def test_the_check_names_a_part_that_waits_and_does_not_fail_for_it(
    with_part: Project, recorded_there: Callable[[Project], None]
) -> None:
    ran = with_part.build(*CHECK, out="contract", strict=False)
    assert "toy: needs 4 GPUs: not measured yet" in ran.output
    before = ran.output.count("violations")
    recorded_there(with_part)
    ran = with_part.build(*CHECK, out="contract", strict=False)
    assert "needs 4 GPUs: not measured yet" not in ran.output
    assert "toy: C10: on 4 GPUs: there is no" in ran.output, "its recording is held to the rules, too"
    assert before == 1


@pytest.mark.parametrize(
    ("written", "messages"),
    [
        (["3"], ["page 'toy' has no part that needs 3 GPUs"]),
        (["1", "many"], [f"a number of GPUs expected, 2 or more; got '{got}'" for got in ("1", "many")]),
    ],
)
def test_a_part_that_is_not_declared_is_an_error(
    with_part: Project, written: list[str], messages: list[str]
) -> None:
    parts = "\n#\n".join(f"# .. needs-gpus:: {n_gpus}\n#\n#    Text." for n_gpus in written)
    with_part.edit("examples/start/toy.py", "# .. needs-gpus:: 4", f"{parts}\n#\n# .. needs-gpus:: 4")
    for _ in range(2):  # the second build meets it again
        ran = with_part.build()
        assert ran.code != 0
        for message in messages:
            assert message in ran.output
