"""The topics of the package and what has been recorded of them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gpuguide import topics
from gpuguide.errors import GpuGuideError, unknown

if TYPE_CHECKING:
    from gpuguide.measure.study import Study
    from gpuguide.recordings.recording import Recording

__all__ = ["Entry", "Recorded", "entries", "studies", "topic_names"]

# In a source tree, beside the folder with the scripts of the pages.
_SOURCES = Path(__file__).parents[1]


class Recorded(NamedTuple):
    """One recording of a page.

    Parameters
    ----------
    machine : str
        The machine's short name.
    date : str
        UTC date of the newest run (``"2026-11-21"``), or ``"unreadable"``.
    n_starts : int
        On how many machine starts it was made; 0 where that cannot be read.
    outdated : bool
        Whether the measured code has changed since then. Only a source tree can tell: an installed package
        does not include the page scripts, and is released with current recordings.
    """

    machine: str
    date: str
    n_starts: int
    outdated: bool = False


@dataclass(frozen=True)
class Entry:
    """One line of the list: a topic or a recorded page.

    Parameters
    ----------
    name : str
        Name of the topic, of the page, or of both.
    about : str
        What it is about: the first line of the topic's module.
    runnable : bool
        Whether ``gpuguide run`` takes the name.
    recorded : tuple of Recorded
        The recordings of the page, one for each machine.
    """

    name: str
    about: str
    runnable: bool
    recorded: tuple[Recorded, ...] = ()


def topic_names() -> tuple[str, ...]:
    """Name the topics that hold a study, without importing any of them.

    Returns
    -------
    tuple of str
        Sorted names of the folders under ``gpuguide.topics``: each is that of its page.

    Examples
    --------
    >>> isinstance(topic_names(), tuple)
    True
    """
    folders = sorted(folder for root in topics.__path__ for folder in Path(root).iterdir())
    return tuple(folder.name for folder in folders if _study_files(folder.name))


def studies(topic: str) -> dict[str, Study]:
    """Build the studies of a topic.

    Parameters
    ----------
    topic : str
        A name of `topic_names`.

    Returns
    -------
    dict of str to Study
        By the study's name: the results of the public functions ``study`` and ``..._study`` of the topic's
        modules that need no arguments.

    Raises
    ------
    UnknownNameError
        There is no such topic.
    """
    if topic not in topic_names():
        raise unknown("topic", topic, topic_names())
    return {study.name: study for study in (make() for make in _makers(topic))}


def entries(root: Path | None = None) -> tuple[Entry, ...]:
    """List topics and recorded pages.

    Parameters
    ----------
    root : pathlib.Path, optional
        Folder of the recordings, one folder per machine; by default those of the package.

    Returns
    -------
    tuple of Entry
        Sorted by name.

    Raises
    ------
    RecordingError
        A recording cannot be read.
    """
    about = {topic: _about(_study_files(topic)[0]) for topic in topic_names()}
    recorded = _recorded(root)
    return tuple(
        Entry(name, about.get(name, ""), name in about, recorded.get(name, ()))
        for name in sorted({*about, *recorded})
    )


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
        if "study(" in text  # few have that, and only these are worth parsing
        and any(
            isinstance(node, ast.FunctionDef) and _is_study_name(node.name) for node in ast.parse(text).body
        )
    ]
    return tuple(sorted(made, key=lambda path: path.stem != "study"))


@cache
def _about(path: Path) -> str:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return (ast.get_docstring(tree) or "").partition("\n")[0]


def _makers(topic: str) -> Iterator[Callable[[], Study]]:
    for path in _study_files(topic):
        module = import_module(f"gpuguide.topics.{topic}.{path.stem}")
        for name, function in vars(module).items():
            if _makes_study(name, function, module):
                yield function


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


def _makes_study(name: str, function: Callable[..., Any], module: Any) -> bool:
    return (
        _is_study_name(name)
        and inspect.isfunction(function)
        # Not one that this module imports from another topic.
        and function.__module__ == module.__name__
        # It is called without arguments.
        and all(each.default is not each.empty for each in inspect.signature(function).parameters.values())
    )


def _is_study_name(name: str) -> bool:
    return name == "study" or (name.endswith("_study") and not name.startswith("_"))
