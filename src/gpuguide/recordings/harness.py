"""The harness version: code that takes numbers on all pages, and who decided what a change of it means.

``harness.toml`` holds the version, the digest of the code, and a reason for each decision. While the digest
differs, `make check` fails until somebody says which it is: ``make harness SAME="why no number can change"``,
or ``make harness NEW="what changes"``, which makes all pages stale until they are recorded again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gpuguide.errors import RecordingError
from gpuguide.recordings.source_digest import digest

__all__ = ["FILE", "Harness", "decide", "harness_digest", "main", "problem", "read_harness"]

FILE = "gpuguide/measure/harness.toml"
"""Where the version stands, from the folder that holds ``gpuguide``."""

_CODE = ("gpuguide/machine", "gpuguide/measure", "gpuguide/results/records.py")
_HEAD = "# Written by `make harness`: see docs/architecture.md.\n"


@dataclass(frozen=True)
class Harness:
    """What ``harness.toml`` holds."""

    version: int
    digest: str
    decisions: tuple[str, ...]


def read_harness(src: Path) -> Harness:
    """Read the harness version of the tree whose folder `src` holds ``gpuguide``."""
    try:
        data = tomllib.loads((src / FILE).read_text(encoding="utf-8"))
        return Harness(int(data["version"]), str(data["digest"]), tuple(data["decisions"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecordingError(f"expected version, digest and decisions, got {error!r}", file=FILE) from None


def harness_digest(src: Path) -> str:
    """Digest the code that takes numbers on all pages: of the package, and of the extension beside it."""
    roots = [src / name for name in _CODE] + [src.parent / "docs" / "_ext" / "gpuguide_docs" / "record"]
    whole = hashlib.sha256()
    for root in roots:
        for path in [root] if root.suffix else sorted(root.rglob("*.py")):
            name = path.relative_to(root.parent).as_posix()
            whole.update(f"{name} {digest(path.read_text(encoding='utf-8'), name)}\n".encode())
    return whole.hexdigest()[:16]


def problem(src: Path) -> str:
    """Say what to do where the harness is another than was decided on; empty where it is not."""
    if harness_digest(src) == read_harness(src).digest:
        return ""
    return (
        "machine, measure, results/records.py or the extension's record changed. If no number can change by "
        'that, run make harness SAME="why"; if one can, make harness NEW="what", and record all pages.'
    )


def decide(src: Path, *, same: str = "", new: str = "") -> Harness:
    """Write the present digest down, and the decision: the same numbers, or a new version of the harness."""
    former = read_harness(src)
    version = former.version + bool(new)
    words = f"{version}, new: {new}" if new else f"{version}, same: {same}"
    made = Harness(version, harness_digest(src), (*former.decisions, words))
    # A text of JSON without control characters is one of TOML.
    lines = [f"version = {made.version}", f'digest = "{made.digest}"', "decisions = ["]
    lines += [f"  {json.dumps(each, ensure_ascii=False)}," for each in made.decisions]
    (src / FILE).write_text(_HEAD + "\n".join([*lines, "]", ""]), encoding="utf-8")
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Take the decision that ``make harness`` hands over."""
    parser = argparse.ArgumentParser(prog="make harness", description=__doc__.partition("\n")[0])
    parser.add_argument("--same", default="", metavar="WHY", help="no number can change, because ...")
    parser.add_argument("--new", default="", metavar="WHAT", help="what changes; all pages become stale")
    options = parser.parse_args(argv)
    if bool(options.same.strip()) == bool(options.new.strip()):
        print('Say which it is: make harness SAME="why no number can change", or NEW="what changes".')
        return 2
    made = decide(Path(__file__).parents[2], same=options.same, new=options.new)
    print(f"The harness has version {made.version}, digest {made.digest}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
