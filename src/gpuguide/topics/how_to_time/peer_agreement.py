"""The guide's clock beside those of others, by the comparison that the guide's tests hold."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from gpuguide.errors import ClaimError, GpuGuideError
from gpuguide.measure.session import current

SCRIPT = Path(__file__).parents[4] / "tests" / "peers" / "compare_with_peers.py"


def agreement(script: Path = SCRIPT) -> str:
    """Time copies of several lengths by our clock and by each peer's, in a process of its own.

    Parameters
    ----------
    script : pathlib.Path
        The comparison: prints a table, and exits with 1 when a row lies outside the agreement wanted.

    Returns
    -------
    str
        The table; where only the package is installed, a sentence that says where the comparison is.

    Raises
    ------
    ClaimError
        While recording: a peer disagrees; the message is the table.
    GpuGuideError
        The comparison could not run; the message is what it said.

    Examples
    --------
    >>> from pathlib import Path
    >>> agreement(Path("nowhere.py"))
    "The comparison is part of the guide's repository: tests/peers/compare_with_peers.py."
    """
    if not script.exists():
        return "The comparison is part of the guide's repository: tests/peers/compare_with_peers.py."
    ran = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    if ran.returncode not in (0, 1) or not ran.stdout:
        raise GpuGuideError(
            f"The comparison with the peers failed: {ran.stderr.strip()[-500:]}"
        )
    if ran.returncode and current().recording:
        raise ClaimError(f"The clocks disagree.\n{ran.stdout}")
    return ran.stdout
