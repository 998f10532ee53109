"""The small picture of a page on other pages, made for 200 pixels: a few bars, a few lines, or an image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuguide.charts.marks import label_ends, written
from gpuguide.charts.style import INK, KERNEL, MUTED, WORDS_AS_TEXT, describe, style
from gpuguide.charts.things import Look, is_copy_words, thing_in_words
from gpuguide.errors import ArgumentError
from gpuguide.results.starts import Quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gpuguide.results.records import Fact

__all__ = ["bars", "lines", "picture"]

# Points, of which there are 72 to 96 pixels: a tile shows it 200 pixels wide and 140 high.
_WIDTH, _HEIGHT = 150.0, 105.0
# Points: twelve and eleven pixels.
_WORDS, _SMALL = 9.0, 8.25
_MOST_BARS, _MOST_LINES = 4, 3


def bars(
    values: Mapping[str, float | Quantity | Fact], word: str, colours: Sequence[str] | None = None
) -> Axes:
    """Draw two to four thick bars, each with a short label above it and its number at its end.

    Colours follow from the labels. A bar whose label names no thing is grey; the last, which is what the page
    advises, has the colour of a kernel.
    """
    if not 2 <= len(values) <= _MOST_BARS:
        raise ArgumentError(f"thumbnail.bars: expected 2 to {_MOST_BARS} bars; got {len(values)}.")
    lengths = [_number(value) for value in values.values()]
    shown = [_shown(value) for value in values.values()]
    row, longest = (_HEIGHT - 14) / len(values), max(lengths)
    with style():
        ax = _axes((0, 0, 1, 1))
        ax.set(xlim=(0, _WIDTH), ylim=(_HEIGHT, 0))
        for at, label in enumerate(values):
            top, length = at * row, max(1.5, 0.64 * _WIDTH * lengths[at] / longest)
            look = _look(label, is_last=at == len(values) - 1)
            if colours:
                look = Look(colours[at], hatched=look.hatched)
            ax.text(0, top + 1, label, va="top", fontsize=_WORDS, color=INK)
            height = row - 16
            ax.barh(top + 13 + height / 2, length, height=height, **look.bar())
            middle: dict[str, Any] = {"va": "center", "fontsize": _WORDS, "weight": "bold", "color": INK}
            ax.text(length + 4, top + 13 + height / 2, shown[at], **middle)
        ax.text(0, _HEIGHT - 1, word, va="bottom", fontsize=_SMALL, color=MUTED)
        words = "; ".join(map(" ".join, zip(values, shown, strict=True)))
        describe(ax, f"Bars of the {word}: {words}.")
    return ax


def lines(curves: Mapping[str, tuple[Any, Any]], word: str, colours: Sequence[str] | None = None) -> Axes:
    """Draw two or three thick lines on logarithmic axes without numbers, each with its label at its end."""
    if not 1 <= len(curves) <= _MOST_LINES:
        raise ArgumentError(f"thumbnail.lines: expected 1 to {_MOST_LINES} lines; got {len(curves)}.")
    with style():
        ax = _axes((0.03, 0.06, 0.55, 0.8))
        ax.set(xscale="log", yscale="log")
        ends = []
        for at, (label, (x, y)) in enumerate(curves.items()):
            look = _look(label, is_last=at == len(curves) - 1)
            colour = colours[at] if colours else look.colour
            dashes = (0, (3, 1.2)) if look.hatched else "-"
            heights = [_number(value) for value in y]
            ax.plot(x, heights, color=colour, linewidth=3.2, linestyle=dashes, solid_capstyle="round")
            ends.append((x[-1], heights[-1], label, colour))
        ax.minorticks_off()
        ax.set(xticks=[], yticks=[])
        label_ends(ax, ends)
        ax.text(0.02, 1.04, word, transform=ax.transAxes, va="bottom", fontsize=_SMALL, color=MUTED)
        describe(ax, f"Lines of the {word}, logarithmic: {', '.join(curves)}.")
    return ax


def picture(pixels: Any, word: str, **options: Any) -> Axes:
    """Show a result that is an image, without axes; options are those of ``imshow``."""
    with style():
        ax = _axes((0, 0, 1, 1))
        ax.imshow(np.asarray(pixels), **({"interpolation": "nearest"} | options))
        ax.axis("off")
        describe(ax, f"{word[0].upper()}{word[1:]}.")
    return ax


def _axes(place: tuple[float, float, float, float]) -> Axes:
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(_WIDTH / 72, _HEIGHT / 72), layout="none")
    figure.set_gid(WORDS_AS_TEXT)
    ax = figure.add_axes(place)
    if place[2] == 1:
        ax.axis("off")
    ax.grid(visible=False)
    return ax


def _look(label: str, *, is_last: bool) -> Look:
    return Look(thing_in_words(label) or (KERNEL if is_last else MUTED), hatched=is_copy_words(label))


def _shown(value: float | Quantity | Fact) -> str:
    return f"{value:g}" if isinstance(value, float | int) else written(value)


def _number(value: Any) -> float:
    return float(getattr(value, "value", value))
