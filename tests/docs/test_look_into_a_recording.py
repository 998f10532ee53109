"""The page "Look into a recording": its notebook runs with what a wheel holds, whatever is recorded."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from mini_project import REPOSITORY

from gpuguide.recordings import store
from gpuguide.recordings.keys import Key
from gpuguide.recordings.recording import Run
from gpuguide.results.records import Provenance
from gpuguide.results.results import Results
from gpuguide.results.sample import sample_results

PAGE = REPOSITORY / "docs" / "look_into_a_recording.md"
CELL = re.compile(r"```\{code-cell\}\n(?:---\n.*?\n---\n)?(.*?)```", re.DOTALL)


def study_of(name: str) -> Results:
    """An invented study under the names that the page asks for."""
    study = sample_results()
    names = {"numpy": "numpy", "numba": "cupy"}
    return replace(
        study,
        name=name,
        sizes=(2**10, 2**20, 2**24),
        ceilings=None,
        checks=(),
        variants=tuple(replace(info, name=names[info.name]) for info in study.variants),
        measurements=tuple(
            replace(cell, variant=names[cell.variant], size={2**26: 2**24}.get(cell.size, cell.size))
            for cell in study.measurements
        ),
    )


def record(root: Path, page: str, name: str, n_runs: int) -> None:
    blank = dict.fromkeys(Provenance.__annotations__)
    texts = (
        "gpu driver cuda compiler cpu blas commit python platform virtualisation clock_source cpu_signature"
    )
    blank |= dict.fromkeys(texts.split(), "x") | {"machine": "nvidia-h200", "versions": (), "cpu_caches": ()}
    for n in range(n_runs):
        about = {"start": f"{n:012x}", "utc_date": f"2026-11-{n + 1:02}T10:00:00Z"}
        study = study_of(name)
        cells = tuple(
            replace(cell, samples_ns=tuple(round((1 + n / 50) * ns) for ns in cell.samples_ns))
            for cell in study.measurements
        )
        made = Run(
            machine="nvidia-h200",
            page=page,
            provenance=Provenance(**{**blank, **about}),
            key=Key((), (), 1),
            studies={name: replace(study, measurements=cells)},
            names={"results": name},
        )
        store.add(made, root)


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """The package as a wheel holds it, without recordings."""
    package = tmp_path / "wheel" / "gpuguide"
    shutil.copytree(
        REPOSITORY / "src" / "gpuguide", package, ignore=shutil.ignore_patterns("recorded", "__pycache__")
    )
    return package


def run(wheel: Path, code: str) -> str:
    path = "import sys; sys.path.insert(0, sys.argv[1])"
    where = "import gpuguide; assert gpuguide.__file__.startswith(sys.argv[1]), gpuguide.__file__"
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{path}\n{where}\n{code}", str(wheel.parent)],
        env={"MPLBACKEND": "agg", "PATH": "", "HOME": str(wheel.parent)},
        cwd=wheel.parent,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def cells() -> str:
    return "\n".join(CELL.findall(PAGE.read_text(encoding="utf-8")))


def test_it_reads_the_measurements_of_several_runs(wheel: Path) -> None:
    for page, name in (("sort_search", "sort"), ("first_kernel", "increment")):
        record(wheel / "recorded", page, name, 3)
    out = run(wheel, cells())
    for said in (
        "<Recording of page 'sort_search' on 'nvidia-h200'",
        "CuPy is 318× as fast.",
        "2026-11-03 on start 000000000002 with x and x",
        ", at another start ",
        "gpu            x on both",
        "machine starts in common: 3",
        "first_kernel  NumPy",
    ):
        assert said in out


@pytest.mark.parametrize(
    ("n_runs", "said"),
    [
        (0, ["not recorded yet", "Two recorded pages"]),
        (1, ["not known yet", "Two recorded pages"]),
    ],
)
def test_it_says_so_where_less_is_recorded(wheel: Path, n_runs: int, said: list[str]) -> None:
    record(wheel / "recorded", "sort_search", "sort", n_runs)
    out = run(wheel, cells())
    for words in said:
        assert words in out


def test_it_is_a_short_how_to() -> None:
    prose = CELL.sub("", PAGE.read_text(encoding="utf-8").split("---", 2)[2])
    assert 150 < len(prose.split()) < 600
