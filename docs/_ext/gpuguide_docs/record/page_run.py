"""Runs one page in a process of its own and writes its recording; started by the recorder."""

from __future__ import annotations

import argparse
import dataclasses
import gc
import json
import os
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuguide_docs.pages.cells import Cell, read_cells
from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.pages.pages_toml import read_pages
from gpuguide_docs.record.execution import CellError, plain_text, refuse_figures, run_cell, value_text
from gpuguide_docs.record.memory_watch import watched
from gpuguide_docs.record.names import recorded_names
from gpuguide_docs.record.provenance import make_provenance
from gpuguide_docs.replay.drawn_cells import preset_namespace, run_drawn

if TYPE_CHECKING:
    from gpuguide.measure.session import Session
    from gpuguide.recordings.recording import CellOutput
    from gpuguide.results.ceilings import Ceilings
    from gpuguide.results.results import Results

__all__ = ["PageRun", "main", "named_results", "run_page"]

_DRIFT = 0.02


class PageRun:
    """One run of a page's cells, recorded and drawn, in order, as a notebook would run them.

    Parameters
    ----------
    session : Session
        Collects studies and facts.
    script : pathlib.Path
        The page.
    """

    def __init__(self, session: Session, script: Path) -> None:
        self.session = session
        self.script = script
        self.namespace: dict[str, Any] = {"__name__": "__main__", "__doc__": ""}
        self.cells: list[CellOutput] = []
        self.modules: set[str] = set()

    def run(self, cells: Sequence[Cell]) -> None:
        """Run all cells; the first error ends the run.

        Parameters
        ----------
        cells : sequence of Cell
            Of the page.
        """
        for cell in cells:
            if cell.kind == "recorded":
                self._record(cell)
            elif cell.kind == "drawn":
                self._draw(cell)

    def _record(self, cell: Cell) -> None:
        from gpuguide.recordings import canonical
        from gpuguide.recordings.recording import CellOutput
        from gpuguide.results.results import Results

        before = set(sys.modules)
        printed, value = run_cell(cell, self.namespace, str(self.script))
        refuse_figures(cell, str(self.script))
        self.modules |= set(sys.modules) - before if self.modules else set(sys.modules)
        names = recorded_names(cell.content, self.namespace)
        # Of results and studies the data is kept: their tables are made when the page is built.
        shows = value.name if isinstance(value, Results) else ""
        # Not imported here: a page that uses no study must not depend on that module.
        studies = sys.modules.get("gpuguide.measure.study")
        study = value.describe() if studies and isinstance(value, studies.Study) else None
        text = "" if shows or study else value_text(value)
        self.cells.append(
            CellOutput(
                cell=cell.index,
                digest=canonical.digest(cell.content),
                stdout=plain_text(printed + text),
                shows=shows,
                study=study,
                names=tuple(
                    (name.used, name.module, name.name, name.module_short, name.is_class) for name in names
                ),
            )
        )

    def _draw(self, cell: Cell) -> None:
        # In the namespace of a build, so that what works here works there; the outputs are not kept.
        results = {name: self.namespace[name] for name in named_results(self.namespace, self.session)}
        if not hasattr(self, "_drawn"):
            from gpuguide.statements import DrawnPage

            self._page = DrawnPage({}, self.session.ceilings, quick=self.session.quick)
            self._drawn = preset_namespace(results, self._page, self.session.ceilings)
        self._page.facts.update(self.session.facts)
        self._drawn |= results
        run_drawn(cell, self._drawn, str(self.script), self._page)


def named_results(namespace: dict[str, Any], session: Session) -> dict[str, str]:
    """Find the variables that hold the results of a study of this run.

    Parameters
    ----------
    namespace : dict
        Of the page.
    session : Session
        With the studies that ran.

    Returns
    -------
    dict of str to str
        Variable -> study.

    Raises
    ------
    gpuguide.errors.ArgumentError
        If a variable holds other results than the session kept under that name.
    """
    from gpuguide.errors import ArgumentError
    from gpuguide.results.results import Results

    names: dict[str, str] = {}
    for variable, value in namespace.items():
        if not isinstance(value, Results) or variable.startswith("_"):
            continue
        if session.studies.get(value.name) is not value:
            raise ArgumentError(
                f"variable {variable!r} holds results of study {value.name!r} that are not of this run; "
                "give each study that a page runs a name of its own"
            )
        names[variable] = value.name
    return names


