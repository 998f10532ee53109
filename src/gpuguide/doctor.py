"""Says what is wrong with the installation: a table of causes and cures, over facts that were gathered."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from gpuguide.machine.backends import release
from gpuguide.machine.installation import COMPILERS, LINKERS, Facts, Version, gather
from gpuguide.symptoms import in_message, symptom

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Diagnosis", "Facts", "as_json", "examine", "gather", "has_problems", "show"]

# The versions of cuda-toolkit that this package takes.
_OLDEST_TOOLKIT, _NEWEST_TOOLKIT = (12, 4), (13, 0)

_NO_GPU = (
    "CUDA sees no GPU here, and nothing needs to be done: exercises, CPU variants and recordings work "
    "without one."
)


@dataclass(frozen=True)
class Diagnosis:
    """One cause and its cure; a problem stops the GPU, a note is good to know."""

    subject: str
    status: Literal["note", "problem"]
    cause: str
    cure: str
    command: str = ""


def examine(facts: Facts) -> tuple[Diagnosis, ...]:
    """Diagnose, in the order in which problems should be cured."""
    words, diagnoses = _words(facts), []
    problems: set[str] = set()
    for finding in _FINDINGS:
        # One cure for one cause: what follows from a problem is not named beside it.
        if finding.subject in problems or (finding.last_resort and problems) or not finding.applies(facts):
            continue
        if finding.status == "problem":
            # Without a GPU nothing is a problem, and what only a GPU needs is not named.
            if facts.without_gpu and finding.subject not in ("NumPy", "Numba"):
                continue
            problems.add(finding.subject)
        status = "note" if facts.without_gpu else finding.status
        cause, cure, command = (
            text.format_map(words) for text in (finding.cause, finding.cure, finding.command)
        )
        if finding.message and (row := in_message(getattr(facts, finding.message))):
            cause, cure = f"{cause} {_plain(row.cause)}", _plain(row.cure)
            # What has to be installed depends on this computer.
            command = (command or row.command) if row.command else ""
        cure = cure[:1].upper() + cure[1:]
        diagnoses.append(Diagnosis(finding.subject, status, cause, cure, command))
    return tuple(diagnoses)


def has_problems(diagnoses: Iterable[Diagnosis]) -> bool:
    """Say whether something stops the GPU from being used."""
    return any(diagnosis.status == "problem" for diagnosis in diagnoses)


def as_json(facts: Facts, diagnoses: Iterable[Diagnosis]) -> str:
    """Write facts and findings, for a report or a script."""
    findings = [asdict(diagnosis) for diagnosis in diagnoses]
    return json.dumps({"facts": asdict(facts), "findings": findings}, indent=1)


def show(facts: Facts, diagnoses: Iterable[Diagnosis], console: Console | None = None) -> None:
    """Print what there is as a table, then what to do, then what is good to know."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    diagnoses, console = tuple(diagnoses), console or Console()
    if facts.without_gpu:
        console.print(Text(f"{_NO_GPU}\n"))
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1))
    colours = {"ok": "green", "note": "yellow", "problem": "bold red", "-": "dim"}
    for subject, text in _parts(facts).items():
        statuses = {diagnosis.status for diagnosis in diagnoses if diagnosis.subject == subject}
        status = "problem" if "problem" in statuses else "note" if statuses else "ok" if text else "-"
        table.add_row(Text(f" {status}", style=colours[status]), subject, Text(text or "none"))
    console.print(table)
    problems = [diagnosis for diagnosis in diagnoses if diagnosis.status == "problem"]
    notes = [diagnosis for diagnosis in diagnoses if diagnosis.status == "note"]
    if facts.gpu and not problems:
        console.print("\nEverything is in place.")
    for heading, chosen in (("What to do", problems), ("Good to know", notes)):
        if chosen:
            console.print(f"\n{heading}:")
        for number, diagnosis in enumerate(chosen, 1):
            mark = f"{number}." if chosen is problems else "-"
            # As `Text`, because rich would read "[cu13]" as markup.
            console.print(Text(f"{mark} {diagnosis.subject}: {diagnosis.cause} {diagnosis.cure}"))
            if diagnosis.command:
                # In one line, however long, so that it can be copied.
                console.print(Text(f"   {diagnosis.command}"), soft_wrap=True)


