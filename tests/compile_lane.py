"""The compile lane: kernels compiled for a GPU that is not there, and what the compiler says of them.

A RawKernel's source goes through NVRTC, a Numba kernel through NVVM, and the PTX of either through
``ptxas -v``; all three come from wheels. `raw_facts` and `numba_facts` return registers, spills, shared
memory and counts of PTX instructions, as data.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

ARCHITECTURE = "sm_90"


@dataclass(frozen=True)
class KernelFacts:
    """What the compiler says of one kernel.

    `instructions` counts PTX opcodes by their full name ("ld.global.nc.v4.u32") in the kernel's text;
    `count("ld.global")` adds up all that begin so. Device functions that were not inlined are not counted.
    """

    name: str
    registers: int
    spill_store_bytes: int
    spill_load_bytes: int
    stack_bytes: int
    shared_bytes: int
    constant_bytes: int
    instructions: Counter[str]
    ptx: str

    @property
    def spills(self) -> int:
        """Bytes spilled, stores and loads together."""
        return self.spill_store_bytes + self.spill_load_bytes

    def count(self, prefix: str) -> int:
        """Return how many instructions have an opcode that begins with `prefix`."""
        return sum(n for opcode, n in self.instructions.items() if opcode.startswith(prefix))


def needs_compilers() -> pytest.MarkDecorator:
    """Return a mark that skips where NVRTC or ptxas is not installed (macOS, for one)."""
    missing = [name for name, there in (("ptxas", find_ptxas()), ("NVRTC", has_nvrtc())) if not there]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


@cache
def has_nvrtc() -> bool:
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except Exception:  # the module or the library behind it
        return False
    return True


@cache
def find_ptxas() -> str | None:
    """Return the path of ptxas: of the wheel, else of the PATH."""
    spec = importlib.util.find_spec("nvidia")
    for root in spec.submodule_search_locations or () if spec else ():
        for path in sorted(Path(root).glob("*/bin/ptxas")):
            return str(path)
    return shutil.which("ptxas")


def raw_ptx(source: str) -> str:
    """Compile CUDA C++ to PTX through NVRTC, with the option that CuPy adds; raise with the log."""
    from cuda.bindings import nvrtc

    def check(result: tuple[Any, ...]) -> Any:
        if result[0] != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise RuntimeError(f"NVRTC: {result[0].name}")
        return result[1] if len(result) > 1 else None

    program = check(nvrtc.nvrtcCreateProgram(source.encode(), b"kernel.cu", 0, [], []))
    flags = [f"--gpu-architecture={ARCHITECTURE.replace('sm', 'compute')}", "--std=c++17"]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(flags), [flag.encode() for flag in flags])
    log = bytearray(check(nvrtc.nvrtcGetProgramLogSize(program)))
    check(nvrtc.nvrtcGetProgramLog(program, log))
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise RuntimeError(f"NVRTC: {status.name}\n{log.decode().rstrip(chr(0))}")
    ptx = bytearray(check(nvrtc.nvrtcGetPTXSize(program)))
    check(nvrtc.nvrtcGetPTX(program, ptx))
    return ptx.decode().rstrip("\0")


def numba_ptx(
    kernel: Callable[..., Any], signature: Any, compute_capability: tuple[int, int] = (9, 0), **options: Any
) -> str:
    """Compile a Numba kernel (its dispatcher, or the plain function) for argument types to PTX."""
    from numba import cuda

    function = getattr(kernel, "py_func", kernel)
    targetoptions = getattr(kernel, "targetoptions", {})
    passed = {name: targetoptions[name] for name in ("fastmath", "opt") if name in targetoptions}
    # Device functions are compiled for the current GPU, and there may be none.
    device = SimpleNamespace(compute_capability=compute_capability)
    with mock.patch("numba.cuda.dispatcher.get_current_device", return_value=device):
        ptx, _ = cuda.compile_ptx(function, signature, cc=compute_capability, **{**passed, **options})
    return str(ptx)


def ptx_facts(ptx: str, name: str | None = None) -> KernelFacts:
    """Assemble PTX; return the facts of the kernel called `name` (or of the only one)."""
    log = _assemble(ptx)
    names = re.findall(r"\.entry\s+([\w$]+)", ptx)
    mangled = _pick(names, name)
    section = re.search(
        rf"Compiling entry function '{re.escape(mangled)}'(.*?)(?=Compiling entry|\Z)", log, re.S
    )
    text = section[1] if section else log
    return KernelFacts(
        name=mangled,
        registers=_number(r"Used (\d+) registers", text),
        spill_store_bytes=_number(r"(\d+) bytes spill stores", text),
        spill_load_bytes=_number(r"(\d+) bytes spill loads", text),
        stack_bytes=_number(r"(\d+) bytes stack frame", text),
        shared_bytes=_number(r"(\d+) bytes smem", text),
        constant_bytes=sum(int(n) for n in re.findall(r"(\d+) bytes cmem", text)),
        instructions=_opcodes(ptx, mangled),
        ptx=ptx,
    )


def raw_facts(source: str, name: str) -> KernelFacts:
    """Return the facts of a kernel of a RawKernel's source."""
    return ptx_facts(raw_ptx(source), name)


def numba_facts(kernel: Callable[..., Any], signature: Any, **options: Any) -> KernelFacts:
    """Return the facts of a Numba kernel compiled for `signature` (a tuple of Numba types)."""
    return ptx_facts(numba_ptx(kernel, signature, **options))


def _assemble(ptx: str) -> str:
    """Return what ``ptxas -v`` prints."""
    ptxas = find_ptxas()
    assert ptxas, "ptxas is not installed"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "kernel.ptx")
        source.write_text(ptx)
        command = [ptxas, "-v", f"-arch={ARCHITECTURE}", "-o", str(source.with_suffix(".cubin")), str(source)]
        if ".extern .func" in ptx:  # grid.sync() in Numba calls a library, which is linked later
            command.append("-c")
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        raise RuntimeError(f"ptxas: {done.stderr}{done.stdout}")
    return done.stderr + done.stdout


def _pick(names: Sequence[str], name: str | None) -> str:
    found = [each for each in names if name is None or each == name or name in each]
    exact = [each for each in found if each == name]
    if len(exact or found) != 1:
        raise LookupError(f"expected one kernel for {name!r}, found {found} of {list(names)}")
    return (exact or found)[0]


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


def _opcodes(ptx: str, name: str) -> Counter[str]:
    """Count the opcodes in the body of one entry of the PTX."""
    body = ptx[re.search(rf"\.entry\s+{re.escape(name)}\b", ptx).end() :]  # type: ignore[union-attr]
    body = body[body.index("{") + 1 :]
    body = body[: body.index("\n}")]
    lines = (re.sub(r"^\s*@!?%p\d+\s+", "", line).strip() for line in body.splitlines())
    words = (re.match(r"([a-z][\w.:]*)[\s;]", line) for line in lines)
    return Counter(word[1] for word in words if word)
