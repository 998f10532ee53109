"""A page's key: what its numbers depend on. Where it differs from a recording's, the page is stale."""

from __future__ import annotations

import ast
import difflib
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpuguide.errors import ArgumentError
from gpuguide.recordings.harness import read_harness
from gpuguide.recordings.source_digest import digest

__all__ = ["Key", "cell_digest", "changes", "key_of", "recorded_cells", "sources_of"]

# As sphinx-gallery splits: a line of 20 hashes or "# %%", and the comment lines right after it, are text.
_TEXT = re.compile(r"(?:^#{20,}.*|^# ?%%.*)\s(?:^#.*\s?)*", re.MULTILINE)
_DRAWN = re.compile(r"\s*# (?:draw|thumbnail)(:|[ \t]*$)", re.MULTILINE)
_TOPIC = re.compile(r"\bgpuguide\.topics(?:\.\w+)+")
_TOPICS = Path("gpuguide", "topics")


@dataclass(frozen=True)
class Key:
    """Digests of what can change a recording's numbers."""

    cells: tuple[str, ...]
    topics: tuple[tuple[str, str], ...]
    harness: int

    def __repr__(self) -> str:
        topics = ", ".join(name for name, _ in self.topics) or "none"
        return f"<Key of {len(self.cells)} cells, topics {topics}, harness {self.harness}>"


def recorded_cells(script: str) -> tuple[str, ...]:
    r"""Take the recorded cells out of a page script: code without ``# draw`` or ``# thumbnail`` above it.

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


def key_of(cells: Sequence[str], src: Path) -> Key:
    """Digest what the numbers of recorded cells depend on; `src` is the folder that holds ``gpuguide``."""
    topics = tuple((name, _digest_of(src / _TOPICS / name)) for name in sources_of(cells, src))
    digests = (cell_digest(cell, f"cell {i}") for i, cell in enumerate(cells, start=1))
    return Key(tuple(digests), topics, read_harness(src).version)


def cell_digest(cell: str, what: str = "a cell") -> str:
    """Digest a cell; a text that is its last line is shown, so that it counts."""
    return digest(cell, what, docstrings=True)


def sources_of(cells: Iterable[str], src: Path) -> tuple[str, ...]:
    """Name what cells run of the topics: their own folders whole, and files of others that these import.

    So a change of a study makes its own page stale, and not the pages that borrow a reference from beside it.
    """
    root = src / _TOPICS
    whole = {name.split("/")[0] for cell in cells for name in _named(cell, root)}
    waiting = {path for name in whole for path in (root / name).rglob("*.py")}
    borrowed: set[str] = set()
    while waiting:
        for name in _named(waiting.pop().read_text(encoding="utf-8"), root) - borrowed:
            if name.split("/")[0] not in whole:
                borrowed.add(name)
                waiting |= set(_files(root / name))
    return tuple(sorted(whole | borrowed))


def _named(source: str, root: Path) -> set[str]:
    """Name the topics, or modules of topics, that a source imports or hands to another Python in a string."""
    dotted: set[str] = set()
    for node in ast.walk(_parse(source, "the source")):
        if isinstance(node, ast.ImportFrom) and node.module:
            dotted |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            dotted |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            dotted |= set(_TOPIC.findall(node.value))
    return {_named_part(name, root) for name in dotted if name.startswith("gpuguide.topics.")} - {""}


def _named_part(dotted: str, root: Path) -> str:
    topic, *rest = dotted.removeprefix("gpuguide.topics.").split(".")
    module = f"{topic}/{rest[0]}.py" if rest else topic
    return next((name for name in (module, topic) if (root / name).exists()), "")


def _files(path: Path) -> list[Path]:
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


def _digest_of(path: Path) -> str:
    whole = hashlib.sha256()
    for file in _files(path):
        name = file.relative_to(path.parent).as_posix()
        whole.update(f"{name} {digest(file.read_text(encoding='utf-8'), name)}\n".encode())
    return whole.hexdigest()[:16]


def changes(key: Key, script: Path, src: Path) -> tuple[str, ...]:
    """Say what changed since a page was recorded, in the words of who changes it; empty where it is current.

    For example ``"cell 2 of examples/cupy/sort_search.py"``, ``"src/gpuguide/topics/primes"``.
    """
    where = _shown(script, src)
    now = key_of(recorded_cells(script.read_text(encoding="utf-8")), src)
    then, topics = dict(key.topics), dict(now.topics)
    differing = [name for name in sorted({*then, *topics}) if then.get(name) != topics.get(name)]
    return (
        *_cell_changes(key.cells, now.cells, where),
        *(_shown(src / _TOPICS / name, src) + _since(name, then, topics) for name in differing),
        *([f"the harness (version {now.harness})"] if key.harness != now.harness else []),
    )


def _since(name: str, then: dict[str, str], now: dict[str, str]) -> str:
    return " is gone" if name not in now else "" if name in then else " is new"


def _cell_changes(then: Sequence[str], now: Sequence[str], where: str) -> Iterator[str]:
    """Align the cells, so that one that is put in between does not make all later ones look changed."""
    # `autojunk` leaves out what occurs often in a long list; here every cell counts.
    for kind, i, i_end, j, j_end in difflib.SequenceMatcher(None, then, now, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        n_changed = min(i_end - i, j_end - j)
        yield from (f"cell {k + 1} of {where}" for k in range(j, j + n_changed))
        yield from (f"cell {k + 1} of {where} is new" for k in range(j + n_changed, j_end))
        yield from (f"recorded cell {k + 1} is gone" for k in range(i + n_changed, i_end))


def _shown(path: Path, src: Path) -> str:
    root, path = src.resolve().parent, path.resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _parse(source: str, what: str) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise ArgumentError(f"{what} does not parse: {error}") from None
