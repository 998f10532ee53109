"""The topics of the package and what has been recorded of them."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gpuguide import topics
from gpuguide.errors import ArgumentError, GpuGuideError, unknown

if TYPE_CHECKING:
    from gpuguide.measure.study import Study
    from gpuguide.recordings.recording import Recording

__all__ = ["Entry", "Recorded", "entries", "studies", "topic_names"]

# In a source tree, beside the folder with the scripts of the pages and their list. The wheel has the list.
_SOURCES = Path(__file__).parents[1]


class Recorded(NamedTuple):
    """One recording of a page."""

    machine: str
    date: str
    n_starts: int
    outdated: bool = False


@dataclass(frozen=True)
class Entry:
    """One line of the list: a topic or a recorded page."""

    name: str
    title: str
    section: str = ""
    runnable: bool = True
    recorded: tuple[Recorded, ...] = ()


def topic_names() -> tuple[str, ...]:
    """Name the topics that hold a study, without importing any of them."""
    folders = sorted(folder for root in topics.__path__ for folder in Path(root).iterdir())
    return tuple(folder.name for folder in folders if _study_files(folder.name))


def studies(topic: str) -> dict[str, Study]:
    """Build the studies of a topic."""
    if topic not in topic_names():
        if topic in _recorded(None):
            raise ArgumentError(
                f"The page {topic!r} has no study to run: its own cells take the times. To run these, "
                "download its notebook."
            )
        raise unknown("topic", topic, topic_names())
    return {study.name: study for study in _studies(topic)}


def entries(root: Path | None = None) -> tuple[Entry, ...]:
    """List topics and recorded pages."""
    pages, recorded, runnable = _pages(), _recorded(root), topic_names()
    names = sorted({*runnable, *recorded})
    listed = [name for name in pages if name in names]
    made = []
    for name in (*listed, *(name for name in names if name not in pages)):
        section, title = pages.get(name) or ("", _about(name))
        made.append(Entry(name, title, section, name in runnable, recorded.get(name, ())))
    return tuple(made)


def _pages() -> dict[str, tuple[str, str]]:
    """Name of each page, in the guide's order -> title of its section, and its own."""
    files = (_SOURCES.parent / "examples" / "pages.toml", Path(__file__).with_name("pages.toml"))
    path = next(filter(Path.exists, files), None)
    if path is None:
        return {}
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    sections = {each["name"]: each["title"] for each in data["section"]}
    return {each["name"]: (sections[each["section"]], each["title"]) for each in data["page"]}


# Cached, because every command asks for it, and collecting the tests asks 18 times.
@cache
def _study_files(topic: str) -> tuple[Path, ...]:
    """Find the modules of a topic that make studies; ``study.py``, which describes the topic, is first."""
    paths = [path for root in topics.__path__ for path in sorted((Path(root) / topic).glob("[!_]*.py"))]
    # Parsed and not imported: a list of topics must not need Numba, CuPy or a GPU.
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    made = [
        path
        for path, text in texts.items()
        # Few have this word, and only these files are worth parsing.
        if "Study(" in text and _names(text)
    ]
    return tuple(sorted(made, key=lambda path: path.stem != "study"))


def _about(topic: str) -> str:
    files = _study_files(topic)
    tree = ast.parse(files[0].read_text(encoding="utf-8") if files else "")
    return (ast.get_docstring(tree) or "").partition("\n")[0]


def _names(text: str) -> list[str]:
    """Name what a module assigns a study to; others it may import from another topic."""
    return [
        ast.unparse(node.targets[0])
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) == "Study"
    ]


def _studies(topic: str) -> Iterator[Study]:
    for path in _study_files(topic):
        module = import_module(f"gpuguide.topics.{topic}.{path.stem}")
        yield from (getattr(module, name) for name in _names(path.read_text(encoding="utf-8")))


def _recorded(root: Path | None) -> dict[str, tuple[Recorded, ...]]:
    from gpuguide.recordings import store as recordings

    found: dict[str, list[Recorded]] = {}
    for machine in recordings.machines(root):
        for page in recordings.pages(machine, root):
            found.setdefault(page, []).append(_read((root or recordings.ROOT) / machine / page))
    return {page: tuple(each) for page, each in found.items()}


def _read(folder: Path) -> Recorded:
    from gpuguide.recordings import store as recordings

    try:
        recording = recordings.read(folder)
    except GpuGuideError:
        # One broken recording must not hide the others; loading it gives the reason.
        return Recorded(folder.parent.name, "unreadable", 0)
    date = recording.provenance.utc_date[:10]
    return Recorded(folder.parent.name, date, recording.n_starts, _is_outdated(recording))


def _is_outdated(recording: Recording) -> bool:
    from gpuguide.recordings import store as recordings

    scripts = list(_SOURCES.parent.glob(f"examples/*/{recording.page}.py"))
    try:
        return bool(scripts and recordings.staleness(recording, scripts[0], _SOURCES))
    except GpuGuideError:
        return True  # a script that somebody is writing may not parse
