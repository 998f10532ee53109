"""The doctor finds each known trouble and names its cure in one sentence."""

import sys
from importlib import metadata
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from fake_cupy import make_cupy, make_nvml
from gpuguide import doctor
from gpuguide.errors import BackendError
from gpuguide.machine import backends, compilers, device

HEALTHY = {
    "numpy": "2.4.6",
    "numba": "0.68.1",
    "numba-cuda": "0.30.4",
    "cupy-cuda13x": "14.2.0",
    "nvidia-cuda-nvrtc": "13.0.88",
}


PACKAGES = "/venv/lib/python3.12/site-packages"
REDIRECTED = f"{PACKAGES}/numba_cuda/numba/cuda/__init__.py"


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Pretend to be a machine with these distributions, this CuPy and this NVML."""
    monkeypatch.delenv("NUMBA_ENABLE_CUDASIM", raising=False)
    monkeypatch.setattr(backends, "numba_cuda", lambda: SimpleNamespace(__file__=REDIRECTED))
    monkeypatch.setattr(compilers, "capability", lambda: compilers.ARCHITECTURE)
    monkeypatch.setattr(compilers, "why_not", lambda target: "")
    monkeypatch.setattr(compilers, "missing_parts", lambda names=(): ())

    def pretend(
        versions: dict[str, str | None], cupy: Any = None, nvml: Any = None
    ) -> dict[str, doctor.Diagnosis]:
        def version(name: str) -> str:
            if (found := (HEALTHY | versions).get(name)) is None:
                raise metadata.PackageNotFoundError(name)
            return found

        monkeypatch.setattr(metadata, "version", version)
        if cupy is None:
            monkeypatch.setattr(backends, "cupy", raise_backend_error)
            monkeypatch.setattr(device, "cupy", raise_backend_error)
        else:
            monkeypatch.setitem(sys.modules, "cupy", cupy)
        for module in (backends, device, compilers):
            monkeypatch.setattr(module, "nvml", lambda: nvml)
        return {diagnosis.subject: diagnosis for diagnosis in doctor.examine()}

    return pretend


def raise_backend_error() -> Any:
    raise BackendError("CuPy is not installed. Install it.")


def test_a_healthy_machine_has_nothing_to_cure(machine: Any) -> None:
    found = machine({}, make_cupy(), make_nvml())
    assert [diagnosis.status for diagnosis in found.values()] == ["ok"] * 7
    assert not doctor.has_problems(found.values())
    assert found["GPU"].text == "NVIDIA H200, compute capability 9.0, 140 GiB"
    assert found["Driver"].text == "580.159.04, CUDA up to 13.0"
    assert not any(diagnosis.cure for diagnosis in found.values())


def test_missing_cupy_is_said_once(machine: Any) -> None:
    found = machine({"cupy-cuda13x": None}, None, make_nvml())
    assert found["CuPy"].text == "missing"
    assert "not installed" in found["CuPy"].cure
    assert (found["GPU"].status, found["GPU"].cure) == ("problem", "")


def test_two_cupys_are_a_problem(machine: Any) -> None:
    found = machine({"cupy-cuda12x": "14.2.0"}, make_cupy(), make_nvml())
    assert "pip uninstall cupy-cuda12x cupy-cuda13x" in found["CuPy"].cure


def test_no_driver(machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    found = machine({}, make_cupy(error=RuntimeError("cudaErrorInsufficientDriver")), None)
    assert (found["Driver"].status, found["Driver"].text) == ("problem", "none")
    assert "nvidia-smi" in found["Driver"].cure


def test_no_gpu_behind_a_working_driver(machine: Any) -> None:
    found = machine({}, make_cupy(count=0), make_nvml())
    assert found["GPU"].status == "problem"
    assert "CUDA_VISIBLE_DEVICES" in found["GPU"].cure


def test_numpy_too_new_for_numba_cuda(machine: Any) -> None:
    found = machine({"numpy": "2.5.0"}, make_cupy(), make_nvml())
    assert found["NumPy"].status == "problem"
    assert "'numpy<2.5'" in found["NumPy"].cure


def test_numba_cuda_missing(machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    assert "numba-cuda[cu13]" in machine({"numba-cuda": None}, make_cupy(), make_nvml())["Numba"].cure
    monkeypatch.setattr(sys, "platform", "darwin")
    diagnosis = machine({"numba-cuda": None}, make_cupy(), make_nvml())["Numba"]
    assert (diagnosis.status, "NUMBA_ENABLE_CUDASIM=1" in diagnosis.cure) == ("note", True)


def test_numba_s_own_cuda_in_the_place_of_numba_cuda_is_a_problem(
    machine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PYTHONPATH brings the package, and not the file that puts it into numba.cuda's place."""
    own = SimpleNamespace(__file__=f"{PACKAGES}/numba/cuda/__init__.py")
    monkeypatch.setattr(backends, "numba_cuda", lambda: own)
    diagnosis = machine({}, make_cupy(), make_nvml())["Numba"]
    assert diagnosis.status == "problem"
    assert diagnosis.text == "numba 0.68.1, numba-cuda 0.30.4, but numba.cuda is not numba-cuda's"
    assert "_numba_cuda_redirector.pth" in diagnosis.cure
    assert f"{sys.executable} -m pip install numba" in diagnosis.cure


