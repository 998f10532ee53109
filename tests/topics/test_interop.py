"""One buffer in several libraries: right results by every way, and what is said where one is missing."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpuguide.errors import BackendError
from gpuguide.measure.plan import Variant
from gpuguide.topics.interop import handing_over, libraries, refused
from gpuguide.topics.interop import study as interop
from gpuguide_docs.commands import cupy_by_numpy


class Tensor:
    """As much of a tensor as the ways need, on NumPy."""

    def __init__(self, data: np.ndarray) -> None:
        self.data = np.asarray(data)

    def __rmul__(self, factor: int) -> Tensor:
        return Tensor(factor * self.data)

    def __dlpack__(self, **options: Any) -> Any:
        return self.data.__dlpack__()

    def __dlpack_device__(self) -> Any:
        return self.data.__dlpack_device__()

    def cuda(self, non_blocking: bool = False) -> Tensor:
        return Tensor(self.data.copy())

    def cpu(self) -> Tensor:
        return Tensor(self.data.copy())

    def numpy(self) -> np.ndarray:
        return self.data

    def copy_(self, other: Tensor) -> None:
        self.data[...] = other.data


@pytest.fixture
def on_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy in the place of CuPy, PyTorch and JAX."""
    torch = SimpleNamespace(from_dlpack=lambda x: Tensor(np.from_dlpack(x)), from_numpy=Tensor)
    monkeypatch.setitem(sys.modules, "cupy", cupy_by_numpy)
    monkeypatch.setattr(interop, "pytorch", lambda: torch)
    monkeypatch.setattr(interop, "jax_numpy", lambda: torch)
    monkeypatch.setattr(interop, "pinned", lambda n: (np.empty(n, "f4"), np.empty(n, "f4")))


@pytest.fixture
def forgetful() -> Any:
    """Whether a library is there is asked anew."""
    asked = libraries.missing_torch, libraries.missing_jax
    for is_missing in asked:
        is_missing.cache_clear()
    yield
    for is_missing in asked:
        is_missing.cache_clear()


@pytest.mark.usefixtures("on_numpy")
@pytest.mark.parametrize("n", [0, 1, 33])
@pytest.mark.parametrize("way", interop.tripled.variants, ids=lambda way: way.name)
def test_every_way_triples(way: Variant, n: int) -> None:
    x = np.arange(n, dtype=np.float32)
    out = way.call(x)
    assert out.dtype == np.float32
    assert out.tolist() == (3 * np.arange(n)).tolist()
    assert x.tolist() == list(range(n))


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
def test_libraries_without_cuda_are_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {
        "torch": SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: False)),
        "jax": SimpleNamespace(default_backend=lambda: "cpu"),
    }
    monkeypatch.setattr(libraries, "find_spec", lambda name: name)
    monkeypatch.setattr(libraries, "import_module", made.__getitem__)
    assert "PyTorch is installed without CUDA" in libraries.missing_torch()
    assert "JAX is installed without CUDA" in libraries.missing_jax()


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


@pytest.mark.gpu
def test_on_a_gpu_no_hand_over_copies() -> None:
    """Each of them is tried when they are made."""
    found = handing_over.hand_overs(1000)
    assert {"numba_from_cupy", "cupy_from_numba"} <= set(found)


@pytest.mark.gpu
def test_on_a_gpu_what_keeps_the_order_is_never_early() -> None:
    early = handing_over.too_early(2**16, n_trials=5)
    kept = {"numba_launch", "numba_view", "torch_dlpack", "torch_dlpack_back", "jax_dlpack"}
    assert {name: n for name, n in early.items() if name in kept and n} == {}


@pytest.mark.gpu
def test_on_a_gpu_a_reader_that_waits_begins_when_the_writer_ends() -> None:
    if libraries.missing_torch():
        pytest.skip(libraries.missing_torch())
    writing, reading = handing_over.timeline(in_order=True, n=2**22)[0]
    assert writing[0] == 0
    assert writing[0] < writing[1] <= reading[0] + 1e-4 < reading[1] + 1e-4
