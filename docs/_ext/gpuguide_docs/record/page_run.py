"""Runs one page in a process of its own and writes its recording; started by the recorder."""

from __future__ import annotations

import argparse
import dataclasses
import gc
import json
import os
import sys
import time
import types
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
from gpuguide_docs.record.process import START, arguments, stop_without

if TYPE_CHECKING:
    from gpuguide.measure.session import Session
    from gpuguide.measure.step_timer import StepTimer
    from gpuguide.recordings.recording import CellOutput, Recording
    from gpuguide.results.ceilings import Ceilings
    from gpuguide.results.results import Results

__all__ = ["PageRun", "main", "named_results", "run_page"]

# Device times of two runs typically differ by 0.4 %, so this is more than noise.
_DRIFT = 0.02


class PageRun:
    """One run of a page's recorded cells, in order, as a notebook would run them."""

    def __init__(self, session: Session, script: Path) -> None:
        self.session = session
        self.script = script
        self._main = types.ModuleType("__main__", "")
        self.namespace: dict[str, Any] = vars(self._main)
        self.cells: list[CellOutput] = []

    def run(self, cells: Sequence[Cell]) -> None:
        """Run recorded cells; the first error ends the run."""
        for cell in cells:
            self._record(cell)

    def _record(self, cell: Cell) -> None:
        from gpuguide.recordings.recording import CellOutput
        from gpuguide.results.results import Results

        printed, value = run_cell(cell, self.namespace, str(self.script))
        refuse_figures(cell, str(self.script))
        names = recorded_names(cell.content, self.namespace)
        # Of results and studies the data is kept: their tables are made when the page is built.
        shows = value.name if isinstance(value, Results) else ""
        # Not imported here: a page that uses no study must not depend on that module.
        studies = sys.modules.get("gpuguide.measure.study")
        study = value.describe() if studies and isinstance(value, studies.Study) else None
        text = "" if shows or study else value_text(value)
        self.cells.append(
            CellOutput(
                cell=len(self.cells),
                digest="",
                stdout=plain_text(printed + text),
                shows=shows,
                study=study,
                names=tuple(
                    (name.used, name.module, name.name, name.module_short, name.is_class) for name in names
                ),
            )
        )


def recorded_cells_of(script: Path) -> list[Cell]:
    """Read the recorded cells of a page, and make sure that they are those that the key holds."""
    from gpuguide.errors import ArgumentError
    from gpuguide.recordings.keys import recorded_cells

    found = [cell for cell in read_cells(script) if cell.kind == "recorded"]
    if tuple(cell.content for cell in found) != recorded_cells(script.read_text(encoding="utf-8")):
        raise ArgumentError(
            f"{script}: gpuguide_docs.pages.cells and gpuguide.recordings.keys split it into other cells; "
            "both must split as sphinx-gallery does"
        )
    return found


def refuse_other_tree(source: Path) -> None:
    """Raise ArgumentError unless the package was loaded from the tree whose code is digested."""
    import gpuguide
    from gpuguide.errors import ArgumentError

    found, expected = Path(gpuguide.__file__).resolve().parent, (source / "gpuguide").resolve()
    if found != expected:
        raise ArgumentError(
            f"gpuguide was loaded from {found}, and not from {expected}; "
            "record with `make record` in the tree that is measured"
        )


