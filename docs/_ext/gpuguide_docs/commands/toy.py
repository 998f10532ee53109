"""What lets a page run without a GPU, in seconds: parts of launches, two sizes, times that nobody took."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gpuguide.machine.backends import numba_cuda
from gpuguide.machine.device import EXAMPLE_DEVICE
from gpuguide.measure.plan import Variant
from gpuguide.measure.study import Study
from gpuguide.results.ceilings import Ceiling, Ceilings
from gpuguide.results.records import Measurement
from gpuguide.results.results import Results
from gpuguide_docs.commands import cupy_by_numpy

__all__ = ["CEILINGS", "MOST_THREADS", "stand_in"]

_BANDWIDTHS = ("read", "write", "copy", "two_to_one", "h2d", "d2h", "both_ways")
_RATES = ("fp32", "fp64", "fp64_tensor", "tf32", "fp16_tensor", "bf16_tensor")
#: Round figures of no machine, so high that no invented time exceeds them.
CEILINGS = Ceilings(
    (
        *(Ceiling(mix, 1e13, "B/s") for mix in _BANDWIDTHS),
        *(Ceiling(mix, 1e16, "FLOP/s") for mix in _RATES),
        *(Ceiling(mix, 1e-6, "s") for mix in ("launch", "launch_host")),
    )
)
#: A launch of more threads is cut.
MOST_THREADS = 2**16
#: What is left of one: its first blocks, and the last, because that is where guards matter.
_FIRST_THREADS = 4096


def stand_in() -> None:
    """Put NumPy in CuPy's place, and cut launches and studies, for the rest of this process."""
    modules: dict[str, Any] = {
        "cupy": cupy_by_numpy,
        "cupy.cuda": cupy_by_numpy.cuda,
        "cupyx": cupy_by_numpy.cupyx,
    }
    sys.modules.update(modules)
    _cut_launches()
    _cut_studies()


def _cut_launches() -> None:
    manager = numba_cuda().simulator.kernel.BlockManager
    whole = manager.run

    def run(block: Any, point: Sequence[int], *args: Any) -> None:
        # Called for millions of blocks, so NumPy's functions for this would take a minute.
        (x, y, z), (width, height, depth) = point, block._grid_dim
        n_blocks, n_threads = width * height * depth, math.prod(block._block_dim)
        number = (x * height + y) * depth + z
        is_cut = n_blocks * n_threads > MOST_THREADS
        if is_cut and number == 0:
            print(f"(Draft: of {n_blocks:,} blocks only the first ones and the last ran.)")
        if not is_cut or number * n_threads < _FIRST_THREADS or number == n_blocks - 1:
            whole(block, point, *args)

    manager.run = run


def _cut_studies() -> None:
    # A page calls run() without options, so only the method itself can reduce its sizes.
    whole: Any = Study.run

    def toy(study: Study, **options: Any) -> Results:
        results = whole(study, **{**options, "quick": True, "sizes": sorted(study.sizes)[:2]})
        return _filled(study, results)

    Study.run = toy  # type: ignore[assignment, method-assign]


def _filled(study: Study, results: Results) -> Results:
    """Give every variant a time at every size, so that charts, tables and claims can be tried."""
    taken = {(cell.variant, cell.size): cell for cell in results.measurements if cell.n}
    cells: list[Measurement] = []
    for size in study.sizes:
        for rank, variant in enumerate(study.variants, start=1):
            if variant.up_to is None or size <= variant.up_to:
                known = taken.get((variant.name, size))
                cells += [known] if known else _invented(study, variant, size, rank)
    return replace(
        results,
        sizes=tuple(study.sizes),
        measurements=tuple(cells),
        ceilings=CEILINGS,
        l2_bytes=EXAMPLE_DEVICE.l2_bytes,
    )


def _invented(study: Study, variant: Variant, size: int, rank: int) -> list[Measurement]:
    dtype = np.dtype(study.dtype)
    cell = Measurement(
        variant.name,
        size,
        variant.clock,
        (rank * (1000 + size),) * 3,
        (0, 1, 2),
        notes=("invented, because there is no GPU here",),
        traffic=variant.traffic(size, dtype) if variant.traffic else None,
        work=variant.counted(size, dtype, EXAMPLE_DEVICE),
    )
    # What the device clock times has a launch time, too.
    launch = replace(cell, clock="launch", samples_ns=(5000,) * 3, traffic=None, work=())
    return [launch, cell] if variant.clock == "device" else [cell]
