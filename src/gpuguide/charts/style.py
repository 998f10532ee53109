"""How figures look: palette, fonts, deterministic SVG, and the dark twin of a light figure."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "CPU",
    "CPU_SERIES",
    "CUPY",
    "GRID",
    "INK",
    "KERNEL",
    "KERNELS",
    "LIBRARY",
    "MUTED",
    "NUMPY",
    "PALETTE",
    "RANGES_SAID",
    "SERIES",
    "WORDS_AS_TEXT",
    "alt_text",
    "save_svg",
    "style",
    "to_dark",
]

INK, MUTED, GRID = "#1b1f24", "#5a6370", "#d8dce2"
SERIES = ("#0060b9", "#b85c00", "#1a7f4b", "#8a3fb0", "#c0282d", "#00788a", "#7a5230", "#b5366f")
CPU_SERIES = ("#4a5568", "#6e7787", "#39424f")
#: One colour for one thing, on all pages.
NUMPY, CPU, CUPY, KERNEL, LIBRARY = CPU_SERIES[1], CPU_SERIES[2], SERIES[0], SERIES[1], SERIES[3]
#: Where a chart shows several kernels of one's own, or several steps of one: the first is `KERNEL`.
KERNELS = (KERNEL, SERIES[6], SERIES[2], SERIES[7], SERIES[4], SERIES[5])

#: Light colour -> dark twin. All light colours differ, so that one drawing serves both themes.
PALETTE = {
    INK: "#e6e8eb",
    MUTED: "#a5adb8",
    GRID: "#3a414b",
    **dict(
        zip(
            SERIES,
            ("#5aa9f5", "#f0a13c", "#4cc38a", "#c58af0", "#f2777a", "#45c1d0", "#c9a27a", "#ee87b6"),
            strict=True,
        )
    ),
    **dict(zip(CPU_SERIES, ("#9aa5b5", "#7f8a9a", "#b9c2ce"), strict=True)),
}

_HEX = re.compile(r"#[0-9a-f]{6}\b")
_PNG = re.compile(r"(?<=data:image/png;base64,)[^\"]+")
_ALT = "alt: "

WORDS_AS_TEXT = "words as text"
"""Name of a figure whose words are no outlines, as many such are loaded at once: it is a fifth as large."""

RANGES_SAID = "thin bars: where another run may land"
"""What a chart with ranges says about them, once."""

_RC: dict[Any, Any] = {
    "figure.figsize": (7.2, 4.05),
    # Nothing is painted behind a figure: the page shows through, light or dark.
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",
    "font.size": 10.5,
    "text.color": INK,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.linewidth": 0.8,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.5,
    "hatch.linewidth": 0.8,
    "legend.frameon": False,
    # Outlines, not text: the figure looks the same where the font is not installed.
    "svg.fonttype": "path",
    # Otherwise the identifiers in an SVG would be random.
    "svg.hashsalt": "gpuguide",
}

#: So that a figure is the same bytes each time.
_NO_DATE = {"Date": None, "Creator": None}


@contextmanager
def style() -> Iterator[None]:
    """Draw in gpuguide's style inside the ``with`` block."""
    import matplotlib as mpl
    from cycler import cycler

    with mpl.rc_context({**_RC, "axes.prop_cycle": cycler(color=SERIES)}):
        yield


def save_svg(figure: Figure) -> bytes:
    """Write a figure as SVG, byte for byte the same each time."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    buffer, canvas, face = io.BytesIO(), figure.canvas, figure.get_facecolor()
    # Read when the file is written, which may be outside of `style`.
    settings: dict[Any, Any] = {key: _RC[key] for key in ("svg.fonttype", "svg.hashsalt", "hatch.linewidth")}
    if figure.get_gid() == WORDS_AS_TEXT:
        settings["svg.fonttype"] = "none"
    with mpl.rc_context(settings):
        figure.set_facecolor("none")
        # `Figure.savefig` would draw twice, first for the layout alone; one draw settles that as well.
        FigureCanvasSVG(figure).print_svg(buffer, metadata=_NO_DATE)  # type: ignore[no-untyped-call]
    figure.set_facecolor(face)
    # `FigureCanvasSVG` has put itself in the place of the figure's own canvas.
    figure.set_canvas(canvas)
    lines = (line.rstrip() for line in buffer.getvalue().decode().splitlines())
    return _PNG.sub(_without_colours, "\n".join(lines) + "\n").encode()


def _without_colours(png: re.Match[str]) -> str:
    """Write a picture in grey, which Matplotlib writes with three colours, at about half the bytes."""
    from PIL import Image

    image = Image.open(io.BytesIO(base64.b64decode(png[0]))).convert("RGBA")
    red, green, blue, opacity = (channel.tobytes() for channel in image.split())
    if not red == green == blue:
        return png[0]
    buffer = io.BytesIO()
    image.convert("L" if min(opacity) == 255 else "LA").save(buffer, "png", optimize=True)
    return base64.b64encode(buffer.getvalue()).decode()


def to_dark(svg: str) -> str:
    """Give the dark twin of a light SVG: every light colour of `PALETTE` becomes its partner."""
    return _HEX.sub(lambda match: PALETTE.get(match.group(), match.group()), svg)


def describe(ax: object, text: str) -> None:
    """Attach alternative text to axes (a plot function's job)."""
    # In the label of the axes, which travels with the figure and is drawn nowhere.
    ax.set_label(_ALT + text)  # type: ignore[attr-defined]


def alt_text(figure: Figure) -> str:
    """Say in words what a figure shows, for readers who cannot see it."""
    labels = [str(ax.get_label()) for ax in figure.axes]
    own = [label.removeprefix(_ALT) for label in labels if label.startswith(_ALT)]
    # A colour bar has axes too; if the charts describe themselves, nothing else needs words.
    words = own or [_describe_axes(ax) for ax in figure.axes]
    if any(text.get_text() == RANGES_SAID for ax in figure.axes for text in ax.texts):
        words.append(f"{RANGES_SAID[0].upper()}{RANGES_SAID[1:]}.")
    return " ".join(words) or "Figure without axes."


def _describe_axes(ax: object) -> str:
    words = f"Chart of {ax.get_ylabel() or 'values'} against {ax.get_xlabel() or 'position'}."  # type: ignore[attr-defined]
    lines = [line.get_xydata() for line in ax.get_lines() if len(line.get_xydata())]  # type: ignore[attr-defined]
    for data in lines[:1]:
        (x0, y0), (x1, y1) = data[0], data[-1]
        words += f" It runs from {y0:.3g} at {x0:.3g} to {y1:.3g} at {x1:.3g}."
    return words
