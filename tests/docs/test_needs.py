"""The recorder leaves out what a machine lacks, and touches no other machine's recordings."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
from mini_project import MACHINE
from test_recorder import course

from gpuguide.machine import backends
from gpuguide_docs.pages.pages_toml import Needs, read_pages
from gpuguide_docs.record.needs import Machine, lacking, this_machine
from gpuguide_docs.show.guide import new_states


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The driver's library, which knows GPUs of these many bytes."""

    def with_gpus(*totals: int) -> None:
        library = SimpleNamespace(
            nvmlDeviceGetCount=lambda: len(totals),
            nvmlDeviceGetHandleByIndex=lambda number: number,
            nvmlDeviceGetMemoryInfo=lambda handle: SimpleNamespace(total=totals[handle]),
        )
        monkeypatch.setattr(backends, "nvml", lambda: library)

    return with_gpus


@pytest.mark.parametrize(
    ("visible", "gpus"),
    [
        (None, 4),
        ("0,1", 2),
        ("3", 1),
        ("", 0),
        ("-1", 0),
        ("0,7,1", 1),  # CUDA ignores what follows one that does not exist
        ("GPU-8932f937,GPU-1cf41b2a", 2),
    ],
)
def test_gpus_that_are_hidden_do_not_count(driver: Any, visible: str | None, gpus: int) -> None:
    driver(2**30, 2**30, 2**30, 2**30)
    environment = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    assert this_machine(environment).gpus == gpus


def test_the_smallest_memory_counts(driver: Any) -> None:
    driver(140 * 2**30, 24 * 2**30)
    assert this_machine({}) == Machine(2, 24.0)


def test_what_the_driver_does_not_tell_is_no_reason(monkeypatch: pytest.MonkeyPatch, driver: Any) -> None:
    monkeypatch.setattr(backends, "nvml", lambda: None)
    assert this_machine({}) == Machine(None, None)
    driver()
    assert this_machine({}) == Machine(0, None)

    def broken() -> int:
        raise RuntimeError("the driver does not answer")

    monkeypatch.setattr(backends, "nvml", lambda: SimpleNamespace(nvmlDeviceGetCount=broken))
    assert this_machine({}) == Machine(None, None)
    assert lacking(Needs(4, 100), Machine()) == ""


@pytest.mark.parametrize(
    ("needs", "reason"),
    [
        (Needs(0), ""),
        (Needs(1, 16), ""),
        (Needs(1, 17), "needs 17 GiB of GPU memory, and this machine has 16"),
        (Needs(2, 1), "needs 2 GPUs, and this machine has 1"),
        (Needs(1, 1, ("numpy",)), ""),
        (
            Needs(1, 1, ("numpy", "no-such", "nor-this")),
            "needs no-such and nor-this, which are not installed",
        ),
    ],
)
def test_what_is_lacking_is_said(needs: Needs, reason: str) -> None:
    assert lacking(needs, Machine(1, 16.0)) == reason


def test_a_page_that_needs_more_is_left_out_and_the_others_are_recorded(recorded_template: Any) -> None:
    toy, pictures = read_pages(recorded_template.layout)
    object.__setattr__(toy, "needs", Needs(4))
    made, said, budgets = course([toy, pictures], {}, {"pictures": 1.0}, machine=Machine(1, 16.0))
    assert made.skipped == {"toy": "needs 4 GPUs, and this machine has 1"}
    assert said[0] == "toy: left out: it needs 4 GPUs, and this machine has 1"
    assert budgets == {"pictures": 100.0}, "what is left out gets no share"
    assert made.left_out == []


def test_a_recorder_says_what_it_left_out_and_keeps_what_there_is(make_project: Any) -> None:
    project = make_project()
    more = 'needs = { gpus = 0, extras = ["no-such"] }\nobjectives = ["Add numbers"'
    project.edit("examples/pages.toml", 'needs = { gpus = 0 }\nobjectives = ["Add numbers"', more)
    before = project.recordings()
    ran = project.record()
    assert ran.code == 0, ran.output
    assert "toy: left out: it needs no-such, which is not installed" in ran.output
    assert re.search(r"toy +left out +needs no-such", ran.output), "in the summary, too"
    after = project.recordings()
    assert {name.split("/")[1] for name in after if after[name] != before.get(name)} == {"pictures"}


def test_a_page_is_shown_from_the_machine_that_its_entry_names(make_project: Any) -> None:
    """Each machine has a folder of its own, by its GPU and by how many of them it has."""
    project = make_project()
    before = project.recordings()
    options = ("toy", "--machine", f"{MACHINE}-x2", "--allow-cpu")
    ran = project.run("-m", "gpuguide_docs.record.recorder", *options)
    assert ran.code == 0, ran.output
    after = project.recordings()
    assert {name: after[name] for name in before} == before
    assert {name.split("/")[0] for name in after.keys() - before.keys()} == {f"{MACHINE}-x2"}
    entry = 'needs = { gpus = 0 }\nobjectives = ["Add numbers"'
    project.edit("examples/pages.toml", entry, f'machine = "{MACHINE}-x2"\n{entry}')
    shown = new_states(project.layout)["toy"].shown
    assert shown is not None
    assert shown.machine == f"{MACHINE}-x2"
