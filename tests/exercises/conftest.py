"""No test touches a reader's progress."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def progress_of_a_test(tmp_path_factory, monkeypatch):
    file = tmp_path_factory.getbasetemp() / "progress_of_exercises.json"
    file.unlink(missing_ok=True)
    monkeypatch.setenv("GPUGUIDE_PROGRESS", str(file))
