"""Modules import only from below, and importing the package loads nothing heavy."""

import ast
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

import gpuguide

SOURCE = Path(gpuguide.__file__).parent

# Bottom up. A module that is not named here serves one that is, and is judged by what it leads to.
ORDER = (
    "errors",
    "backends",
    "device",
    "launch",
    "metrics",
    "random_inputs",
    "results",
    "timing",
    "ceilings",
    "session",
    "statements",
    "study",
    "canonical",
    "recordings",
    "plotting",
    "topics",
    "exercises",
    "doctor",
    "cli",
)


def module_files() -> dict[str, Path]:
    """Dotted names below `gpuguide`, packages by their own name; stubs and solutions are texts."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        if path.parent.parent.name == "pool" and path.stem in ("stub", "solution"):
            continue
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name not in ("", "__main__"):
            found[name] = path
    return found


MODULES = module_files()


def imports(path: Path, *, for_types: bool) -> Iterator[str]:
    """The modules that a file imports, in functions too, and under TYPE_CHECKING if `for_types`."""
    nodes = ast.walk if for_types else run_time_nodes
    for node in nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            yield from target(name)


def run_time_nodes(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            continue
        yield child
        yield from run_time_nodes(child)


def target(name: str) -> Iterator[str]:
    """The longest module that a dotted name starts with."""
    parts = name.split(".")
    if parts[0] != "gpuguide":
        return
    for end in range(len(parts), 1, -1):
        if (module := ".".join(parts[1:end])) in MODULES:
            yield module
            return


@cache
def imported_by(module: str, *, for_types: bool = False) -> set[str]:
    return set(imports(MODULES[module], for_types=for_types))


def room(module: str) -> str:
    return module.partition(".")[0]


def listed(module: str, seen: frozenset[str] = frozenset()) -> set[str]:
    """The modules of ORDER that one leads to, through modules that ORDER does not name."""
    found = set()
    for other in imported_by(module) - seen:
        if room(other) in ORDER:
            found.add(room(other))
        else:
            found |= listed(other, seen | {module})
    return found


@pytest.mark.parametrize("module", sorted(name for name in MODULES if room(name) in ORDER))
def test_a_module_imports_only_from_below(module: str) -> None:
    here = ORDER.index(room(module))
    above = {other for other in listed(module) if ORDER.index(other) >= here and other != room(module)}
    assert not above, f"{module} imports {sorted(above)}, which stand above it"


def test_no_modules_import_each_other() -> None:
    """Not even for types: two modules that name each other's classes are one, or share a third below."""
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path, module))
        if module not in done:
            for other in sorted(imported_by(module, for_types=True)):
                visit(other, (*path, module))
            done.add(module)

    for module in sorted(MODULES):
        visit(module, ())


ACCELERATORS = ("cupy", "cupyx", "numba.cuda", "pynvml")


@pytest.mark.parametrize("module", sorted(MODULES))
def test_only_backends_imports_accelerators(module: str) -> None:
    """`loading` is the part of `backends` that imports; Numba for the CPU is a topic's own business."""
    if module in ("backends", "loading"):
        return
    for node in run_time_nodes(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        bad = [name for name in names if any(f"{name}.".startswith(f"{one}.") for one in ACCELERATORS)]
        assert not bad, f"{module} imports {bad}; go through gpuguide.machine.backends"


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
    with pytest.raises(AttributeError, match="no attribute 'plot_times'"):
        _ = gpuguide.plot_times


def test_no_public_name_is_a_module_s() -> None:
    """Importing a submodule would put it in the place of the public name."""
    modules = {path.stem for path in Path(gpuguide.__file__).parent.glob("*.py")}
    assert not modules & set(gpuguide.__all__)
