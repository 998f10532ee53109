"""The doctor gathers facts without failing, and finds the cause and the cure of each known trouble."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from fake_cupy import make_cupy, make_nvml
from gpuguide import cli, doctor
from gpuguide.doctor import Diagnosis, Facts, examine
from gpuguide.errors import BackendError
from gpuguide.machine import backends, compilers, installation

PACKAGES = {
    "numpy": "2.4.6",
    "numba": "0.68.1",
    "numba-cuda": "0.30.4",
    "cupy-cuda13x": "14.2.0",
    "nvidia-nvvm": "13.0.88",
    "nvidia-cuda-nvrtc": "13.0.88",
    "nvidia-nvjitlink": "13.0.88",
}
HEALTHY = Facts(
    python="3.12.7 on Linux x86_64",
    packages=PACKAGES,
    driver="580.159.04",
    driver_cuda=(13, 0),
    gpu="NVIDIA H200, compute capability 9.0, 140 GiB",
    capability=(9, 0),
    cupy_kernel="ok",
    numba_kernel="ok",
)
# Compilers of a later CUDA 12 than the driver, beside a PyTorch that holds nvJitLink back.
PIP_LIST = """
cupy-cuda12x           13.6.0
numba                  0.61.2
numba-cuda             0.19.1
numpy                  2.2.6
nvidia-cuda-nvcc-cu12  12.9.86
nvidia-cuda-nvrtc-cu12 12.4.127
nvidia-nvjitlink-cu12  12.4.127
torch                  2.6.0
"""
CUDA_12 = dict(line.split() for line in PIP_LIST.strip().splitlines())
AFTER_THE_CURE = CUDA_12 | {"nvidia-cuda-nvcc-cu12": "12.4.131", "nvidia-nvjitlink-cu12": "12.9.86"}
ON_550 = replace(
    HEALTHY, packages=CUDA_12, driver="550.54.15", driver_cuda=(12, 4), cupy_kernel="", numba_kernel=""
)
NO_GPU = replace(
    HEALTHY, driver="", driver_cuda=None, gpu="", capability=None, cupy_kernel="", numba_kernel=""
)
NO_DEVICE = replace(
    HEALTHY, gpu="", capability=None, gpu_error="cudaErrorNoDevice: no CUDA-capable device is detected"
)
INSTALL_12_4 = 'pip install "cupy-cuda12x[ctk]" "numba-cuda[cu12]" "cuda-toolkit==12.4.*"'
INSTALL_13 = 'pip install "cupy-cuda13x[ctk]" "numba-cuda[cu13]" "cuda-toolkit==13.0.*"'


def without(*names: str, of: dict[str, str] = PACKAGES) -> dict[str, str]:
    return {name: version for name, version in of.items() if name not in names}


def said(diagnosis: Diagnosis) -> str:
    return f"{diagnosis.cause} {diagnosis.cure} {diagnosis.command}"


# Each row: the facts, whose fault it is, and words of cause and cure.
PROBLEMS: dict[str, tuple[Facts, str, tuple[str, ...]]] = {
    "a reader's pip list, and driver 550": (
        ON_550,
        "Compilers",
        ("CUDA 12.9", "nvJitLink (CUDA 12.4)", "UNSUPPORTED_PTX_VERSION", "Install compilers", INSTALL_12_4),
    ),
    "no nvJitLink, so the driver links": (
        replace(ON_550, packages=without("nvidia-nvjitlink-cu12", of=CUDA_12), numba_missing=("nvJitLink",)),
        "Compilers",
        ("the driver (CUDA 12.4)", "Update the driver, or install", INSTALL_12_4),
    ),
    "the message of the kernel decides": (
        replace(
            HEALTHY,
            packages=without("nvidia-nvvm", "nvidia-cuda-nvrtc"),
            numba_kernel="LinkerError: ptxas fatal : Unsupported .version 9.1; current version is '9.0'",
        ),
        "Compilers",
        ("UNSUPPORTED_PTX_VERSION", INSTALL_13),
    ),
    "packages for CUDA 13 on driver 550": (
        replace(
            ON_550, packages=PACKAGES, gpu="", gpu_error="cudaErrorInsufficientDriver: CUDA driver version is"
        ),
        "Compilers",
        ("knows CUDA 12.4 at most", "change cupy-cuda13x to cupy-cuda12x and [cu13] to [cu12]", INSTALL_12_4),
    ),
    "a GPU that CUDA 13 dropped": (
        replace(
            HEALTHY, capability=(7, 0), cupy_kernel="CompileException: invalid value for --gpu-architecture"
        ),
        "Compilers",
        ("this GPU is too old", '"cupy-cuda12x[ctk]"', '"cuda-toolkit==12.9.*"'),
    ),
    "a cluster's driver": (
        replace(ON_550, packages=PACKAGES, scheduler="Slurm"),
        "Compilers",
        ("Ask the cluster's administrators", "or change cupy-cuda13x", INSTALL_12_4),
    ),
    "a driver before CUDA 12": (
        replace(
            ON_550, driver="470.57", driver_cuda=(11, 4), gpu_error="cudaErrorInsufficientDriver", gpu=""
        ),
        "Driver",
        ("CUDA 11.4 at most", "Update the driver"),
    ),
    "CuPy without its libraries": (
        replace(HEALTHY, cupy_missing=("cuBLAS", "cuRAND", "cuSOLVER", "cuSPARSE")),
        "CuPy",
        ("does not find cuBLAS, cuRAND, cuSOLVER, cuSPARSE", "[ctk]", INSTALL_13),
    ),
    "CuPy from conda without them": (
        replace(
            HEALTHY,
            packages={**without("cupy-cuda13x"), "cupy": "14.2.0"},
            conda=("cupy",),
            cupy_missing=("cuFFT",),
        ),
        "CuPy",
        ("cuFFT", 'conda install -c conda-forge cupy numba-cuda "cuda-version=13.0"'),
    ),
    "no header files": (
        replace(
            HEALTHY,
            cupy_kernel='CompileException: cuda_fp16.h(129): cannot open source file "vector_types.h"',
        ),
        "CuPy",
        ("vector_types.h", "[ctk]", INSTALL_13),
    ),
    "a user name outside ASCII": (
        replace(
            HEALTHY,
            system="win32",
            odd_path=r"C:\Users\Zoë",
            cupy_kernel=r'CompileException: cannot open source file "C:\Users\Zo?\AppData\Local\Temp\k.cu"',
        ),
        "CuPy",
        (r"C:\Users\Zoë", "CUPY_CACHE_DIR", "TEMP"),
    ),
    "two CuPys": (
        replace(HEALTHY, packages={**PACKAGES, "cupy-cuda12x": "14.2.0"}),
        "CuPy",
        ("overwrite each other", "pip uninstall cupy-cuda13x cupy-cuda12x"),
    ),
    "no CuPy": (replace(HEALTHY, packages=without("cupy-cuda13x")), "CuPy", ("not installed", INSTALL_13)),
    "a CuPy that does not import": (
        replace(HEALTHY, cupy_error="ImportError: libcudart.so.12: cannot open"),
        "CuPy",
        ("libcudart.so.12", INSTALL_13),
    ),
    "a message of the table of symptoms": (
        replace(HEALTHY, cupy_kernel="RuntimeError: CuPy failed to load libnvrtc.so.13: OSError"),
        "CuPy",
        ("first kernel fails", "without NVIDIA's compiler", "[ctk]", INSTALL_13),
    ),
    "a Linux driver inside WSL 2": (
        replace(NO_DEVICE, wsl=True),
        "Driver",
        ("/usr/lib/wsl/lib", "wsl --shutdown", "libnvidia-compute"),
    ),
    "a variable that hides the GPU": (
        replace(NO_DEVICE, visible_devices=""),
        "GPU",
        ("CUDA_VISIBLE_DEVICES", "Unset"),
    ),
    "a container without the GPU": (NO_DEVICE, "GPU", ("no CUDA-capable device", "nvidia-smi", "--gpus all")),
    "NumPy 2.5": (
        replace(HEALTHY, packages={**PACKAGES, "numpy": "2.5.2"}, numba_error="cannot compile with NumPy"),
        "NumPy",
        ("will not", 'pip install "numpy<2.5"'),
    ),
    "no numba-cuda": (
        replace(HEALTHY, packages=without("numba-cuda"), numba_kernel=""),
        "Numba",
        ("numba-cuda", INSTALL_13),
    ),
    "the successor alone": (
        replace(HEALTHY, packages=without("numba-cuda") | {"numba-cuda-mlir": "0.6.0"}, numba_kernel=""),
        "Numba",
        ("import numba, and need numba-cuda, too", INSTALL_13),
    ),
    "Numba's own module in the place of numba-cuda's": (
        replace(HEALTHY, numba_redirected=False),
        "Numba",
        ("_numba_cuda_redirector.pth", "PYTHONPATH"),
    ),
    "a numba-cuda that does not import": (
        replace(HEALTHY, numba_error="numba-cuda cannot be imported (OSError: libnvvm)."),
        "Numba",
        ("libnvvm", INSTALL_13),
    ),
    "no compiler": (
        replace(
            HEALTHY, numba_compiler="NVIDIA's compiler is not installed (NVVM is missing)", numba_kernel=""
        ),
        "Numba",
        ("NVVM is missing", INSTALL_13),
    ),
}


@pytest.mark.parametrize(("facts", "subject", "words"), PROBLEMS.values(), ids=PROBLEMS)
def test_a_known_trouble_has_one_cause_and_its_cure(
    facts: Facts, subject: str, words: tuple[str, ...]
) -> None:
    problems = [diagnosis for diagnosis in examine(facts) if diagnosis.status == "problem"]
    assert [problem.subject for problem in problems] == [subject]
    assert [word for word in words if word not in said(problems[0])] == []


NOTES: dict[str, tuple[Facts, str, tuple[str, ...]]] = {
    "no GPU": (NO_GPU, "Driver", ("If this computer has an NVIDIA GPU", "--gpus all")),
    "no GPU in WSL": (replace(NO_GPU, wsl=True), "Driver", ("in Windows",)),
    "a login node": (replace(NO_GPU, scheduler="Slurm"), "GPU", ("cluster (Slurm)", "srun --gres=gpu:1")),
    "no GPU, and NumPy 2.5": (
        replace(NO_GPU, packages={**PACKAGES, "numpy": "2.5.2"}),
        "NumPy",
        ("numpy<2.5",),
    ),
    "a Mac": (replace(NO_GPU, system="darwin", packages={}), "Numba", ("NUMBA_ENABLE_CUDASIM=1",)),
    "the simulator": (
        replace(HEALTHY, simulator=True, gpu="", cupy_kernel="", numba_kernel=""),
        "Numba",
        ("NUMBA_ENABLE_CUDASIM is set",),
    ),
    "no linker": (
        replace(HEALTHY, packages=without("nvidia-nvjitlink"), numba_missing=("nvJitLink",)),
        "Numba",
        ("nvJitLink is missing",),
    ),
    "throttled": (replace(HEALTHY, throttle=("thermal slowdown",)), "GPU", ("throttled", "cool")),
    "conda and pip": (
        replace(HEALTHY, conda=("cuda-nvrtc", "libcublas")),
        "CuPy",
        ("cuda-nvrtc, libcublas came from conda", "conda install -c conda-forge"),
    ),
    "where Numba is going": (
        HEALTHY,
        "Numba's future",
        ("maintenance since June 2026", "will not support NumPy 2.5", "numba-cuda-mlir"),
    ),
}


@pytest.mark.parametrize(("facts", "subject", "words"), NOTES.values(), ids=NOTES)
def test_a_note_is_no_problem(facts: Facts, subject: str, words: tuple[str, ...]) -> None:
    diagnoses = examine(facts)
    assert not doctor.has_problems(diagnoses)
    notes = [said(diagnosis) for diagnosis in diagnoses if diagnosis.subject == subject]
    assert any(all(word in note for word in words) for note in notes), notes


@pytest.mark.parametrize(
    "facts",
    [
        # What the cure installs: compilers of the driver, and the newest nvJitLink.
        replace(ON_550, packages=AFTER_THE_CURE),
        # A newer nvJitLink is what makes a newer compiler work.
        replace(ON_550, packages=CUDA_12 | {"nvidia-nvjitlink-cu12": "12.9.86"}),
        # It came without a wheel; only a kernel can tell.
        replace(ON_550, packages=without("nvidia-nvjitlink-cu12", of=CUDA_12)),
        # Both kernels ran, whatever the versions say.
        replace(ON_550, cupy_kernel="ok", numba_kernel="ok"),
    ],
)
def test_compilers_that_work_are_no_problem(facts: Facts) -> None:
    assert not doctor.has_problems(examine(facts))


def printed(facts: Facts, capsys: pytest.CaptureFixture[str]) -> list[str]:
    doctor.show(facts, examine(facts), Console(width=80))
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_without_a_gpu_the_first_words_are_that_nothing_needs_to_be_done(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = printed(NO_GPU, capsys)
    assert "nothing needs to be done: exercises, CPU variants and" in lines[0]
    assert "problem" not in "".join(lines)


def test_a_healthy_machine_is_in_place(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(HEALTHY, capsys)
    assert [line.split()[0] for line in lines[:5]] == ["ok"] * 5
    assert "Everything is in place." in lines


@pytest.mark.parametrize("facts", [facts for facts, _, _ in (*PROBLEMS.values(), *NOTES.values())])
def test_the_report_fits_80_columns_and_keeps_commands_whole(
    facts: Facts, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = printed(facts, capsys)
    commands = [diagnosis.command for diagnosis in examine(facts) if diagnosis.command]
    assert [line.strip() for line in lines if line.strip() in commands] == commands
    assert max(map(len, lines)) <= 80


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Facts]:
    """Pretend to be a machine with this CuPy, this Numba and this NVML."""
    monkeypatch.delenv("NUMBA_ENABLE_CUDASIM", raising=False)
    monkeypatch.setattr(compilers, "why_not", lambda target: "")
    monkeypatch.setattr(compilers, "missing_parts", lambda: ())

    def pretend(cupy: Any, numba: Any, nvml: Any) -> Facts:
        monkeypatch.setitem(sys.modules, "cupy", cupy)
        monkeypatch.setattr(backends, "numba_cuda", lambda: numba)
        for module in (backends, installation.device):
            monkeypatch.setattr(module, "nvml", lambda: nvml)
        return installation.gather()

    return pretend


def a_cupy(missing: tuple[str, ...] = (), error: Exception | None = None) -> Any:
    cp = make_cupy()
    cp.cuda.Device = lambda: SimpleNamespace(
        id=0, compute_capability="90", pci_bus_id="0", attributes=make_cupy().cuda.Device().attributes
    )
    for name in {"cublas", "curand", "cusolver", "cusparse", "cufft"} - set(missing):
        setattr(cp.cuda, name, SimpleNamespace())
    cp.cuda.nvrtc = SimpleNamespace(getVersion=lambda: (13, 0))

    def arange(n: int) -> Any:
        if error is not None:
            raise error
        return np.arange(n)

    cp.arange = arange
    return cp


def a_numba(error: Exception | None = None) -> Any:
    def launch() -> None:
        if error is not None:
            raise error

    return SimpleNamespace(
        __file__=str(Path("site-packages", "numba_cuda", "numba", "cuda", "__init__.py")),
        jit=lambda function: {(1, 1): launch},
        synchronize=lambda: None,
    )


def test_a_working_gpu_is_seen_and_tried(machine: Callable[..., Facts]) -> None:
    facts = machine(a_cupy(), a_numba(), make_nvml(throttle=0x20))
    assert (facts.driver, facts.driver_cuda) == ("580.159.04", (13, 0))
    assert (facts.gpu, facts.throttle) == (HEALTHY.gpu, ("thermal slowdown",))
    assert facts.works
    assert facts.cupy_missing == ()


def test_libraries_that_do_not_load_and_kernels_that_fail_are_seen(machine: Callable[..., Facts]) -> None:
    facts = machine(
        a_cupy(("cublas", "cufft"), RuntimeError('cannot open source file\n "vector_types.h"')),
        a_numba(RuntimeError("CUDA_ERROR_UNSUPPORTED_PTX_VERSION")),
        make_nvml(),
    )
    assert facts.cupy_missing == ("cuBLAS", "cuFFT")
    assert facts.cupy_kernel == 'RuntimeError: cannot open source file "vector_types.h"'
    assert "UNSUPPORTED_PTX" in facts.numba_kernel


def test_a_driver_without_a_gpu_is_seen(machine: Callable[..., Facts]) -> None:
    facts = machine(make_cupy(error=RuntimeError("cudaErrorNoDevice: none")), a_numba(), make_nvml())
    assert (facts.gpu, facts.sees_none, facts.numba_kernel) == ("", True, "")


def test_the_command_prints_json_and_succeeds_without_a_gpu(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "gather", lambda: NO_GPU)
    assert cli.main(["doctor", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["facts"]["packages"] == PACKAGES
    assert {"subject", "status", "cause", "cure", "command"} == set(report["findings"][0])
    monkeypatch.setattr(doctor, "gather", lambda: NO_DEVICE)
    assert cli.main(["doctor"]) == 1


def test_a_backend_that_is_missing_or_broken_is_a_fact(
    machine: Callable[..., Facts], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> Any:
        raise BackendError("It cannot be imported.") from OSError("libcudart.so")

    monkeypatch.setattr(backends, "cupy", broken)
    facts = machine(None, a_numba(), None)
    assert (facts.cupy_error, facts.without_gpu) == ("OSError: libcudart.so", True)


@pytest.mark.gpu
def test_this_machine_is_healthy() -> None:
    facts = doctor.gather()
    assert facts.works
    assert not doctor.has_problems(examine(facts))
