"""Pictures of one request of a warp: its threads above, sectors or banks below."""

from __future__ import annotations

import numpy as np

from gpuguide.exercises.trace.accesses import Accesses
from gpuguide.exercises.trace.coalescing import SECTOR_BYTES, Requests, bytes_of, words_and_banks
from gpuguide.exercises.trace.columns import Flags, Ints
from gpuguide.exercises.trace.figures import Instruction
from gpuguide.exercises.trace.picture import Axis, Picture, Touched, composed
from gpuguide.exercises.trace.scene import LETTERS, Scene, label_of_threads, title_of_threads

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
        f"One warp touches {len(np.unique(sector))} sectors of {SECTOR_BYTES} bytes of {scene.region.name} "
        f"at once in line {scene.finding.line}"
    )
    return _composed(scene, heading, "sector", request, sector, None, most)


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
    crowded = {number for number in bank.tolist() if len(np.unique(word[bank == number])) > 1}
    heading = (
        f"One warp wants words of {scene.region.name} from {len(np.unique(bank))} banks "
        f"at once in line {scene.finding.line}"
    )
    return _composed(scene, heading, "bank", request, bank, np.isin(bank, list(crowded)), most)


def _dearest(scene: Scene, instructions: list[Instruction], gathered: Requests) -> Accesses:
    """Return the dearest request of the finding's line to its array."""
    regions = scene.record.setting.regions
    of_array = [each for each in instructions if regions[each.region] is scene.region]
    worst = max((each for each in of_array if each.line == scene.finding.line), key=lambda each: each.mean)
    return gathered.members(worst.first + int(worst.costs.argmax()))


def _composed(
    scene: Scene, heading: str, what: str, request: Accesses, rows: Ints, marked: Flags | None, most: int
) -> Picture:
    flags = [False] * len(request) if marked is None else marked.tolist()
    columns = (request.thread.tolist(), rows.tolist(), request.kind.tolist(), flags)
    touched = [
        Touched(thread, row, LETTERS[kind], flag) for thread, row, kind, flag in zip(*columns, strict=True)
    ]
    threads, known = request.thread.tolist(), sorted(set(rows.tolist()))
    return composed(
        heading,
        title_of_threads(scene.geometry, threads),
        touched,
        Axis(threads, label_of_threads(scene.geometry, threads), threads[:1]),
        Axis(known, lambda row: f"{what} {row}", known[:1]),
        most=most,
        mark="different words of one bank, which come one after the other",
    )
