"""Reads compiled kernels: instructions in double precision from PTX, registers and memory from ptxas."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["Resources", "assemble", "count_float64", "find"]

_SECONDS = 60


@dataclass(frozen=True)
class Resources:
    """What a thread of a kernel takes.

    Attributes
    ----------
    registers : int
        Registers of 32 bits.
    local_bytes : int
        Bytes of local memory: arrays of its own, and registers that were spilled.
    """

    registers: int
    local_bytes: int


def count_float64(ptx: str) -> int:
    r"""Count the instructions of PTX that calculate or convert in double precision.

    >>> count_float64("\tadd.f64 %fd1, %fd2, %fd3;\n\tld.global.f64 %fd2, [%rd1];\n\tadd.f32 %f1, %f2, %f3;")
    1
    """
    opcodes = re.findall(r"^\s*(?:@!?%p\d+\s+)?([a-z]\w*(?:\.\w+)*)\s", ptx, re.M)
    return sum(".f64" in opcode and opcode.partition(".")[0] not in ("ld", "st", "mov") for opcode in opcodes)


@cache
def find() -> str | None:
    """Return the path of ptxas."""
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations or ()) if spec else ():
        for path in sorted(Path(root).glob("*/bin/ptxas*")):
            return str(path)
    return shutil.which("ptxas")


def assemble(ptx: str, capability: tuple[int, int]) -> Resources | None:
    """Assemble PTX and read what a thread takes."""
    ptxas = find()
    if ptxas is None:
        return None
    with tempfile.TemporaryDirectory(prefix="gpuguide-ptxas-") as folder:
        source = Path(folder, "kernel.ptx")
        source.write_text(ptx, encoding="utf-8")
        architecture = f"-arch=sm_{capability[0]}{capability[1]}"
        command = [ptxas, "-v", architecture, "-o", str(source.with_suffix(".cubin")), str(source)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            return None
    return _read(done.stderr + done.stdout) if done.returncode == 0 else None


def _read(log: str) -> Resources | None:
    registers = re.search(r"Used (\d+) registers", log)
    if registers is None:
        return None
    frames = [int(n) for n in re.findall(r"(\d+) bytes stack frame", log)]
    return Resources(int(registers[1]), max(frames, default=0))
