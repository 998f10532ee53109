"""What a recording depends on: the code behind its numbers, part by part, so that a report names it."""

from __future__ import annotations

import ast
import difflib
import functools
import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from gpuguide.errors import ArgumentError
from gpuguide.recordings import canonical

__all__ = [
    "MEASURING_MODULES",
    "PART_NAME",
    "Keys",
    "changes",
    "measuring_key",
    "measuring_modules",
    "recorded_cells",
]

MEASURING_MODULES = (
    "topics.*",
    "backends",
    "batching",
    "buffers",
    "ceiling*",
    "checking_kernels",
    "clocks",
    "compare",
    "first_call",
    "forecast",
    "gate",
    "host_*",
    "launch",
    "loading",
    "memory",
    "plan",
    "random_inputs",
    "reference",
    "rounds",
    "runner",
    "sampling",
    "session",
    "statements",
    "study",
    "timers",
    "timing*",
    "tolerance",
    "variants",
)
"""Modules of the package (patterns) whose code can change a number; what draws or describes is not here."""

PART_NAME = re.compile(r"cell [1-9]\d{0,3}|gpuguide(\.[A-Za-z_]\w*)+", re.ASCII)
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
        Those of `MEASURING_MODULES`, sorted.

    Examples
    --------
    >>> measuring_modules(["gpuguide.topics.primes.study", "gpuguide.plotting", "gpuguide.measure.timing", "numpy"])
    ('gpuguide.measure.timing', 'gpuguide.topics.primes.study')
    """
    ours = (name.removeprefix("gpuguide.") for name in names if name.startswith("gpuguide."))
    found = (name for name in ours if any(fnmatchcase(name, pattern) for pattern in MEASURING_MODULES))
    return tuple(sorted(f"gpuguide.{name}" for name in found))


def measuring_key(script_cells: Iterable[str], module_names: Iterable[str], src: Path | None = None) -> Keys:
    """Digest what a page's numbers depend on.

    Parameters
    ----------
    script_cells : iterable of str
        Code of the page's recorded cells, in order; `recorded_cells` reads them from a script.
    module_names : iterable of str
        Modules that the page loaded; others than `measuring_modules` picks do not count.
    src : Path, optional
        Folder that holds ``gpuguide``; that of the running package by default.

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
    cells = [(f"cell {i}", _digest(cell, f"cell {i}")) for i, cell in enumerate(script_cells, start=1)]
    folder = src or Path(__file__).parents[2]
    return Keys.of([*cells, *((name, _module(name, folder)) for name in measuring_modules(module_names))])


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
        ``"cell 2 of examples/cupy/sort_search.py"``, ``"src/gpuguide/topics/primes.py"``,
        ``"measured cell 4 is gone"`` ...; empty when the recording is current.

    Raises
    ------
    ArgumentError
        If script or module do not parse.
    """
    where = _shown(script, src)
    cells = [digest for name, digest in keys.parts if name.startswith("cell ")]
    modules = [(name, digest) for name, digest in keys.parts if not name.startswith("cell ")]
    now = [_digest(cell, f"a cell of {where}") for cell in recorded_cells(script.read_text(encoding="utf-8"))]
    changed = [_module_change(name, digest, src) for name, digest in modules]
    return (*_cell_changes(cells, now, where), *(change for change in changed if change))


def _cell_changes(then: Sequence[str], now: Sequence[str], where: str) -> Iterable[str]:
    """Align the cells, so that one that is put in between does not make all later ones look changed."""
    steps = difflib.SequenceMatcher(None, then, now, autojunk=False).get_opcodes()
    for kind, i, i_end, j, j_end in steps:
        if kind == "equal":
            continue
        n_changed = min(i_end - i, j_end - j)
        yield from (f"cell {k + 1} of {where}" for k in range(j, j + n_changed))
        yield from (f"cell {k + 1} of {where} is new" for k in range(j + n_changed, j_end))
        yield from (f"measured cell {k + 1} is gone" for k in range(i + n_changed, i_end))


def _module_change(name: str, digest: str, src: Path) -> str:
    path = _module_path(name, src)
    if not path.is_file():
        return f"{_shown(path, src)} is gone"
    return "" if _module(name, src) == digest else _shown(path, src)


def _shown(path: Path, src: Path) -> str:
    root = src.resolve().parent
    path = path.resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _module_path(name: str, src: Path) -> Path:
    path = src.joinpath(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _module(name: str, src: Path) -> str:
    path = _module_path(name, src)
    try:
        return _digest(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise ArgumentError(
            f"Expected the source of module {name!r} at {path}; {error.strerror}. "
            "A page is recorded from the source tree."
        ) from None


@functools.lru_cache(maxsize=1024)
def _digest(source: str, what: str) -> str:
    try:
        return canonical.digest(source)
    except (SyntaxError, ValueError) as error:
        raise ArgumentError(f"{what} cannot be digested: {error}") from None


def _parse(source: str, what: str) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise ArgumentError(f"{what} does not parse: {error}") from None
