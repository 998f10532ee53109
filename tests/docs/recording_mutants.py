"""Record a page again and again, each time with one function changed: run as a script by test_key_mutations.

A process that has imported everything runs the page on a fake clock once for each mutant, in a child of its
own (`os.fork`), so that a mutant costs what the page costs and no import. What comes of it is told in a file.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import contextlib
import dataclasses
import functools
import gc
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import textwrap
import time
import types
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path.cwd()
SOURCES = (ROOT / "src", ROOT / "docs" / "_ext")
MACHINE, PAGE = "test-cpu", "lab"
#: Processes at a time, and seconds after which a mutant that waits for ever is ended.
N_CHILDREN, MOST_S = max(1, os.cpu_count() or 1), 20

Code = tuple[str, str, int]  # file, qualified name, first line


# Recording -------------------------------------------------------------------------------------------


def put_fakes_in_place() -> None:
    """Replace clocks, GPU and date, so that two recordings are the same to the byte."""
    from gpuguide.topics.lab import fakes

    import gpuguide.machine.memory
    import gpuguide.measure.ceilings
    import gpuguide.measure.session
    from gpuguide.machine.device import EXAMPLE_DEVICE, ClockReading
    from gpuguide.machine.memory import HOST, Space
    from gpuguide.measure.session import Machine
    from gpuguide_docs.pages.layout import Layout

    # The second reading differs, so that the recording warns of the drift.
    rates = iter([4.0e12, 4.4e12] * 10_000)
    spaces = {"host": HOST, "device": Space("device", np)}
    machine = Machine(fakes.GPU, EXAMPLE_DEVICE, spaces, ClockReading, fakes.HOST)
    Machine.here = classmethod(lambda cls: machine)
    gpuguide.measure.ceilings.copy_sentinel = lambda gpu: next(rates)
    gpuguide.machine.memory.free_pools = lambda space: None
    Layout.recorded = property(lambda self: Path(os.environ["RECORDED"]))
    # Not the guide's own, and it reads the files of each package whose version is asked for.
    metadata.version = functools.cache(metadata.version)


def record(recorded: Path) -> None:
    """Run the page as the recorder has it run."""
    from gpuguide_docs.record import page_run

    os.environ["RECORDED"] = str(recorded)
    files = {"--outcome": recorded / "outcome.json", "--peak": recorded / "peak"}
    files |= {"--ceilings": ROOT / "ceilings.json", "--root": ROOT}
    options = {"--page": PAGE, "--machine": MACHINE, "--budget": 1000} | files
    page_run.main([str(word) for option in options.items() for word in option])


def content(recorded: Path) -> Any:
    """Read what was recorded, without names, dates and digests of it; None where the recording was refused.

    This process has no function changed: what it cannot read is damaged.
    """
    from gpuguide.recordings import store
    from gpuguide.recordings.codec import to_json

    try:
        if not json.loads((recorded / "outcome.json").read_text())["ok"]:
            return None
    except (OSError, ValueError, KeyError):
        return None
    folder = recorded / MACHINE / PAGE
    try:
        read = to_json(dataclasses.replace(store.read(folder, complete=True), folder=None))
    except Exception:
        # A hash may come from the changed function; what it stands beside must then be the same.
        return as_written(recorded)
    return {name: value for name, value in _data(read).items() if name not in ("provenance", "keys")}


def as_written(recorded: Path) -> Any:
    """Give the files of a recording as they are."""
    folder = recorded / MACHINE / PAGE
    return {
        path.stem: _data(json.loads(path.read_text()))
        for path in sorted(folder.iterdir())
        if path.suffix == ".json" and path.stem != "run"
    }


def _data(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _data(item) for key, item in value.items() if key not in ("run_id", "digest")}
    return [_data(item) for item in value] if isinstance(value, list) else value


# Functions -------------------------------------------------------------------------------------------


def is_ours(file: str) -> bool:
    return any(file.startswith(f"{source}{os.sep}") for source in SOURCES)


def executed_functions() -> list[Code]:
    """List the functions of the guide that run while the page is recorded."""
    seen: set[Code] = set()

    def notice(frame: types.FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and is_ours(code.co_filename):
            seen.add((code.co_filename, code.co_qualname, code.co_firstlineno))

    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder, "found.json")

        def profiled() -> None:
            sys.setprofile(notice)
            try:
                record(Path(folder))
            finally:
                sys.setprofile(None)
                found.write_text(json.dumps(sorted(seen)))

        in_child(profiled)
        return [tuple(code) for code in json.loads(found.read_text())]


def functions_by_code() -> dict[Code, list[types.FunctionType]]:
    found: dict[Code, list[types.FunctionType]] = {}
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and is_ours(thing.__code__.co_filename):
            code = thing.__code__
            found.setdefault((code.co_filename, code.co_qualname, code.co_firstlineno), []).append(thing)
    return found


def caches() -> list[Any]:
    """List what keeps return values, and functions from running; not of digests, which take longest."""
    return [
        thing
        for thing in gc.get_objects()
        if isinstance(thing, functools._lru_cache_wrapper)
        and is_ours(thing.__wrapped__.__code__.co_filename)
        and Path(thing.__wrapped__.__code__.co_filename).name not in ("keys.py", "canonical.py")
    ]


# Mutants ---------------------------------------------------------------------------------------------

_OPPOSITE: dict[type, type] = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


def perturbed(value: Any) -> Any:
    """Return something else of the same kind."""
    if value and type(value) in (list, tuple):
        return value[:-1]
    if value and isinstance(value, dict):
        return dict(list(value.items())[:-1])
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            with contextlib.suppress(Exception):
                return dataclasses.replace(value, **{field.name: perturbed(getattr(value, field.name))})
    for kind, other in _OTHER.items():
        if isinstance(value, kind):
            return other(value)
    raise RuntimeError("mutant")


_OTHER: dict[Any, Callable[[Any], Any]] = {
    bool: lambda value: not value,
    (int, float, np.ndarray, np.generic): lambda value: value + 1,
    str: lambda value: value + "x",
    Path: lambda value: value.with_name(value.name + "x"),
}

Edit = Callable[[], Callable[[], None]]  # changes the tree, and returns what undoes that


def edits(function: ast.AST) -> Iterator[tuple[str, Edit]]:
    """Yield what can be changed in a function, in words and as a call; its docstring and annotations stay."""
    prose = {
        id(part)
        for node in ast.walk(function)
        for part in _prose(node)
        if part is not None
        for part in ast.walk(part)
    }
    for node in ast.walk(function):
        for what, field, value in () if id(node) in prose else _changes(node):
            yield f"line {getattr(node, 'lineno', 0)}: {what}", functools.partial(_set, node, field, value)


def _prose(node: ast.AST) -> Iterator[ast.AST | None]:
    yield getattr(node, "annotation", None)
    yield getattr(node, "returns", None)
    if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
        yield node.body[0]


def _changes(node: Any) -> Iterator[tuple[str, str, Any]]:
    """Say what can be changed of a node, in words, and which field becomes what."""
    if isinstance(node, ast.Return | ast.Yield) and node.value is not None:
        call = ast.Call(ast.Name("_perturbed", ast.Load()), [node.value], [])
        yield "another value", "value", ast.fix_missing_locations(ast.copy_location(call, node.value))
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float | str):
        yield "another constant", "value", perturbed(node.value)
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in _OPPOSITE:
        yield "another comparison", "ops", [_OPPOSITE[type(node.ops[0])](), *node.ops[1:]]
    elif isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in _OPPOSITE:
        yield "another operator", "op", _OPPOSITE[type(node.op)]()
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield "the other branch", "test", ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
    elif isinstance(node, ast.Expr) and not isinstance(node.value, ast.Yield | ast.YieldFrom):
        yield "a statement less", "value", ast.copy_location(ast.Constant(None), node.value)


def _set(node: ast.AST, field: str, value: Any) -> Callable[[], None]:
    before = getattr(node, field)
    setattr(node, field, value)
    return lambda: setattr(node, field, before)


@dataclasses.dataclass
class Mutant:
    """A function with one change: its code, and the text of the whole module with it."""

    function: Code
    change: str
    code: types.CodeType
    source: str


class Module:
    """A module's tree, in which one place at a time is changed."""

    def __init__(self, file: str) -> None:
        self.file = file
        text = Path(file).read_text(encoding="utf-8")
        self.lines = text.split("\n")
        self.tree = ast.parse(text)
        self.paths = dict(self._functions(self.tree, ()))

    def _functions(self, node: ast.AST, outer: tuple[ast.ClassDef, ...]) -> Iterator[tuple[Any, Any]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                yield from self._functions(child, (*outer, child))
            elif isinstance(child, ast.FunctionDef):
                name = ".".join([*(each.name for each in outer), child.name])
                first = min(each.lineno for each in (child, *child.decorator_list))
                yield (name, first), (outer, child)
            elif not isinstance(child, ast.expr):
                yield from self._functions(child, outer)

    def mutants(self, function: Code, n: int | None) -> Iterator[Mutant]:
        """Yield mutants of a function or method; `n` of them, chosen by its name, or all."""
        _, name, line = function
        outer, node = self.paths[name, line]
        possible = list(edits(node))
        if n is not None:
            possible = random.Random(name).sample(possible, min(n, len(possible)))
        for change, do in possible:
            undo = do()
            try:
                code = self._compiled(outer, node, name)
                yield Mutant(function, change, code, self._source(outer[0] if outer else node))
            finally:
                undo()

    def _source(self, changed: ast.ClassDef | ast.FunctionDef) -> str:
        """Write the module; but for what stands at its level and was changed, as it was."""
        first = min(each.lineno for each in (changed, *changed.decorator_list)) - 1
        kept, end = self.lines[:first], self.lines[changed.end_lineno :]
        new = textwrap.indent(ast.unparse(changed), changed.col_offset * " ")
        return "\n".join([*kept, new, *end])

    def _compiled(self, outer: tuple[ast.ClassDef, ...], node: ast.FunctionDef, name: str) -> types.CodeType:
        within: ast.stmt = node
        for each in reversed(outer):
            within = ast.copy_location(ast.ClassDef(each.name, [], [], [within], []), each)
        flags = __future__.annotations.compiler_flag
        module = compile(ast.Module([within], []), self.file, "exec", flags, dont_inherit=True)
        waiting = [module]
        while waiting:
            code = waiting.pop()
            if code.co_qualname == name:
                return code
            waiting += [const for const in code.co_consts if isinstance(const, types.CodeType)]
        raise LookupError(f"{name} is not in what was compiled of {self.file}")


# Children --------------------------------------------------------------------------------------------


def child_of(action: Callable[[], None]) -> int:
    """Start a child that does one thing, silently and not for ever; return its number."""
    number = os.fork()
    if number:
        return number
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        signal.setitimer(signal.ITIMER_REAL, MOST_S)
        action()
    except BaseException:
        os._exit(1)
    os._exit(0)


def in_child(action: Callable[[], None]) -> None:
    os.waitpid(child_of(action), 0)


class Trials:
    """Runs mutants side by side and tells which change what is recorded."""

    def __init__(self, folder: Path, expected: Any, written: Any) -> None:
        self.folder = folder
        self.expected = expected
        self.written = written
        self.running: dict[int, tuple[Mutant, Path]] = {}
        self.functions = functions_by_code()
        self.caches = caches()
        self.n = 0
        self.n_refused = 0
        self.changing: list[tuple[Mutant, Any]] = []

    def start(self, mutant: Mutant) -> None:
        while len(self.running) >= N_CHILDREN:
            self.wait()
        recorded = Path(tempfile.mkdtemp(dir=self.folder))
        functions = self.functions.get(mutant.function, [])

        def run() -> None:
            for function in functions:
                function.__code__ = mutant.code
            for cache in self.caches:
                cache.cache_clear()
            record(recorded)

        self.n += 1
        self.running[child_of(run)] = (mutant, recorded)

    def wait(self) -> None:
        number, _ = os.wait()
        mutant, recorded = self.running.pop(number)
        found = content(recorded)
        if found is None:
            self.n_refused += 1
        elif found not in (self.expected, self.written):
            self.changing.append((mutant, found))
        shutil.rmtree(recorded)


class Key:
    """The measuring key of the page, and of the page with a mutant in the tree."""

    def __init__(self, scratch: Path, manifest: Path) -> None:
        from gpuguide.recordings.keys import recorded_cells

        parts = json.loads(manifest.read_text())["keys"]["parts"]
        self.original = tuple((name, digest) for name, digest in parts)
        self.modules = [name for name, _ in self.original]
        self.cells = recorded_cells((ROOT / "examples" / "start" / f"{PAGE}.py").read_text())
        self.tree = scratch / "tree"
        for source in SOURCES:
            ignored = shutil.ignore_patterns("__pycache__", "recorded")
            shutil.copytree(source, self.tree / source.relative_to(ROOT), ignore=ignored)
        assert self._parts() == self.original

    def _parts(self) -> tuple[tuple[str, str], ...]:
        from gpuguide.recordings.keys import measuring_key

        return measuring_key(self.cells, self.modules, self.tree / "src").parts

    def holds(self, file: str) -> bool:
        """Whether the code of a file counts as a whole; of the room of data, its classes' fields do."""
        from gpuguide.recordings.keys import DATA_ROOM

        return dotted(file) in self.modules and not dotted(file).startswith(f"{DATA_ROOM}.")

    def notices(self, mutant: Mutant) -> bool:
        path = self.tree / Path(mutant.function[0]).relative_to(ROOT)
        before = path.read_text()
        path.write_text(mutant.source)
        try:
            return self._parts() != self.original
        finally:
            path.write_text(before)


def recorded_twice(scratch: Path) -> tuple[Path, Any]:
    """Record the page in two children, which must come to the same; give a folder and what it holds."""
    (scratch / "warm").mkdir()
    record(scratch / "warm")
    found = []
    for _ in range(2):
        folder = Path(tempfile.mkdtemp(dir=scratch))
        in_child(functools.partial(record, folder))
        found.append(content(folder))
    assert found[0] is not None, (folder / "outcome.json").read_text()
    assert found[0] == found[1], "two recordings of one page differ, though its clocks are fakes"
    return folder, found[0]


def main(out: Path, only: str, n_each: int | None, n_counted: int | None) -> None:
    """Tell functions, mutants, and those that change what is recorded under an unchanged key.

    `only` begins the names of the modules to be changed. Of each function `n_each` mutants are recorded;
    where the key holds the module, `n_counted` functions have a mutant, which is recorded only if the key
    does not notice it. None stands for all.
    """
    start = time.monotonic()
    builtins._perturbed = perturbed
    put_fakes_in_place()
    with tempfile.TemporaryDirectory() as scratch:
        folder, expected = recorded_twice(Path(scratch))
        key = Key(Path(scratch), folder / MACHINE / PAGE / "run.json")
        trials = Trials(Path(scratch), expected, as_written(folder))
        # The page collects garbage, and must not go through what all children share.
        gc.freeze()
        executed = [code for code in executed_functions() if "<" not in code[1]]
        functions = [code for code in executed if dotted(code[0]).startswith(only)]
        n_counted_mutants = 0
        for file in sorted({code[0] for code in functions}):
            module, there = Module(file), [code for code in functions if code[0] == file]
            counted = key.holds(file)
            if counted and n_counted is not None:
                there = random.Random(dotted(file)).sample(there, min(n_counted, len(there)))
            for function in there:
                for mutant in module.mutants(function, 1 if counted else n_each):
                    n_counted_mutants += counted
                    if not (counted and key.notices(mutant)):
                        trials.start(mutant)
        while trials.running:
            trials.wait()
        findings = [
            {
                "function": f"{dotted(mutant.function[0])}.{mutant.function[1]}",
                "change": mutant.change,
                "difference": difference(expected, found),
            }
            for mutant, found in trials.changing
            if not key.notices(mutant)
        ]
    report = {
        "functions": [f"{dotted(file)}.{name}" for file, name, _ in functions],
        "n_recorded": trials.n,
        "n_refused": trials.n_refused,
        "n_changing": len(trials.changing),
        "n_counted": n_counted_mutants,
        "seconds": round(time.monotonic() - start, 1),
        "findings": findings,
    }
    out.write_text(json.dumps(report, indent=1))


def difference(one: Any, other: Any) -> str:
    """Name the first place where two recordings differ."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        key = next(key for key in one if one[key] != other[key])
        return f"{key}.{difference(one[key], other[key])}"
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        i = next(i for i in range(len(one)) if one[i] != other[i])
        return f"{i}.{difference(one[i], other[i])}"
    return f" {json.dumps(one)[:60]} became {json.dumps(other)[:60]}"


def dotted(file: str) -> str:
    source = next(source for source in SOURCES if file.startswith(f"{source}{os.sep}"))
    return (
        Path(file).relative_to(source).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], *(None if n == "all" else int(n) for n in sys.argv[3:5]))
