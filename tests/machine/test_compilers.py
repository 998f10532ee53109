"""Which parts of NVIDIA's compiler are missing is said, and the command that installs them."""

import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fake_cupy import make_nvml
from gpuguide.errors import BackendError
from gpuguide.machine import compilers
from gpuguide.machine.compilers import ARCHITECTURE, cuda_extra, install_command, missing_parts, why_not

ROOT = Path(__file__).parents[2]


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


@pytest.mark.parametrize(
    ("installed", "driver", "target", "extra"),
    [
        ((), 13_000, (9, 0), "cuda13"),
        ((), 12_040, (9, 0), "cuda12"),
        ((), None, (9, 0), "cuda13"),
        ((), 13_000, (7, 0), "cuda12"),
        (("cupy-cuda12x",), 13_000, (9, 0), "cuda12"),
        (("cupy-cuda13x",), 12_040, (9, 0), "cuda13"),
    ],
)
def test_the_extra_fits_the_machine(
    monkeypatch: pytest.MonkeyPatch,
    installed: tuple[str, ...],
    driver: int | None,
    target: tuple[int, int],
    extra: str,
) -> None:
    """CuPy decides, since two CuPys overwrite each other; then the driver and the GPU."""

    def version(name: str) -> str:
        if name not in installed:
            raise metadata.PackageNotFoundError(name)
        return "14.2.0"

    monkeypatch.setattr(metadata, "version", version)
    library = None if driver is None else make_nvml(cuda_driver=driver)
    monkeypatch.setattr(compilers, "nvml", lambda: library)
    assert cuda_extra(target) == extra


@pytest.mark.parametrize("extra", ["cuda12", "cuda13"])
def test_the_command_installs_what_the_extra_holds(monkeypatch: pytest.MonkeyPatch, extra: str) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = extras["optional-dependencies"]
    listed = [f'{text}; extra == "{name}"' for name in ("cuda12", "cuda13") for text in wanted[name]]
    monkeypatch.setattr(metadata, "requires", lambda name: ["numpy>=1.26", *listed])
    assert re.findall(r"'([^']+)'", install_command(extra)) == wanted[extra]


def test_a_copy_of_the_source_names_the_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    def requires(name: str) -> list[str]:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", requires)
    assert install_command("cuda12") == "pip install 'numba-cuda[cu12]' 'cupy-cuda12x'"
