"""A chart over the runs: how a page's headline numbers moved from one machine start to the next."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from gpuguide.charts.style import MUTED, SERIES, describe, style
from gpuguide.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gpuguide.results.history import Followed, History

__all__ = ["MONTHS", "plot_history"]

_MOST = 3
#: Not by `strftime`, whose months follow the locale: figures and pages are the same bytes everywhere.
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
# Per cent; a number that moves less is drawn level.
_LEAST_HEIGHT = 3.0


def plot_history(history: History) -> list[Axes]:
    r"""Draw how up to three numbers moved over the runs, each in per cent of its median.

    Parameters
    ----------
    history : History
        As ``history(gg.load(page))`` gives it, with at least two runs.

    Returns
    -------
    list of matplotlib.axes.Axes
        One below the other, in one scale: runs by date from left to right, and a line between machine starts.
        The band is where the number of another start is expected; it takes at least three machine starts. A
        ring marks a run that lies outside the range predicted by the runs before it.

    Raises
    ------
    ArgumentError
        If there are fewer than two runs, or more than three numbers.

    Examples
    --------
    >>> from gpuguide.results.history import History, Run, follow
    >>> number = follow("sort at 10^8 elements", "CuPy", "s", [("a", 2e-3), ("b", 2.02e-3)])
    >>> (ax,) = plot_history(History("sort_search", (Run("2026-11-21", 1), Run("2026-11-22", 2)), (number,)))
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['21 Nov\nstart 1', '22 Nov\nstart 2']
    """
    if not history.moved:
        raise ArgumentError(
            f"plot_history: expected at least two runs; {history.name} has {len(history.runs)}. "
            "A table of them can be printed."
        )
    if len(history.numbers) > _MOST:
        raise ArgumentError(
            f"plot_history: expected at most {_MOST} numbers; got {len(history.numbers)}. "
            "Draw the headline numbers, or print a table of all."
        )
    import matplotlib.pyplot as plt

    n = len(history.numbers)
    with style():
        size = plt.rcParams["figure.figsize"][0], 0.75 + 0.95 * n
        # All histories have labels of one size, so margins do that need not be searched for.
        figure, column = plt.subplots(n, sharex=True, sharey=True, squeeze=False, figsize=size, layout="none")
        figure.subplots_adjust(**_margins(*size, n))
        axes: list[Axes] = list(column[:, 0])
        for ax, number, colour in zip(axes, history.numbers, SERIES, strict=False):
            _draw(ax, number, colour)
        places = ", ".join(dict.fromkeys(number.where for number in history.numbers))
        axes[0].set_title(places, loc="right", fontsize=8.5, color=MUTED, pad=3)
        _set_limits(axes[0], history.numbers)
        _label_runs(axes, history)
        describe(axes[0], history.in_words())
    return axes


def _margins(width: float, height: float, n: int) -> dict[str, float]:
    """Return the edges of the axes as parts of a figure of this size, and the gap between two of them."""
    left, right, bottom, top, gap = 0.68, 0.06, 0.62, 0.24, 0.27  # inches
    each = (height - bottom - top - (n - 1) * gap) / n
    return {
        "left": left / width,
        "right": 1 - right / width,
        "bottom": bottom / height,
        "top": 1 - top / height,
        "hspace": gap / each,
    }


def _draw(ax: Axes, number: Followed, colour: str) -> None:
    over = number.over
    drawn = [(i, 100 * value / over.value) for i, value in enumerate(number.values) if value is not None]
    x, y = zip(*drawn, strict=True)
    if over.has_range:
        low, high = (100 * end / over.value for end in (over.low, over.high))
        ax.axhspan(low, high, color=colour, alpha=0.16, linewidth=0)
    ax.plot(x, y, color=colour, marker="o", linewidth=1.0, markersize=4.5)
    left = [(at, value) for at, value in drawn if number.left[at]]
    if left:
        ax.plot(*zip(*left, strict=True), "o", color=colour, markerfacecolor="none", markersize=11)
    ax.set_title(f"{number.label}, {over}", fontsize=9.5, color=colour, pad=3)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.4g} %")
    ax.locator_params(axis="y", nbins=4)
    ax.tick_params(labelsize=8.5)
    ax.grid(visible=False, axis="x")


def _set_limits(ax: Axes, numbers: tuple[Followed, ...]) -> None:
    """Give all numbers one scale, so that one can see which of them is the steadiest."""
    ends = [
        100 * end / number.over.value
        for number in numbers
        for end in (*number.values, number.over.low, number.over.high)
        if end is not None
    ]
    room = 0.12 * max(max(ends) - min(ends), _LEAST_HEIGHT)
    ax.set_ylim(min(*ends, 100 - _LEAST_HEIGHT / 2) - room, max(*ends, 100 + _LEAST_HEIGHT / 2) + room)


def _label_runs(axes: list[Axes], history: History) -> None:
    runs = history.runs
    labels: list[str] = []
    firsts: list[int] = []
    for i, run in enumerate(runs):
        is_first = i == 0 or run.start != runs[i - 1].start
        firsts += [i] * is_first
        labels.append(f"{_day(run.date)}\nstart {run.start}" if is_first else _day(run.date))
    axes[-1].set_xticks(range(len(runs)), labels)
    axes[-1].set_xlim(-0.5, len(runs) - 0.5)
    for ax in axes:
        ax.tick_params(axis="x", length=0)
        for first in firsts[1:]:
            ax.axvline(first - 0.5, color=MUTED, linewidth=0.7, linestyle=(0, (2, 3)))
    years = sorted({run.date[:4] for run in runs})
    words = [f"runs of {' to '.join(dict.fromkeys((years[0], years[-1])))}"]
    if any(number.over.has_range for number in history.numbers):
        words.append("band: where another machine start is expected")
    if any(True in number.left for number in history.numbers):
        words.append("ring: outside the range predicted by the runs before")
    axes[-1].set_xlabel("; ".join(words), fontsize=8.5, color=MUTED)


def _day(written: str) -> str:
    day = date.fromisoformat(written[:10])
    return f"{day.day} {MONTHS[day.month - 1][:3]}"
