"""One buffer in several libraries: right results by every way, and what is said where one is missing."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from gpuguide.errors import BackendError
from gpuguide.topics.interop import libraries, refused
from gpuguide.topics.interop import study as interop


@pytest.fixture
def forgetful() -> Any:
    """Whether a library is there is asked anew."""
    asked = libraries.missing_torch, libraries.missing_jax
    for is_missing in asked:
        is_missing.cache_clear()
    yield
    for is_missing in asked:
        is_missing.cache_clear()


@pytest.mark.usefixtures("forgetful")
def test_without_the_libraries_their_rows_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "find_spec", lambda name: None)
    for study in (interop.tripled, interop.waiting):
        reasons = {v.name: v.why_missing() for v in study.variants if v.why_missing()}
        assert {name.removeprefix("through_") for name in reasons} >= {"torch", "jax"}
        assert study.baseline not in reasons
        for name, reason in reasons.items():
            assert ("JAX" if "jax" in name else "PyTorch") + " is not installed" in reason
    for library, name in ((libraries.pytorch, "PyTorch"), (libraries.jax_numpy, "JAX")):
        with pytest.raises(BackendError, match=f"{name} is not installed; .*install"):
            library()


@pytest.mark.usefixtures("forgetful")
def test_jax_is_told_to_leave_memory_before_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def importing(name: str) -> Any:
        seen.append((name, os.environ.get("XLA_PYTHON_CLIENT_PREALLOCATE")))
        return SimpleNamespace(default_backend=lambda: "gpu")

    monkeypatch.delenv("XLA_PYTHON_CLIENT_PREALLOCATE", raising=False)
    monkeypatch.setattr(libraries, "find_spec", lambda name: name)
    monkeypatch.setattr(libraries, "import_module", importing)
    assert libraries.missing_jax() == ""
    assert seen == [("jax", "false")]


def test_the_topic_imports_neither(fresh_python: Callable[..., str]) -> None:
    code = (
        "import sys, gpuguide.topics.interop.study, gpuguide.topics.interop.handing_over\n"
        "print({'torch', 'jax', 'cupy'} & set(sys.modules))"
    )
    assert fresh_python(code).strip() == "set()"


def test_an_outcome_is_a_value_an_error_or_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refused, "_SET_UP", "{more}\n")
    codes = ["y + 1", "1 / 0", "__import__('os').abort()", "2"]
    assert refused.outcomes(codes, more="y = 1") == {
        "y + 1": "gave 2",
        "1 / 0": "ZeroDivisionError division by zero",
        "__import__('os').abort()": "ended the process (-6): ",
        "2": "not reached",
    }
