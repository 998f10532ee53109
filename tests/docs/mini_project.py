"""A miniature project: a copy of the package with a toy topic, and two pages recorded on the CPU."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tiny_pool import write_pool

from gpuguide_docs.pages.layout import Layout

REPOSITORY = Path(__file__).resolve().parents[2]
MACHINE = "test-cpu"
CONF = '''\
"""Configuration of the miniature project."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent

from gpuguide_docs.pages.gallery_settings import gallery_conf
from gpuguide_docs.pages.layout import Layout

project = "mini"
extensions = [{extensions}]
sphinx_gallery_conf = gallery_conf(Layout(ROOT))
exclude_patterns = ["_build", "_ext", "gallery/**/*.ipynb", "gallery/**/*.py", "gallery/downloads"]
html_theme = "basic"
html_copy_source = False
html_last_updated_fmt = None
'''

PAGES = """\
[[section]]
name = "start"
title = "Start"
summary = "First steps."

[[section]]
name = "later"
title = "Later"
summary = "Further steps."

[[page]]
section = "start"
name = "toy"
title = "Toy sums"
question = "How long does a sum take?"
kind = "tutorial"
level = "beginner"
needs = { gpus = 0 }
objectives = ["Add numbers", "Read a chart"]

[[page]]
section = "later"
name = "pictures"
title = "Pictures"
question = "What does a drawn cell state?"
kind = "explanation"
level = "beginner"
needs = { gpus = 0 }
objectives = ["See a figure", "See a value"]
after = ["toy"]
topic = "toy"
"""

TOPIC = '''\
"""Sums on the CPU: what the tests of the extension measure."""

import math

import numpy as np

from gpuguide.results.records import Traffic
from gpuguide.measure.study import Study
from gpuguide.measure.plan import Variant


def sum_reference(x):
    """Sum by definition."""
    return np.array([math.fsum(x)])


def sum_numpy(x, out):
    """Sum by NumPy."""
    out[0] = x.sum()
    return out


def sum_dot(x, out):
    """Sum as a product with ones, of which eight rows are made: surely slower, as a claim says."""
    out[0] = np.dot(x, np.ones((8, x.size))[0])
    return out


def sum_traffic(n, dtype):
    """Bytes read and written."""
    return Traffic(bytes_read=n * dtype.itemsize, bytes_written=dtype.itemsize, flops=n)


def inputs(n, dtype, rng, exact):
    """Whole numbers whose sum is exact, or random ones."""
    if exact:
        return (rng.integers(-1, 2, n).astype(dtype),)
    return (rng.random(n, dtype=dtype),)


def study(kernels=None):
    """Two ways to add."""
    common = {"device": "cpu", "clock": "host", "arrays": "host", "traffic": sum_traffic}
    return Study(
        name="sums",
        title="Sums",
        variants=(Variant("numpy", sum_numpy, **common), Variant("dot", sum_dot, **common)),
        sizes=(256, 65536),
        inputs=inputs,
        reference=sum_reference,
        output=lambda n, dtype: ((1,), dtype),
        dtype="float64",
        baseline="numpy",
        kernels=kernels,
    )
'''

TOY = '''\
"""
Toy sums
========

How long does a sum take?
"""

# %%
# A sum is quick.

# %%
# Four numbers by hand
# --------------------
# Nothing but NumPy.

import numpy as np

values = np.arange(4)
print(values.sum(), "|not a substitution| `nor a role`_")

# %%
# The study runs.

from gpuguide.topics.toy import study as toy

results = toy.study().run()
results

# %%

# draw
gg.claim(results, "numpy", faster_than="dot", at=65536)

# %%
# Time grows with the size.

# draw
gg.plot_time(results)
'''

PICTURES = '''\
"""
Pictures
========

What does a drawn cell state?
"""

# %%
# A fact.

import gpuguide as gg
import numpy as np

print("   indented", flush=True)

gg.fact("answer", 42, unit="1")
with open("ran.txt", "a") as counter:
    counter.write("once ")
half = np.float64(0.5)
half

# %%
# A study that does not run.

from gpuguide.topics.toy import study as toy

toy.study()

# %%
# A figure and another fact.

# draw
_ = plt.plot(np.arange(5), np.arange(5) ** 2)

# %%

# draw
_ = gg.fact("twice", 2 * facts["answer"].value, unit="1")
'''

INDEX = """\
.. index:: pair: sum; miniature

Mini
====

.. toctree::

   gallery/index
   other
"""

OTHER = """\
Other
=====

A page written by hand, with the pages that use a function, and :measured:`pictures:twice`, a number.

.. minigallery:: gpuguide.plot_speedup
"""


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

    def run(self, *command: str, timeout_s: float = 180, **env: str) -> Ran:
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


def run_file(project: Project, page: str = "toy") -> Path:
    """The file of the one run of a page."""
    (path,) = (project.layout.recorded / MACHINE / page).glob("*.json")
    return path


def tree(folder: Path) -> dict[str, bytes]:
    """Files below a folder by their relative paths."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write_project(
    root: Path, extensions: tuple[str, ...] = ("sphinx_gallery.gen_gallery", "gpuguide_docs.extension")
) -> Project:
    """Write the miniature project, not recorded."""
    ignored = shutil.ignore_patterns("__pycache__", "recorded", "topics")
    shutil.copytree(REPOSITORY / "src" / "gpuguide", root / "src" / "gpuguide", ignore=ignored)
    # Its sources are part of what a recording depends on.
    shutil.copytree(REPOSITORY / "docs" / "_ext", root / "docs" / "_ext", ignore=ignored)
    files = {
        "conf.py": CONF.format(extensions=", ".join(map(repr, extensions))),
        "src/gpuguide/topics/__init__.py": '"""Topics of the miniature project."""\n',
        "src/gpuguide/topics/toy/__init__.py": '"""The topic of the miniature page."""\n',
        "src/gpuguide/topics/toy/study.py": TOPIC,
        "examples/pages.toml": PAGES,
        "examples/start/toy.py": TOY,
        "examples/later/pictures.py": PICTURES,
        "docs/index.rst": INDEX,
        "docs/other.rst": OTHER,
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    (root / "src" / "gpuguide" / "recorded").mkdir()
    write_pool(root / "src" / "gpuguide")
    return Project(root)
