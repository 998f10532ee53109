"""Looks at all accesses of a launch together: races, and reads of memory that nothing was written to."""

from __future__ import annotations

import numpy as np

from gpuguide.exercises.trace.accesses import Accesses
from gpuguide.exercises.trace.conflicts import races
from gpuguide.exercises.trace.events import ATOMIC, BRANCH, EXCHANGE, FENCE
from gpuguide.exercises.trace.findings import Finding
from gpuguide.exercises.trace.initialisation import unset_reads
from gpuguide.exercises.trace.ordering import Handovers
from gpuguide.exercises.trace.race_findings import race_finding, unset_findings

__all__ = ["findings_between_threads"]


def findings_between_threads(accesses: Accesses, *, complete: bool) -> list[Finding]:
    """Find mistakes that only several threads together make.

    Parameters
    ----------
    accesses : Accesses
        Everything a launch noted.
    complete : bool
        Whether all threads finished; if one failed, reads of what it did not write are not reported.

    Returns
    -------
    list of Finding
        Races and, of a complete launch, reads before writes.
    """
    setting = accesses.setting
    if not setting.regions:
        return []
    memory = accesses[accesses.kind < BRANCH]
    handovers = Handovers(accesses[np.isin(accesses.kind, (ATOMIC, EXCHANGE, FENCE))])
    found = [race_finding(race, setting) for race in races(memory.of_space("global", "shared"), handovers)]
    if complete:
        unset = [number for number, region in enumerate(setting.regions) if region.unset]
        used = memory[np.isin(memory.region, unset)]
        found += unset_findings(used, unset_reads(used))
    return found
