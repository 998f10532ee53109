"""Spreads a build over the cores: each process takes the next piece of work as soon as it is free."""

from __future__ import annotations

import gc
import pickle
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sphinx.builders import Builder, _write_docname
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.errors import SphinxParallelError
from sphinx.util.parallel import ParallelTasks, parallel_available

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized

    from sphinx.application import Sphinx

__all__ = ["begin", "longest_first", "on_all_cores", "setup", "share_out"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def begin(
    items: Sequence[Item], workers: int, work: Callable[[Iterator[Item]], Result]
) -> Callable[[], list[Result]]:
    """Let several processes begin to work, each on the items that no other has taken."""
    if workers < 2 or len(items) < 2 or not parallel_available:
        done = [work(iter(items))]
        return lambda: done
    found: list[Result] = []
    errors: list[SphinxParallelError] = []
    tasks = ParallelTasks(workers)
    next_place = get_context("fork").Value("i", 0)
    for _ in range(min(workers, len(items))):
        tasks.add_task(partial(_work, work, items, next_place), result_func=partial(_keep, found, errors))

    def wait() -> list[Result]:
        tasks.join()
        for error in errors:
            raise error
        return found

    return wait


def _work(
    work: Callable[[Iterator[Item]], Result], items: Sequence[Item], next_place: Synchronized[int]
) -> Result | SphinxParallelError:
    # It would look through all that the main process holds, and so copy it into this short-lived one.
    gc.disable()
    try:
        return work(_taken(items, next_place))
    except Exception as error:
        # Sphinx loses an error raised while tasks are still being added, but keeps what is returned.
        message = traceback.format_exception_only(error)[0].strip()
        return SphinxParallelError(message, traceback.format_exc())


def _taken(items: Sequence[Item], next_place: Synchronized[int]) -> Iterator[Item]:
    while True:
        with next_place.get_lock():
            place = next_place.value
            next_place.value += 1
        if place >= len(items):
            return
        yield items[place]


def _keep(
    found: list[Result],
    errors: list[SphinxParallelError],
    _argument: None,
    result: Result | SphinxParallelError,
) -> None:
    if isinstance(result, SphinxParallelError):
        errors.append(result)
    else:
        found.append(result)


def share_out(items: Sequence[Item], workers: int, work: Callable[[Iterator[Item]], Result]) -> list[Result]:
    """Do as `begin` does, and wait for it."""
    return begin(items, workers, work)()


def on_all_cores(pieces: Sequence[Callable[[], Result]], workers: int) -> list[Result]:
    """Run independent functions as `share_out` does; return what they returned, in their order."""
    found = share_out(
        range(len(pieces)), workers, lambda places: [(place, pieces[place]()) for place in places]
    )
    results = dict(pair for pairs in found for pair in pairs)
    return [results[place] for place in range(len(pieces))]


def longest_first(docnames: Iterable[str], path: Callable[[str], Path]) -> list[str]:
    """Order documents by the size of their files, since long ones at the end would leave processes idle."""
    return sorted(docnames, key=lambda name: (-path(name).stat().st_size, name))


def _read(self: Builder, docnames: list[str], nproc: int) -> None:
    """Read documents as Sphinx does, but fork once for each process and not once for each batch.

    What one document made its process import, the next one finds there.
    """

    def read(names: Iterator[str]) -> tuple[list[str], bytes]:
        self.env._app = self._app
        done = []
        for name in names:
            self.read_doc(name, _cache=False)
            done.append(name)
        return done, pickle.dumps(self.env, pickle.HIGHEST_PROTOCOL)

    names = longest_first(docnames, self.env.doc2path)
    if len(names) < 2:
        self._read_serial(names)
        return
    for name in names:
        self.events.emit("env-purge-doc", self.env, name)
        self.env.clear_doc(name)
    for done, environment in share_out(names, nproc, read):
        self.env.merge_info_from(done, pickle.loads(environment), self._app)


#: Of a search index: something for each document, and the documents of each word.
_OF_DOCUMENTS = ("_titles", "_filenames", "_all_titles", "_index_entries")
_OF_WORDS = ("_mapping", "_title_mapping")


def _write(self: StandaloneHTMLBuilder, docnames: Sequence[str], nproc: int) -> None:
    """Write pages as Sphinx does, but resolve each where it is written, and not all in the main process."""
    names = longest_first(docnames, lambda name: Path(self.env.doctreedir, f"{name}.doctree"))
    # What the first page makes Sphinx compile, the others find there; the shortest delays them least.
    _write_docname(names.pop(), env=self.env, builder=self, tags=self.tags)
    if len(names) < 2:
        self._write_serial(names)
        return

    def write(names: Iterator[str]) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
        for part in (*_OF_DOCUMENTS, *_OF_WORDS):
            setattr(self.indexer, part, {})
        for name in names:
            _write_docname(name, env=self.env, builder=self, tags=self.tags)
        return self.images, {part: getattr(self.indexer, part) for part in (*_OF_DOCUMENTS, *_OF_WORDS)}

    # Sphinx leaves one processor to the main process, which here only waits.
    for images, index in share_out(names, self._app.parallel, write):
        self.images.update(images)
        for part in _OF_DOCUMENTS:
            getattr(self.indexer, part).update(index[part])
        for part in _OF_WORDS:
            words = getattr(self.indexer, part)
            for word, where in index[part].items():
                words.setdefault(word, set()).update(where)


def setup(app: Sphinx) -> None:
    """Take the place of Sphinx's own spreading: it has no event for it."""
    Builder._read_parallel = _read  # type: ignore[method-assign]
    StandaloneHTMLBuilder._write_parallel = _write  # type: ignore[method-assign, assignment]