def _parts(facts: Facts) -> dict[str, str]:
    def versions(names: Iterable[str]) -> str:
        return ", ".join(f"{name} {facts.packages[name]}" for name in names if name in facts.packages)

    return {
        "Python": facts.python,
        "NumPy": facts.packages.get("numpy", ""),
        "Numba": versions(("numba", "numba-cuda", "numba-cuda-mlir")),
        "CuPy": versions(facts.cupys),
        "Compilers": ", ".join(
            f"{part} {facts.packages[name]}"
            for name, part in {**COMPILERS, **LINKERS}.items()
            if name in facts.packages
        ),
        "Driver": facts.driver + (f", CUDA up to {_dotted(facts.driver_cuda)}" if facts.driver_cuda else ""),
        "GPU": ", ".join(filter(None, (facts.gpu, *facts.throttle))),
    }


@dataclass(frozen=True)
class _Finding:
    """A row of the table; `_words` fills the braces. A last resort follows no problem of a row above.

    Where the fact `message` has the words of a known symptom, cause and cure are those of that symptom.
    """

    subject: str
    status: Literal["note", "problem"]
    applies: Callable[[Facts], bool]
    cause: str
    cure: str = "Run:"
    command: str = "{install}"
    last_resort: bool = False
    message: str = ""


def _plain(text: str) -> str:
    return text.replace("`", "'")


def _of_symptom(name: str) -> tuple[str, str, str]:
    row = symptom(name)
    return _plain(row.cause), _plain(row.cure), row.command


