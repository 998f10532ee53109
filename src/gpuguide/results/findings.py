"""What a page finds, as data: each claim with its study, and what the results of any machine say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpuguide.errors import GpuGuideError
from gpuguide.results.claims import Claim, Faster, ReachesShare, Verdict, decide
from gpuguide.results.records import ClaimResult
from gpuguide.results.results import Results
from gpuguide.results.units import format_size

__all__ = ["Finding", "judge"]


@dataclass(frozen=True)
class Finding:
    """A claim about a study, flat, so that it is a line in a file: `than`, or `share_at_least`."""

    study: str
    variant: str
    at: int
    than: tuple[str, ...] = ()
    by: float = 1
    clock: str | None = None
    share_at_least: float | None = None

    def __post_init__(self) -> None:
        _ = self.claim  # it refuses what does not fit

    @classmethod
    def of(cls, study: str, claim: Claim) -> Finding:
        """Write a claim down."""
        if isinstance(claim, ReachesShare):
            return cls(study, claim.variant, claim.at, share_at_least=claim.at_least)
        return cls(study, claim.variant, claim.at, claim.than, claim.by, claim.clock)

    @property
    def claim(self) -> Claim:
        """What is claimed."""
        if self.share_at_least is not None:
            return ReachesShare(self.variant, self.at, self.share_at_least)
        return Faster(self.variant, self.than, self.at, self.by, self.clock)


def judge(
    findings: Sequence[Finding], studies: Mapping[str, Results], page: Mapping[str, Results]
) -> tuple[Verdict, ...]:
    """Say of each finding whether it holds in the studies of a machine.

    What was not measured there is not decided, with the reason, in the words of the page's own studies.
    """
    return tuple(_judged(finding, studies.get(finding.study), page) for finding in findings)


def _judged(finding: Finding, results: Results | None, page: Mapping[str, Results]) -> Verdict:
    claim, why = finding.claim, _lacks(finding, results)
    if results is not None and not why:
        try:
            return decide(claim, results)
        # Not on this clock, for example; here that is no mistake of the page's author.
        except GpuGuideError as error:
            why = str(error)
    own = page[finding.study]
    return Verdict(ClaimResult(f"{own.title}: {claim.sentence(own)}", None), why=why)


def _lacks(finding: Finding, results: Results | None) -> str:
    if results is None:
        return "the study was not measured"
    if finding.at not in results.sizes:
        return f"{format_size(finding.at)} was not measured"
    known = {info.name for info in results.variants}
    absent = [name for name in finding.claim.variants if name not in known]
    return f"{absent[0]!r} was not measured" if absent else ""
