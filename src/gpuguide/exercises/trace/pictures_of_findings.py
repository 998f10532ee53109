"""Makes the picture of a finding from the accesses of its launch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpuguide.exercises.trace.accesses import Accesses
from gpuguide.exercises.trace.conflicts import contested
from gpuguide.exercises.trace.events import READ, WRITE
from gpuguide.exercises.trace.findings import Finding
from gpuguide.exercises.trace.initialisation import unset_reads
from gpuguide.exercises.trace.picture import NEVER_WRITTEN, Picture, composed
from gpuguide.exercises.trace.pictures_of_requests import of_banks, of_sectors
from gpuguide.exercises.trace.pictures_of_threads import of_a_barrier, of_indices
from gpuguide.exercises.trace.scene import Scene, title_of_threads
from gpuguide.exercises.trace.trace import Trace
from gpuguide.exercises.trace.wording import joined

__all__ = ["MOST", "picture"]

#: Threads, and elements, that a drawing shows at most.
MOST = 16


def picture(trace: Trace, finding: Finding, most: int = MOST) -> Picture | None:
    """Make the picture of a finding.

    Parameters
    ----------
    trace : Trace
        Whose finding it is.
    finding : Finding
        Of any kind; one that a judge made is drawn if it names an array and an element of it.
    most : int
        Threads to show at most.

    Returns
    -------
    Picture or None
        None where there is nothing to draw.
    """
    remarks = trace.remarks.get(finding, ())
    if remarks and remarks[0].states:
        return of_a_barrier(trace.record.setting.geometry, remarks[0], most)
    if remarks and finding.index:
        return of_indices(trace, finding, remarks, most)
    scene = Scene.of(trace, finding)
    draw = _DRAWN.get(finding.kind)
    drawn = draw(scene, most) if scene is not None and draw is not None else None
    return drawn if drawn is not None and drawn.above else None  # no thread came near the element


def _race(scene: Scene, most: int) -> Picture:
    """Show the accesses that nothing orders, between the same barriers if they are of one block."""
    accesses = scene.in_lines()
    unit = accesses.block
    if len({thread.block for thread in scene.finding.threads}) == 1:
        accesses = _between_barriers(scene, accesses[accesses.block == scene.block])
        unit = accesses.thread
    mark = "one of these writes, and nothing makes it wait for the other"
    return _memory(scene, most, "touch", scene.finding.lines, accesses, contested(accesses, unit), mark)


def _between_barriers(scene: Scene, accesses: Accesses) -> Accesses:
    """Keep what lies between the first two barriers between which the finding's element is contested."""
    here = accesses[scene.rows_of(accesses) == scene.row]
    for epoch in np.unique(here.epoch):
        now = here[here.epoch == epoch]
        if contested(now, now.thread).any():
            return accesses[accesses.epoch == epoch]
    return accesses


def _unset(scene: Scene, most: int) -> Picture:
    """Show the reads of the line, those before any write marked."""
    accesses = scene.accesses
    early = np.zeros(len(accesses), bool)
    early[unset_reads(accesses)] = True
    chosen = np.isin(accesses.line, scene.finding.lines)
    mark = "reads before anything was written"
    return _memory(scene, most, "touch", scene.finding.lines, accesses[chosen], early[chosen], mark)


def _written_twice(scene: Scene, most: int) -> Picture:
    """Show who stores, elements with several stores marked."""
    stores = scene.accesses[scene.accesses.kind == WRITE]
    rows = scene.rows_of(stores)
    _, group, times = np.unique(rows, return_inverse=True, return_counts=True)
    return _memory(scene, most, "write", (), stores, times[group] > 1, "written more than once")


def _never_written(scene: Scene, most: int) -> Picture:
    """Show who changes the elements around one that nobody changes."""
    changes = scene.accesses[scene.accesses.kind != READ]
    note = {scene.row: NEVER_WRITTEN}
    return _memory(scene, most, "write", (), changes, None, "", note)


def _wrong(scene: Scene, most: int) -> Picture:
    """Show who changes the elements around one whose value is wrong, and that one's marked."""
    changes = scene.accesses[scene.accesses.kind != READ]
    here = scene.rows_of(changes) == scene.row
    note = {scene.row: "wrong" if here.any() else NEVER_WRITTEN}
    return _memory(scene, most, "write", (), changes, here, "writes the wrong value", note)


def _changed(scene: Scene, most: int) -> Picture:
    """Show who changes the elements of an input."""
    changes = scene.accesses[scene.accesses.kind != READ]
    note = {scene.row: "changed"}
    marked = np.ones(len(changes), bool)
    return _memory(scene, most, "write", (), changes, marked, "changes an input", note)


def _memory(
    scene: Scene,
    most: int,
    doing: str,
    lines: tuple[int, ...],
    accesses: Accesses,
    marked: np.ndarray | None,
    mark: str,
    notes: dict[int, str] | None = None,
) -> Picture:
    """Compose threads above and elements below."""
    touched = scene.touched(accesses, marked)
    threads = scene.thread_axis(touched)
    numbers = joined([str(line) for line in lines]) if lines else ""
    where = f" in line{'s' if len(lines) > 1 else ''} {numbers}" if lines else ""
    heading = f"Which threads {doing} {scene.region.name}{where}"
    top = title_of_threads(scene.geometry, threads.all)
    return composed(heading, top, touched, threads, scene.element_axis(), most=most, notes=notes, mark=mark)


_DRAWN: dict[str, Callable[[Scene, int], Picture]] = {
    "race": _race,
    "uninitialised": _unset,
    "written_twice": _written_twice,
    "never_written": _never_written,
    "wrong": _wrong,
    "input_changed": _changed,
    "uncoalesced": of_sectors,
    "bank_conflict": of_banks,
}