def run_page(
    layout: Layout, name: str, machine: str, arguments: argparse.Namespace, ceilings: Ceilings | None
) -> tuple[str, ...]:
    """Run a page and write its recording; on any error, or when quick, nothing is written.

    Parameters
    ----------
    layout : Layout
        Where the project lies.
    name : str
        Page.
    machine : str
        Slug.
    arguments : argparse.Namespace
        The command line.
    ceilings : Ceilings or None
        Of this machine, measured before.

    Returns
    -------
    tuple of str
        Warnings that the recording holds.
    """
    from gpuguide.machine.cpu import cpu_info
    from gpuguide.measure.session import recording_session
    from gpuguide.recordings import store as recordings
    from gpuguide.recordings.keys import measuring_key
    from gpuguide.recordings.recording import Recording

    page = next(page for page in read_pages(layout) if page.name == name)
    script = page.script(layout)
    cpu, start = cpu_info(), time.monotonic()
    with recording_session(
        quick=arguments.quick, budget_s=arguments.budget, ceilings=ceilings, commit=arguments.commit
    ) as session:
        first = _sentinel(session, ceilings)
        run = PageRun(session, script)
        with watched(arguments.peak):
            run.run(read_cells(script))
        last = _sentinel(session, ceilings)
    names = named_results(run.namespace, session)
    warned = _drift(first, last)
    peak = _peak(arguments.peak, session)
    seconds = time.monotonic() - start
    provenance = make_provenance(machine, arguments.commit, seconds, peak, cpu)
    studies = {key: _with_warnings(results, warned) for key, results in session.studies.items()}
    cells = [cell.content for cell in read_cells(script) if cell.kind == "recorded"]
    recording = Recording(
        machine=machine,
        page=name,
        provenance=provenance,
        keys=measuring_key(cells, sorted(run.modules), layout.source),
        studies=studies,
        facts=dict(session.facts),
        ceilings=ceilings,
        names=names,
        cells=tuple(run.cells),
    )
    if not arguments.quick:
        recordings.save(recording, layout.recorded)
    return tuple(warned)


def _with_warnings(results: Results, warned: Sequence[str]) -> Results:
    return dataclasses.replace(results, warnings=(*results.warnings, *warned)) if warned else results


def _sentinel(session: Session, ceilings: Ceilings | None) -> float | None:
    if ceilings is None or session.machine.gpu is None:
        return None
    from gpuguide.machine.memory import free_pools
    from gpuguide.measure.ceilings import copy_sentinel

    rate = copy_sentinel(session.machine.gpu)
    # Its arrays lived until it returned, and CuPy's pool would keep their memory as if the page held it.
    gc.collect()
    free_pools(session.machine.spaces["device"])
    return rate


def _peak(path: Path | None, session: Session) -> int | None:
    """Return the most memory that the page held: as the watch saw it, or studies too short for the watch."""
    seen = int(path.read_text(encoding="ascii")) if path and path.is_file() else 0
    return max(seen, session.peak_memory_bytes) or None


def _drift(first: float | None, last: float | None) -> list[str]:
    if first is None or last is None or abs(last - first) <= _DRIFT * first:
        return []
    from gpuguide.results.units import format_quantity

    rates = f"{format_quantity(first, 'B/s')} first and {format_quantity(last, 'B/s')} last"
    return [f"the machine changed while this page was measured: a fixed copy ran at {rates}"]


def _measure_ceilings(arguments: argparse.Namespace) -> None:
    from gpuguide.machine.device import require_gpu
    from gpuguide.measure.ceilings import measure
    from gpuguide.measure.clocks import CupyClock
    from gpuguide.recordings.codec import to_json

    device = require_gpu()
    clock: Any = CupyClock()
    found = measure(clock, device)
    arguments.measure_ceilings.write_text(json.dumps(to_json(found)), encoding="utf-8")


def _machine(arguments: argparse.Namespace) -> str:
    if arguments.machine:
        return str(arguments.machine)
    from gpuguide.machine.device import require_gpu

    return require_gpu().slug


def _read_ceilings(path: Path | None) -> Ceilings | None:
    if path is None:
        return None
    from gpuguide.recordings.codec import from_json
    from gpuguide.results.ceilings import Ceilings

    return from_json(Ceilings, json.loads(path.read_text(encoding="utf-8")), str(path))


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m gpuguide_docs.record.page_run", description=__doc__)
    parser.add_argument("--page", default="")
    parser.add_argument("--measure-ceilings", type=Path)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--outcome", type=Path, required=True)
    parser.add_argument("--machine", default="")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--budget", type=float)
    parser.add_argument("--ceilings", type=Path)
    parser.add_argument("--peak", type=Path)
    parser.add_argument("--quick", action="store_true")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one page, or measure the ceilings, and write the outcome for the recorder.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; those of the process by default.

    Returns
    -------
    int
        0; a failure is told in the outcome file.
    """
    from gpuguide.errors import GpuGuideError

    arguments = _arguments(argv)
    warned: tuple[str, ...] = ()
    message = ""
    try:
        if arguments.measure_ceilings:
            _measure_ceilings(arguments)
        else:
            layout = Layout(arguments.root)
            ceilings = _read_ceilings(arguments.ceilings)
            with warnings.catch_warnings():
                warned = run_page(layout, arguments.page, _machine(arguments), arguments, ceilings)
    except (CellError, GpuGuideError) as error:
        message = str(error).replace(f"{arguments.root.resolve()}{os.sep}", "")
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        raise
    finally:
        said = {"ok": not message, "message": message, "warnings": list(warned)}
        arguments.outcome.write_text(json.dumps(said), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
