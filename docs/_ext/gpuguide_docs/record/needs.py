"""What a page needs of the machine that records it, and what is lacking there.

The recorder alone loads this module: the process of a page does not, so it is in no page's key.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpuguide_docs.pages.pages_toml import Needs

__all__ = ["Machine", "lacking", "this_machine"]


@dataclass(frozen=True)
class Machine:
    """What a machine has; None where it cannot be told, which is no reason to leave a page out."""

    gpus: int | None = None
    gib: float | None = None


def this_machine(environment: Mapping[str, str] = os.environ) -> Machine:
    """Ask the driver about the GPUs of this machine, without opening them."""
    from gpuguide.machine.backends import nvml

    library = nvml()
    if library is None:
        return Machine()
    try:
        count = int(library.nvmlDeviceGetCount())
        sizes = [_memory(library, number) for number in range(count)]
    except Exception:  # what the driver does not tell is unknown
        return Machine()
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        count = min(count, _n_named(visible, count))
    return Machine(count, min(sizes) / 2**30 if sizes else None)


def _memory(library: Any, number: int) -> int:
    return int(library.nvmlDeviceGetMemoryInfo(library.nvmlDeviceGetHandleByIndex(number)).total)


def _n_named(visible: str, count: int) -> int:
    """Count the GPUs of a list; CUDA ignores what follows the first that does not exist."""
    n = 0
    for name in (each.strip() for each in visible.split(",")):
        # Others than numbers are identifiers, which are long; they are taken at their word.
        if not name or (name.lstrip("-").isdigit() and not 0 <= int(name) < count):
            break
        n += 1
    return n


def lacking(needs: Needs, machine: Machine) -> str:
    """Say why a page cannot be recorded here."""
    from gpuguide.machine.compilers import installed_version

    if machine.gpus is not None and machine.gpus < needs.gpus:
        return f"needs {needs.gpus} GPU{'s' if needs.gpus > 1 else ''}, and this machine has {machine.gpus}"
    if needs.gpus and machine.gib is not None and machine.gib < needs.gib:
        return f"needs {needs.gib:g} GiB of GPU memory, and this machine has {machine.gib:.3g}"
    missing = [name for name in needs.extras if installed_version(name) is None]
    if missing:
        are = "which is" if len(missing) == 1 else "which are"
        return f"needs {' and '.join(missing)}, {are} not installed"
    return ""
