"""Which parts of NVIDIA's compiler are missing is said."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from gpuguide.errors import BackendError
from gpuguide.machine import compilers
from gpuguide.machine.compilers import ARCHITECTURE, missing_parts, why_not


class DynamicLibNotFoundError(RuntimeError):
    """As NVIDIA's search for libraries calls it."""


@pytest.fixture
def search(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let NVIDIA's search find these libraries alone, and a kernel fail to compile with this error."""

    def pretend(found: tuple[str, ...], error: Exception | None = None) -> None:
        def load(name: str) -> None:
            if name not in found:
                raise DynamicLibNotFoundError(f'Failure finding "lib{name}.so.13"')

        def compile_ptx(*arguments: object, **options: object) -> None:
            if error is not None:
                raise error

        monkeypatch.setitem(sys.modules, "cuda.pathfinder", SimpleNamespace(load_nvidia_dynamic_lib=load))
        numba = SimpleNamespace(compile_ptx=compile_ptx)
        monkeypatch.setattr(compilers, "numba_cuda", lambda: numba)

    return pretend


def test_what_is_missing_is_named(search: Any) -> None:
    search(("nvvm",), DynamicLibNotFoundError('Failure finding "libnvrtc.so.13"'))
    assert missing_parts() == ("NVRTC", "nvJitLink")
    assert why_not(ARCHITECTURE) == ("NVIDIA's compiler is not installed (NVRTC and nvJitLink are missing)")
    search(("nvvm", "nvJitLink"), ImportError("libNVVM cannot be found"))
    assert why_not(ARCHITECTURE) == "NVIDIA's compiler is not installed (NVRTC is missing)"
    search(())
    assert missing_parts() == ("NVVM", "NVRTC", "nvJitLink")
    assert why_not(ARCHITECTURE) == "", "a kernel compiles, wherever Numba found what it needs"


def test_an_error_that_names_a_library_is_enough(search: Any) -> None:
    search(tuple(compilers.PARTS), DynamicLibNotFoundError('Failure finding "nvrtc64_130_0.dll"'))
    assert why_not(ARCHITECTURE) == "NVIDIA's compiler is not installed"


def test_what_else_fails_is_quoted(search: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    search(tuple(compilers.PARTS), ValueError("\ncc 9.0 is too new.\nfor this"))
    assert why_not(ARCHITECTURE) == "NVIDIA's compiler compiles nothing here: cc 9.0 is too new"

    def no_numba() -> None:
        raise BackendError("Numba is not installed. Install it.")

    monkeypatch.setattr(compilers, "numba_cuda", no_numba)
    assert why_not(ARCHITECTURE) == "Numba is not installed. Install it"


def test_without_nvidia_s_search_nothing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda.pathfinder", None)
    assert missing_parts() == ()


@pytest.mark.skipif(sys.platform != "linux", reason="NVIDIA's compiler is installed on Linux only")
def test_a_kernel_compiles_where_the_tests_run() -> None:
    assert why_not(ARCHITECTURE) == ""


def test_the_capability_is_that_of_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilers, "has_gpu", lambda: False)
    assert compilers.capability() == ARCHITECTURE
    monkeypatch.setattr(compilers, "has_gpu", lambda: True)
    gpu = SimpleNamespace(compute_capability="120")
    monkeypatch.setattr(compilers, "cupy", lambda: SimpleNamespace(cuda=SimpleNamespace(Device=lambda: gpu)))
    assert compilers.capability() == (12, 0)
