"""Pictures of one request of a warp: its threads above, sectors or banks below."""

from __future__ import annotations

import numpy as np

from gpuguide.exercises.trace.accesses import Accesses
from gpuguide.exercises.trace.coalescing import SECTOR_BYTES, Requests, bytes_of, words_and_banks
from gpuguide.exercises.trace.columns import Flags, Ints
from gpuguide.exercises.trace.figures import Instruction
from gpuguide.exercises.trace.picture import Axis, Picture, Touched, composed
from gpuguide.exercises.trace.scene import LETTERS, Scene, label_of_threads, title_of_threads
from gpuguide.exercises.trace.wording import count

__all__ = ["of_banks", "of_sectors"]


def of_sectors(scene: Scene, most: int) -> Picture:
    """Show which sectors of 32 bytes the threads of a warp touch at once.

    Parameters
    ----------
    scene : Scene
        Of a finding on global memory.
    most : int
        Threads to show at most.

    Returns
    -------
    Picture
        Of the dearest request of the finding's line.
    """
    record = scene.record
    request = _dearest(scene, record.plain_instructions, record.global_requests)
    sector = bytes_of(request) // SECTOR_BYTES
    heading = (
        f"One warp touches {count(len(np.unique(sector)), 'sector')} of {SECTOR_BYTES} bytes of "
        f"{scene.region.name} at once in line {scene.finding.line}"
    )
    return _composed(scene, heading, "sector", request, sector, sector < 0, most)


def of_banks(scene: Scene, most: int) -> Picture:
    """Show which banks of shared memory the threads of a warp want at once.

    Parameters
    ----------
    scene : Scene
        Of a finding on shared memory.
    most : int
        Threads to show at most.

    Returns
    -------
    Picture
        Of the dearest request of the finding's line.
    """
    record = scene.record
    request = _dearest(scene, record.shared_instructions, record.shared_requests)
    word, bank = words_and_banks(request)
    words = {number: len(np.unique(word[bank == number])) for number in np.unique(bank).tolist()}
    crowded = [number for number, n in words.items() if n > 1]
    heading = (
        f"One warp wants words of {scene.region.name} from {count(len(words), 'bank')} at once in line "
        f"{scene.finding.line}"
    )
    return _composed(scene, heading, "bank", request, bank, np.isin(bank, crowded), most)


def _dearest(scene: Scene, instructions: list[Instruction], gathered: Requests) -> Accesses:
    """Return the dearest request of the finding's line to its array."""
    regions = scene.record.setting.regions
    of_array = [each for each in instructions if regions[each.region] is scene.region]
    worst = max((each for each in of_array if each.line == scene.finding.line), key=lambda each: each.mean)
    return gathered.members(worst.first + int(worst.costs.argmax()))


def _composed(
    scene: Scene, heading: str, what: str, request: Accesses, rows: Ints, marked: Flags, most: int
) -> Picture:
    """Compose threads above and sectors or banks below, around the first one that is marked."""
    columns = (request.thread.tolist(), rows.tolist(), request.kind.tolist(), marked.tolist())
    touched = [
        Touched(thread, row, LETTERS[kind], flag) for thread, row, kind, flag in zip(*columns, strict=True)
    ]
    threads, known = request.thread.tolist(), sorted(set(rows.tolist()))
    first = min(rows[marked].tolist(), default=known[0])
    seen = request.thread[rows == first].tolist()
    return composed(
        heading,
        title_of_threads(scene.geometry, threads),
        touched,
        Axis(threads, label_of_threads(scene.geometry, threads), seen),
        Axis(known, lambda row: f"{what} {row}", [first]),
        most=most,
        mark="different words of one bank, which come one after the other",
    )
