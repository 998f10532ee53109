"""The miniature guide in ``golden``: two scripts with recordings, and a page written by hand.

After a change of its topic or of a recorded cell, ``python tests/docs/mini_project.py`` brings its keys up to
date; the times in its recordings are invented.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from gpuguide.recordings import store
from gpuguide.recordings.counters import Counters, save_counters
from gpuguide.results.counters import Counted, KernelCounts
from gpuguide.results.results import Results
from gpuguide_docs.pages.layout import Layout

REPOSITORY = Path(__file__).resolve().parents[2]
GOLDEN = Path(__file__).parent / "golden"
TOY = (GOLDEN / "examples/start/toy.py").read_text(encoding="utf-8")
MACHINE = "test-cpu"
RECORDED = GOLDEN / "src/gpuguide/recorded"
# Each start of a kernel takes seconds.
NOT_LIVE = 'nb_execution_mode = "off"\nsuppress_warnings = ["myst-nb.lexer"]'
INVENTED = {
    "cpu": "A CPU",
    "n_cpus": 16,
    "cpu_signature": "",
    "cpu_caches": (),
    "cpu_clock_hz": 2e9,
    "pace_s": 2e-5,
    "shared_host": 0.02,
    "virtualisation": "",
    "clock_source": "tsc",
    "platform": "Linux",
    "blas": "OpenBLAS",
    "compiler": "",
    "python": "3.12.3",
    "versions": (("gpuguide", "0.4.0"), ("numpy", "2.4.6")),
    "start": "c0ffee123456",
    "utc_date": "2026-11-21T10:00:00Z",
    "run_time_s": 12.5,
}
TIMES_NS = {
    "numpy": {256: 1_000, 65536: 100_000},
    "dot": {256: 4_000, 65536: 400_000},
    "slow": {256: 9_000},
    # At the small size it looks as long as the product.
    "halves": {256: 4_010, 65536: 200_000},
}
COUNTED = tuple(
    Counted("sums", name, 65536, (KernelCounts(name, 1e-3, (("bank_conflicts", count),), "barrier"),))
    for name, count in (("dot", 8e6), ("halves", 0.0))
)
LEFT_OUT = shutil.ignore_patterns("__pycache__", "recorded", "topics", "pool")


@dataclass(frozen=True)
class Ran:
    """What a command came to: exit status and everything that it printed."""

    code: int
    output: str


@dataclass(frozen=True)
class Project:
    """A miniature project on disk and what a person does with it."""

    root: Path

    @property
    def layout(self) -> Layout:
        return Layout(self.root)

    @property
    def html(self) -> Path:
        return self.layout.build / "html"

    def page(self, name: str = "toy", section: str = "start") -> str:
        return (self.html / "gallery" / section / f"{name}.html").read_text(encoding="utf-8")

    def run(self, *command: str, timeout_s: float = 600, **env: str) -> Ran:
        """Run Python as a person would."""
        done = subprocess.run(
            [sys.executable, *command],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": self.path, "OPENBLAS_NUM_THREADS": "1", **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        return Ran(done.returncode, done.stdout)

    @property
    def path(self) -> str:
        """Its own sources, for ``PYTHONPATH``."""
        return os.pathsep.join([str(self.root / "docs" / "_ext"), str(self.root / "src")])

    def build(
        self, *options: str, out: str = "html", doctrees: str = "doctrees", strict: bool = True, **env: str
    ) -> Ran:
        strictly = ("-n", "-W", "--keep-going") if strict else ()
        built = self.layout.build
        places = ("-c", ".", "-d", str(built / doctrees), "docs", str(built / out))
        return self.run("-m", "sphinx", "-q", *strictly, *options, *places, **env)

    def record(self, *pages: str, **env: str) -> Ran:
        return self.run(
            "-m", "gpuguide_docs.record.recorder", *pages, "--machine", MACHINE, "--allow-cpu", **env
        )

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a text that must be there."""
        file = self.root / path
        text = file.read_text(encoding="utf-8")
        assert old in text, f"{old!r} is not in {path}"
        file.write_text(text.replace(old, new), encoding="utf-8")

    def recordings(self) -> dict[str, bytes]:
        """Every file below recorded/."""
        return tree(self.layout.recorded)


@dataclass(frozen=True)
class Snapshot:
    """A built project as it stood, to read or to begin from again.

    Sphinx remembers absolute paths and times, so what is changed and built again stands in the same place.
    """

    project: Project
    kept: Project

    @classmethod
    def of(cls, project: Project) -> Snapshot:
        kept = project.root.with_name("kept")
        shutil.copytree(project.root, kept)
        return cls(project, Project(kept))

    def restored(self) -> Project:
        shutil.rmtree(self.project.root)
        shutil.copytree(self.kept.root, self.project.root)
        return self.project


def run_file(project: Project) -> Path:
    """The file of the one run of the page."""
    (path,) = (project.layout.recorded / MACHINE / "toy").glob("*.json")
    return path


def words_of(page: str) -> str:
    """The words of a page, without markup and line breaks."""
    inline = re.sub(r"</?(?:a|code|em|span|strong)\b[^>]*>", "", page)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", inline)).split())


def tree(folder: Path) -> dict[str, bytes]:
    """Files below a folder by their relative paths."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write_project(root: Path) -> Project:
    """Copy the miniature guide, its recordings too, over a copy of the package and of the extension."""
    # Its sources are part of what a recording depends on.
    for folder in ("src/gpuguide", "docs/_ext"):
        shutil.copytree(REPOSITORY / folder, root / folder, ignore=LEFT_OUT)
    shutil.copytree(GOLDEN, root, dirs_exist_ok=True)
    return Project(root)


def renew_recordings() -> None:
    """Record the pages, and keep the runs with times and a machine that are invented."""
    with tempfile.TemporaryDirectory() as folder:
        project = write_project(Path(folder) / "mini")
        ran = project.record()
        assert ran.code == 0, ran.output
        shutil.rmtree(RECORDED, ignore_errors=True)
        for path in project.layout.recorded.rglob("*.json"):
            run = store.read(path.parent)
            about = replace(run.provenance, **INVENTED)
            store.add(replace(run, runs=(), provenance=about, studies=invented(run.studies)), RECORDED)
            if run.page == "pictures":
                save_counters(Counters(MACHINE, run.page, run.key, "A profiler", about, COUNTED), RECORDED)


def invented(studies: dict[str, Results]) -> dict[str, Results]:
    """Studies with times that are known."""
    made = {}
    for name, study in studies.items():
        cells = []
        for cell in study.measurements:
            if cell.n:
                ns = TIMES_NS[cell.variant][cell.size]
                samples = (ns - ns // 50, ns, ns + ns // 50)
                cell = replace(cell, samples_ns=samples, rounds=(0, 1, 2), n_calls=1, notes=())
            cells.append(cell)
        made[name] = replace(study, measurements=tuple(cells), warnings=())
    return made


if __name__ == "__main__":
    renew_recordings()
