"""Prints at the end which share of the mutants was refused; no test touches a reader's progress."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def progress_of_tests(tmp_path_factory):
    return tmp_path_factory.mktemp("progress")


@pytest.fixture(autouse=True)
def progress_of_a_test(progress_of_tests, monkeypatch):
    """Keeps the list of what is done out of the folder of who runs the tests, and begins with none."""
    # A folder for each of two thousand tests would take longer than most of them.
    file = progress_of_tests / "progress.json"
    file.unlink(missing_ok=True)
    monkeypatch.setenv("GPUGUIDE_PROGRESS", str(file))


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
