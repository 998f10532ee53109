"""The topics of the package and what has been recorded of them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuguide import topics
from gpuguide.errors import GpuGuideError, unknown

if TYPE_CHECKING:
    from gpuguide.measure.study import Study

__all__ = ["Entry", "entries", "studies", "topic_names"]


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
    recorded : tuple of (str, str)
        Machine and UTC date (``"2026-11-21"``) of each recording of the page.
    """

    name: str
    about: str
    runnable: bool
    recorded: tuple[tuple[str, str], ...] = ()


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
    return tuple(_topics())


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
    if topic not in _topics():
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
    about, recorded = _topics(), _recorded(root)
    return tuple(
        Entry(name, about.get(name, ""), name in about, recorded.get(name, ()))
        for name in sorted({*about, *recorded})
    )


def _topics() -> dict[str, str]:
    folders = sorted(folder for root in topics.__path__ for folder in Path(root).iterdir())
    return {folder.name: _about(files[0]) for folder in folders if (files := _study_files(folder.name))}


@cache
def _study_files(topic: str) -> tuple[Path, ...]:
    """Find the modules of a topic that make studies; ``study.py``, which tells what it is about, is first."""
    paths = [path for root in topics.__path__ for path in sorted((Path(root) / topic).glob("[!_]*.py"))]
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    made = [
        path
        for path, tree in trees.items()
        if any(isinstance(node, ast.FunctionDef) and _is_study_name(node.name) for node in tree.body)
    ]
    return tuple(sorted(made, key=lambda path: path.stem != "study"))


def _about(path: Path) -> str:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return (ast.get_docstring(tree) or "").partition("\n")[0]


def _makers(topic: str) -> Iterator[Callable[[], Study]]:
    for path in _study_files(topic):
        module = import_module(f"gpuguide.topics.{topic}.{path.stem}")
        for name, function in vars(module).items():
            if _makes_study(name, function, module):
                yield function


def _recorded(root: Path | None) -> dict[str, tuple[tuple[str, str], ...]]:
    from gpuguide.recordings import store as recordings

    found: dict[str, list[tuple[str, str]]] = {}
    for machine in recordings.machines(root):
        for page in recordings.pages(machine, root):
            date = _date((root or recordings.ROOT) / machine / page)
            found.setdefault(page, []).append((machine, date))
    return {page: tuple(pairs) for page, pairs in found.items()}


def _date(folder: Path) -> str:
    from gpuguide.recordings import store as recordings

    try:
        return str(recordings.read(folder).provenance.utc_date)[:10]
    except GpuGuideError:
        # One broken recording must not hide the others; whoever loads it gets the reason.
        return "unreadable"


def _makes_study(name: str, function: Callable[..., Any], module: Any) -> bool:
    return (
        _is_study_name(name)
        and inspect.isfunction(function)
        and function.__module__ == module.__name__
        and all(each.default is not each.empty for each in inspect.signature(function).parameters.values())
    )


def _is_study_name(name: str) -> bool:
    return name == "study" or (name.endswith("_study") and not name.startswith("_"))
