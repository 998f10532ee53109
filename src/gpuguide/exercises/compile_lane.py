"""The compile lane: what NVIDIA's compiler makes of a kernel, with or without a GPU."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from types import FrameType, SimpleNamespace
from typing import Any

from gpuguide.errors import BackendError
from gpuguide.exercises import doubles, ptxas
from gpuguide.exercises.kernels import Built, build, file_name
from gpuguide.exercises.model import Exercise, KernelTask
from gpuguide.exercises.reading import Answer, check_parameters, unsupported
from gpuguide.exercises.report import FAILED, NOT_AT_HAND, PASSED, LaneReport
from gpuguide.exercises.simulator.findings import Finding, several_types
from gpuguide.machine import compilers
from gpuguide.machine.backends import numba, numba_cuda, simulated

__all__ = ["compile_finding", "judge_compile", "why_nothing_compiles"]

_SIMULATED = (
    "Numba runs its simulator in this process, which cannot compile: NUMBA_ENABLE_CUDASIM is set. Unset it "
    "and start Python again."
)

# Of the lines that make a float64, so many are named.
_MOST_CAUSES = 3


def judge_compile(exercise: Exercise, answer: Answer) -> LaneReport:
    """Compile a kernel in this process and compare it with the exercise's limits."""
    task = exercise.task
    assert isinstance(task, KernelTask)
    check_parameters(exercise.name, task.parameters, answer)
    found = unsupported(answer)
    if found:
        return LaneReport("compile", FAILED, findings=tuple(found))
    if simulated():
        return LaneReport("compile", NOT_AT_HAND, _SIMULATED)
    capability = compilers.capability()
    try:
        numba_cuda()
        built = build(answer)
        with _compiling_for(capability):
            types = _signature(task)
            ptx = _ptx(built, types, capability)
            n_doubles, most = ptxas.count_float64(ptx), task.limits.float64_instructions
            causes = _causes(built, types, capability, answer) if _too_many(n_doubles, most) else ()
    except BackendError as error:
        return LaneReport("compile", NOT_AT_HAND, str(error))
    except Exception as error:  # Numba raises its own classes and Python's
        if reason := why_nothing_compiles(capability):
            return LaneReport("compile", NOT_AT_HAND, reason)
        return LaneReport("compile", FAILED, findings=(compile_finding(error, answer),))
    findings = [_too_wide(n_doubles, most, causes)] if _too_many(n_doubles, most) else []
    return _judged_code(ptx, n_doubles, findings, capability)


def why_nothing_compiles(capability: tuple[int, int]) -> str:
    """Say why not even an empty kernel compiles here; empty if one does, so that the reader's is at fault.

    >>> isinstance(why_nothing_compiles((9, 0)), str)
    True
    """
    why = compilers.why_not(capability)
    return f"{why}. 'gpuguide doctor' says what to install." if why else ""


@contextmanager
def _compiling_for(capability: tuple[int, int]) -> Iterator[None]:
    """Let Numba compile device functions without asking a driver which GPU there is."""
    dispatcher: Any = import_module(f"{numba_cuda().__name__}.dispatcher")
    asked = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
    try:
        yield
    finally:
        dispatcher.get_current_device = asked


def _signature(task: KernelTask) -> tuple[Any, ...]:
    """Return the Numba types of the arguments: those of the exercise, else those of its first launch."""
    if task.signature:
        names = vars(numba().types)
        return tuple(eval(text, {"__builtins__": {}}, names) for text in task.signature)
    first = next(iter(task.calls()))
    return tuple(numba().typeof(value) for value in first.arguments.values())


def _ptx(
    built: Built, signature: tuple[Any, ...], capability: tuple[int, int], *, lineinfo: bool = False
) -> str:
    options = {name: built.options[name] for name in ("fastmath", "opt") if name in built.options}
    ptx, _ = numba_cuda().compile_ptx(built.function, signature, cc=capability, lineinfo=lineinfo, **options)
    return str(ptx)


def compile_finding(error: BaseException, answer: Answer) -> Finding:
    r"""Say in one sentence why Numba cannot compile a kernel, with the reader's line.

    >>> error = TypeError("Failed in cuda mode pipeline (step: x)\nUntyped global name 'f': no type")
    >>> compile_finding(error, Answer("", "k")).message
    "Numba cannot compile it: Untyped global name 'f': no type."
    """
    line = _line(error, answer)
    where = f"Numba cannot compile line {line}" if line else "Numba cannot compile it"
    return Finding("compile", f"{where}: {_reason(str(error))}.", line=line)


def _line(error: BaseException, answer: Answer) -> int | None:
    """Return the reader's line that an error names, or that Numba was working on when it gave up."""
    name = file_name(answer)
    said, own = str(error), re.escape(name)
    # Where it was at work comes first: it also tells where each variable was set.
    for place in (rf'File "{own}", line (\d+)', rf"{own} \((\d+)", rf"{own}:(\d+)"):
        if named := re.search(place, said):
            return int(named[1])
    lines = [line for frame, _ in traceback.walk_tb(error.__traceback__) for line in _busy_with(frame, name)]
    return lines[-1] if lines else _line_of_name(error, answer)


