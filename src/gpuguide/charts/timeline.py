"""What ran when: a lane for each kind of work, a bar for each piece of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuguide.charts.marks import new_axes
from gpuguide.charts.style import CUPY, GRID, INK, KERNELS, MUTED, describe, style
from gpuguide.charts.things import is_copy_words, thing_in_words
from gpuguide.errors import ArgumentError
from gpuguide.results.units import format_quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_timeline"]

# Of the whole width: a bar below it has no room for its number.
_LEAST_NUMBERED = 0.02


def plot_timeline(runs: Mapping[str, Any], lanes: tuple[str, ...]) -> Axes:
    """Draw runs below each other on one axis of time, each with a lane for each kind of work."""
    from matplotlib.ticker import MaxNLocator

    drawn = {name: np.asarray(run, float) for name, run in runs.items()}
    if not drawn or any(run.ndim != 3 or run.shape[1:] != (len(lanes), 2) for run in drawn.values()):
        raise ArgumentError(
            f"plot_timeline: expected runs of the shape (pieces, {len(lanes)}, 2); got "
            f"{ {name: run.shape for name, run in drawn.items()} }."
        )
    shifted = {name: run - run.min() for name, run in drawn.items()}
    longest = max(float(run.max()) for run in shifted.values())
    with style():
        rows = len(drawn) * (len(lanes) + 1)
        ax = new_axes(None, 0.9 + 0.3 * rows)
        colours, ticks = _colours_of(lanes), []
        for i, (name, run) in enumerate(shifted.items()):
            top = i * (len(lanes) + 1)
            ax.text(0, top - 0.05, name, color=INK, weight="bold", va="center")
            for lane in range(len(lanes)):
                ticks.append(top + 1 + lane)
                _bars(ax, run[:, lane], ticks[-1], colours[lane], longest, hatched=is_copy_words(lanes[lane]))
        ax.set_yticks(ticks, list(lanes) * len(drawn))
        ax.set_ylim(rows - 0.4, -0.6)
        ax.set_xlim(0, 1.02 * longest)
        ax.grid(visible=False, axis="y")
        ax.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
        ax.xaxis.set_major_formatter(lambda value, _: format_quantity(value, "s") if value else "0")
        ax.set_xlabel("time on the GPU")
        words = "; ".join(
            f"{name}: {_bar_words(run)} in {format_quantity(float(run.max()), 's')}"
            for name, run in shifted.items()
        )
        describe(ax, f"Bars along an axis of time, a lane each for {', '.join(lanes)}. {words}.")
    return ax


def _bar_words(run: Any) -> str:
    return "a bar in each lane" if len(run) == 1 else f"{len(run)} bars in each lane"


def _colours_of(lanes: tuple[str, ...]) -> list[str]:
    """Give copies the colour of CuPy, which makes them, and work that names nothing those of kernels."""
    own = iter(KERNELS * (1 + len(lanes) // len(KERNELS)))
    return [CUPY if is_copy_words(lane) else thing_in_words(lane) or next(own) for lane in lanes]


def _bars(ax: Axes, spans: Any, row: int, colour: str, longest: float, *, hatched: bool) -> None:
    for number, (begin, end) in enumerate(spans, start=1):
        # A narrow gap, so that bars that touch can be told apart.
        hatch: dict[str, Any] = {"hatch": "//", "edgecolor": GRID} if hatched else {"edgecolor": MUTED}
        ax.barh(row, end - begin, left=begin, height=0.78, facecolor=colour, linewidth=0.5, **hatch)
        if len(spans) > 1 and end - begin > _LEAST_NUMBERED * longest:
            # Light on the light theme's dark bars, dark on the dark theme's light ones.
            words = ax.text(
                (begin + end) / 2, row, str(number), ha="center", va="center", color=GRID, fontsize=8
            )
            if hatched:
                words.set_bbox({"facecolor": colour, "edgecolor": "none", "pad": 0.6})