def test_numba_cuda_that_does_not_import(machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Any:
        raise BackendError("numba-cuda cannot be imported (OSError: libnvvm).")

    monkeypatch.setattr(backends, "numba_cuda", broken)
    assert "libnvvm" in machine({}, make_cupy(), make_nvml())["Numba"].cure


def test_numba_without_a_compiler_is_a_problem(machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The import of Numba works without NVIDIA's compiler; the first kernel does not."""
    why = "NVIDIA's compiler is not installed (NVRTC is missing)"
    monkeypatch.setattr(compilers, "why_not", lambda target: why)
    monkeypatch.setattr(compilers, "install_command", lambda extra: f"pip install 'numba-cuda[{extra}]'")
    diagnosis = machine({}, make_cupy(), make_nvml())["Numba"]
    assert (diagnosis.status, diagnosis.text) == (
        "problem",
        "numba 0.68.1, numba-cuda 0.30.4, cannot compile kernels",
    )
    assert diagnosis.cure == (
        f"{why}: run pip install 'numba-cuda[cuda13]', which is what this package's extra cuda13 installs."
    )
    older = machine({"cupy-cuda13x": None, "cupy-cuda12x": "14.2.0"}, make_cupy(), make_nvml())
    assert "extra cuda12" in older["Numba"].cure


def test_a_missing_linker_is_a_note(machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without nvJitLink the driver links, so that kernels do run."""
    monkeypatch.setattr(compilers, "missing_parts", lambda names: ("nvJitLink",))
    diagnosis = machine({}, make_cupy(), make_nvml())["Numba"]
    assert (diagnosis.status, diagnosis.cure[:21]) == ("note", "nvJitLink is missing,")


@pytest.mark.parametrize(
    ("toolkit", "driver", "status"), [("13.1.9", 13_000, "problem"), ("12.9", 13_000, "ok")]
)
def test_a_toolkit_newer_than_the_driver(machine: Any, toolkit: str, driver: int, status: str) -> None:
    found = machine({"nvidia-cuda-nvrtc": toolkit}, make_cupy(), make_nvml(cuda_driver=driver))
    assert found["Toolkit"].status == status
    if status == "problem":
        assert "UNSUPPORTED_PTX_VERSION" in found["Toolkit"].cure
        assert "'cuda-toolkit==13.0.*'" in found["Toolkit"].cure


def test_a_toolkit_without_wheels_is_asked_through_cupy(machine: Any) -> None:
    cupy = make_cupy()
    cupy.cuda.nvrtc = SimpleNamespace(getVersion=lambda: (13, 2))
    found = machine({"nvidia-cuda-nvrtc": None}, cupy, make_nvml())
    assert (found["Toolkit"].status, found["Toolkit"].text) == ("problem", "compilers of CUDA 13.2")
    assert "Toolkit" not in machine({"nvidia-cuda-nvrtc": None}, make_cupy(), make_nvml())


def test_throttled_clocks_are_noted(machine: Any) -> None:
    found = machine({}, make_cupy(), make_nvml(throttle=0x20))
    assert found["GPU"].status == "note"
    assert found["GPU"].text.endswith("thermal slowdown")


def test_the_simulator_is_a_note(machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    found = machine({}, make_cupy(), make_nvml())
    assert (found["Numba"].status, found["GPU"].status) == ("note", "note")
    assert not doctor.has_problems(found.values())


def test_the_report_numbers_the_cures(capsys: pytest.CaptureFixture[str]) -> None:
    diagnoses = [
        doctor.Diagnosis("CuPy", "problem", "missing", "Install [it]."),
        doctor.Diagnosis("Driver", "ok", "580"),
        doctor.Diagnosis("GPU", "problem", "none usable", "Buy one."),
    ]
    doctor.show(diagnoses, Console(width=70))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        " problem  CuPy    missing",
        " ok       Driver  580",
        " problem  GPU     none usable",
        "1. CuPy: Install [it].",
        "2. GPU: Buy one.",
    ]


@pytest.mark.gpu
def test_this_machine_is_healthy() -> None:
    assert not doctor.has_problems(doctor.examine())
