"""Downloads: each page as a notebook and a script that are complete and run, without markup."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from mini_project import MACHINE

from gpuguide.exercises import pool, progress
from gpuguide_docs.downloads.cells import exercise_cells, page_cells
from gpuguide_docs.downloads.downloads import DOWNLOADS
from gpuguide_docs.downloads.notebook import script_text
from gpuguide_docs.show.site import Site

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed here")

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / DOWNLOADS).glob("*.ipynb"))
BUILT = pytest.mark.skipif(not NOTEBOOKS, reason="the notebooks are not written: run make html first")
URL = "https://guide.example"


@pytest.fixture(scope="module")
def notebook(built):
    """The miniature page that uses every role and directive, as a notebook."""
    return nbformat.read(built.layout.docs / DOWNLOADS / "pictures.ipynb", as_version=4)


def text_of(cells):
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def code_of(cells):
    return [cell.source for cell in cells if cell.cell_type == "code"]


def code_to_run(path):
    """What a notebook runs once the package is installed, as it is here."""
    code = code_of(nbformat.read(path, as_version=4).cells)
    return [cell for cell in code if "\n%pip install" not in cell]


def text(project, url=URL, **changes):
    """What the miniature page `toy` is in words."""
    guide = Site(project.layout)
    cells = page_cells(guide, replace(guide.page("toy"), **changes), url)
    return "\n\n".join(cell.text for cell in cells if cell.kind == "markdown")


def markup_left(words):
    """Roles and directives in a text."""
    words = re.sub(r"```.*?```|``.*?``", "", words, flags=re.DOTALL)
    return re.findall(r":[a-z:]+:`[^`]*`|^\s*\.\. [a-z_-]+::?.*$|`[^`]*`_\b", words, flags=re.MULTILINE)


WRITTEN_OUT = (
    "21 November 2026 (run 2026-11-21-c0ffee). Yours will differ.",
    "## Two halves\nFewer conflicts.\n",
    "*Measured: 200 µs for 2¹⁶ elements; 2.0× over dot.*",
    "``warp`` and [a warp elsewhere](https://warp.example), 84 *two\nwarps*",
    f"See [other]({URL}/other.html).",
    "Nobody knows. [not tested] Not 10 times; a\nreading takes 0.2 s, and 2<sup>20</sup> steps.",
    "> **Drawing.** Two boxes\n> and a wire.",
    "The product takes 400 µs.",
    "*Foretold*\n\n| predicted | measured |\n| --- | --- |\n| much | 42 |",
    "| a | b |\n| --- | --- |\n| one, two | 84 |",
    "> **Note.** Mind the gap.",
    "> **Try it.** Replace ``1`` with *two*.",
    "> **Remember.** - Multiply: it takes 400 µs.",
    "### Exercise: Add one\n\n*beginner, 5 minutes, checked without a GPU*",
    "<details><summary>Hint 1</summary>\n\nLook at `x`.\n\n</details>",
    'mine = toy.study().with_variant("mine", launch)',
)


def test_text_is_written_out(notebook):
    text = text_of(notebook.cells)
    assert [words for words in WRITTEN_OUT if words not in text] == []


def test_the_notebook_is_valid_and_without_markup_and_the_script_is_python(notebook, built):
    nbformat.validate(notebook)
    assert markup_left(text_of(notebook.cells)) == []
    script = (built.layout.docs / DOWNLOADS / "pictures.py").read_text(encoding="utf-8")
    ast.parse(script)
    assert script.endswith("# %%\nplt.show()\n")


def test_a_headline_is_bold_and_what_the_text_draws_is_left_out(notebook):
    assert "**The product takes 400 µs**" in text_of(notebook.cells)
    whole = "".join(cell.source for cell in notebook.cells)
    assert [code for code in ("np.arange(3)", "plt.plot([0", "thumbnail") if code in whole] == []


def test_a_kernel_is_a_cell_that_no_later_cell_imports_anew(notebook):
    code = code_of(notebook.cells)
    kernel = next(at for at, cell in enumerate(code) if "def halves" in cell)
    assert code[kernel].startswith("import numpy as np\n\n\nPARTS = 2\n\n\ndef halves(x, out):")
    assert code[kernel + 1].startswith("import math\n\nprint(halves(")
    assert any(cell.startswith("# The study\nfrom gpuguide.topics.toy.kernels import") for cell in code)
    assert any(cell.startswith("from gpuguide.measure.session import current\n\nfacts =") for cell in code)


def test_a_kernel_whose_name_the_page_uses_otherwise_is_text(notebook):
    assert not any("def half(" in cell for cell in code_of(notebook.cells))
    assert "**Another kernel**\n\n```python\n@cuda.jit\ndef half(x):" in text_of(notebook.cells)


def test_an_exercise_becomes_a_cell_to_edit_and_one_to_run(notebook):
    start, check = code_of(notebook.cells)[-3:-1]
    assert start.startswith("from numba import cuda\n\n\n@cuda.jit\ndef add_kernel(x, out):")
    assert check.endswith('gpuguide.exercises.check("add_one", add_kernel)')


def test_the_first_cell_says_how_to_install(built):
    needs = Site(built.layout).page("toy").needs
    assert "you need no GPU, only the package, which the first cell installs" in text(built)
    assert "you need 2 NVIDIA GPUs" in text(built, needs=replace(needs, gpus=2))
    one = replace(needs, gpus=1)
    assert re.search(
        rf'"gpuguide\[cuda13\] @ {URL}/_static/wheels/gpuguide-[\d.]+-py3', text(built, needs=one)
    )
    plain = text(built, url="", needs=one)
    (wheel,) = re.findall(r"Download `(gpuguide-[\d.]+-py3-none-any\.whl)`", plain)
    assert f'pip install "./{wheel}[cuda13]"' in plain
    assert URL not in plain


def test_a_site_with_an_address_installs_first(notebook, built):
    wheel = rf'"gpuguide @ {URL}/_static/wheels/gpuguide-[\d.]+-py3-none-any\.whl"'
    assert re.search(rf"^%pip install --quiet {wheel}$", notebook.cells[0].source, re.MULTILINE)
    script = (built.layout.docs / DOWNLOADS / "pictures.py").read_text(encoding="utf-8")
    assert re.match(rf"# %%\n# First: pip install {wheel}\n", script)
    guide = Site(built.layout)
    assert "%pip" not in "".join(cell.text for cell in page_cells(guide, guide.page("toy"), ""))


def test_a_page_that_does_without_the_package_asks_for_cupy_alone(recordable):
    guide = Site(recordable.layout)
    page = guide.page("toy")
    page.script(guide.layout).write_text('"""\nFirst\n=====\n"""\n\nimport cupy as cp\n', encoding="utf-8")
    intro, title, code = page_cells(guide, page, URL)
    assert 'pip install "cupy-cuda13x[ctk]"' in intro.text
    assert (title.text, code.text) == ("# First", "import cupy as cp")


def test_a_page_without_recording_says_so(recordable):
    shutil.rmtree(recordable.layout.recorded / MACHINE)
    assert "Its code has not been measured yet" in text(recordable)
    assert "*NumPy* needs not measured yet of it" in text(recordable)


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


def test_a_notebook_can_do_without_solutions():
    assert "Solution" in exercise_cells("guard")[-1].text
    assert "Solution" not in exercise_cells("guard", solutions=False)[-1].text


def test_a_page_that_is_read_again_is_written_again_and_no_other(built_template):
    project = built_template.restored()
    folder = project.layout.docs / DOWNLOADS
    names = {f"{stem}.{kind}" for stem in ("toy", "pictures") for kind in ("ipynb", "py")} | {"live.ipynb"}
    names |= {f"{page}-sums.{kind}" for page in ("toy", "pictures") for kind in ("csv", "json")}
    assert {path.name for path in folder.iterdir()} == names
    before = (folder / "pictures.py").stat().st_mtime_ns
    project.edit("examples/start/toy.py", "More.", "A sum is soon done.")
    (folder / "old.py").touch()
    (folder / "toy.ipynb").unlink()
    assert project.build().code == 0
    assert {path.name for path in folder.iterdir()} == names
    assert "A sum is soon done." in (folder / "toy.py").read_text(encoding="utf-8")
    assert (folder / "pictures.py").stat().st_mtime_ns == before
    (folder / "pictures.ipynb").unlink()
    assert project.build().code == 0
    assert (folder / "pictures.ipynb").exists()
    ran = project.run(str(folder / "toy.py"), MPLBACKEND="agg")
    assert ran.code == 0, ran.output


def test_a_course_that_takes_too_long_is_a_warning(built_template):
    project = built_template.restored()
    project.edit("docs/other.rst", "syllabus:: 90", "syllabus:: 20")
    ran = project.build()
    assert ran.code == 1
    assert re.search(r"other\.rst:\d+: WARNING: this syllabus takes \d+ minutes, and has 20", ran.output)


def test_a_mistyped_name_is_a_warning_and_no_crash(built_template):
    project = built_template.restored()
    project.edit("examples/start/toy.py", "More.", "More.\n#\n# .. rung:: halvs")
    ran = project.build()
    assert ran.code == 1
    assert "no notebook of this page: UnknownNameError" in ran.output
    assert "Traceback" not in ran.output


@BUILT
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_page_is_valid_has_its_kernels_and_no_markup(path):
    read = nbformat.read(path, as_version=4)
    nbformat.validate(read)
    words = text_of(read.cells)
    assert markup_left(words) == []
    script = path.with_suffix(".py")
    # A page written by hand has no script.
    if script.exists():
        compile(script.read_text(encoding="utf-8"), script.name, "exec")
        (source,) = (ROOT / "examples").glob(f"*/{path.stem}.py")
        shown = re.findall(r"^#    :names: (.*)", source.read_text(encoding="utf-8"), re.MULTILINE)
        whole = "\n\n".join([words, *code_of(read.cells)])
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
        input=json.dumps({path.stem: code_to_run(path) for path in NOTEBOOKS if path.stem != NEEDS_CUPY}),
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
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_notebook_runs_on_a_gpu(path, tmp_path):
    script = tmp_path / f"{path.stem}.py"
    script.write_text("\n\n".join(code_to_run(path)), encoding="utf-8")
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
