"""Show that two trees measure the same: ``python -m gpuguide_docs.record.equivalent OLD``.

OLD is a commit, or the path of a tree (the GPU build machine may have no git). Old and new take turns on
this machine, and only if the times of every clock agree, an entry beside the recordings says so.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gpuguide.errors import ArgumentError, GpuGuideError
from gpuguide.recordings import store as recordings
from gpuguide.recordings.equivalent import (
    COVERED_ROOMS,
    FILE,
    N_TURNS,
    Cell,
    Entry,
    Part,
    is_covered,
    ratios,
    read_entries,
    render,
    sealed,
    verdict,
)
from gpuguide.recordings.keys import both_digests, recorded_cells
from gpuguide.recordings.recording import Recording
from gpuguide_docs.pages.files import write_if_changed
from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.pages.pages_toml import read_pages

__all__ = ["Trial", "changed_modules", "main", "record_turn"]

#: Records pages with one tree: its root, the names, the machine's name; gives what was recorded by page.
Recorder = Callable[[Layout, Sequence[str], str], Mapping[str, Recording]]

_MEASURED = ("src", "examples", "docs/_ext")


def changed_modules(old: Layout, new: Layout) -> tuple[str, ...]:
    """Name the modules of the rooms that an entry may speak of that differ between two trees.

    Parameters
    ----------
    old, new : Layout
        The trees.

    Returns
    -------
    tuple of str
        Dotted names, sorted; those that only one of them has, too.
    """
    names = {name for layout in (old, new) for name in _modules(layout)}
    return tuple(sorted(name for name in names if _differs(name, old, new)))


def _modules(layout: Layout) -> Iterator[str]:
    for room in COVERED_ROOMS:
        above = layout.docs / "_ext" if room.startswith("gpuguide_docs") else layout.source
        for path in above.joinpath(*room.split(".")).rglob("*.py"):
            name = ".".join(path.relative_to(above).with_suffix("").parts)
            yield name.removesuffix(".__init__")


def _differs(name: str, old: Layout, new: Layout) -> bool:
    return both_digests(name, old.source) != both_digests(name, new.source)


@dataclass(frozen=True)
class Candidate:
    """A page that may be recorded with both trees, and what it would show.

    Parameters
    ----------
    page : str
        Name.
    shows : frozenset of str
        Clocks that it measures, and changed modules that it loads.
    seconds : float
        How long it took.
    """

    page: str
    shows: frozenset[str]
    seconds: float


class Trial:
    """Old and new tree, the pages that can tell them apart, and their turns.

    Parameters
    ----------
    old, new : Layout
        The trees. The recordings of the new one say what each page loads and measures.
    machine : str
        Whose recordings.
    """

    def __init__(self, old: Layout, new: Layout, machine: str) -> None:
        self.old, self.new, self.machine = old, new, machine
        self.changed = changed_modules(old, new)
        self.refused: dict[str, str] = {}
        self.candidates: list[Candidate] = []
        self.needed: set[str] = set()
        for page in read_pages(new):
            recording = recordings.load_or_none(page.name, machine, new.recorded, complete=False)
            if recording is None:
                continue
            shows = self._shows(recording)
            self.needed |= shows
            other = self._other_changes(recording, page.script(old), page.script(new))
            if other:
                self.refused[page.name] = other
            else:
                seconds = recording.provenance.run_time_s or math.inf
                self.candidates.append(Candidate(page.name, frozenset(shows), seconds))

    def _shows(self, recording: Recording) -> set[str]:
        loaded = {name for name, _ in recording.keys.parts}
        return _clocks(recording) | loaded.intersection(self.changed)

    def _other_changes(self, recording: Recording, old: Path, new: Path) -> str:
        """Say what else differs on a page: topics and cells are what is measured, no entry speaks of them."""
        if not old.is_file() or _cells(old) != _cells(new):
            return "its recorded cells changed"
        names = [name for name, _ in recording.keys.parts if not name.startswith("cell ")]
        other = [name for name in names if not is_covered(name) and _differs(name, self.old, self.new)]
        return f"{', '.join(other)} changed" if other else ""

    def pages(self, wanted: Sequence[str] = ()) -> tuple[str, ...]:
        """Pick pages that together show every clock and every changed module, few and quick ones.

        Parameters
        ----------
        wanted : sequence of str
            Pages that must be among them: those where the change would show most.

        Returns
        -------
        tuple of str
            Their names.

        Raises
        ------
        ArgumentError
            If some cannot be shown, or a page that is wanted cannot show anything; says why.
        """
        missing, picked = set(self.needed), []
        by_name = {each.page: each for each in self.candidates}
        for page in dict.fromkeys(wanted):
            if page not in by_name:
                why = self.refused.get(page, f"has no recording of {self.machine}")
                raise ArgumentError(f"{page!r} cannot be compared: {why}")
            picked.append(page)
            missing -= by_name[page].shows
        while missing:
            best = max(
                self.candidates, key=lambda each: (len(each.shows & missing), -each.seconds), default=None
            )
            if best is None or not best.shows & missing:
                raise ArgumentError(self._cannot(missing))
            picked.append(best.page)
            missing -= best.shows
        if not picked:
            raise ArgumentError(f"no page of {self.machine} is recorded that loads what changed")
        return tuple(picked)

    def _cannot(self, missing: Iterable[str]) -> str:
        reasons = "".join(f"\n  {page}: {reason}" for page, reason in self.refused.items())
        return (
            f"no page can show {', '.join(sorted(missing))}. An entry speaks of {', '.join(COVERED_ROOMS)} "
            f"alone; record the pages that changed otherwise:{reasons}"
        )

    def entry(
        self,
        reason: str,
        record: Recorder,
        say: Callable[[str], None] = print,
        *,
        wanted: Sequence[str] = (),
    ) -> Entry:
        """Let the trees take turns and put down what they measured.

        Parameters
        ----------
        reason : str
            Why the code changed.
        record : callable
            Records pages with one of the trees.
        say : callable
            Takes a line about each turn.
        wanted : sequence of str
            Pages that must be compared.

        Returns
        -------
        Entry
            Its verdict may be against it.

        Raises
        ------
        ArgumentError
            If no pages can show what is needed, or the trees measure different cells.
        """
        pages = self.pages(wanted)
        say(f"{', '.join(self.changed)} differ; pages that show it: {', '.join(pages)}")
        runs: dict[str, list[Mapping[str, Recording]]] = {"old": [], "new": []}
        for turn in range(N_TURNS):
            # Each begins every other time, so that a drift of the machine hits both alike.
            for side in ("old", "new") if turn % 2 == 0 else ("new", "old"):
                layout = self.old if side == "old" else self.new
                runs[side].append(record(layout, pages, self.machine))
                say(f"turn {turn + 1} of {N_TURNS}: {side}")
        return sealed(
            Entry(
                reason=reason,
                machine=self.machine,
                parts=tuple(self._parts(runs["old"][0], runs["new"][0])),
                clocks=tuple(sorted(self.needed - set(self.changed))),
                cells=tuple(_paired(runs["old"], runs["new"])),
            )
        )

    def _parts(self, old: Mapping[str, Recording], new: Mapping[str, Recording]) -> Iterator[Part]:
        loaded_old, loaded_new = _loaded(old), _loaded(new)
        for name in self.changed:
            before, after = both_digests(name, self.old.source), both_digests(name, self.new.source)
            if before[0] and name in loaded_old:
                yield _part(name, before, after, loaded_old[name])
            elif after[0]:
                # Nobody tried it, so it counts wherever the entry is used.
                yield _part(name, ("", ""), after, "")
        for name in sorted(loaded_new.keys() - loaded_old.keys() - set(self.changed)):
            if is_covered(name):
                yield _part(name, ("", ""), both_digests(name, self.new.source), "")


def _part(name: str, before: tuple[str, str], after: tuple[str, str], page: str) -> Part:
    return Part(name, before[0], after[0], before[1], after[1], page)


def _cells(script: Path) -> tuple[str, ...]:
    return recorded_cells(script.read_text(encoding="utf-8"))


def _clocks(recording: Recording) -> set[str]:
    return {
        cell.clock for study in recording.studies.values() for cell in study.measurements if cell.samples_ns
    }


def _loaded(recorded: Mapping[str, Recording]) -> dict[str, str]:
    """Name a page for each module that was loaded."""
    return {name: page for page, recording in recorded.items() for name, _ in recording.keys.parts}


def _paired(old: Sequence[Mapping[str, Recording]], new: Sequence[Mapping[str, Recording]]) -> Iterator[Cell]:
    before, after = [_medians(run) for run in old], [_medians(run) for run in new]
    whats = before[0].keys()
    for run in (*before, *after):
        if run.keys() != whats:
            differing = ", ".join(f"{what} on clock {clock}" for what, clock in sorted(run.keys() ^ whats))
            raise ArgumentError(
                f"the trees measured different cells, so their times cannot be compared: {differing}"
            )
    for what, clock in whats:
        yield Cell(what, clock, *(tuple(run[what, clock] for run in side) for side in (before, after)))


def _medians(run: Mapping[str, Recording]) -> dict[tuple[str, str], float]:
    """Return the median nanoseconds per call of everything that one turn measured."""
    return {
        (f"{page} {name} {cell.variant} {cell.size}", cell.clock): round(
            statistics.median(cell.samples_ns) / cell.n_calls, 2
        )
        for page, recording in run.items()
        for name, study in recording.studies.items()
        for cell in study.measurements
        if cell.samples_ns
    }


# On a machine -----------------------------------------------------------------------------------------------


def record_turn(options: Sequence[str] = ()) -> Recorder:
    """Give what records pages with the recorder of a tree, in a process of its own.

    Parameters
    ----------
    options : sequence of str
        More of the recorder's.

    Returns
    -------
    callable
        Leaves the tree's recordings as they are.
    """

    def record(layout: Layout, pages: Sequence[str], machine: str) -> Mapping[str, Recording]:
        with tempfile.TemporaryDirectory() as folder:
            copy = Layout(Path(folder))
            for name in _MEASURED:
                # Without the recordings: a run must stand alone, and not be added to former ones.
                ignored = shutil.ignore_patterns("__pycache__", "recorded")
                shutil.copytree(layout.root / name, copy.root / name, ignore=ignored)
            copy.recorded.mkdir()
            # Before the rest, where a machine may keep what these need.
            kept = os.environ.get("PYTHONPATH", "")
            path = os.pathsep.join(filter(None, [str(copy.docs / "_ext"), str(copy.source), kept]))
            command = [sys.executable, "-m", "gpuguide_docs.record.recorder", *pages, *options]
            environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
            done = subprocess.run(
                [*command, "--machine", machine],
                cwd=copy.root,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            if done.returncode:
                raise ArgumentError(
                    f"the tree {layout.root} did not record {', '.join(pages)}:\n{done.stdout}"
                )
            return {page: recordings.read(copy.recorded / machine / page) for page in pages}

    return record


@contextmanager
def tree_of(old: str, root: Path) -> Iterator[Layout]:
    """Give the old tree: the folder that `old` names, or what git has of a commit.

    Parameters
    ----------
    old : str
        A path or a commit.
    root : pathlib.Path
        The checkout.

    Yields
    ------
    Layout
        Of a temporary folder where it is a commit.
    """
    if Path(old).is_dir():
        yield Layout(Path(old))
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "old.tar"
        command = ["git", "archive", "--output", str(archive), old, *_MEASURED]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ArgumentError(f"{old!r} is no folder, and no commit: {done.stderr.strip()}")
        # The filter is the default from Python 3.14 on, and 3.12 warns where none is named.
        shutil.unpack_archive(archive, folder, filter="data")
        yield Layout(Path(folder))


def _machine(given: str) -> str:
    if given:
        return given
    from gpuguide.machine.device import require_gpu

    return require_gpu().slug


def _compare(options: argparse.Namespace, record: Recorder) -> int:
    new = Layout(options.root)
    with tree_of(options.old, new.root) as old:
        trial = Trial(old, new, _machine(options.machine))
        if not trial.changed:
            print(f"Nothing to do: {', '.join(COVERED_ROOMS)} are the same in both trees.")
            return 0
        entry = trial.entry(options.reason, record, wanted=options.pages)
    for clock, ratio in ratios(entry.cells).items():
        n = sum(cell.clock == clock for cell in entry.cells)
        print(f"  {clock:12} new / old = {ratio:.4f}, the median over {n} cells")
    objections = verdict(entry)
    if objections:
        print("No entry: " + "; ".join(objections), file=sys.stderr)
        return 1
    path = new.recorded / FILE
    write_if_changed(path, render([*read_entries(new.recorded), entry]))
    print(f"{path.relative_to(new.root)} says that the new tree measures as the old one did.")
    return 0


def main(argv: Sequence[str] | None = None, record: Recorder | None = None) -> int:
    """Compare two trees and write an entry if they measure the same.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; those of the process by default.
    record : callable, optional
        Records pages; by default the recorder of each tree does, in a process of its own.

    Returns
    -------
    int
        0 with an entry, or where none is needed; 1 if the times differ; 2 if they cannot be compared.
    """
    parser = argparse.ArgumentParser(
        prog="make equivalent", description="Show that two trees measure the same."
    )
    parser.add_argument("old", metavar="OLD", help="a commit, or the path of a tree")
    parser.add_argument("--reason", required=True, help="why the code changed, in one sentence")
    parser.add_argument(
        "--pages", nargs="+", default=(), metavar="PAGE", help="must be compared; others are added as needed"
    )
    parser.add_argument(
        "--machine", default="", metavar="SLUG", help="folder of the recordings; the GPU's by default"
    )
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="folder of the new tree")
    parser.add_argument("--allow-cpu", action="store_true", help="compare without a GPU; needs --machine")
    options = parser.parse_args(argv)
    try:
        if not options.old.strip() or not options.reason.strip():
            raise ArgumentError(
                'name the old tree and a reason: make equivalent OLD=... REASON="a faster gate"'
            )
        return _compare(options, record or record_turn(["--allow-cpu"] if options.allow_cpu else []))
    except GpuGuideError as error:
        print(f"Nothing compared: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
