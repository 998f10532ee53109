"""Looks at what is installed and says what to do about each problem, in one sentence."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gpuguide.errors import BackendError, NoGpuError
from gpuguide.machine import backends, compilers, device
from gpuguide.machine.compilers import installed_version

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Diagnosis", "examine", "has_problems", "show"]

Status = Literal["ok", "note", "problem"]

_CUPY_WHEELS = ("cupy", "cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x")
_COMPILER_WHEELS = (
    "nvidia-cuda-nvrtc",
    "nvidia-cuda-nvrtc-cu12",
    "nvidia-nvvm",
    "nvidia-cuda-nvcc-cu12",
    "nvidia-nvjitlink",
    "nvidia-nvjitlink-cu12",
)


@dataclass(frozen=True)
class Diagnosis:
    """What the doctor says of one part of the installation.

    Parameters
    ----------
    subject : str
        What was looked at: ``"CuPy"``, ``"GPU"``.
    status : {"ok", "note", "problem"}
        A note limits what can be done, a problem stops it.
    text : str
        What was found.
    cure : str
        What to do, as one sentence; empty when all is well.
    """

    subject: str
    status: Status
    text: str
    cure: str = ""


def examine() -> tuple[Diagnosis, ...]:
    """Look at Python, NumPy, Numba, CuPy, the driver, the toolkit and the GPU.

    Returns
    -------
    tuple of Diagnosis
        In the order in which problems should be cured.

    Examples
    --------
    >>> [diagnosis.subject for diagnosis in examine()][:3]
    ['Python', 'NumPy', 'Numba']
    """
    causes = [_python(), _numpy(), _numba(), _cupy(), _driver(), _toolkit()]
    diagnoses = [diagnosis for diagnosis in causes if diagnosis is not None]
    gpu = _gpu()
    if has_problems(diagnoses):
        # A problem that stops the GPU is already named above: one cure is enough.
        gpu = replace(gpu, cure="")
    return (*diagnoses, gpu)


def has_problems(diagnoses: Iterable[Diagnosis]) -> bool:
    """Say whether something stops the GPU from being used.

    Parameters
    ----------
    diagnoses : iterable of Diagnosis
        What `examine` returned.

    Returns
    -------
    bool
        True when any of them is a problem.

    Examples
    --------
    >>> has_problems([Diagnosis("CuPy", "ok", "14.2.0")])
    False
    """
    return any(diagnosis.status == "problem" for diagnosis in diagnoses)


def show(diagnoses: Iterable[Diagnosis], console: Console | None = None) -> None:
    """Print diagnoses as a table, then the cures, one numbered sentence each.

    Parameters
    ----------
    diagnoses : iterable of Diagnosis
        What `examine` returned.
    console : rich.console.Console, optional
        Where to print; standard output by default.

    Examples
    --------
    >>> from rich.console import Console
    >>> show([Diagnosis("CuPy", "ok", "14.2.0")], Console(width=60))
     ok  CuPy  14.2.0
    Everything is in place.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    diagnoses = tuple(diagnoses)
    console = console or Console(soft_wrap=False)
    colours = {"ok": "green", "note": "yellow", "problem": "bold red"}
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1))
    for diagnosis in diagnoses:
        table.add_row(
            Text(f" {diagnosis.status}", style=colours[diagnosis.status]),
            diagnosis.subject,
            Text(diagnosis.text),
        )
    console.print(table)
    cures = [diagnosis for diagnosis in diagnoses if diagnosis.cure]
    for number, diagnosis in enumerate(cures, 1):
        # As `Text`, because rich would read "[cu13]" as markup.
        console.print(Text(f"{number}. {diagnosis.subject}: {diagnosis.cure}"))
    if not cures:
        console.print("Everything is in place.")


def _python() -> Diagnosis:
    text = f"{platform.python_version()} on {platform.system()} {platform.machine()}, {sys.executable}"
    return Diagnosis("Python", "ok", text)


def _numpy() -> Diagnosis:
    version = installed_version("numpy") or "missing"
    if backends.numpy_too_new():
        cure = (
            f"numba-cuda {installed_version('numba-cuda')} cannot compile kernels with it: run pip install "
            f"'numpy<2.5'."
        )
        return Diagnosis("NumPy", "problem", version, cure)
    return Diagnosis("NumPy", "ok", version)


def _numba() -> Diagnosis:
    text = ", ".join(f"{name} {installed_version(name) or 'missing'}" for name in ("numba", "numba-cuda"))
    if backends.simulated():
        cure = "NUMBA_ENABLE_CUDASIM is set, so kernels run on the CPU; unset it to use a GPU."
        return Diagnosis("Numba", "note", f"{text}, simulator", cure)
    if installed_version("numba-cuda") is None:
        return _no_numba_cuda(text)
    # The line about NumPy says so already: one cure for one cause.
    if backends.numpy_too_new():
        return Diagnosis("Numba", "ok", text)
    try:
        module = backends.numba_cuda()
    except BackendError as error:
        return Diagnosis("Numba", "problem", text, str(error))
    if "numba_cuda" not in Path(module.__file__).parts:
        cure = (
            "import numba.cuda finds Numba's own and not that of numba-cuda, whose file "
            "_numba_cuda_redirector.pth Python did not read when it started: it does so in its site-packages "
            "only, and not in the folders of PYTHONPATH. Take its folder out of PYTHONPATH, and run "
            f"{sys.executable} -m pip install numba 'numba-cuda[cu13]' (driver 580 or newer) or "
            "'numba-cuda[cu12]'."
        )
        return Diagnosis("Numba", "problem", f"{text}, but numba.cuda is not numba-cuda's", cure)
    return _compiler(text)