def _busy_with(frame: FrameType, name: str) -> Iterator[int]:
    """Yield the lines of the reader's code that a frame of Numba works on; some errors carry none."""
    for variable in ("constraint", "inst", "expr", "self"):
        location = None
        with suppress(Exception):  # some of Numba's objects look names up where there are none
            location = frame.f_locals[variable].loc
        if location is not None and getattr(location, "filename", None) == name:
            yield int(location.line)


def _line_of_name(error: BaseException, answer: Answer) -> int | None:
    """Return the first line that uses the name quoted in an error of Python."""
    quoted = re.findall(r"'(\w+)'", str(error)) if isinstance(error, AttributeError | NameError) else []
    uses = [
        number for number, line in enumerate(answer.source.splitlines(), 1) if quoted and quoted[-1] in line
    ]
    return uses[0] if uses else None


def _reason(text: str) -> str:
    """Return Numba's message as one line, without its lists of candidates."""
    text = re.sub(r"Failed in \w+ mode pipeline \(step: [\w ]+\)\s*|: %\S+ = .*", "", text)  # LLVM's own code
    specific = re.findall(r"^\s*\w+Error: (.+?)\.?\s*$", text, re.M)
    tried = re.search(r"^\s*>>> (.+?)\s*$", text, re.M)
    if "Only accept returning of array" in text:
        made = "what is called there makes an array and returns it"
        return f"{made}, which a kernel cannot do: take single elements"
    if tried and "shfl_sync only supports" in text:
        signed = "int64" if "int64" in tried[1] else "int32"
        return (
            "a shuffle takes float32, float64 and signed integers, int32 and int64, alone; "
            f"write {signed}(...) around the value"
        )
    if tried:
        unknown = f"it knows no {_without_literals(tried[1])}"
        return f"{unknown}: {specific[-1]}" if specific else unknown
    if looped := re.search(r"Invalid use of getiter with parameters \(Tuple\((\w.*)\)\)", text):
        kinds = dict.fromkeys(_without_literals(looped[1]).split(", "))
        return several_types(["int64" if kind == "int" else kind for kind in kinds])
    if "NRT required" in text:
        return "it would have to allocate memory while the kernel runs, which a kernel cannot do"
    said = str(specific[-1]) if specific else _without_literals(_first_line(text)).rstrip(".")
    return (
        f"{said}; write float32(...) around a number" if "attribute 'astype' of type float" in said else said
    )


def _without_literals(text: str) -> str:
    """Return types without the values of numbers."""
    return re.sub(r"Literal\[(\w+)\]\([^()]*\)", r"\1", text)


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "it does not say why")


def _judged_code(
    ptx: str, n_doubles: int, findings: list[Finding], capability: tuple[int, int]
) -> LaneReport:
    resources = ptxas.assemble(ptx, capability)
    major, minor = capability
    notes = [
        f"It compiles for compute capability {major}.{minor}, with {_count(n_doubles)} in double precision."
    ]
    if resources is not None:
        notes.append(
            f"A thread takes {resources.registers} registers and {resources.local_bytes} bytes of local "
            "memory."
        )
    state = FAILED if findings else PASSED
    return LaneReport("compile", state, findings=tuple(findings), notes=tuple(notes))


def _too_many(n_doubles: int, most: int | None) -> bool:
    return most is not None and n_doubles > most


def _causes(
    built: Built, types: tuple[Any, ...], capability: tuple[int, int], answer: Answer
) -> tuple[doubles.Cause, ...]:
    """Compile once more, with line numbers and the types that Numba inferred."""
    numba_compiler: Any = import_module(f"{numba_cuda().__name__}.compiler")
    fastmath = bool(built.options.get("fastmath"))
    try:
        ptx = _ptx(built, types, capability, lineinfo=True)
        compiled = numba_compiler.compile_cuda(
            built.function, numba().types.void, types, cc=capability, fastmath=fastmath
        )
        return doubles.causes(compiled, answer, doubles.lines_of_doubles(ptx))
    except Exception:  # this is not Numba's public face: where it has changed, the count has to do
        return ()


def _too_wide(n_doubles: int, most: int | None, causes: tuple[doubles.Cause, ...]) -> Finding:
    allowed = f"{most} would do" if most else "none is needed"
    message = f"The compiled kernel has {_count(n_doubles)} in double precision, where {allowed}"
    if not causes:
        return Finding("float64", f"{message}.")
    places = "; line ".join(f"{cause.line}: {cause.what}" for cause in causes[:_MOST_CAUSES])
    lines = tuple(dict.fromkeys(cause.line for cause in causes[:_MOST_CAUSES]))
    return Finding("float64", f"{message}. Line {places}.", line=lines[0], lines=lines)


def _count(n: int) -> str:
    return {0: "no instruction", 1: "1 instruction"}.get(n, f"{n} instructions")
