"""A small site in memory: hand-written pages and an invented recording, built by Sphinx in this process."""

from __future__ import annotations

import io
from pathlib import Path

from jinja2.bccache import Bucket, BytecodeCache
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from gpuguide.recordings.keys import Key
from gpuguide.recordings.recording import Recording
from gpuguide.results.records import Fact, Provenance
from gpuguide.results.sample import sample_results
from gpuguide_docs.pages.cells import read_cells
from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.replay import uses
from gpuguide_docs.replay.outputs import Drawing
from gpuguide_docs.replay.replay import cell_block
from gpuguide_docs.replay.states import PageState
from gpuguide_docs.show import site

PAGES = """
[[section]]
name = "start"
title = "Start"
summary = "Where to begin."

[[page]]
section = "start"
name = "first"
title = "First page"
question = "What is measured?"
kind = "tutorial"
level = "beginner"
needs = { gpus = 1, gib = 4 }
objectives = ["Read a number", "Doubt it"]
topic = "toy"

[[page]]
section = "start"
name = "second"
title = "Second page"
question = "And then?"
kind = "tutorial"
level = "beginner"
needs = { gpus = 0 }
objectives = ["Read on", "Stop"]
after = ["first"]
"""

TOPIC = '''"""A toy topic."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np

from gpuguide.machine.launch import blocks_1d

WIDTH = 256
COUNTED = dict(work={"steps": math.ceil})


def decorate(function):
    """Return the function."""
    return function


# Adds one.
@decorate
def add_one_kernel(x):
    """Each thread adds one."""
    for i in range(len(x)):
        x[i] += 1


def add_one(x):
    """Add one to every element
    of a vector.

    Parameters
    ----------
    x : ndarray
        Changed in place.
    """
    blocks = blocks_1d(len(x), WIDTH)
    add_one_kernel(np.asarray(x)) if blocks else math.nan


def study(kernels=None):
    """Describe what is compared."""
    return SimpleNamespace(variants=(SimpleNamespace(call=add_one),))
'''

PROVENANCE = Provenance(
    machine="nvidia-h200",
    gpu="NVIDIA H200",
    compute_capability=(9, 0),
    sm_count=132,
    l2_bytes=60 * 2**20,
    memory_bytes=141 * 10**9,
    sm_clock_hz=1.98e9,
    memory_clock_hz=3.2e9,
    power_limit_w=700.0,
    ecc=True,
    driver="580.159",
    cuda="13.0",
    compiler="numba-cuda 0.30.4",
    versions=(("numpy", "2.4.6"), ("cupy", "14.2")),
    cpu="Some CPU",
    n_cpus=16,
    threads=16,
    blas="OpenBLAS",
    steal_s=None,
    utc_date="2026-11-21T10:00:00Z",
    commit="abc1234",
    run_time_s=12.5,
    peak_memory_bytes=3 * 2**30,
    python="3.12.3",
    platform="Linux",
    start="c0ffee123456",
    virtualisation="kvm",
    clock_source="tsc",
    cpu_signature="GenuineIntel 6/207/2",
    cpu_caches=(("L1d", 48 * 2**10), ("L2", 2 * 2**20), ("L3", 300 * 2**20)),
    cpu_clock_hz=2.1e9,
    sm_clock_seen_hz=(1.9e9, 1.98e9),
    power_seen_w=(110.0, 640.0),
    pace_s=2e-5,
    shared_host=0.02,
)


def recording(root: Path, **changes):
    """An invented recording of the first page."""
    folder = Path(root) / "src" / "gpuguide" / "recorded" / "nvidia-h200" / "first"
    folder.mkdir(parents=True, exist_ok=True)
    changes.setdefault("files", ("2026-11-21-c0ffee.json",))
    for name in changes["files"]:
        (folder / name).write_text("{}", encoding="utf-8")
    values = {
        "machine": "nvidia-h200",
        "page": "first",
        "provenance": PROVENANCE,
        "key": Key(("0123456789abcdef",), (), 1),
        "studies": {"sample": sample_results()},
        "facts": {"first_call": Fact("first_call", 0.41, "s", (0.40, 0.41, 0.44), "five processes")},
        "ceilings": None,
        "names": {"results": "sample"},
        "cells": (),
        "folder": folder,
    }
    return Recording(**{**values, **changes})


def write(root: Path, files: dict[str, str]) -> Layout:
    """Write the project's files."""
    base = {
        "examples/pages.toml": PAGES,
        "src/gpuguide/topics/toy/__init__.py": TOPIC,
        "docs/claims.toml": '[sources.S2]\ntitle = "A workshop"\n[claims]\n'
        's2_speedup = { source = "S2", text = "1000 times", value = 1000, unit = "ratio" }\n',
        "docs/gallery/downloads/first.ipynb": "{}",
        "docs/gallery/downloads/first.py": "",
        "docs/gallery/downloads/second.ipynb": "{}",
        "docs/gallery/downloads/second.py": "",
        "docs/gallery/downloads/first-sample.csv": "",
        "docs/gallery/downloads/first-sample.json": "",
    }
    for name, text in {**base, **files}.items():
        path = Path(root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    return Layout(root)


def generated(script: Path) -> str:
    """What is made of a script whose cells print nothing."""
    cells = read_cells(script)
    return "\n\n".join(cell_block(cell, "") if cell.is_code else cell.content for cell in cells)


MODULES = (
    *("show.site", "show.numbers", "show.cells", "show.card", "show.kernel", "show.ladder", "show.study"),
    "show.pictures",
)


class KeptTemplates(BytecodeCache):
    """Compiled once in a process, not once in a build."""

    def __init__(self) -> None:
        self.codes = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self.codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        self.codes[bucket.key, bucket.checksum] = bucket.code


TEMPLATES = KeptTemplates()


def build(
    root: Path,
    files: dict[str, str],
    states: dict[str, PageState],
    monkeypatch,
    *,
    more=(),
    drawing=None,
    **changed,
):
    """Build the site; return the application and what it warned of."""
    layout = write(root, files)
    missing = {name: PageState(name, "missing") for name in ("first", "second")}
    monkeypatch.setattr(site, "states_of", lambda _layout: {**missing, **states})
    for module in (site, uses):
        monkeypatch.setattr(module, "drawing_of", lambda _layout, _state: drawing or Drawing())
    warnings = io.StringIO()
    conf = {
        "extensions": [*more, *(f"gpuguide_docs.{name}" for name in MODULES)],
        "html_theme": "basic",
        "nitpicky": True,
        "html_use_index": False,
        "exclude_patterns": ["gallery/downloads/*.ipynb"],
        "gpuguide_root": str(root),
        # Sphinx would add what extensions read to its own default, and the next build would find it there.
        "source_suffix": {".rst": "restructuredtext"},
        "suppress_warnings": ["toc.not_included"],
        **changed,
    }
    with patch_docutils(), docutils_namespace():
        out = layout.build
        app = Sphinx(layout.docs, None, out / "html", out / "doctrees", "html", conf, None, warnings)
        app.builder.templates.environment.bytecode_cache = TEMPLATES
        app.build()
    return app, warnings.getvalue()


def page(root: Path, name: str) -> str:
    """A built page."""
    return (Layout(root).build / "html" / f"{name}.html").read_text(encoding="utf-8")
