"""Runs a whole script with stand-ins for Numba and CuPy in place, and reports each launch of a kernel."""

from __future__ import annotations

import builtins
import linecache
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gpuguide.errors import ArgumentError
from gpuguide.tracer.names import numpy_or_none
from gpuguide.tracer.report import Trace
from gpuguide.tracer.standins import Configured, host_modules
from gpuguide.tracer.trace import trace

__all__ = ["run_script"]


def _print(where: str, traced: Trace) -> None:
    print(f"{where}{traced}\n")


def run_script(path: Path, arguments: Sequence[str] = (), show: Callable[[str, Trace], None] = _print) -> int:
    """Run a script without a GPU, and show what is wrong with each launch; return how many have findings.

    Launches that look the same are shown once. What the script prints is printed.
    """
    try:
        source = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ArgumentError(f"{path} cannot be read: {error.strerror}.") from None
    report = _Report(path, show)
    code = compile(source, str(path), "exec")
    linecache.checkcache(str(path))
    space = {"__name__": "__main__", "__file__": str(path), "__builtins__": builtins}
    with _as_main(path, arguments, host_modules(report.launched)):
        try:
            exec(code, space)  # the reader's own script, which Python would execute, too
        except SystemExit:
            pass
        except Exception as error:
            line = next(
                (at.lineno for at in traceback.extract_tb(error.__traceback__) if at.filename == str(path)), 0
            )
            print(f"{path.name} ended in line {line} with {_in_words(error)}{report.cut_down()}")
    print(report.summary())
    return report.n_wrong


def _in_words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


class _Report:
    """Shows traces as they come."""

    def __init__(self, path: Path, show: Callable[[str, Trace], None]) -> None:
        self._path, self._show = path, show
        self._seen: set[str] = set()
        self.n_launches = self.n_wrong = self._n_cut = 0

    def launched(self, configured: Configured, arguments: Sequence[Any]) -> None:
        """Trace a launch of the script."""
        traced = trace(configured, *arguments)
        self.n_launches += 1
        self.n_wrong += not traced.passed
        self._n_cut += bool(traced.run and traced.n_blocks < traced.run.grid.n_blocks)
        where = self._where()
        if (text := f"{where}{traced}") not in self._seen:
            self._seen.add(text)
            self._show(where, traced)

    def _where(self) -> str:
        frame: Any = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != str(self._path):
            frame = frame.f_back
        return f"{self._path.name}, line {frame.f_lineno}: " if frame is not None else ""

    def cut_down(self) -> str:
        """Say that results are incomplete, if they are."""
        return (
            ". Launches were cut down, so results are incomplete: try it with less data."
            if self._n_cut
            else ""
        )

    def summary(self) -> str:
        """Say how many launches there were."""
        if not self.n_launches:
            return f"{self._path.name} launches no kernel."
        wrong = {0: "no findings", 1: "1 has findings"}
        launches = "1 launch" if self.n_launches == 1 else f"{self.n_launches} launches"
        ends = wrong.get(self.n_wrong, f"{self.n_wrong} have findings")
        return f"{launches}, {'it has findings' if self.n_launches == self.n_wrong == 1 else ends}."


@contextmanager
def _as_main(path: Path, arguments: Sequence[str], modules: dict[str, Any]) -> Iterator[None]:
    """Let the stand-ins be imported, and the script see its own arguments and folder."""
    if numpy_or_none() is not None:
        modules = {name: module for name, module in modules.items() if name != "numpy"}
    roots = {name.partition(".")[0] for name in modules}
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in roots}
    argv, folders = sys.argv, list(sys.path)
    sys.modules.update(modules)
    sys.argv, sys.path[:] = [str(path), *arguments], [os.fspath(path.parent), *folders]
    try:
        yield
    finally:
        for name in list(sys.modules):
            if name.partition(".")[0] in roots:
                del sys.modules[name]
        sys.modules.update(kept)
        sys.argv, sys.path[:] = argv, folders
