"""Record a page again and again, each time with one function changed: run as a script by test_key_mutations.

A process that has imported everything runs the page on a fake clock once for each mutant, in a child of its
own (`os.fork`), so that a mutant costs what the page costs and no import. What comes of it is told in a file.
"""

from __future__ import annotations

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
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path.cwd()
SOURCES = (ROOT / "src", ROOT / "docs" / "_ext")
MACHINE, PAGE = "test-cpu", "lab"
#: Processes at a time, and seconds after which a mutant that waits for ever is ended.
N_CHILDREN, MOST_S = max(1, os.cpu_count() or 1), 20

Code = tuple[str, str, int]  # file, qualified name, first line


# Recording ---------------------------------------------------------------------------------------------------


def put_fakes_in_place() -> None:
    """Replace clocks, GPU and date, so that two recordings are the same to the byte."""
    import gpuguide.machine.memory
    import gpuguide.measure.ceilings
    import gpuguide.measure.session
    from gpuguide.machine.device import EXAMPLE_DEVICE, ClockReading
    from gpuguide.machine.memory import HOST, Space
    from gpuguide.measure.session import Machine
    from gpuguide.topics.lab import fakes
    from gpuguide_docs.pages.layout import Layout

    # The second reading differs, so that the recording warns of the drift.
    rates = iter([4.0e12, 4.4e12] * 10_000)
    spaces = {"host": HOST, "device": Space("device", __import__("numpy"))}
    machine = Machine(fakes.GPU, EXAMPLE_DEVICE, spaces, ClockReading, fakes.HOST)
    Machine.here = classmethod(lambda cls: machine)
    gpuguide.measure.ceilings.copy_sentinel = lambda gpu: next(rates)
    gpuguide.machine.memory.free_pools = lambda space: None
    Layout.recorded = property(lambda self: Path(os.environ["RECORDED"]))


def record(recorded: Path) -> None:
    """Run the page as the recorder has it run."""
    from gpuguide_docs.record import page_run

    os.environ["RECORDED"] = str(recorded)
    page_run.main(
        ["--page", PAGE, "--machine", MACHINE, "--root", str(ROOT), "--ceilings", str(ROOT / "ceilings.json")]
        + ["--outcome", str(recorded / "outcome.json"), "--budget", "1000", "--peak", str(recorded / "peak")]
    )


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
        read = to_json(dataclasses.replace(store.load(folder, complete=True), folder=None))
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


# Functions ---------------------------------------------------------------------------------------------------


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
    """List what keeps return values, and so keeps a function from running; not of digests: they take longest."""
    return [
        thing
        for thing in gc.get_objects()
        if isinstance(thing, functools._lru_cache_wrapper)
        and is_ours(thing.__wrapped__.__code__.co_filename)
        and Path(thing.__wrapped__.__code__.co_filename).name not in ("keys.py", "canonical.py")
    ]


# Mutants -----------------------------------------------------------------------------------------------------

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
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, list | tuple) and value and type(value) in (list, tuple):
        return value[:-1]
    if isinstance(value, dict) and value:
        return dict(list(value.items())[:-1])
    if isinstance(value, Path):
        return value.with_name(value.name + "x")
    if hasattr(value, "dtype"):
        return value + value.dtype.type(1)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            with contextlib.suppress(Exception):
                return dataclasses.replace(value, **{field.name: perturbed(getattr(value, field.name))})
    raise RuntimeError("mutant")


def edits(function: ast.AST) -> Iterator[tuple[str, Callable[[], Callable[[], None]]]]:
    """Yield what can be changed in a function: in words, and a call that does it and returns its undoing."""

    def setting(node: Any, name: str, value: Any) -> Callable[[], Callable[[], None]]:
        def do() -> Callable[[], None]:
            before = getattr(node, name)
            setattr(node, name, value)
            return lambda: setattr(node, name, before)

        return do

    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(function)
        if isinstance(node, ast.FunctionDef) and isinstance(node.body[0], ast.Expr)
    }
    annotations = {
        id(part)
        for node in ast.walk(function)
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if part is not None
        for part in ast.walk(part)
    }
    for node in ast.walk(function):
        where = f"line {getattr(node, 'lineno', 0)}"
        if id(node) in annotations or id(node) in docstrings:
            continue
        if isinstance(node, ast.Return | ast.Yield) and node.value is not None:
            call = ast.Call(ast.Name("_perturbed", ast.Load()), [node.value], [])
            yield (
                f"{where}: another value",
                setting(node, "value", ast.fix_missing_locations(ast.copy_location(call, node.value))),
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float | str):
            yield f"{where}: another constant", setting(node, "value", perturbed(node.value))
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in _OPPOSITE:
            yield (
                f"{where}: another comparison",
                setting(node, "ops", [_OPPOSITE[type(node.ops[0])](), *node.ops[1:]]),
            )
        elif isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in _OPPOSITE:
            yield f"{where}: another operator", setting(node, "op", _OPPOSITE[type(node.op)]())
        elif isinstance(node, ast.If | ast.IfExp | ast.While):
            no = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
            yield f"{where}: the other branch", setting(node, "test", no)
        elif isinstance(node, ast.Expr) and not isinstance(node.value, ast.Yield | ast.YieldFrom):
            nothing = ast.copy_location(ast.Constant(None), node.value)
            yield f"{where}: a statement less", setting(node, "value", nothing)


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
        self.tree = ast.parse(Path(file).read_text(encoding="utf-8"))
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
                yield Mutant(function, change, code, ast.unparse(self.tree))
            finally:
                undo()

    def _compiled(self, outer: tuple[ast.ClassDef, ...], node: ast.FunctionDef, name: str) -> types.CodeType:
        within: ast.stmt = node
        for each in reversed(outer):
            within = ast.copy_location(ast.ClassDef(each.name, [], [], [within], []), each)
        flags = __import__("__future__").annotations.compiler_flag
        module = compile(ast.Module([within], []), self.file, "exec", flags, dont_inherit=True)
        waiting = [module]
        while waiting:
            code = waiting.pop()
            if code.co_qualname == name:
                return code
            waiting += [const for const in code.co_consts if isinstance(const, types.CodeType)]
        raise LookupError(f"{name} is not in what was compiled of {self.file}")


