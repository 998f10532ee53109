"""The interface of the guide: replay knows recordings and Matplotlib, but not whose pages it shows."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from gpuguide_docs.replay.outputs import Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gpuguide.recordings.recording import Recording, Stated

__all__ = ["Guide", "PageCells"]


class PageCells(Protocol):
    """The drawn cells of one page, which run one after another."""

    #: What they find, and what they leave to the next one.
    namespace: dict[str, Any]

    @property
    def runs(self) -> Sequence[PageCells]:
        """The same cells with what each run alone measured, oldest first."""

    def running(self) -> AbstractContextManager[object]:
        """While a cell runs, provide the guide's style and collect what the cell states."""

    def stated(self) -> Stated:
        """Give what they have stated so far."""


class Guide(Protocol):
    """How a guide draws."""

    def page_cells(self, recording: Recording, *, quick: bool = False) -> PageCells:
        """Make ready for the drawn cells of the page that was recorded; if `quick`, any claim may fail."""

    def drawing_code(self, source: Path) -> tuple[Path, ...]:
        """Find the files, in the folder of the guide's package, that a drawn cell's outputs may depend on."""

    def picture(self, figure: Figure) -> Picture:
        """Save a figure in light colours, the same bytes each time, with its alternative text."""

    def narrow(self, figure: Figure) -> bytes:
        """Save a figure for a phone, after `picture` has saved it; nothing where it would not fit."""

    def dark(self, svg: bytes) -> bytes:
        """Give the dark twin of a picture."""