def _compiler(text: str) -> Diagnosis:
    """Check that a kernel compiles, which an import that works does not show."""
    target = compilers.capability()
    why = compilers.why_not(target)
    extra = compilers.cuda_extra(target)
    command = f"{compilers.install_command(extra)}, which is what this package's extra {extra} installs."
    if why:
        return Diagnosis("Numba", "problem", f"{text}, cannot compile kernels", f"{why}: run {command}")
    if compilers.missing_parts(("nvJitLink",)):
        cure = f"nvJitLink is missing, so the driver links kernels, and not all can be linked: run {command}"
        return Diagnosis("Numba", "note", text, cure)
    return Diagnosis("Numba", "ok", text)


def _no_numba_cuda(text: str) -> Diagnosis:
    if sys.platform == "darwin":
        cure = "numba-cuda has no macOS wheel; set NUMBA_ENABLE_CUDASIM=1 to run kernels in the simulator."
        return Diagnosis("Numba", "note", text, cure)
    cure = "Run pip install 'numba-cuda[cu13]' (driver 580 or newer) or 'numba-cuda[cu12]'."
    return Diagnosis("Numba", "problem", text, cure)


def _cupy() -> Diagnosis:
    wheels = [f"{name} {version}" for name in _CUPY_WHEELS if (version := installed_version(name))]
    text = ", ".join(wheels) or "missing"
    if len(wheels) > 1:
        names = " ".join(wheel.split()[0] for wheel in wheels)
        cure = f"Several CuPys overwrite each other: pip uninstall {names}, then install the one you need."
        return Diagnosis("CuPy", "problem", text, cure)
    try:
        cp = backends.cupy()
    except BackendError as error:
        return Diagnosis("CuPy", "problem", text, str(error))
    return Diagnosis("CuPy", "ok", text if wheels else str(cp.__version__))


def _driver() -> Diagnosis:
    library = backends.nvml()
    if library is None:
        if sys.platform == "darwin":
            return Diagnosis(
                "Driver", "note", "none", "macOS has no CUDA; kernels run in the simulator only."
            )
        cure = "No NVIDIA driver answers: install one (580 or newer for CUDA 13) until 'nvidia-smi' works."
        return Diagnosis("Driver", "problem", "none", cure)
    newest = _driver_cuda(library)
    known = f", CUDA up to {newest[0]}.{newest[1]}" if newest else ""
    return Diagnosis("Driver", "ok", f"{_ask(library.nvmlSystemGetDriverVersion) or 'unknown'}{known}")


def _toolkit() -> Diagnosis | None:
    newest = _compiler_cuda()
    if newest is None:
        return None
    text = f"compilers of CUDA {newest[0]}.{newest[1]}"
    library = backends.nvml()
    driver = _driver_cuda(library) if library is not None else None
    if driver is None or newest <= driver:
        return Diagnosis("Toolkit", "ok", text)
    known = f"{driver[0]}.{driver[1]}"
    cure = (
        f"It is newer than the driver (CUDA {known}), which fails with UNSUPPORTED_PTX_VERSION: "
        f"run pip install 'cuda-toolkit=={known}.*', or update the driver."
    )
    return Diagnosis("Toolkit", "problem", text, cure)


def _gpu() -> Diagnosis:
    try:
        gpu = device.require_gpu()
    except NoGpuError as error:
        return Diagnosis("GPU", "note" if backends.simulated() else "problem", "none usable", str(error))
    major, minor = gpu.compute_capability
    text = f"{gpu.name}, compute capability {major}.{minor}, {gpu.memory_bytes / 2**30:.0f} GiB"
    if gpu.gpu_count > 1:
        text += f", {gpu.gpu_count} of them"
    reading = device.clocks()
    if reading.throttle:
        cure = "It is throttled now, which makes times longer: let it cool, or stop what else runs on it."
        return Diagnosis("GPU", "note", f"{text}, {', '.join(reading.throttle)}", cure)
    return Diagnosis("GPU", "ok", text)


def _compiler_cuda() -> tuple[int, int] | None:
    versions = [version for name in _COMPILER_WHEELS if (version := installed_version(name))]
    if versions:
        # The newest decides: a single compiler that is too new for the driver is enough to fail.
        major, minor = max(backends.release(version)[:2] for version in versions)
        return major, minor
    try:
        major, minor = backends.cupy().cuda.nvrtc.getVersion()
    except Exception:  # without CuPy or NVRTC there is nothing to compare
        return None
    return int(major), int(minor)


def _driver_cuda(library: Any) -> tuple[int, int] | None:
    number = _ask(library.nvmlSystemGetCudaDriverVersion)
    # CUDA counts 13.1 as 13010.
    return None if number is None else (number // 1000, number % 1000 // 10)


def _ask(function: Any) -> Any:
    try:
        return function()
    except Exception:  # NVML raises its own class, which cannot be named without importing it
        return None