_FINDINGS = (
    _Finding(
        "Driver",
        "problem",
        lambda f: f.wsl and f.sees_none,
        *_of_symptom("wsl"),
    ),
    _Finding(
        "Driver",
        "problem",
        lambda f: (f.driver_cuda or (12,)) < (12,),
        "It knows {known} at most; CuPy and numba-cuda need 12.0.",
        "{update}.",
        "",
    ),
    _Finding(
        "GPU",
        "problem",
        lambda f: f.visible_devices is not None and f.sees_none,
        "CUDA_VISIBLE_DEVICES is '{visible_devices}', which hides it.",
        "Unset this variable.",
        "",
    ),
    _Finding(
        "Compilers",
        "problem",
        lambda f: f.stack_major > f.major and not f.works,
        "The packages are for CUDA {stack_major}; {limit}.",
        "{either}change cupy-cuda13x to cupy-cuda12x and [cu13] to [cu12]. In a new environment, in which "
        "nothing of CUDA 13 is left, run:",
        last_resort=True,
    ),
    _Finding(
        "Compilers",
        "problem",
        lambda f: (
            re.search(r"unsupported_ptx|unsupported \.version", f.numba_kernel, re.I) is not None
            or (f.numba_kernel != "ok" and (f.compiler_cuda or (0,)) > (f.linker[1] or (99,)))
        ),
        "Numba's compilers ({compiler}) are newer than what links kernels, {linker}, which fails with "
        "UNSUPPORTED_PTX_VERSION.",
        "{either}install compilers of CUDA {target}. cuda-toolkit alone brings none; the words in square "
        "brackets do. Run:",
        last_resort=True,
    ),
    _Finding(
        "NumPy",
        "problem",
        lambda f: (
            "numba-cuda" in f.packages and release(f.packages.get("numpy", "")) >= (2, 5) and not f.simulator
        ),
        *_of_symptom("numpy-too-new"),
    ),
    _Finding(
        "CuPy",
        "problem",
        lambda f: len(f.cupys) > 1,
        "{cupys} overwrite each other.",
        "Remove all of them with 'pip uninstall {cupys}' ('conda remove cupy' for one from conda), then run:",
    ),
    _Finding("CuPy", "problem", lambda f: not f.cupys, "It is not installed."),
    _Finding(
        "CuPy",
        "problem",
        lambda f: bool(f.cupy_error),
        "It cannot be imported ({cupy_error}).",
        "In a new environment, run:",
        message="cupy_error",
    ),
    _Finding(
        "CuPy",
        "problem",
        lambda f: bool(f.cupy_missing),
        "It does not find {libraries}.",
        "{ctk}Run:",
    ),
    _Finding(
        "CuPy",
        "problem",
        lambda f: f.system == "win32" and bool(f.odd_path) and f.cupy_kernel not in ("", "ok"),
        "It compiles no kernel. NVIDIA's compiler may fail on paths with letters outside ASCII: {odd_path}.",
        _plain(symptom("letters-in-paths").cure),
        "",
    ),
    _Finding(
        "CuPy",
        "problem",
        lambda f: "vector_types.h" in f.cupy_kernel,
        _plain(symptom("header-files").cause),
        "{ctk}Run:",
    ),
    _Finding(
        "Numba",
        "problem",
        lambda f: not {"numba-cuda", "numba-cuda-mlir"} & {*f.packages} and f.system != "darwin",
        "numba-cuda, which compiles kernels, is not installed.",
    ),
    _Finding(
        "Numba",
        "problem",
        lambda f: "numba-cuda" not in f.packages and "numba-cuda-mlir" in f.packages,
        "numba-cuda-mlir compiles what imports numba_cuda_mlir. The guide's kernels import numba, and need "
        "numba-cuda, too.",
    ),
    _Finding(
        "Numba",
        "problem",
        # The line about NumPy says so already.
        lambda f: bool(f.numba_error) and release(f.packages.get("numpy", "")) < (2, 5),
        "{numba_error}",
        "In a new environment, run:",
        message="numba_error",
    ),
    _Finding(
        "Numba",
        "problem",
        lambda f: not f.numba_redirected and f.system != "darwin" and not f.simulator,
        "'import numba.cuda' gives Numba's own module and not that of numba-cuda. Python did not read "
        "_numba_cuda_redirector.pth, because it does so in its site-packages and not in PYTHONPATH.",
        "Take the folder of numba-cuda out of PYTHONPATH, and run:",
    ),
    _Finding(
        "Numba",
        "problem",
        lambda f: bool(f.numba_compiler) and not f.without_gpu,
        "{numba_compiler}.",
        last_resort=True,
    ),
    _Finding(
        "Numba",
        "note",
        lambda f: "nvJitLink" in f.numba_missing and not f.numba_compiler and not f.without_gpu,
        "nvJitLink is missing, so the driver links kernels, and not all can be linked.",
        last_resort=True,
    ),
    _Finding(
        "Numba",
        "note",
        lambda f: f.simulator,
        "NUMBA_ENABLE_CUDASIM is set, so kernels run in the simulator, on the CPU.",
        "Unset this variable to use a GPU.",
        "",
    ),
    _Finding(
        "Numba",
        "note",
        lambda f: f.system == "darwin" and not f.simulator,
        "macOS has no CUDA.",
        "Set NUMBA_ENABLE_CUDASIM=1 to run kernels in Numba's simulator.",
        "",
    ),
    _Finding(
        "CuPy",
        "problem",
        lambda f: f.cupy_kernel not in ("", "ok"),
        "Its first kernel fails ({cupy_kernel}).",
        "Try a new environment:",
        last_resort=True,
        message="cupy_kernel",
    ),
    _Finding(
        "Numba",
        "problem",
        lambda f: f.numba_kernel not in ("", "ok"),
        "Its first kernel fails ({numba_kernel}).",
        "Try a new environment:",
        last_resort=True,
        message="numba_kernel",
    ),
    _Finding(
        "GPU",
        "problem",
        lambda f: bool(f.gpu_error),
        "CUDA cannot use it ({gpu_error}).",
        _plain(symptom("no-device").cure),
        "",
        last_resort=True,
        message="gpu_error",
    ),
    _Finding(
        "GPU",
        "note",
        lambda f: bool(f.throttle),
        "It is throttled now, which makes times longer.",
        "Let it cool, or stop what else runs on it.",
        "",
    ),
    _Finding(
        "GPU",
        "note",
        lambda f: not f.gpu and bool(f.scheduler),
        "This computer belongs to a cluster ({scheduler}), whose login nodes often have no GPU.",
        "Run 'gpuguide doctor' in a job that has one; with Slurm:",
        "srun --gres=gpu:1 gpuguide doctor",
    ),
    _Finding(
        "Driver",
        "note",
        lambda f: f.without_gpu and not f.scheduler and f.system != "darwin",
        "If this computer has an NVIDIA GPU, its driver is missing{in_windows}.",
        "Install 580 or newer, until 'nvidia-smi' works. A container needs --gpus all (Docker) or --nv "
        "(Apptainer).",
        "",
    ),
    _Finding(
        "CuPy",
        "note",
        lambda f: bool(f.conda) and any(re.match(r"cupy-cuda|nvidia-(?!ml-py)", name) for name in f.packages),
        "{conda} came from conda, and other parts of CUDA from pip: one may hide the other.",
        "If something fails, take all from one of them, in a new environment; from conda:",
        "{conda_install}",
    ),
    _Finding(
        "Numba's future",
        "note",
        lambda f: "numba-cuda" in f.packages,
        "numba-cuda has been in maintenance since June 2026. It will not support NumPy 2.5; its successor is "
        "numba-cuda-mlir.",
        "Nothing needs to be done. The guide is measured with numba-cuda; its page 'Which tool' times both.",
        "",
    ),
)


