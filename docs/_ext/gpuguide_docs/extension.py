"""Setting up the Sphinx extension: its modules, in their order."""

from __future__ import annotations

import gc
import hashlib
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuguide_docs.pages.layout import layout_of
from gpuguide_docs.show.guide import new_states

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["MODULES", "setup"]

#: Modules with a ``setup(app)`` of their own, in the order in which they are set up.
MODULES = (
    "replay.seams",
    "replay.sweep",
    "replay.uses",
    "replay.section_index",
    "show.api_pages",
    "show.site",
    "show.numbers",
    "show.cells",
    "show.evidence",
    "show.tiles",
    "show.card",
    "show.glossary_links",
    "show.kernel",
    "show.ladder",
    "show.exercises",
    "show.editors",
    "show.study",
    "show.symptoms",
    "show.syllabus",
    "show.pictures",
    "show.drawn",
    "show.roofline",
    "show.your_run",
    "show.theme",
    "downloads.downloads",
)


def setup(app: Sphinx) -> dict[str, Any]:
    """Set up every module."""
    # A build makes millions of small objects and drops few: searching for cycles as often as Python does by
    # default takes a tenth of its time.
    gc.set_threshold(1_000_000, 50, 100)
    for name in MODULES:
        import_module(f"gpuguide_docs.{name}").setup(app)
    # Before the gallery is taken over (20), which needs the states.
    app.connect("builder-inited", _hand_in, priority=10)
    app.connect("build-finished", _end, priority=1000)
    return {
        "version": "1",
        "env_version": _made_by(),
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }


def _hand_in(app: Sphinx) -> None:
    """Tell replay, which knows no guide, whose pages it shows in this build."""
    app.gpuguide_states = new_states(layout_of(app))  # type: ignore[attr-defined]


def _end(_app: Sphinx, _exception: Exception | None) -> None:
    # Python searches all objects for cycles once more as it ends, for a third of a build without changes.
    gc.freeze()


def _made_by() -> int:
    """Return a number for the code that read the pages: if it changes, Sphinx reads all of them again."""
    here = Path(__file__).parent
    # The lint leaves nothing in the documents, so they need not be read again for it.
    code = (path.read_bytes() for path in sorted(here.rglob("*.py")) if path.parent.name != "lint")
    return int.from_bytes(hashlib.sha256(b"".join(code)).digest()[:6], "big")
