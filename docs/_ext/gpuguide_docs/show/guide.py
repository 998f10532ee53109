"""How this guide draws, passed to replay: its style, and what its drawn cells find and state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuguide.recordings.recording import Run
from gpuguide.results.ceilings import Ceilings
from gpuguide.results.records import FactOverStarts
from gpuguide.statements import DrawnPage
from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.replay.outputs import Picture
from gpuguide_docs.replay.states import States

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gpuguide.recordings.recording import Recording, Stated
    from gpuguide.results.arrays import KeptArray
    from gpuguide.results.records import Fact
    from gpuguide.results.results import Results

__all__ = ["GpuGuide", "GpuGuideCells", "new_states", "states_of"]

_DRAWING_ROOMS = ("results", "charts", "recordings")
# A drawn cell states claims through the one and facts through the other.
_STATING_MODULES = ("statements.py", "measure/session.py")


class GpuGuideCells:
    """The drawn cells of a page; they find ``gg``, ``plt``, ``np``, its results, facts and ceilings."""

    def __init__(
        self,
        results: Mapping[str, Results],
        facts: Mapping[str, Fact],
        ceilings: Ceilings | None,
        arrays: Mapping[str, KeptArray] | None = None,
        *,
        quick: bool = False,
        runs: Sequence[tuple[str, GpuGuideCells]] = (),
    ) -> None:
        import matplotlib

        # Builds run where there is no screen.
        matplotlib.use("agg")
        import matplotlib.pyplot as plt
        import numpy as np

        import gpuguide as gg

        self.runs = tuple(cells for _, cells in runs)
        pages = [(start, cells.page) for start, cells in runs]
        self.page: DrawnPage = DrawnPage(facts, ceilings, quick=quick, runs=pages)
        self.namespace: dict[str, Any] = {
            "__name__": "__main__",
            "gg": gg,
            "plt": plt,
            "np": np,
            "facts": self.page.facts,
            "ceilings": ceilings,
            "arrays": {name: kept.array() for name, kept in (arrays or {}).items()},
            **results,
        }

    @contextmanager
    def running(self) -> Iterator[None]:
        """Draw in the guide's style, and collect what is stated, until the context ends."""
        from gpuguide.charts.style import style

        with style(), self.page.collecting():
            yield

    def stated(self) -> Stated:
        """Return what the cells have stated so far."""
        return self.page.stated()


class GpuGuide:
    """The guide as replay asks for it; see `gpuguide_docs.replay.guide`."""

    def page_cells(self, recording: Recording, *, quick: bool = False) -> GpuGuideCells:
        """Give the cells the page's results, under the names that the page gave them."""
        runs = _run_by_run(recording) if recording.runs and not quick else []
        results = _by_name(recording, recording.studies)
        of_runs = [(start, cells.page.ceilings) for start, cells in runs if cells.page.ceilings]
        ceilings = Ceilings.over_starts(of_runs) if of_runs else recording.ceilings
        return GpuGuideCells(results, recording.facts, ceilings, recording.arrays, quick=quick, runs=runs)

    def drawing_code(self, source: Path) -> tuple[Path, ...]:
        """Return all of the rooms that draw, and what a cell states through."""
        package = source / "gpuguide"
        rooms = [path for room in _DRAWING_ROOMS for path in (package / room).rglob("*.py")]
        return tuple(sorted([*rooms, *(package / name for name in _STATING_MODULES)]))

    def picture(self, figure: Figure) -> Picture:
        """Save a figure as `gpuguide.charts.style` does."""
        from gpuguide.charts.style import alt_text, save_svg

        return Picture(save_svg(figure), alt_text(figure))

    def narrow(self, figure: Figure) -> bytes:
        """Lay a figure out anew as `gpuguide.charts.narrow` does."""
        from gpuguide.charts.narrow import narrow_svg

        return narrow_svg(figure) or b""

    def dark(self, svg: bytes) -> bytes:
        """Put each colour's dark partner in its place."""
        from gpuguide.charts.style import to_dark

        return to_dark(svg.decode()).encode()


def _run_by_run(recording: Recording) -> list[tuple[str, GpuGuideCells]]:
    """Give what each run alone measured, oldest first; arrays are those of the newest."""
    newest = Run(
        recording.machine,
        recording.page,
        recording.provenance,
        recording.key,
        facts={
            name: (fact.newest if isinstance(fact, FactOverStarts) else None) or fact
            for name, fact in recording.facts.items()
        },
        ceilings=recording.ceilings,
        studies={name: study.runs[-1] for name, study in recording.studies.items()},
        arrays=recording.arrays,
    )
    runs = []
    for run in (*recording.runs, newest):
        results = _by_name(recording, run.studies)
        cells = GpuGuideCells(results, run.facts, run.ceilings, run.arrays, quick=True)
        runs.append((run.provenance.start, cells))
    return runs


def _by_name(recording: Recording, studies: Mapping[str, Results]) -> dict[str, Results]:
    return {name: studies[study] for name, study in recording.names.items() if study in studies}


_STATES: dict[Path, States] = {}


def states_of(layout: Layout) -> States:
    """Give the states of a project's pages, the same object during one build."""
    return _STATES[layout.root] if layout.root in _STATES else new_states(layout)


def new_states(layout: Layout) -> States:
    """Forget what an earlier build knew of the project's pages."""
    _STATES[layout.root] = States(layout, GpuGuide())
    return _STATES[layout.root]
