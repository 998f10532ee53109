"""Downloads: each page as a notebook and a script that are complete and run, without markup."""

import ast
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from small_site import PAGES, recording, write
from tiny_pool import START, use_pool

from gpuguide.exercises import pool, progress
from gpuguide.recordings.recording import Stated
from gpuguide.results.records import Fact
from gpuguide_docs.downloads.cells import exercise_cells, page_cells
from gpuguide_docs.downloads.downloads import DOWNLOADS
from gpuguide_docs.downloads.notebook import notebook_text, script_text
from gpuguide_docs.replay.outputs import Drawing
from gpuguide_docs.replay.states import PageState
from gpuguide_docs.show import site
from gpuguide_docs.show.site import Site

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed here")

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / DOWNLOADS).glob("*.ipynb"))
BUILT = pytest.mark.skipif(not NOTEBOOKS, reason="the notebooks are not written: run make html first")
URL = "https://guide.example"
KERNELS = '''"""Kernels."""

from numba import cuda

WIDTH = 256


@cuda.jit(device=True)
def next_of(x):
    return x + 1


@cuda.jit
def numba(x):
    """Each thread adds one."""
    x[0] = next_of(x[0]) + WIDTH


@cuda.jit
def values(x):
    x[0] = 2
'''
SCRIPT = '''"""
First page
==========

What is measured?
"""

# %%
# It takes :measured:`sample[numba,
# 2**20].time`, not :claimed:`s2_speedup`, and :measured:`second:first_call`. See :doc:`second`,
# :doc:`the glossary </glossary>`, :term:`warps <warp>`, `a link <https://a.example>`__ and ``code``:
# 2\\ :sup:`20` by ``__array_function__``, we think. :evidence:`opinion`
#
# .. rungs:: sample
#    :at: 2**20
#    :beside: numpy

# %%
# The code
# --------
#
# - one *item*
# - two
#
# .. drawing:: host
#
#    Two boxes.
#
# .. rung:: numba

import numpy as np
from gpuguide.topics.toy.kernels import next_of, numba

values = np.ones(1)
numba[1, 1](values)

# %%

# record: The study
from gpuguide.topics.toy.study import study

results = study().run()

# %%
# A chart.

# draw: Drawn
gg.plot_time(results, title=facts["first_call"].name)

# %%
# .. finding::
#
#    Numba takes :measured:`sample[numba, 2**20].time`.
#
# .. results:: sample
#
# .. kernel:: gpuguide.topics.toy.kernels
#    :names: values
#    :fold: Another kernel
#
# .. list-table:: Foretold
#    :header-rows: 1
#
#    * - predicted
#      - measured
#    * - much
#      - :measured:`first_call`
#
# .. csv-table::
#    :header: a | b
#    :delim: |
#
#    one, two | :measured:`twice`
#
# .. try-it::
#
#    Think of *2 * 3*.
#
# .. note:: Mind the gap.
#
# .. exercise:: add_one
'''


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A page that uses every role and directive, and what it was measured with."""
    files = {
        "examples/pages.toml": PAGES,
        "examples/start/first.py": SCRIPT,
        "src/gpuguide/topics/toy/__init__.py": "",
        "src/gpuguide/topics/toy/kernels.py": KERNELS,
    }
    layout = write(tmp_path, files)
    stated = Stated({"twice": (("", Fact("twice", 2.0, "ratio")),)}, ())
    states = {name: PageState(name, "current", recording(tmp_path)) for name in ("first", "second")}
    monkeypatch.setattr(site, "states_of", lambda _layout: states)
    monkeypatch.setattr(site, "drawing_of", lambda _layout, _state: Drawing((), stated))
    use_pool(monkeypatch, tmp_path / "pool")
    return Site(layout), states


def cells(small, url=URL, **changes):
    made, _ = small
    return page_cells(made, replace(made.page("first"), **changes), url)


def text(small, **changes):
    return "\n\n".join(cell.text for cell in cells(small, **changes) if cell.kind == "markdown")


def markup_left(words):
    """Roles and directives in a text."""
    words = re.sub(r"```.*?```|``.*?``", "", words, flags=re.DOTALL)
    return re.findall(r":[a-z:]+:`[^`]*`|^\s*\.\. [a-z_-]+::?.*$|`[^`]*`_\b", words, flags=re.MULTILINE)


def test_text_is_written_out(small):
    words = text(small)
    where = "NVIDIA H200, one machine start, 21 November 2026 (run 2026-11-21-c0ffee)"
    for expected in (
        f"The numbers in the text were measured on {where}.",
        "It takes 6.0 µs, not 1000 times, and 410 ms (NVIDIA H200, 21 November 2026).",
        f"See [Second page]({URL}/gallery/start/second.html),\n[the glossary]({URL}/glossary.html), warps,",
        "[a link](https://a.example) and ``code``:\n2<sup>20</sup> by ``__array_function__``",
        "we think. [not tested]",
        "| elements | 2²⁰ | gain over the row above |",
        "*Measured: 6.0 µs for 2²⁰ elements; ",
        "## The code\n\n- one *item*\n- two",
        "> **Drawing.** Two boxes.",
        "*Foretold*\n\n| predicted | measured |\n| --- | --- |\n| much | 410 ms |",
        "| a | b |\n| --- | --- |\n| one, two | 2.0× |",
        "> **Try it.** Think of *2 * 3*.",
        "> **Note.** Mind the gap.",
        "<summary>Table: An invented study, NVIDIA H200, 21 November 2026</summary>",
        'mine = study().with_variant("mine", launch)',
    ):
        assert expected in words
    assert markup_left(words) == []


def test_the_notebook_is_valid_and_always_the_same_and_the_script_is_python(small):
    made = notebook_text(cells(small), "first")
    nbformat.validate(nbformat.reads(made, as_version=4))
    assert made == notebook_text(cells(small), "first")
    script = script_text(cells(small))
    ast.parse(script)
    assert script.endswith("# %%\nplt.show()\n")


def test_a_kernel_is_a_cell_that_no_later_cell_imports_anew(small):
    code = [cell.text for cell in cells(small) if cell.kind == "code"]
    kernel = next(at for at, each in enumerate(code) if "def numba" in each)
    assert code[kernel].startswith("from numba import cuda\n\n\nWIDTH = 256\n\n\n@cuda.jit(device=True)")
    assert code[kernel + 1] == "import numpy as np\n\nvalues = np.ones(1)\nnumba[1, 1](values)"
    assert code[kernel + 2].startswith("# The study\nfrom gpuguide.topics.toy.study import study")
    assert code[kernel + 3].startswith("# Drawn\nfrom gpuguide.measure.session import current\n\nfacts =")


def test_a_kernel_whose_name_the_page_uses_otherwise_is_text(small):
    assert not any("def values" in cell.text for cell in cells(small) if cell.kind == "code")
    assert "**Another kernel**\n\n```python\n@cuda.jit\ndef values(x):" in text(small)


def test_the_first_cell_says_how_to_install(small):
    gpus = small[0].page("first").needs
    assert re.search(rf'"gpuguide\[cuda13\] @ {URL}/_static/wheels/gpuguide-[\d.]+-py3', text(small))
    assert "you need 2 NVIDIA GPUs" in text(small, needs=replace(gpus, gpus=2))
    without = text(small, needs=replace(gpus, gpus=0))
    assert "you need no GPU, only the package" in without
    assert "cuda13" not in without
    plain = text(small, url="")
    wheel = re.search(
        r"Download `(gpuguide-[\d.]+-py3-none-any\.whl)` on the guide's page \*Install\*", plain
    )
    assert f'pip install "./{wheel[1]}[cuda13]"' in plain
    assert URL not in plain


def test_a_page_that_does_without_the_package_asks_for_cupy_alone(small):
    made, _ = small
    script = made.page("first").script(made.layout)
    script.write_text('"""\nFirst\n=====\n"""\n\nimport cupy as cp\n', encoding="utf-8")
    intro, title, code = cells(small)
    assert 'pip install "cupy-cuda13x[ctk]"' in intro.text
    assert (title.text, code.text) == ("# First", "import cupy as cp")


def test_a_page_without_recording_says_so(small):
    small[1]["first"] = PageState("first", "missing")
    assert "Its code has not been measured yet" in text(small)
    assert "It takes not measured yet" in text(small)


def test_an_exercise_becomes_cells_to_edit_and_to_run(small):
    code = [cell for cell in cells(small) if cell.kind == "code"]
    assert code[-2].text == START.strip()
    assert code[-1].script.endswith('print(gpuguide.exercises.check("add_one", add_kernel))')
    assert "### Exercise: Add one\n\n*beginner, 5 minutes, checked without a GPU*" in text(small)
    assert "<details><summary>Hint 1</summary>\n\nLook at `x`.\n\n</details>" in text(small)


@pytest.mark.parametrize("name", ["guard", "count_transfers"])
def test_the_cells_of_an_exercise_judge_an_answer_without_a_gpu(name, tmp_path, monkeypatch):
    monkeypatch.setenv("GPUGUIDE_PROGRESS", str(tmp_path / "progress.json"))
    _, start, check, _ = exercise_cells(name)
    for function, verdict in ((start.text, "not yet"), (pool.get(name).solution, "passed")):
        program = tmp_path / "answer.py"
        program.write_text(f"{function}\n\n\n{check.script}\n", encoding="utf-8")
        ran = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120)
        assert ran.stdout.startswith(f"{name}: {verdict}"), ran.stderr
    assert list(progress.read()) == [name]


@pytest.mark.parametrize("name", pool.names())
def test_every_exercise_makes_a_script(name):
    compile(script_text(exercise_cells(name)), name, "exec")


def test_a_page_that_is_read_again_is_written_again_and_no_other(built_template):
    project = built_template.restored()
    folder = project.layout.docs / DOWNLOADS
    names = {"toy.ipynb", "toy.py", "pictures.ipynb", "pictures.py", "live.ipynb"}
    assert {path.name for path in folder.iterdir()} == names
    before = (folder / "pictures.py").stat().st_mtime_ns
    project.edit("examples/start/toy.py", "A sum is quick.", "A sum is soon done.\n#\n# .. results:: sums")
    (folder / "old.py").touch()
    (folder / "toy.ipynb").unlink()
    assert project.build().code == 0
    assert {path.name for path in folder.iterdir()} == names | {"toy-sums.csv", "toy-sums.json"}
    assert "A sum is soon done." in (folder / "toy.py").read_text(encoding="utf-8")
    assert (folder / "pictures.py").stat().st_mtime_ns == before
    (folder / "pictures.ipynb").unlink()
    assert project.build().code == 0
    assert (folder / "pictures.ipynb").exists()
    ran = project.run(str(folder / "toy.py"), MPLBACKEND="agg")
    assert ran.code == 0, ran.output


def test_a_mistyped_name_is_a_warning_and_no_crash(built_template):
    project = built_template.restored()
    project.edit("examples/start/toy.py", "A sum is quick.", "A sum is quick.\n#\n# .. results:: sumz")
    ran = project.build()
    assert ran.code == 1
    assert "no notebook of this page: KeyError('sumz')" in ran.output
    assert "Traceback" not in ran.output


def code_cells(notebook):
    read = nbformat.read(notebook, as_version=4)
    return [cell.source for cell in read.cells if cell.cell_type == "code"]


@BUILT
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_page_is_valid_has_its_kernels_and_no_markup(notebook):
    read = nbformat.read(notebook, as_version=4)
    nbformat.validate(read)
    words = "\n\n".join(cell.source for cell in read.cells if cell.cell_type == "markdown")
    assert markup_left(words) == []
    script = notebook.with_suffix(".py")
    # A page written by hand has no script.
    if script.exists():
        compile(script.read_text(encoding="utf-8"), script.name, "exec")
        (source,) = (ROOT / "examples").glob(f"*/{notebook.stem}.py")
        shown = re.findall(r"^#    :names: (.*)", source.read_text(encoding="utf-8"), re.MULTILINE)
        whole = "\n\n".join([words, *code_cells(notebook)])
        for name in re.findall(r"\w+", " ".join(shown)):
            assert re.search(rf"^(def {name}\(|class {name}\b|{name} = )", whole, re.MULTILINE), name


#: Needs CuPy alone, and says so: there is no package to skip its cells.
NEEDS_CUPY = "five_minutes"
#: Hides CuPy, measures briefly and small, and prints each cell that fails.
PROGRAM = """
import json, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

