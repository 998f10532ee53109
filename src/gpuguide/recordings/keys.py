"""What a recording depends on: the code behind its numbers, part by part, so that a report names it."""

from __future__ import annotations

import ast
import difflib
import functools
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpuguide.errors import ArgumentError
from gpuguide.recordings import canonical

__all__ = [
    "DATA_ROOM",
    "MEASURING_ROOMS",
    "PART_NAME",
    "Keys",
    "changes",
    "measuring_key",
    "measuring_modules",
    "module_path",
    "recorded_cells",
]

MEASURING_ROOMS = ("gpuguide.topics", "gpuguide.machine", "gpuguide.measure", "gpuguide_docs.record")
"""Packages whose code can change a number."""

DATA_ROOM = "gpuguide.results"
"""The package whose classes hold what is measured: their fields count, what is computed of them does not."""

PART_NAME = re.compile(r"cell [1-9]\d{0,3}|gpuguide(_docs)?(\.[A-Za-z_]\w*)*", re.ASCII)
"""What a part may be called."""

# As sphinx-gallery splits: a line of 20 hashes or "# %%", and the comment lines right after it, are text.
_TEXT = re.compile(r"(?:^#{20,}.*|^# ?%%.*)\s(?:^#.*\s?)*", re.MULTILINE)
_DRAWN = re.compile(r"\s*# draw(:|[ \t]*$)", re.MULTILINE)


@dataclass(frozen=True)
class Keys:
    """Digests of what can change a recording's numbers.

    Parameters
    ----------
    measuring : str
        SHA-256 over all parts, in hexadecimal.
    parts : tuple of (str, str)
        Name and canonical digest of each part: recorded cells in their order (``"cell 1"``), then
        modules (``"gpuguide.topics.primes.study"``).

    Examples
    --------
    >>> keys = Keys.of([("cell 1", canonical.digest("x = 1"))])
    >>> keys == Keys.of([("cell 1", canonical.digest("x = 1  # one"))])
    True
    """

    measuring: str
    parts: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        return f"<Keys {self.measuring[:16]}: {len(self.parts)} part{'' if len(self.parts) == 1 else 's'}>"

    @classmethod
    def of(cls, parts: Iterable[tuple[str, str]]) -> Keys:
        """Build the keys of parts.

        Parameters
        ----------
        parts : iterable of (str, str)
            Name and digest of each.

        Returns
        -------
        Keys
            With their common digest.
        """
        whole = tuple(parts)
        text = "".join(f"{name} {digest}\n" for name, digest in whole)
        return cls(hashlib.sha256(text.encode()).hexdigest(), whole)


def measuring_modules(names: Iterable[str]) -> tuple[str, ...]:
    """Pick the modules whose code can change a number.

    Parameters
    ----------
    names : iterable of str
        Modules that a page has loaded: ``sys.modules`` after its recorded cells ran.

    Returns
    -------
    tuple of str
        Those in `MEASURING_ROOMS` and in `DATA_ROOM`, and the extension's own file; sorted. The package's own
        file only hands names on, and one name more changes no number.

    Examples
    --------
    >>> measuring_modules(["gpuguide", "gpuguide.charts.lines", "gpuguide.measure.timing", "numpy"])
    ('gpuguide.measure.timing',)
    """
    return tuple(sorted({name for name in names if _counts(name)}))


def _counts(name: str) -> bool:
    rooms = (*MEASURING_ROOMS, DATA_ROOM)
    return name != "gpuguide" and any(
        f"{name}.".startswith(f"{room}.") or room.startswith(f"{name}.") for room in rooms
    )


def measuring_key(script_cells: Iterable[str], module_names: Iterable[str], src: Path | None = None) -> Keys:
    """Digest what a page's numbers depend on.

    Parameters
    ----------
    script_cells : iterable of str
        Code of the page's recorded cells, in order; `recorded_cells` reads them from a script.
    module_names : iterable of str
        Modules that the page loaded; others than `measuring_modules` picks do not count.
    src : Path, optional
        Folder that holds ``gpuguide``, as in `module_path`; that of the running package by default.

    Returns
    -------
    Keys
        A part for each cell and module.

    Raises
    ------
    ArgumentError
        If a cell or module cannot be read or does not parse; names it.

    Examples
    --------
    >>> [name for name, _ in measuring_key(["x = 1"], ["gpuguide.machine.launch"]).parts]
    ['cell 1', 'gpuguide.machine.launch']
    """
    folder = src or Path(__file__).parents[2]
    cells = {f"cell {i}": cell for i, cell in enumerate(script_cells, start=1)}
    modules = {name: _source(name, folder) for name in measuring_modules(module_names)}
    return Keys.of(_digests(cells, modules).items())


def module_path(name: str, src: Path) -> Path:
    """Find the source of a part: the package in ``src``, the extension in ``docs/_ext`` beside it.

    Parameters
    ----------
    name : str
        Dotted name of a module.
    src : Path
        Folder that holds ``gpuguide``.

    Returns
    -------
    Path
        Where its file is, or should be.
    """
    root = src.parent / "docs" / "_ext" if name.partition(".")[0] == "gpuguide_docs" else src
    path = root.joinpath(*name.split("."))
    package = path / "__init__.py"
    return package if package.is_file() else path.with_name(f"{path.name}.py")


def _digests(cells: Mapping[str, str], modules: Mapping[str, str]) -> dict[str, str]:
    """Digest the parts of one page, which run together: where one reads docstrings, those of all count.

    The harness is left out of this question. It reads docstrings for the notes of variants alone, which are
    labels; a test holds it to that.
    """
    sources = {**cells, **modules}
    asked = {name: source for name, source in sources.items() if name in cells or _is_topic(name)}
    read = any(_reads_docstrings(source, name) for name, source in asked.items())
    # A cell shows a string that is its last line.
    return {name: _digest(source, read or name in cells, name) for name, source in sources.items()}


