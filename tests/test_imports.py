"""The order of the rooms, read from the folders: imports go down only, and the package loads little."""

import ast
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import gpuguide

ROOT = Path(__file__).parents[1]

# Bottom up; rooms of one line do not know each other. A room is a folder, or a file of its own.
ROOMS = (
    ("gpuguide.errors", "gpuguide.version"),
    ("gpuguide.machine", "gpuguide.results", "gpuguide.symptoms", "gpuguide.tracer"),
    ("gpuguide.measure", "gpuguide.recordings", "gpuguide.charts"),
    ("gpuguide.topics", "gpuguide.exercises"),
    (
        *("gpuguide.catalogue", "gpuguide.comparison", "gpuguide.doctor", "gpuguide.health"),
        "gpuguide.statements",
    ),
    ("gpuguide.own_run", "gpuguide.run_bar", "gpuguide.run_table"),
    ("gpuguide",),
    ("gpuguide.cli",),
    ("gpuguide.__main__",),
    ("gpuguide_docs.pages",),
    ("gpuguide_docs.record",),
    ("gpuguide_docs.replay",),
    ("gpuguide_docs.show",),
    ("gpuguide_docs.downloads", "gpuguide_docs.lint", "gpuguide_docs.commands"),
    ("gpuguide_docs.extension",),
    ("gpuguide_docs",),
)
LEVELS = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}

# What `replay` needs to be a package of its own.
BELOW_REPLAY = {"gpuguide.recordings", "gpuguide.errors"}


@dataclass(frozen=True)
class Import:
    """One name that one module imports from another, wherever in the file that stands."""

    module: str
    name: str

    @property
    def target(self) -> str:
        """The imported module: the longest beginning of the name that is one."""
        parts = self.name.split(".")
        return next(
            (".".join(parts[:end]) for end in range(len(parts), 0, -1) if ".".join(parts[:end]) in MODULES),
            "",
        )

    def __str__(self) -> str:
        return f"{self.module} imports {self.target or self.name}"


def modules_below(folder: Path) -> dict[str, Path]:
    """Dotted names and files; an exercise's start and solution are texts, imported by nobody."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        if path.parent.parent.name == "pool" and path.stem in ("start", "solution"):
            continue
        parts = path.relative_to(folder.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules_below(ROOT / "src" / "gpuguide") | modules_below(ROOT / "docs" / "_ext" / "gpuguide_docs")


def room(module: str) -> str:
    return ".".join(module.split(".")[:2])


def names_in(node: ast.AST) -> list[str]:
    """The dotted names that a statement imports; `import_module("...")` is one too."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"imports are absolute; got {ast.unparse(node)}"
        return [f"{node.module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "import_module":
        return [arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant)]
    return []


# Not read while tests are collected, which every process does that runs some of them.
@cache
def all_imports() -> tuple[Import, ...]:
    """In functions and for types as well: what a reader must know to read the file."""
    return tuple(
        Import(module, name)
        for module, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in names_in(node)
    )


def imports_inside() -> Iterator[Import]:
    return (each for each in all_imports() if each.target and each.target != each.module)


def between_rooms(wrong: Callable[[str, str], bool]) -> set[tuple[str, str]]:
    """The pairs of modules of two rooms that a rule forbids."""
    return {
        (each.module, each.target)
        for each in imports_inside()
        if room(each.module) != room(each.target) and wrong(room(each.module), room(each.target))
    }


def lines(pairs: set[tuple[str, str]]) -> str:
    return "\n".join(f"{module} imports {target}" for module, target in sorted(pairs))


def test_every_module_is_in_a_room() -> None:
    assert {room(module) for module in MODULES} == set(LEVELS)


def test_no_two_modules_of_a_folder_differ_by_a_plural() -> None:
    """Nobody remembers which of `picture` and `pictures` holds what."""
    names = {(path.parent, path.stem) for path in MODULES.values()}
    twins = {(folder, f"{name}{ending}") for folder, name in names for ending in ("s", "es")} & names
    assert not twins


def test_imports_go_down_only() -> None:
    """Not even for types, and not between two rooms of one level."""
    upward = between_rooms(lambda here, there: LEVELS[there] >= LEVELS[here])
    assert not upward, f"upward or sideways:\n{lines(upward)}"


def test_the_tracer_knows_errors_alone() -> None:
    """So that it runs in a Python that has neither NumPy nor Numba."""
    wrong = [
        str(each)
        for each in all_imports()
        if room(each.module) == "gpuguide.tracer"
        and room(each.name) not in ("gpuguide.tracer", "gpuguide.errors")
        and each.name.partition(".")[0]
        not in {*sys.stdlib_module_names, "numpy"}  # which it uses if it is there
    ]
    assert not wrong, "\n".join(wrong)


def test_replay_knows_recordings_alone() -> None:
    """Of gpuguide; so it could be a package of its own. What is the guide's own is handed in."""
    more = between_rooms(
        lambda here, there: (
            here == "gpuguide_docs.replay" and there.split(".")[0] == "gpuguide" and there not in BELOW_REPLAY
        )
    )
    assert not more, lines(more)


def test_no_modules_import_each_other() -> None:
    """Two modules that name each other's classes are one, or share a third below."""
    targets: dict[str, set[str]] = {}
    for each in imports_inside():
        targets.setdefault(each.module, set()).add(each.target)
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path, module))
        if module not in done:
            for other in sorted(targets.get(module, ())):
                visit(other, (*path, module))
            done.add(module)

    for module in MODULES:
        visit(module, ())


ACCELERATORS = {"cupy", "cupyx", "numba", "pynvml"}


def test_only_machine_and_topics_import_numba_or_cupy() -> None:
    """Everybody else asks `machine.backends`, which says what is missing; topics are loaded when used."""
    wrong = [
        str(each)
        for each in all_imports()
        if each.name.partition(".")[0] in ACCELERATORS
        and room(each.module) not in ("gpuguide.machine", "gpuguide.topics")
    ]
    assert not wrong, "\n".join(wrong)


def test_importing_the_package_loads_nothing_heavy(fresh_python: Callable[..., str]) -> None:
    snippet = """
import sys
import gpuguide as gg
print(gg.__version__, set(dir(gg)) >= set(gg.__all__))
heavy = ("cupy", "numba", "matplotlib", "scipy", "numpy", "pynvml", "rich")
print([name for name in heavy if name in sys.modules])
"""
    assert fresh_python(snippet) == f"{gpuguide.__version__} True\n[]\n"


def test_every_public_name_exists() -> None:
    for name in gpuguide.__all__:
        assert getattr(gpuguide, name) is not None
        assert name in dir(gpuguide)
    assert {*gpuguide._HOMES} == {*gpuguide.__all__, "__version__"}
    with pytest.raises(AttributeError, match="no attribute 'plot_times'"):
        _ = gpuguide.plot_times


def test_no_public_name_is_a_module_s() -> None:
    """Importing a submodule would put it in the place of the public name."""
    modules = {path.stem for path in Path(gpuguide.__file__).parent.glob("*.py")}
    assert not modules & set(gpuguide.__all__)
