"""Foresees which CPU cells would take too long, so that they are skipped with a reason."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpuguide.units import format_quantity, format_size

__all__ = ["CPU_LIMIT_S", "CpuForecast"]

CPU_LIMIT_S = 1.0
"""Seconds that a call of a CPU variant may take."""


@dataclass
class CpuForecast:
    """What CPU variants took at smaller sizes.

    Times are taken to grow at least in proportion to the size.

    Examples
    --------
    >>> forecast = CpuForecast()
    >>> forecast.add("numpy", 2**26, 0.9)
    >>> forecast.reason("numpy", 2**28)
    'skipped: 2^26 took 0.90 s, so 2^28 would take about 3.6 s; the limit is 1 s'
    >>> forecast.reason("numpy", 2**26 + 1), forecast.reason("unknown", 2**28)
    ('', '')
    """

    took_s: dict[str, tuple[int, float]] = field(default_factory=dict)

    def add(self, variant: str, size: int, seconds: float) -> None:
        """Note how long a call took; a later note on the same variant replaces it.

        Parameters
        ----------
        variant : str
            Its name.
        size : int
            At which size.
        seconds : float
            Of one call.
        """
        self.took_s[variant] = size, seconds

    def reason(self, variant: str, size: int) -> str:
        """Return why a size should be skipped, or ``""``.

        Parameters
        ----------
        variant : str
            Its name.
        size : int
            The next size.

        Returns
        -------
        str
            With what the size before took and what this one would.
        """
        before, seconds = self.took_s.get(variant, (0, 0.0))
        expected = seconds * size / before if before else 0.0
        if expected <= CPU_LIMIT_S:
            return ""
        return (
            f"skipped: {format_size(before)} took {seconds:.2f} s, so {format_size(size)} would take about "
            f"{format_quantity(expected, 's')}; the limit is {CPU_LIMIT_S:g} s"
        )
