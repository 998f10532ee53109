"""What each page can show: its recording if it is current, else why not. Loaded once per build."""

from __future__ import annotations

import hashlib
import pickle
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gpuguide_docs.pages.files import file_digest, write_if_changed
from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.pages.pages_toml import Page, read_pages

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from gpuguide.recordings.recording import Recording
    from gpuguide_docs.replay.guide import Guide
    from gpuguide_docs.replay.outputs import Drawing

__all__ = ["PageState", "States", "Status", "states_of_build"]

Status = Literal["current", "stale", "missing", "pending"]


# When modules move, a page has dozens of changes, and its banner would be longer than its text.
_MOST_NAMED = 6


@dataclass(frozen=True)
class PageState:
    """What a page can show."""

    page: str
    status: Status
    recording: Recording | None = None
    changed: tuple[str, ...] = ()
    reason: str = ""
    digest: str = ""

    @property
    def current(self) -> bool:
        """Whether outputs and numbers may be shown."""
        return self.status == "current"

    @property
    def shown(self) -> Recording | None:
        """The recording that may be shown: none unless it is current."""
        return self.recording if self.current else None

    @property
    def changed_words(self) -> str:
        """What changed, for readers: the first few parts, and how many more there are."""
        more = len(self.changed) - _MOST_NAMED
        named = ", ".join(self.changed[:_MOST_NAMED])
        return f"{named} and {more} more" if more > 0 else named

    @property
    def fingerprint(self) -> str:
        """What a document that shows something of this page depends on."""
        whole = "\n".join((self.page, self.status, self.digest, *self.changed, self.reason))
        return hashlib.sha256(whole.encode()).hexdigest()


class States:
    """The states of all pages, each found out when it is first asked for."""

    def __init__(self, layout: Layout, guide: Guide) -> None:
        self.layout = layout
        self.guide = guide
        self.pages = {page.name: page for page in read_pages(layout)}
        self._known: dict[str, PageState] = {}
        #: Page and digest of its recording -> what its drawn cells came to.
        self.drawings: dict[tuple[str, str], Drawing] = {}
        #: Folder of kept figures -> what was read there; a build asks for it up to three times.
        self.kept: dict[Path, Drawing] = {}

    @cached_property
    def drawing_code(self) -> tuple[Path, ...]:
        """The guide's files that what a drawn cell puts out may depend on."""
        return self.guide.drawing_code(self.layout.source)

    @cached_property
    def _code(self) -> str:
        """Digest of all code, by which a page is current or stale."""
        from gpuguide.recordings.harness import FILE

        source = self.layout.source
        whole = hashlib.sha256(file_digest(source / FILE).encode())
        for root in (source / "gpuguide", source.parent / "docs" / "_ext"):
            for path in sorted(root.rglob("*.py")):
                whole.update(f"{path.relative_to(root)} {file_digest(path)}\n".encode())
        return whole.hexdigest()

    def _read(self, page: Page) -> tuple[Recording | None, tuple[str, ...]]:
        """Read a page's recording and what changed since, or take what a build with the same files kept.

        Both would take a third of a build in which nothing changed.
        """
        from gpuguide.recordings import store
        from gpuguide.recordings.keys import recorded_cells

        script = page.script(self.layout)
        # Who edits prose or drawn cells builds often, and neither counts.
        cells = recorded_cells(script.read_text(encoding="utf-8")) if script.is_file() else ()
        recorded = self.layout.recorded
        paths = (*sorted(recorded.glob(f"*/{page.name}/*")), *sorted(recorded.glob("*/*.json")))
        files = (f"{path} {file_digest(path)}" for path in paths)
        depends = "\n".join((sys.version, self._code, repr(cells), *files))
        stamp = hashlib.sha256(depends.encode()).digest()
        kept = self.layout.cache / "recordings" / f"{page.name}@{page.machine or ''}"
        data = kept.read_bytes() if kept.is_file() else b""
        if data.startswith(stamp):
            same: tuple[Recording | None, tuple[str, ...]] = pickle.loads(data[len(stamp) :])
            return same
        recording = store.load_or_none(page.name, page.machine, self.layout.recorded)
        changed = store.staleness(recording, script, self.layout.source) if recording else ()
        write_if_changed(kept, stamp + pickle.dumps((recording, changed), pickle.HIGHEST_PROTOCOL))
        return recording, changed

    def __getitem__(self, name: str) -> PageState:
        """Give the state of a page."""
        if name not in self._known:
            self._known[name] = self._find(self.pages[name])
        return self._known[name]

    def _find(self, page: Page) -> PageState:
        from gpuguide.recordings.store import digest as digest_of

        recording, changed = self._read(page)
        if recording is None:
            return PageState(page.name, "pending" if page.waits else "missing", reason=page.waits)
        digest = digest_of(recording.folder or Path())
        status: Status = "current" if not changed else "pending" if page.waits else "stale"
        return PageState(page.name, status, recording, changed, page.waits, digest)


def states_of_build(app: Sphinx) -> States:
    """Give the states of the project that Sphinx builds; the extension hands them in at its start."""
    states: States = app.gpuguide_states  # type: ignore[attr-defined]
    return states
