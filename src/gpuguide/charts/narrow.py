"""The same chart for a phone: half as wide, its legend on top, nothing cut off."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuguide.charts.marks import END_OF_A_LINE
from gpuguide.charts.style import RANGES_SAID, save_svg
from gpuguide.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["WIDTH", "narrow_svg"]

WIDTH = 3.75
"""Inches: at 390 pixels, the labels are then as large as the words around the chart."""

# Share of the figure's width; with less, the names beside the axes leave no room for the chart.
_LEAST_WIDTH_OF_AXES = 0.42
# Inches.
_LEGEND_ROW = 0.2
# Points by which an outline may leave the picture: rounding, not words.
_EDGE = 2.0


def narrow_svg(figure: Figure) -> bytes | None:
    """Lay a figure out anew for a narrow screen, and save it; words that do not fit are an error.

    A figure of several axes stays as it is, and so does one that is narrow already.
    """
    width, height = figure.get_size_inches()
    if len(figure.axes) != 1 or width <= WIDTH:
        return None
    (ax,) = figure.axes
    named = _legend_on_top(figure, ax)
    _centre_note(ax)
    figure.set_size_inches(WIDTH, min(height, 0.95 * WIDTH) + _LEGEND_ROW * named)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        try:
            figure.draw_without_rendering()
        except UserWarning:
            raise _too_wide(_longest_name(ax)) from None
        # That has settled the layout, which takes longer than the drawing.
        figure.set_layout_engine("none")
        _thin_out(ax)
        words = _cut_off(figure, ax)
        if words:
            raise _too_wide(words)
        return save_svg(figure)


def _too_wide(words: str) -> ArgumentError:
    return ArgumentError(f"the chart's {words!r} does not fit into its form for phones: shorten it")


def _legend_on_top(figure: Figure, ax: Axes) -> int:
    """Put names of lines, or the chart's own legend, above the axes; return the number of rows."""
    from matplotlib.lines import Line2D

    handles: list[Any] = []
    names: list[str] = []
    for text in ax.texts:
        if text.get_label() == END_OF_A_LINE:
            text.set_visible(False)
            line = _line_of(ax, text)
            marks = {"marker": line.get_marker(), "linestyle": line.get_linestyle()} if line else {}
            handles.append(Line2D([], [], color=text.get_color(), **marks))
            names.append(text.get_text())
    legend = ax.get_legend()
    if legend is not None:
        handles += legend.legend_handles
        names += [text.get_text() for text in legend.get_texts()]
        legend.remove()
    if names:
        figure.legend(handles, names, loc="outside upper left", ncols=1, fontsize=9.5, borderpad=0.1)
    return len(names)


def _centre_note(ax: Axes) -> None:
    """Put the note on ranges into the middle of the chart: under the axis alone, it is too long."""
    from matplotlib.text import Annotation

    for text in ax.texts:
        if isinstance(text, Annotation) and text.get_text() == RANGES_SAID:
            text.xycoords = ("figure fraction", ax.xaxis.label)


def _line_of(ax: Axes, text: Any) -> Any:
    """Find the line that a name stands at the end of."""
    for line in ax.get_lines():
        data = np.asarray(line.get_xydata())
        if len(data) and tuple(data[-1]) == tuple(text.xy) and line.get_color() == text.get_color():
            return line
    return None


def _thin_out(ax: Axes) -> None:
    """Leave out labels of the x axis that would touch the one before."""
    ticks = [tick for tick in ax.xaxis.get_major_ticks() if tick.label1.get_text()]
    end = float("-inf")
    for tick in sorted(ticks, key=lambda each: each.label1.get_window_extent().x0):
        box = tick.label1.get_window_extent()
        if box.x0 < end + 4:
            tick.label1.set_visible(False)
        else:
            end = box.x1


def _cut_off(figure: Figure, ax: Axes) -> str:
    """Find words that stand outside of the figure, or leave the axes no room; none if all is well."""
    from matplotlib.text import Text

    if ax.get_window_extent().width < _LEAST_WIDTH_OF_AXES * figure.bbox.width:
        return _longest_name(ax)
    inside = figure.bbox.padded(_EDGE * figure.dpi / 72)
    # The layout and this box ignore artists that were taken out of the layout: notes that a page writes by
    # hand.
    boxes = [figure.get_tightbbox().transformed(figure.dpi_scale_trans)]
    boxes += [text.get_window_extent() for text in ax.texts if text.get_visible()]
    if all(_is_within(box, inside) for box in boxes):
        return ""
    texts = [text for text in figure.findobj(Text) if text.get_visible()]
    # The longest, for names of ticks beyond the ends of an axis stand outside, too, and are not drawn.
    outside = (text.get_text() for text in texts if not _is_within(text.get_window_extent(), inside))
    return max(outside, key=len, default="") or _longest_name(ax)


def _is_within(box: Any, inside: Any) -> bool:
    return bool(inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1)


def _longest_name(ax: Axes) -> str:
    names = (label.get_text() for label in ax.get_yticklabels())
    return max(names, key=len, default="") or ax.get_xlabel()