# Children ----------------------------------------------------------------------------------------------------


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


def main(out: Path, n_each: int | None, n_counted: int | None) -> None:
    """Tell functions, mutants, and those that change what is recorded under an unchanged key."""
    from gpuguide.recordings.keys import measuring_key, recorded_cells

    start = time.monotonic()
    builtins._perturbed = perturbed
    put_fakes_in_place()
    with tempfile.TemporaryDirectory() as scratch:
        warm = Path(scratch, "warm")
        warm.mkdir()
        record(warm)
        expected = []
        for _ in range(2):
            again = Path(tempfile.mkdtemp(dir=scratch))
            in_child(functools.partial(record, again))
            expected.append(content(again))
        manifest = json.loads((again / MACHINE / PAGE / "run.json").read_text())
        assert expected[0] is not None, (warm / "outcome.json").read_text()
        assert expected[0] == expected[1], (
            "two recordings of one page differ: the fake clock is not all there is"
        )

        original = tuple(tuple(part) for part in manifest["keys"]["parts"])
        modules = [name for name, _ in original]
        cells = recorded_cells((ROOT / "examples" / "start" / f"{PAGE}.py").read_text())
        shadow = Path(scratch, "shadow")
        for source in SOURCES:
            to = shadow / source.relative_to(ROOT)
            shutil.copytree(source, to, ignore=shutil.ignore_patterns("__pycache__", "recorded"))

        def key_with(mutant: Mutant) -> tuple[tuple[str, str], ...]:
            path = shadow / Path(mutant.function[0]).relative_to(ROOT)
            before = path.read_text()
            path.write_text(mutant.source)
            try:
                return measuring_key(cells, modules, shadow / "src").parts
            finally:
                path.write_text(before)

        assert (
            key_with(
                Mutant(
                    (str(SOURCES[0] / "gpuguide" / "__init__.py"), "", 0),
                    "",
                    None,
                    (SOURCES[0] / "gpuguide" / "__init__.py").read_text(),
                )
            )
            == original
        )

        trials = Trials(Path(scratch), expected[0], as_written(again))
        functions = [code for code in executed_functions() if "<" not in code[1]]
        n_counted_mutants = 0
        for file in sorted({code[0] for code in functions}):
            module = Module(file)
            counted = _dotted(file) in modules and "results" not in file
            there = [code for code in functions if code[0] == file]
            if counted and n_counted is not None:
                there = random.Random(file).sample(there, min(n_counted, len(there)))
            for function in there:
                if counted:
                    # Where the key holds the module, a change that it sees needs no recording.
                    for mutant in module.mutants(function, None if n_counted is None else 1):
                        n_counted_mutants += 1
                        if key_with(mutant) == original:
                            trials.start(mutant)
                    continue
                for mutant in module.mutants(function, n_each):
                    trials.start(mutant)
        while trials.running:
            trials.wait()
        findings = [
            {
                "function": f"{_dotted(mutant.function[0])}.{mutant.function[1]}",
                "change": mutant.change,
                "difference": difference(expected[0], found),
            }
            for mutant, found in trials.changing
            if key_with(mutant) == original
        ]
    report = {
        "functions": [f"{_dotted(file)}.{name}" for file, name, _ in functions],
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


def _dotted(file: str) -> str:
    source = next(source for source in SOURCES if file.startswith(f"{source}{os.sep}"))
    return (
        Path(file).relative_to(source).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), *(None if n == "all" else int(n) for n in sys.argv[2:4]))
