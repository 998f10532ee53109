"""How a build grows with the guide: ``python tests/docs/growing_guide.py 25 50 100 200``.

Copies the repository to a temporary folder, adds copies of its recorded pages under new names until there
are as many as asked for, builds the site from nothing, and prints the seconds of each build.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from itertools import count
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def copy_pages(root: Path, n_pages: int) -> None:
    """Add copies of the recorded pages, script, entry and recording, until the gallery has `n_pages`."""
    from gpuguide.recordings import store

    recorded = root / "src" / "gpuguide" / "recorded"
    listed = root / "examples" / "pages.toml"
    blocks = re.split(r"(?=^\[\[page\]\]$)", listed.read_text(encoding="utf-8"), flags=re.MULTILINE)
    entries = {re.search(r'^name = "(\w+)"', block, re.MULTILINE)[1]: block for block in blocks[1:]}
    originals = [path for path in sorted((root / "examples").glob("*/*.py")) if path.stem in entries]
    made = len(originals)
    for number in count(1):
        for script in originals:
            if made >= n_pages:
                listed.write_text("".join([blocks[0], *entries.values()]), encoding="utf-8")
                return
            name = f"{script.stem}_{number}"
            shutil.copy(script, script.with_name(f"{name}.py"))
            # The topic stays that of the original: evidence is looked up in it.
            original = entries[script.stem]
            topic = "" if "\ntopic = " in original else f'\ntopic = "{script.stem}"'
            entries[name] = original.replace(f'name = "{script.stem}"', f'name = "{name}"{topic}')
            recording = store.read(recorded / store.PRIMARY_MACHINE / script.stem, complete=True)
            store.save(replace(recording, page=name), root=recorded)
            made += 1


def build(root: Path) -> float:
    """Build the site of a copy from nothing; return the seconds that it took."""
    start = time.monotonic()
    command = ["make", "-o", ".venv/ready", "html"]
    made = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if made.returncode:
        sys.exit(made.stdout[-2000:] + made.stderr[-2000:])
    return time.monotonic() - start


def main(sizes: list[int]) -> None:
    """Build guides of several sizes, each from nothing."""
    for n_pages in sizes:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "gpuguide"
            built = ("_build", "gallery", "generated", ".venv", ".git", ".cache", ".whl")
            shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(*built))
            (root / ".venv").symlink_to(ROOT / ".venv")
            copy_pages(root, n_pages)
            seconds = build(root)
        print(f"{n_pages:4} pages: {seconds:6.1f} s, {seconds / n_pages:.2f} s a page", flush=True)


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]] or [25, 50, 100, 200])
