"""Pages' findings in files, ``gpuguide/findings/<page>.json``: written by builds, read by the command line.

Claims stand in the drawn cells of a page's script, and the package has no scripts.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpuguide.recordings.plain import dumps, label, loads, write
from gpuguide.recordings.recording import ClaimsElsewhere, Run, Stated
from gpuguide.results.findings import Finding, judge

__all__ = ["ROOT", "elsewhere", "read_findings", "write_findings"]

ROOT = Path(__file__).parents[1] / "findings"
"""Where the package keeps them."""


@dataclass(frozen=True)
class _File:
    findings: tuple[Finding, ...] = ()


def read_findings(page: str, root: Path | None = None) -> tuple[Finding, ...]:
    """Read what a page finds; nothing where it claims nothing."""
    path = (root or ROOT) / f"{page}.json"
    return loads(_File, path.read_bytes(), label(path)).findings if path.is_file() else ()


def write_findings(page: str, findings: tuple[Finding, ...], root: Path) -> None:
    """Write what a page finds, if that is not what is there."""
    path, file = root / f"{page}.json", _File(findings)
    if not findings:
        path.unlink(missing_ok=True)
    elif not path.is_file() or path.read_text(encoding="utf-8") != dumps(file):
        write(file, path)


def elsewhere(stated: Stated, other: Run, own: Run) -> ClaimsElsewhere:
    """Say what a page's claims come to on another machine."""
    verdicts = judge(stated.findings, other.studies, own.studies)
    return ClaimsElsewhere(other.machine, tuple(verdict.result for verdict in verdicts))