sys.modules.update(cupy=None, cupyx=None)
from IPython.core.interactiveshell import InteractiveShell
from gpuguide.measure.study import Study

run = Study.run
Study.run = lambda study, **_: run(study, quick=True, sizes=[n for n in study.sizes if n <= 2**24])
shell = InteractiveShell.instance(colors="nocolor")
at_first = list(shell.input_transformers_cleanup)
for notebook, cells in json.load(sys.stdin).items():
    shell.reset()
    shell.input_transformers_cleanup[:] = at_first
    for cell in cells:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            ran = shell.run_cell(cell)
        if not ran.success:
            print(f"{notebook}: {ran.error_before_exec or ran.error_in_exec!r} in:\\n{cell}\\n")
            break
"""


@BUILT
def test_every_notebook_runs_without_a_gpu(tmp_path):
    pytest.importorskip("IPython", reason="IPython is not installed here")
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps({path.stem: code_cells(path) for path in NOTEBOOKS if path.stem != NEEDS_CUPY}),
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
        env={**os.environ, "MPLBACKEND": "agg", "GPUGUIDE_PROGRESS": str(tmp_path / "progress.json")},
        cwd=tmp_path,
    )
    assert ran.stdout == ""


@BUILT
@pytest.mark.gpu
@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_notebook_runs_on_a_gpu(notebook, tmp_path):
    script = tmp_path / f"{notebook.stem}.py"
    script.write_text("\n\n".join(code_cells(notebook)), encoding="utf-8")
    environment = {**os.environ, "MPLBACKEND": "agg"}
    ran = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=170,
        env=environment,
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]


def test_no_text_of_the_guide_names_an_address_of_its_own():
    files = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CITATION.cff", "pyproject.toml")]
    files += [
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs").glob("[sp]*/*.md"),
        *(ROOT / "examples").rglob("*.py"),
    ]
    placeholder = re.compile(r"\.invalid\b|\bexample\.(org|com)\b|<the repository>|git clone")
    assert [path.name for path in files if placeholder.search(path.read_text(encoding="utf-8"))] == []
