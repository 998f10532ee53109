"""A preview needs no GPU, is stamped a draft, names cells that fail, and touches nothing of the guide."""

from __future__ import annotations

from mini_project import REPOSITORY, Project, tree

TOY = "examples/start/toy.py"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 200"><path d="M0 0"/></svg>\n'
CELLS = """results

# %%
# .. drawing:: idea
#
#     An idea.

import cupy as cp

print(cp.arange(3).get())

# %%
# Only CuPy itself has this.

sum_of_two = cp.fuse(lambda x, y: x + y)

# %%
# It follows.

sum_of_two(1, 2)

# %%"""


def of_the_guide(project: Project) -> dict[str, bytes]:
    files = tree(project.root).items()
    return {name: data for name, data in files if not (name.startswith(".preview") or "__pycache__" in name)}


def preview(project: Project):
    return project.run("-m", "gpuguide_docs.commands.preview", "toy")


def test_a_page_is_drafted_outside_the_guide_with_stamped_charts_and_its_drawings(recordable):
    recordable.edit(TOY, "results\n\n# %%", CELLS)
    before = of_the_guide(recordable)
    ran = preview(recordable)
    assert ran.code == 0, ran.output
    assert of_the_guide(recordable) == before
    built = recordable.layout.preview / "toy"
    page = (built / "html" / "gallery" / "start" / "toy.html").read_text()
    assert "Draft, simulator" in page
    assert "[0 1 2]" in page
    assert page.count("needs a GPU: cupy.fuse") == ran.output.count("needs a GPU: cupy.fuse") == 2
    figures = list((built / "docs" / "gallery" / "start" / "images").glob("*-light.svg"))
    assert figures
    assert all("draft, simulator</text></svg>" in figure.read_text() for figure in figures)
    assert 'alt="An idea."' in page
    assert {"idea.svg", "idea-dark.svg"} <= {path.name for path in (built / "html" / "_images").iterdir()}


def test_each_cell_that_fails_is_named_with_its_line(recordable):
    """Also below one that needs a GPU."""
    recordable.edit(TOY, "np.arange(4)", "np.nothing(4)")
    recordable.edit(
        TOY, "results\n\n# %%", "results\n\nimport cupy\n\ncupy.fuse\n\n# %%\n# Next.\n\n1 / 0\n\n# %%"
    )
    ran = preview(recordable)
    assert ran.code == 1
    lines = (recordable.root / TOY).read_text().splitlines()
    for code, words in (
        ("np.nothing", "AttributeError"),
        ("cupy.fuse", "needs a GPU: cupy.fuse"),
        ("1 / 0", "ZeroDivisionError"),
    ):
        (number,) = (n for n, line in enumerate(lines, start=1) if code in line)
        assert f"toy.py:{number}: {words}" in ran.output


# What stands in for a GPU

TOY_GPU = f"""
import sys
sys.path.insert(0, {str(REPOSITORY / "docs" / "_ext")!r})

import numpy as np
from numba import cuda
from gpuguide_docs.commands.toy import stand_in

stand_in()
import cupy as cp
"""
LAUNCHES = """
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
STUDY = """
from gpuguide.topics.first_kernel.study import increment

results = increment.run()
n = max(results.sizes)
print(results.measurement("grid", n).n, results.share("grid", n).value > 0)
"""
NAMES = """
for y in (cp.arange(4.0) + 1, cp.arange(4.0).sum(), np.sort(cp.arange(4.0)), np.linalg.norm(cp.arange(4.0))):
    y.get()
codes = "cp.arrange(3)", "cp.RawKernel('', 'f')", "from cupy.cuda import nccl", "import cupyx.scipy.signal"
for code in codes:
    try:
        exec(code)
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
"""


def test_what_stands_in_for_a_gpu(simulator_python):
    """Large launches are cut, studies have invented times, arrays are CuPy's, errors say what lacks."""
    small, cut, large, study, *errors = simulator_python(TOY_GPU + LAUNCHES + STUDY + NAMES).splitlines()
    # Of a large launch, the first blocks and the last run; a small one's result a page may check.
    assert (small, large) == ("1000 1 1", "4097 1 1")
    assert "131,073 blocks" in cut
    assert study == "3 True"
    expected = ("'arange'", "NeedsGpuError: cupy.RawKernel", "NeedsGpuError: cupy.cuda.nccl", "'cupyx.scipy'")
    assert len(errors) == len(expected)
    for error, words in zip(errors, expected, strict=True):
        assert words in error
