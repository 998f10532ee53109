"""What compiles kernels here: which packages are installed, whether a kernel compiles, what is missing."""

from __future__ import annotations

import re
from importlib import import_module, metadata
from typing import Any

from gpuguide.errors import BackendError
from gpuguide.machine.backends import cupy, has_gpu, numba_cuda

__all__ = [
    "ARCHITECTURE",
    "capability",
    "installed_version",
    "missing_parts",
    "names_a_library",
    "why_not",
]


ARCHITECTURE = (9, 0)
"""Compute capability that kernels are compiled for where there is no GPU."""

PARTS = {"nvvm": "NVVM", "nvrtc": "NVRTC", "nvJitLink": "nvJitLink"}
"""The libraries that make a kernel of Numba's code: names for NVIDIA's search, and for readers."""

_NAMES_A_LIBRARY = re.compile(r"\blib(?:nvrtc|nvvm|cudart|nvjitlink)|\.so\b|\.dll\b", re.I)


def installed_version(name: str) -> str | None:
    """Look up an installed package."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def capability() -> tuple[int, int]:
    """Return the compute capability to compile for."""
    if not has_gpu():
        return ARCHITECTURE
    text = str(cupy().cuda.Device().compute_capability)
    # "90" and "120": the minor number is always one digit.
    return int(text[:-1]), int(text[-1])


def why_not(target: tuple[int, int]) -> str:
    """Say why not even an empty kernel compiles here.

    What a missing library raises depends on the library and on the version of numba-cuda.
    """
    try:
        # That Numba can be imported proves nothing: it looks for its compilers only when it compiles.
        numba_cuda().compile_ptx(_empty_kernel, (), cc=target)
    except BackendError as error:
        return str(error).rstrip(".")
    except Exception as error:  # NVIDIA's search, Numba and NVVM each raise classes of their own
        missing = missing_parts()
        if missing or names_a_library(error):
            named = f" ({_listed(missing)} missing)" if missing else ""
            return f"NVIDIA's compiler is not installed{named}"
        return f"NVIDIA's compiler compiles nothing here: {_first_line(str(error))}"
    return ""


def names_a_library(error: BaseException) -> bool:
    """Say whether an error is about a library that is not found, and not about a kernel."""
    return isinstance(error, ImportError) or _NAMES_A_LIBRARY.search(str(error)) is not None


def missing_parts(names: tuple[str, ...] = tuple(PARTS)) -> tuple[str, ...]:
    """Name the libraries of NVIDIA's compiler that are not found here."""
    try:
        load = import_module("cuda.pathfinder").load_nvidia_dynamic_lib
    except ImportError:
        return ()
    return tuple(PARTS[name] for name in names if not _is_found(load, name))


def _is_found(load: Any, name: str) -> bool:
    try:
        load(name)
    except Exception:  # each way of not finding it has its own class
        return False
    return True


def _empty_kernel() -> None:
    """Do nothing."""


def _listed(names: tuple[str, ...]) -> str:
    joined = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    return f"{joined} {'are' if len(names) > 1 else 'is'}"


def _first_line(text: str) -> str:
    return next(
        (line.strip().rstrip(".") for line in text.splitlines() if line.strip()), "it does not say why"
    )