def named_results(namespace: dict[str, Any], session: Session) -> dict[str, str]:
    """Find the variables that hold the results of a study of this run."""
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
    layout: Layout,
    name: str,
    machine: str,
    told: argparse.Namespace,
    ceilings: Ceilings | None,
    steps: StepTimer,
) -> tuple[tuple[str, ...], Recording | None]:
    """Run a page and write its recording; on any error, or when quick, nothing is written."""
    from gpuguide.machine.cpu import cpu_info
    from gpuguide.measure.provenance import make_provenance
    from gpuguide.measure.session import recording_session
    from gpuguide.recordings import store as recordings
    from gpuguide.recordings.keys import key_of
    from gpuguide.recordings.recording import Run

    page = next(page for page in read_pages(layout) if page.name == name)
    script = page.script(layout)
    cells = recorded_cells_of(script)
    cpu, start = cpu_info(), time.monotonic()
    with recording_session(
        quick=told.quick, budget_s=told.budget, ceilings=ceilings, commit=told.commit, steps=steps
    ) as session:
        # Opening the GPU takes time that must not count as the first cell's.
        with steps.step(START):
            _ = session.machine
        with steps.step("copy sentinel"):
            first = _sentinel(session, ceilings)
        run = PageRun(session, script)
        with watched(told.peak), steps.step("cells"):
            run.run(cells)
        with steps.step("copy sentinel"):
            last = _sentinel(session, ceilings)
    names = named_results(run.namespace, session)
    warned = _drift(first, last)
    peak = _peak(told.peak, session)
    seconds = time.monotonic() - start
    provenance = make_provenance(machine, told.commit, seconds, peak, cpu, session, told.start)
    studies = {key: _with_warnings(results, warned) for key, results in session.studies.items()}
    code = [cell.content for cell in cells]
    with steps.step("saving"):
        refuse_other_tree(layout.source)
        key = key_of(code, layout.source)
    measured = Run(
        machine=machine,
        page=name,
        provenance=provenance,
        key=key,
        studies=studies,
        facts=dict(session.facts),
        ceilings=ceilings,
        names=names,
        arrays=dict(session.arrays),
        cells=tuple(dataclasses.replace(cell, digest=key.cells[cell.cell]) for cell in run.cells),
    )
    if told.quick:
        return tuple(warned), None
    # Asked again: on some systems nothing ended this process when its recorder died.
    stop_without(told.recorder)
    with steps.step("saving"):
        saved, remarks = recordings.add(measured, told.into or layout.recorded)
    return (*warned, *remarks), saved


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


def _counted(saved: Recording) -> tuple[int, int]:
    """Return how many runs a recording holds, and on how many starts of the machine they were made."""
    runs = [saved.provenance, *(run.provenance for run in saved.runs)]
    return len(runs), len({run.start for run in runs})


def _peak(path: Path | None, session: Session) -> int | None:
    """Return the most memory that the page held: as the watch saw it, or studies too short for the watch."""
    seen = int(path.read_text(encoding="ascii")) if path and path.is_file() else 0
    return max(seen, session.peak_memory_bytes) or None


def _drift(first: float | None, last: float | None) -> list[str]:
    if first is None or last is None or abs(last - first) <= _DRIFT * first:
        return []
    rates = f"{first / 1e9:.4g} GB/s first and {last / 1e9:.4g} GB/s last"
    return [f"the machine changed while this page was measured: a fixed copy ran at {rates}"]


def _measure_ceilings(path: Path) -> None:
    from gpuguide.machine.device import require_gpu
    from gpuguide.measure.ceilings import measure
    from gpuguide.measure.clocks import CupyClock
    from gpuguide.recordings.plain import dumps

    device = require_gpu()
    clock: Any = CupyClock()
    found = measure(clock, device)
    path.write_text(dumps(found), encoding="utf-8")


def _machine(told: argparse.Namespace) -> str:
    if told.machine:
        return str(told.machine)
    from gpuguide.machine.device import require_gpu

    return require_gpu().slug


def _read_ceilings(path: Path | None) -> Ceilings | None:
    if path is None:
        return None
    from gpuguide.recordings.plain import loads
    from gpuguide.results.ceilings import Ceilings

    return loads(Ceilings, path.read_text(encoding="utf-8"), str(path))


def main(argv: Sequence[str] | None = None) -> int:
    """Run one page, or measure the ceilings, and write the outcome for the recorder."""
    told = arguments(argv)
    stop_without(told.recorder)
    from gpuguide.errors import GpuGuideError
    from gpuguide.measure.step_timer import StepTimer

    said: dict[str, Any] = {"warnings": [], "machine": "", "runs": 0, "starts": 0}
    # The message stays if a cell calls sys.exit, which is no Exception.
    message, steps = "the page ended the process", StepTimer()
    try:
        with steps.step(START):
            said["machine"] = _machine(told)
        if told.measure_ceilings:
            with steps.step("ceilings"):
                _measure_ceilings(told.measure_ceilings)
        else:
            layout = Layout(told.root)
            ceilings = _read_ceilings(told.ceilings)
            with warnings.catch_warnings():
                warned, saved = run_page(layout, told.page, said["machine"], told, ceilings, steps)
            said["warnings"] = list(warned)
            if saved is not None:
                said["runs"], said["starts"] = _counted(saved)
        message = ""
    except (CellError, GpuGuideError) as error:
        # Paths begin at the root: the place of the tree on that machine is of no use.
        message = str(error).replace(f"{told.root.resolve()}{os.sep}", "")
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        raise
    finally:
        said |= {"ok": not message, "message": message, "phases": steps.seconds}
        told.outcome.write_text(json.dumps(said), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
