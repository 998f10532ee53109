"""A preview needs no GPU, is stamped a draft, names cells that fail, and touches nothing of the guide."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from mini_project import REPOSITORY, Project, tree

from gpuguide_docs.commands.preview import stamp
from gpuguide_docs.replay.outputs import Picture
from plain_drawing import assert_only_draws

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 200"><path d="M0 0"/></svg>\n'


def test_a_stamp_is_drawn_over_the_whole_figure():
    stamped = stamp(Picture(SVG, "A chart."))
    assert b"draft, simulator</text></svg>" in stamped.data
    assert b'<rect width="400" height="200" fill="url(#draft-hatch)"/>' in stamped.data
    assert stamped.alt.startswith("Draft, simulator.")
    assert_only_draws(stamped.data.decode())


@dataclass(frozen=True)
class Draft:
    """The guide before and after a page of it was drafted, and where its draft is."""

    before: dict[str, bytes]
    after: dict[str, bytes]
    folder: Path
    printed: str


def of_the_guide(project: Project) -> dict[str, bytes]:
    files = tree(project.root).items()
    return {name: data for name, data in files if not (name.startswith(".preview") or "__pycache__" in name)}


@pytest.fixture(scope="module")
def draft(make_project) -> Draft:
    """The draft of a page with a cell that NumPy can run, two that need CuPy itself, and a drawing."""
    project = make_project()
    folder = project.layout.docs / "_static" / "drawings"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("idea", "idea-dark"):
        (folder / f"{name}.svg").write_bytes(SVG)
    project.edit(
        "examples/start/toy.py",
        "results\n\n# %%",
        "results\n\n# %%\n# On the GPU.\n\nimport cupy as cp\n\nprint(cp.arange(3).get())\n\n# %%\n"
        "# A name that an earlier cell lacks.\n\nsum_of_two = cp.fuse(lambda x, y: x + y)\n\n# %%\n"
        "# It follows.\n\nsum_of_two(1, 2)\n\n# %%\n"
        "# .. drawing:: idea\n#\n#     An idea.\n\n# %%",
    )
    before = of_the_guide(project)
    ran = project.run("-m", "gpuguide_docs.commands.preview", "toy")
    assert ran.code == 0, ran.output
    return Draft(before, of_the_guide(project), project.layout.preview / "toy", ran.output)


def test_a_page_is_drafted_outside_the_guide(draft):
    assert draft.after == draft.before
    page = (draft.folder / "html" / "gallery" / "start" / "toy.html").read_text()
    assert "Draft, simulator" in page
    assert "[0 1 2]" in page
    assert page.count("needs a GPU: cupy.fuse") == draft.printed.count("needs a GPU: cupy.fuse") == 2
    figures = list((draft.folder / "docs" / "gallery" / "start" / "images").glob("*-light.svg"))
    assert figures
    assert all(b"draft, simulator" in figure.read_bytes() for figure in figures)


def test_the_drawings_of_a_page_are_in_its_draft(draft):
    html = draft.folder / "html"
    assert 'alt="An idea."' in (html / "gallery" / "start" / "toy.html").read_text()
    assert {"idea.svg", "idea-dark.svg"} <= {path.name for path in (html / "_images").iterdir()}


def test_each_cell_that_fails_is_named_with_its_line(project):
    """Also below one that needs a GPU."""
    project.edit("examples/start/toy.py", "np.arange(4)", "np.nothing(4)")
    later = "import cupy\n\ncupy.fuse\n\n# %%\n# Next.\n\n1 / 0\n\n# %%"
    project.edit("examples/start/toy.py", "results\n\n# %%", f"results\n\n{later}")
    ran = project.run("-m", "gpuguide_docs.commands.preview", "toy")
    assert ran.code == 1
    lines = (project.layout.examples / "start" / "toy.py").read_text().splitlines()
    for code, words in (
        ("np.nothing", "AttributeError"),
        ("cupy.fuse", "needs a GPU: cupy.fuse"),
        ("1 / 0", "ZeroDivisionError"),
    ):
        (number,) = (n for n, line in enumerate(lines, start=1) if code in line)
        assert f"toy.py:{number}: {words}" in ran.output


# What stands in for a GPU -----------------------------------------------------------------------------------

TOY = f"""
import sys
sys.path.insert(0, {str(REPOSITORY / "docs" / "_ext")!r})

import numpy as np
from numba import cuda
from gpuguide_docs.commands.toy import stand_in

stand_in()
import cupy as cp
"""


def test_of_a_large_launch_the_first_blocks_and_the_last_run(simulator_python):
    """All of a small one, whose result a page may check."""
    printed = simulator_python(
        TOY
        + """
@cuda.jit
def one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1

for size in (1000, 2**24 + 1):
    x = cp.zeros(size, dtype=cp.int8)
    one[(x.size + 127) // 128, 128](x)
    print(int(x.sum()), x[0], x[-1])
"""
    )
    small, cut, large = printed.splitlines()
    assert (small, large) == ("1000 1 1", "4097 1 1")
    assert "131,073 blocks" in cut


def test_a_study_has_times_for_variants_and_sizes_that_were_not_run(simulator_python):
    printed = simulator_python(
        TOY
        + """
from gpuguide.topics.first_kernel.study import study

results = study().run()
print(results.measurement("grid", study().sizes[-1]).n, results.share("grid", study().sizes[-1]).value > 0)
"""
    )
    assert printed == "3 True\n"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("cp.arrange(3)", "AttributeError.*'arange'"),
        ("cp.RawKernel('', 'f')", "NeedsGpuError: cupy.RawKernel"),
        ("from cupy.cuda import nccl", "NeedsGpuError: cupy.cuda.nccl"),
        ("import cupyx.scipy.signal", "No module named 'cupyx.scipy'"),
    ],
)
def test_a_name_that_is_wrong_is_told_from_one_that_needs_a_gpu(simulator_python, code, words):
    with pytest.raises(AssertionError, match=words):
        simulator_python(TOY + code)


def test_what_numpy_makes_of_arrays_of_cupy_are_such_arrays(simulator_python):
    """A sum, too, is copied to the host by get()."""
    code = "x = cp.arange(4.0)\nfor y in (x + 1, x.sum(), np.sort(x), np.linalg.norm(x), cp.sum(x)): y.get()"
    assert simulator_python(TOY + code) == ""
