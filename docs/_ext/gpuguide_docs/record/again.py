"""Compare a start of the machine with the ranges that the recordings predict for it.

``python -m gpuguide_docs.record.again [PAGE ...]`` records pages into a folder of its own and counts how many
of the new medians lie where the landed recordings expect another start's. It also runs without a GPU on
earlier recordings: on a folder of them, or on the landed ones, predicting each start from the others.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.pages.pages_toml import PagesError
from gpuguide_docs.record import recorder
from gpuguide_docs.record.trials import (
    Trial,
    compare,
    keep_start,
    leave_one_out,
    readings,
    report,
    shortcomings,
    starts_of,
)

if TYPE_CHECKING:
    from gpuguide.recordings.recording import Recording

__all__ = ["main"]


def _recordings(root: Path, names: Sequence[str], machine: str) -> dict[tuple[str, str], Recording]:
    """Read the recordings below a folder, by machine and page; all pages where none is named."""
    from gpuguide.recordings import store as recordings

    return {
        (slug, page): recordings.read(root / slug / page)
        for slug in recordings.machines(root)
        for page in recordings.pages(slug, root)
        if (not names or page in names) and machine in ("", slug)
    }


def _comparable(
    landed: Mapping[tuple[str, str], Recording], new: Mapping[tuple[str, str], Recording]
) -> Iterator[tuple[Recording, Recording]]:
    """Pair the recordings of a page, and say of the others why they cannot be compared."""
    from gpuguide.recordings.runs import differences

    for (machine, page), recording in new.items():
        former = landed.get((machine, page))
        if former is None:
            print(f"{page}: not compared, nothing was recorded on {machine} before")
        elif why := differences(former, recording):
            print(f"{page}: not compared, for {'; '.join(why)}")
        elif same := starts_of(former) & starts_of(recording):
            print(f"{page}: not compared, start {', '.join(sorted(same))} of the machine is known already")
        else:
            cells = [{(row.what, row.clock) for row in readings(each)} for each in (former, recording)]
            if cells[0] != cells[1]:
                print(f"{page}: {len(cells[0] ^ cells[1])} cells were measured only before or only now")
            yield former, recording


def _judged(trials: Sequence[Trial], wanting: str) -> int:
    """Print what came of the trials, and return the exit status."""
    if not trials:
        print(f"Nothing to judge: {wanting}", file=sys.stderr)
        return 2
    print(report(trials))
    found = shortcomings(trials)
    for line in found:
        print(f"FAILED  {line}")
    return 1 if found else 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make again", description="Compare a new start of the machine with the printed ranges."
    )
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="names of pages; all by default")
    parser.add_argument("--machine", default="", metavar="SLUG", help="folder name; the GPU's by default")
    parser.add_argument("--budget", type=float, default=600.0, metavar="S", help="seconds for all pages")
    parser.add_argument("--into", type=Path, metavar="FOLDER", help="keep what is recorded there")
    parser.add_argument("--allow-cpu", action="store_true", help="record without a GPU; needs --machine")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--recorded", type=Path, metavar="FOLDER", help="take recordings that lie there")
    how.add_argument(
        "--leave-one-out",
        action="store_true",
        help="predict each landed start from the others; no GPU needed",
    )
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Compare a start of the machine with the landed recordings."""
    from gpuguide.errors import GpuGuideError
    from gpuguide.recordings.spread import deviations_in

    told = _arguments(argv)
    layout = Layout(Path.cwd())
    try:
        recorder.chosen_pages(layout, told.pages)  # names the nearest where one is unknown
        landed = _recordings(layout.recorded, told.pages, told.machine)
        if told.leave_one_out:
            trials = [
                trial
                for (machine, _), recording in landed.items()
                for trial in leave_one_out(readings(recording), deviations_in(layout.recorded / machine))
            ]
            return _judged(trials, "it takes four machine starts to predict one from the others.")
        if told.recorded:
            return _hold(layout.recorded, landed, _recordings(told.recorded, told.pages, told.machine))
        return _record_and_hold(told, layout.recorded, landed)
    except (GpuGuideError, PagesError) as error:
        print(f"Nothing to judge: {error}", file=sys.stderr)
        return 2


def _record_and_hold(
    told: argparse.Namespace, root: Path, landed: Mapping[tuple[str, str], Recording]
) -> int:
    from gpuguide.machine.host import start_of_machine

    known = {start for recording in landed.values() for start in starts_of(recording)}
    if start_of_machine() in known:
        print(
            "Nothing to judge: this start of the machine is in the recordings already. Restart the machine, "
            "or take another one.",
            file=sys.stderr,
        )
        return 2
    options = ["--budget", f"{told.budget:g}"]
    options += ["--machine", told.machine] if told.machine else []
    options += ["--allow-cpu"] if told.allow_cpu else []
    with tempfile.TemporaryDirectory() as folder:
        into = told.into or Path(folder)
        code = recorder.main([*told.pages, *options, "--into", str(into)])
        # A page that failed, or a spent budget, leaves other pages to judge.
        if code not in (0, 1, recorder.BUDGET_SPENT):
            return code
        judged = _hold(root, landed, _recordings(into, told.pages, told.machine))
    return judged or (1 if code == 1 else 0)


def _hold(
    root: Path,
    landed: Mapping[tuple[str, str], Recording],
    new: Mapping[tuple[str, str], Recording],
) -> int:
    """Judge new recordings, and keep what came of each start beside the landed ones."""
    from gpuguide.recordings.spread import deviations_in

    compared = []
    for former, recording in _comparable(landed, new):
        deviations = deviations_in(root / recording.machine)
        compared.append((former, recording, compare(readings(former), readings(recording), deviations)))
    for machine, start in sorted({(new.machine, each) for _, new, _ in compared for each in starts_of(new)}):
        keep_start(root / machine, start, [each for each in compared if each[1].machine == machine])
    return _judged(
        [trial for *_, trials in compared for trial in trials],
        "no page has ranges; they take three machine starts.",
    )


if __name__ == "__main__":
    sys.exit(main())
