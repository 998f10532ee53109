"""What a launch did, in numbers: accesses, sectors, bank conflicts, atomic operations, turns of loops."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import pairwise

from gpuguide.tracer.findings import count, joined
from gpuguide.tracer.memory import ATOMIC, READ, WRITE, Access, Site
from gpuguide.tracer.names import WARP_SIZE
from gpuguide.tracer.run import Run

__all__ = ["Counts", "Request", "counted"]

SECTOR_BYTES = 32
BANKS, BANK_BYTES = 32, 4


@dataclass(frozen=True)
class Request:
    """The most expensive request of the worst line: what the lanes of a warp touch together there.

    `cost` is its sectors or passes, `mean` that of the line's requests on average.
    """

    line: int
    cost: int
    mean: float
    accesses: tuple[Access, ...] = field(repr=False)

    @property
    def apart(self) -> int:
        """How many elements apart neighbouring threads are, if that is always the same; else 0."""
        steps = {second.cell - first.cell for first, second in pairwise(self.accesses)}
        return abs(steps.pop()) if len(steps) == 1 else 0


@dataclass(frozen=True)
class Counts:
    """What a launch did. Reads, writes, atomics and bytes are those of global memory."""

    threads: int = 0
    reads: int = 0
    writes: int = 0
    atomics: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    barriers: int = 0
    loop_turns: int = 0
    shared_bytes: int = 0
    sectors_per_request: float = 0.0
    bank_conflicts: int = 1
    divergent_branches: float = 0.0
    divergent_line: int = field(default=0, repr=False)
    global_request: Request | None = field(default=None, repr=False)
    shared_request: Request | None = field(default=None, repr=False)

    def __str__(self) -> str:
        kinds = [(self.reads, "read"), (self.writes, "write"), (self.atomics, "atomic operation")]
        words = [count(n, noun) for n, noun in kinds if n or noun != "atomic operation"]
        text = (
            f"{count(self.threads, 'thread')} made {joined(words)} of global memory: "
            f"{self.bytes_read:,} bytes read and {self.bytes_written:,} written."
        )
        if self.global_request is not None:
            n = f"{self.sectors_per_request:.3g}"
            text += (
                f" A request of a warp touched {n} sector{'' if n == '1' else 's'} of {SECTOR_BYTES} bytes "
            )
            text += f"in line {self.global_request.line}, the worst."
        if self.shared_bytes:
            degree = (
                f"bank conflicts of degree {self.bank_conflicts}"
                if self.bank_conflicts > 1
                else "no bank conflict"
            )
            text += f" A block used {self.shared_bytes:,} bytes of shared memory, with {degree} and "
            text += f"{count(self.barriers, 'barrier')}."
        if self.loop_turns:
            text += f" A thread made at most {count(self.loop_turns, 'turn')} of loops."
        return text


def counted(run: Run, n_blocks: int) -> Counts:
    """Count what a launch did."""
    kinds: Counter[str] = Counter()
    n_bytes: Counter[str] = Counter()
    for access in run.accesses:
        if access.array.memory.space == "global":
            kind = access.kind if access.kind in (WRITE, ATOMIC) else READ
            kinds[kind] += 1
            n_bytes[kind] += access.array.itemsize
    in_global = _worst(run, "global")
    in_shared = _worst(run, "shared")
    parted, line = _divergent(run)
    return Counts(
        threads=n_blocks * run.grid.per_block,
        reads=kinds[READ],
        writes=kinds[WRITE],
        atomics=kinds[ATOMIC],
        bytes_read=n_bytes[READ] + n_bytes[ATOMIC],
        bytes_written=n_bytes[WRITE] + n_bytes[ATOMIC],
        barriers=run.barriers,
        loop_turns=run.loop_turns,
        shared_bytes=run.shared_bytes_used,
        sectors_per_request=in_global.mean if in_global else 0.0,
        bank_conflicts=in_shared.cost if in_shared else 1,
        divergent_branches=parted,
        divergent_line=line,
        global_request=in_global,
        shared_request=in_shared,
    )


def _worst(run: Run, space: str) -> Request | None:
    """Return the worst request: of global memory by the line's mean, of shared memory by its own passes."""
    costs: dict[tuple[Site, str, int], list[tuple[int, list[Access]]]] = defaultdict(list)
    for request in _requests(run, space):
        first = request[0]
        if space == "shared" or first.kind != ATOMIC:  # atomic operations go where the data says
            cost = _sectors(request) if space == "global" else _passes(request)
            costs[first.site, first.kind, id(first.array.memory)].append((cost, request))
    worst: Request | None = None
    for (site, _, _), found in costs.items():
        mean = sum(cost for cost, _ in found) / len(found)
        most, request = max(found, key=lambda each: each[0])
        rank = (mean, most) if space == "global" else (most, mean)
        known = (-1.0, -1.0) if worst is None else (worst.mean, worst.cost)
        if rank > (known if space == "global" else known[::-1]):
            worst = Request(run.program.line(site), most, mean, tuple(request))
    return worst


def _requests(run: Run, space: str) -> list[list[Access]]:
    """Gather what the lanes of a warp do together: the n-th access of each at one place, in one turn."""
    times: Counter[Hashable] = Counter()
    together: dict[Hashable, list[Access]] = defaultdict(list)
    per_block = run.grid.per_block
    for access in run.accesses:
        array, _, kind, site, thread, _, _, _, path = access
        memory = array.memory
        if memory.space == space:
            own = site, kind, thread, path
            times[own] += 1
            block, place = divmod(thread, per_block)
            together[site, kind, id(memory), block, place // WARP_SIZE, path, times[own]].append(access)
    return list(together.values())


def _sectors(request: list[Access]) -> int:
    size = request[0].array.memory.dtype.itemsize
    return len({access.cell * size // SECTOR_BYTES for access in request})


def _passes(request: list[Access]) -> int:
    """Return how many passes shared memory takes: a bank serves one word at a time, to all that want it.

    Words wider than a bank are served to a part of the warp after the other.
    """
    size = request[0].array.memory.dtype.itemsize
    width = max(size, BANK_BYTES)
    lanes = BANKS * BANK_BYTES // width
    most = 1
    for part in range(0, WARP_SIZE, lanes):
        words = {
            each.cell * size // width for each in request if part <= each.thread % WARP_SIZE < part + lanes
        }
        most = max(most, *Counter(word % lanes for word in words).values(), 1)
    return most


def _divergent(run: Run) -> tuple[float, int]:
    """Return the share of the branches at which a warp parts, and the line at which most do."""
    times: Counter[Hashable] = Counter()
    together: dict[tuple[int, ...], set[bool]] = defaultdict(set)
    for branch in run.branches:
        own = branch.site, branch.thread, branch.path
        times[own] += 1
        block, place = divmod(branch.thread, run.grid.per_block)
        together[branch.site, block, place // WARP_SIZE, branch.path, times[own]].add(branch.taken)
    lines = Counter(run.program.line(branch[0]) for branch, ways in together.items() if len(ways) > 1)
    if not lines:
        return 0.0, 0
    return lines.total() / len(together), max(lines, key=lambda line: (lines[line], -line))
