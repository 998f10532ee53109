"""Prints at the end which share of the mutants was refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


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
