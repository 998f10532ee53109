"""Findings that only some exercises ask for: written twice or never, uncoalesced, bank conflicts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpuguide.exercises.trace.accesses import Accesses
from gpuguide.exercises.trace.coalescing import SECTOR_BYTES, Requests
from gpuguide.exercises.trace.events import READ, WRITE
from gpuguide.exercises.trace.figures import Instruction, Record
from gpuguide.exercises.trace.findings import Finding
from gpuguide.exercises.trace.wording import count, element, joined

__all__ = ["bank_conflicts", "never_written", "uncoalesced", "written_twice"]


def written_twice(record: Record, number: int) -> Finding | None:
    """Find the first element of an array that is stored to more than once.

    Parameters
    ----------
    record : Record
        Of the launch.
    number : int
        Of the array.

    Returns
    -------
    Finding or None
        None if every element is stored to at most once.
    """
    region = record.setting.regions[number]
    chosen = (record.memory.region == number) & (record.memory.kind == WRITE)
    stores = record.memory[chosen]
    cells, times = np.unique(stores.address, return_counts=True)
    addresses = region.addresses()
    twice = np.argwhere(np.isin(addresses, cells[times > 1]))
    if not len(twice):
        return None
    index = tuple(twice[0].tolist())
    here = stores[stores.address == addresses[index]]
    order = np.lexsort([here.line, here.thread])[:2]
    who = [record.setting.geometry.thread_id(int(thread)) for thread in here.thread[order]]
    lines = here.line[order].tolist()
    by = [f"by {thread} in line {line}" for thread, line in zip(who, lines, strict=True)]
    if len(set(by)) == 1:
        by = [f"{by[0]} again and again"]
    more = "" if len(twice) == 1 else f" The same holds for {count(len(twice) - 1, 'more element')}."
    message = f"{element(region.name, index)} is written {len(here)} times, {joined(by)}.{more}"
    return Finding(
        "written_twice", message, min(lines), tuple(sorted(set(lines))), region.name, index,
        tuple(dict.fromkeys(who)),
    )  # fmt: skip


def never_written(record: Record, number: int) -> Finding | None:
    """Find the first element of an array that nothing is written to.

    Parameters
    ----------
    record : Record
        Of the launch.
    number : int
        Of the array.

    Returns
    -------
    Finding or None
        None if every element is written.
    """
    region = record.setting.regions[number]
    times = record.times(number, WRITE)
    missing = np.argwhere(times == 0)
    if not len(missing):
        return None
    index = tuple(missing[0].tolist())
    first = element(region.name, index)
    if len(missing) == times.size:
        message = f"Nothing is ever written to {region.name}."
    elif len(missing) == 1:
        message = (
            f"{first} is never written; the other {count(times.size - 1, 'element')} of {region.name} are."
        )
    else:
        message = (
            f"{len(missing)} of the {times.size} elements of {region.name} are never written, "
            f"the first of them {first}."
        )
    return Finding("never_written", message, array=region.name, index=index)


def uncoalesced(record: Record, limit: float) -> Finding | None:
    """Find the line whose loads or stores take the most sectors per request.

    Parameters
    ----------
    record : Record
        Of the launch.
    limit : float
        Sectors that a request may take on average.

    Returns
    -------
    Finding or None
        None if no line takes more.
    """
    worst = _worst(record.plain_instructions, limit, lambda each: each.mean)
    if worst is None:
        return None
    region = record.setting.regions[worst.region]
    example = _example(record.global_requests, worst)
    doing = "reads" if worst.kind == READ else "writes"
    n_bytes = len(np.unique(example.address)) * region.dtype.itemsize
    least = -(-n_bytes // SECTOR_BYTES)
    message = (
        f"In line {worst.line} a warp {doing} {region.name} in {int(worst.costs.max())} sectors of "
        f"{SECTOR_BYTES} bytes per request, where {least} could hold all that it asks for"
        f"{_apart(example)}."
    )
    return _of_example("uncoalesced", message, record, worst, example)


def bank_conflicts(record: Record, limit: int) -> Finding | None:
    """Find the line whose accesses to shared memory take the most passes.

    Parameters
    ----------
    record : Record
        Of the launch.
    limit : int
        Passes that a request may take.

    Returns
    -------
    Finding or None
        None if no request takes more.
    """
    worst = _worst(record.shared_instructions, limit, lambda each: float(each.costs.max()))
    if worst is None:
        return None
    region = record.setting.regions[worst.region]
    example = _example(record.shared_requests, worst)
    passes = int(worst.costs.max())
    message = (
        f"In line {worst.line} up to {passes} threads of a warp want different words of {region.name} from "
        f"one bank of shared memory, so the request takes {passes} passes instead of 1{_apart(example)}."
    )
    return _of_example("bank_conflict", message, record, worst, example)


def _worst(
    instructions: list[Instruction], limit: float, cost: Callable[[Instruction], float]
) -> Instruction | None:
    """Return the most expensive instruction above a limit; if several are, that of the lowest line."""
    above = [each for each in instructions if cost(each) > limit]
    return max(above, key=lambda each: (cost(each), -each.line, -each.region), default=None)


def _example(gathered: Requests, instruction: Instruction) -> Accesses:
    """Return the most expensive request of an instruction; if several are, that of the lowest warp."""
    return gathered.members(instruction.first + int(instruction.costs.argmax()))


def _apart(example: Accesses) -> str:
    """Say how far apart the elements of neighbouring threads lie, if that is always the same."""
    steps = np.unique(np.diff(example.address))
    one_after_another = np.all(np.diff(example.lane) == 1)
    if len(steps) != 1 or not one_after_another or abs(int(steps[0])) < 2:
        return ""
    return f": neighbouring threads take elements that lie {abs(int(steps[0]))} apart"


def _of_example(
    kind: str, message: str, record: Record, instruction: Instruction, example: Accesses
) -> Finding:
    region = record.setting.regions[instruction.region]
    geometry = record.setting.geometry
    return Finding(
        kind,
        message,
        instruction.line,
        array=region.name,
        index=region.index_of(int(example.address[0])),
        threads=tuple(geometry.thread_id(int(thread)) for thread in example.thread[:2]),
    )