def _words(facts: Facts) -> dict[str, str]:
    driver, (linker, linker_cuda) = facts.driver_cuda, facts.linker
    # What understands the compilers may be an nvJitLink that is older than the driver.
    target = min([version for version in (driver, linker_cuda) if version], default=_NEWEST_TOOLKIT)
    target = min(max(target, _OLDEST_TOOLKIT), _NEWEST_TOOLKIT if facts.major == 13 else (12, 9))
    major, of_target = target[0], _dotted(target)
    conda_install = f'conda install -c conda-forge cupy numba-cuda "cuda-version={of_target}"'
    # Without a GPU, CuPy and its libraries, gigabytes of them, are of no use.
    cupy = "" if facts.without_gpu else f'"cupy-cuda{major}x[ctk]" '
    pip_install = f'pip install {cupy}"numba-cuda[cu{major}]" "cuda-toolkit=={of_target}.*"'
    update = "update the driver of Windows" if facts.wsl or facts.system == "win32" else "update the driver"
    if facts.scheduler:
        update = "ask the cluster's administrators for a newer driver"
    # A newer driver helps where it is what is too old.
    too_old = driver and (driver < (13,) if facts.stack_major > facts.major else linker == "the driver")
    return {
        **{name: str(value) for name, value in asdict(facts).items()},
        "cupys": " ".join(facts.cupys),
        "conda": ", ".join(facts.conda),
        "libraries": ", ".join(facts.cupy_missing),
        "in_windows": " in Windows (inside WSL, install none)" if facts.wsl else "",
        "known": _of_cuda(driver),
        "stack_major": str(facts.stack_major),
        "limit": f"the driver knows {_of_cuda(driver)} at most" if too_old else "this GPU is too old for it",
        "compiler": _of_cuda(facts.compiler_cuda),
        "linker": f"{linker} ({_of_cuda(linker_cuda)})",
        # CuPy from conda is mended by conda.
        "ctk": "" if "cupy" in facts.conda else "CuPy brings them only with [ctk]. ",
        "target": of_target,
        "update": update,
        "either": f"{update}, or " if too_old else "",
        "install": conda_install if "cupy" in facts.conda else pip_install,
        "conda_install": conda_install,
    }


def _dotted(version: Version) -> str:
    return ".".join(map(str, version))


def _of_cuda(version: Version | None) -> str:
    return f"CUDA {_dotted(version)}" if version else "of unknown version"