def _is_topic(name: str) -> bool:
    return name.startswith("gpuguide.topics.")


def recorded_cells(script: str) -> tuple[str, ...]:
    r"""Take the recorded cells out of a page script.

    Parameters
    ----------
    script : str
        Source of the page, split as sphinx-gallery splits it.

    Returns
    -------
    tuple of str
        Code cells that hold a statement and do not begin with ``# draw``.

    Raises
    ------
    ArgumentError
        If the script does not parse.

    Examples
    --------
    >>> page = '''"Title"
    ... # %%
    ... # Prose.
    ... x = 1
    ... # %%
    ...
    ... # draw
    ... plot(x)
    ... '''
    >>> recorded_cells(page)
    ('x = 1\n',)
    """
    body = _parse(script, "the page").body
    starts_with_text = body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    n_lines = (body[0].end_lineno or 0) if starts_with_text else 0
    cells = _TEXT.split("\n".join(script.split("\n")[n_lines:]))
    return tuple(cell for cell in cells if not _DRAWN.match(cell) and _parse(cell, "a cell").body)


def changes(keys: Keys, script: Path, src: Path) -> tuple[str, ...]:
    """Say what changed since a page was recorded, in the words of who changes it.

    Parameters
    ----------
    keys : Keys
        Of the recording.
    script : Path
        The page's script.
    src : Path
        Folder that holds ``gpuguide``.

    Returns
    -------
    tuple of str
        ``"cell 2 of examples/cupy/sort_search.py"``, ``"src/gpuguide/topics/primes/study.py"``,
        ``"recorded cell 4 is gone"`` ...; empty when the recording is current.

    Raises
    ------
    ArgumentError
        If script or module do not parse.
    """
    where = _shown(script, src)
    code = recorded_cells(script.read_text(encoding="utf-8"))
    cells = {f"cell {i} of {where}": cell for i, cell in enumerate(code, start=1)}
    then = {name: digest for name, digest in keys.parts if not name.startswith("cell ")}
    cells_then = [digest for name, digest in keys.parts if name not in then]
    modules = {name: _source(name, src) for name in then if module_path(name, src).is_file()}
    now = _digests(cells, modules)
    changed = [name for name, digest in then.items() if now.get(name) != digest]
    return (
        *_cell_changes(cells_then, [now[name] for name in cells], where),
        *(_shown(module_path(name, src), src) + ("" if name in now else " is gone") for name in changed),
    )


def _cell_changes(then: Sequence[str], now: Sequence[str], where: str) -> Iterable[str]:
    """Align the cells, so that one that is put in between does not make all later ones look changed."""
    # `autojunk` leaves out what occurs often in a long list; here every cell counts.
    steps = difflib.SequenceMatcher(None, then, now, autojunk=False).get_opcodes()
    for kind, i, i_end, j, j_end in steps:
        if kind == "equal":
            continue
        n_changed = min(i_end - i, j_end - j)
        yield from (f"cell {k + 1} of {where}" for k in range(j, j + n_changed))
        yield from (f"cell {k + 1} of {where} is new" for k in range(j + n_changed, j_end))
        yield from (f"recorded cell {k + 1} is gone" for k in range(i + n_changed, i_end))


def _shown(path: Path, src: Path) -> str:
    root = src.resolve().parent
    path = path.resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _source(name: str, src: Path) -> str:
    """Read what counts of a module: in the room of data, only what makes the records what they are."""
    path = module_path(name, src)
    try:
        source = path.read_text(encoding="utf-8")
        return _records(source, name) if f"{name}.".startswith(f"{DATA_ROOM}.") else source
    except OSError as error:
        raise ArgumentError(
            f"Expected the source of module {name!r} at {path}; {error.strerror}. "
            "A page is recorded from the source tree."
        ) from None


@functools.lru_cache(maxsize=1024)
def _records(source: str, what: str) -> str:
    """Keep of a module its classes, and of these what acts without being called by name.

    ``Traffic(8, 4)`` means something else once two fields are swapped, or a default is another.
    """
    lines = source.split("\n")
    kept: list[str] = []
    for node in _parse(source, what).body:
        if isinstance(node, ast.ClassDef):
            named = {
                number
                for method in node.body
                # `__post_init__` and its like act without being called by name.
                if isinstance(method, ast.FunctionDef) and not re.fullmatch("__.+__", method.name)
                for number in range(_first_line(method), (method.end_lineno or 0) + 1)
            }
            numbers = range(_first_line(node), (node.end_lineno or 0) + 1)
            kept += [lines[number - 1] for number in numbers if number not in named]
            kept += ["    pass", ""]  # a class of methods alone would be empty
    return "\n".join(kept)


def _first_line(node: ast.ClassDef | ast.FunctionDef) -> int:
    # A decorator stands above the line that Python gives for a definition.
    return min(each.lineno for each in (node, *node.decorator_list))


@functools.lru_cache(maxsize=1024)
def _digest(source: str, docstrings: bool, what: str) -> str:
    try:
        return canonical.digest(source, docstrings)
    except (SyntaxError, ValueError) as error:
        raise ArgumentError(f"{what} cannot be digested: {error}") from None


@functools.lru_cache(maxsize=1024)
def _reads_docstrings(source: str, what: str) -> bool:
    try:
        return canonical.reads_docstrings(source)
    except (SyntaxError, ValueError) as error:
        raise ArgumentError(f"{what} cannot be digested: {error}") from None


def _parse(source: str, what: str) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise ArgumentError(f"{what} does not parse: {error}") from None
