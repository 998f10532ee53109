"""Prints at the end which share of the mutants was refused; no test touches a reader's progress."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def progress_of_a_test(tmp_path, monkeypatch):
    """Keeps the list of what is done out of the folder of who runs the tests."""
    monkeypatch.setenv("GPUGUIDE_PROGRESS", str(tmp_path / "progress.json"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    rows = list(mutant_counts(terminalreporter))
    made = sum(row[1] for row in rows)
    if not made:
        return
    equivalent, unjudged = sum(row[2] for row in rows), sum(row[3] for row in rows)
    refused = made - equivalent - unjudged
    share = refused / (made - equivalent)
    terminalreporter.write_line(
        f"mutants: {refused} of {made - equivalent} refused ({share:.1%}) in {len(rows)} exercises, "
        f"{equivalent} more are equivalent, {unjudged} could not be judged here"
    )


def mutant_counts(terminalreporter: pytest.TerminalReporter) -> Iterator[list]:
    """Name, mutants, equivalent ones, unjudged ones; reports of other processes arrive here, too."""
    for report in terminalreporter.getreports("passed"):
        for key, value in report.user_properties:
            if key == "mutants":
                yield value
