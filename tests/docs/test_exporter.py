"""Downloads: complete notebooks and scripts, with nothing raw left in them."""

import ast
import importlib.util
import json
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from docutils import nodes
from small_site import PAGES, build, generated, recording, write
from tiny_pool import SOLUTION, START, use_pool

from gpuguide.recordings.recording import Stated
from gpuguide.results.records import ClaimResult, Fact
from gpuguide_docs.downloads import exporter
from gpuguide_docs.downloads.downloads import DOWNLOADS
from gpuguide_docs.downloads.exporter import export_page
from gpuguide_docs.downloads.markdown import ExportError, Piece
from gpuguide_docs.downloads.notebook import notebook_text, script_text
from gpuguide_docs.replay.outputs import Drawing
from gpuguide_docs.replay.states import PageState
from gpuguide_docs.show import site
from gpuguide_docs.show.site import Site

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed here")

from notebooks import NOT_BUILT, NOTEBOOKS  # noqa: E402

URL = "https://guide.example"
STATED = Stated({"twice": (("", Fact("twice", 2.0, "ratio")),)}, (ClaimResult("Numba wins", True),))
SCRIPT = '''"""
First page
==========

What is measured?
"""

# %%
# It takes :measured:`sample[numba, 2**20].time`, not :claimed:`s2_speedup`. See :doc:`second`,
# :doc:`the glossary </glossary>`, :term:`warps <warp>`, :func:`~gpuguide.measure.study.Study.run`,
# :ref:`sphx_glr_gallery_start_second.py`, `a link <https://a.example>`_ and ``code``: :math:`a_b * c`.

# %%
# The code
# --------
# Shown:
#
# .. kernel:: gpuguide.topics.toy
#    :names: add_one_kernel, add_one
#
# .. checks:: sample
#
# - one *item*
# - two
#
# .. drawing:: host
#
#    Two boxes.

from gpuguide.topics import toy

results = toy.study().run()

# %%
# A chart.

# draw
gg.plot_time(results, title=facts["first_call"].name)

# %%
# .. finding::
#
#    Numba takes :measured:`sample[numba, 2**20].time`.
#
# .. results:: sample
#
# .. dropdown:: Hint
#
#    Think of *2 * 3*.
#
# .. list-table::
#    :header-rows: 1
#
#    * - predicted
#      - measured
#    * - much
#      - :measured:`first_call`
#    * - drawn
#      - :measured:`twice`
#
# .. claims::
#
# .. note:: Mind the gap_.
#
# .. _gap: https://b.example
'''


HINT = "# .. dropdown:: Hint\n#\n#    Think of *2 * 3*.\n"
EXERCISE = "# .. exercise:: add_one\n"
#: Page -> its script; the first is measured, as are those of which the name does not say otherwise.
SCRIPTS = {
    "first": SCRIPT,
    "unmeasured": SCRIPT,
    "exercised": SCRIPT.replace(HINT, EXERCISE).replace("``code``", ":ref:`exercise-add-one`"),
    "quoting": SCRIPT.replace("``code``", ":measured:`first:first_call`"),
    "odd": SCRIPT.replace(".. note:: Mind", ".. sidebar:: Mind\n#\n#    Mind"),
}

OUTPUT = """
.. code-block:: none

    What the cell printed.

.. admonition:: Not measured
   :class: warning page-stale

   Why it waits.

"""


@dataclass(frozen=True)
class Small:
    """A site that was built, and its pages as Sphinx read them."""

    site: Site
    read: dict[str, nodes.document]
    warned: str

    def page(self, name: str = "first"):
        return self.site.page(name)


@pytest.fixture(scope="module")
def built_once(tmp_path_factory):
    """Four pages, read in one build."""
    root = tmp_path_factory.mktemp("exported")
    entry = PAGES.partition("[[page]]")[2].partition("[[page]]")[0]
    more = [f"[[page]]{entry}".replace('"first"', f'"{name}"') for name in [*SCRIPTS][1:]]
    home = 'exercises = ["add_one"]\n'
    listed = PAGES + "".join(each + (home if '"exercised"' in each else "") for each in more)
    files = {"examples/pages.toml": listed, "docs/gallery/start/second.rst": "Second\n======\n"}
    files |= {f"examples/start/{name}.py": text for name, text in SCRIPTS.items()}
    files |= {f"docs/_static/drawings/{name}.svg": "<svg/>" for name in ("host", "host-dark")}
    layout = write(root, files)
    files |= {
        f"docs/gallery/start/{name}.rst": generated(layout.examples / "start" / f"{name}.py", OUTPUT)
        for name in SCRIPTS
    }
    made = recording(root)
    spec = importlib.util.spec_from_file_location(
        "gpuguide.topics.toy", layout.source / "gpuguide/topics/toy.py"
    )
    toy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(toy)
    states = {name: PageState(name, "current", made) for name in SCRIPTS}
    states["unmeasured"] = PageState("unmeasured", "missing")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setitem(sys.modules, toy.__name__, toy)
        use_pool(monkeypatch, root / "pool", pages=("exercised",))
        app, warned = build(
            root,
            files,
            states,
            monkeypatch,
            more=("sphinx_design", "gpuguide_docs.show.exercises", "gpuguide_docs.downloads.downloads"),
            drawing=Drawing((), STATED),
            root_doc="gallery/start/second",
        )
        read = {name: app.env.get_doctree(f"gallery/start/{name}") for name in SCRIPTS}
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setitem(sys.modules, toy.__name__, toy)
        yield Small(Site(layout), read, warned), {**states, "second": PageState("second", "missing")}


@pytest.fixture
def small(built_once, monkeypatch, tmp_path):
    """The site; its pages know their recordings."""
    made, states = built_once
    monkeypatch.setattr(site, "states_of", lambda _layout: states)
    monkeypatch.setattr(site, "drawing_of", lambda _layout, _state: Drawing((), STATED))
    use_pool(monkeypatch, tmp_path / "pool", pages=("exercised",))
    return made


def cells(small, name="first"):
    return export_page(small.site, small.page(name), small.read[name], URL)


def text(small, name="first"):
    return "\n\n".join(cell.text for cell in cells(small, name) if cell.kind == "markdown")


def test_numbers_are_written_out_with_machine_and_date(small):
    words = text(small)
    where = "NVIDIA H200, one machine start, 21 November 2026 (run 2026-11-21-c0ffee)"
    assert f"The numbers in the text were measured on {where}." in words
    assert "It takes 6.0 µs, not 1000 times." in words
    assert "Numba takes 6.0 µs." in words


def test_links_lead_to_the_site(small):
    words = text(small)
    assert f"See [Second page]({URL}/gallery/start/second.html)" in words
    assert f"[the glossary]({URL}/glossary.html), warps, `run()`" in words
    assert "[a link](https://a.example) and `code`: $a_b * c$." in words
    assert "[gap](https://b.example)" in words


def test_directives_become_markdown(small):
    words = text(small)
    assert "## The code" in words
    assert "- one *item*\n- two" in words
    assert "*Drawing: Two boxes.*" in words
    assert "Hint**\n\nThink of *2 \\* 3*." in words
    assert "| predicted | measured |\n| --- | --- |\n| much | 410 ms |\n| drawn | 2.0× |" in words
    assert "- Numba wins: holds" in words
    assert "> **Note**" in words
    assert "<summary>Table: An invented study, NVIDIA H200, 21 November 2026</summary>" in words


def test_nothing_raw_is_left(small):
    assert no_markup_left(text(small)) == []


def no_markup_left(words):
    """Roles and directives in a text."""
    words = re.sub(r"```.*?```", "", words, flags=re.DOTALL)
    return re.findall(r":[a-z:]+:`[^`]*`|^\s*\.\. [a-z_-]+::?.*$|`[^`]*`_\b", words, flags=re.MULTILINE)


def test_code_cells_come_in_order_and_parse(small):
    code = [cell.text for cell in cells(small) if cell.kind == "code"]
    for each in code:
        ast.parse(each)
    assert code.pop(0).endswith("gpuguide.exercises.skip_without_gpu()")
    assert code[0].endswith("import gpuguide as gg")
    assert (
        "from gpuguide.topics.toy import WIDTH, decorate\n\n\n# Adds one.\n@decorate\ndef add_one_kernel"
        in code[1]
    )
    assert code[2].startswith(
        "from gpuguide.topics import toy\n\n# The study checks and times what it is handed"
    )
    assert code[2].endswith("""
results = toy.study(kernels={
    "add_one_kernel": add_one_kernel,
    "add_one": add_one,
}).run()""")
    assert code[3].startswith("from gpuguide.measure.session import current\n\nfacts = current().facts\n")
    assert "# draw" not in code[3]


def test_the_first_cell_installs_from_the_site(small):
    first = cells(small)[0].text
    wheel = rf"{URL}/_static/wheels/gpuguide-[\d.]+-py3-none-any\.whl"
    assert re.search(rf'pip install "gpuguide\[cuda13\] @ {wheel}"', first)
    assert "pip install gpuguide" not in first


def test_a_site_without_an_address_shows_none(small):
    made = export_page(small.site, small.page(), small.read["first"])
    wheel = re.search(
        r"Download `(gpuguide-[\d.]+-py3-none-any\.whl)` on the guide's page \*Install\*", made[0].text
    )
    assert f'pip install "./{wheel[1]}[cuda13]"' in made[0].text
    # The two that the page itself links.
    assert set(re.findall(r"\w+://[\w.]+", notebook_text(made, "first"))) == {
        "https://a.example",
        "https://b.example",
    }


def test_no_text_of_the_guide_names_an_address_of_its_own():
    root = Path(__file__).parents[2]
    files = [root / "README.md", root / "CONTRIBUTING.md", *(root / "docs").glob("*.md")]
    files += [path for folder in ("start", "practice") for path in (root / "docs" / folder).glob("*.md")]
    files += [*(root / "examples").rglob("*.py"), root / "CITATION.cff", root / "pyproject.toml"]
    assert len(files) > 20
    placeholder = re.compile(r"\.invalid\b|\bexample\.(org|com)\b|<the repository>|git clone")
    assert [path.name for path in files if placeholder.search(path.read_text(encoding="utf-8"))] == []


def test_the_notebook_is_valid_and_always_the_same(small):
    made = notebook_text(cells(small), "first")
    notebook = nbformat.reads(made, as_version=4)
    nbformat.validate(notebook)
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
    assert made == notebook_text(cells(small), "first")
    assert json.loads(made)["metadata"]["kernelspec"]["language"] == "python"


def test_the_script_is_python(small):
    script = script_text(cells(small))
    ast.parse(script)
    assert script.count("# %%") == len(cells(small)) + 1
    assert script.endswith("# %%\nplt.show()\n")


def test_what_has_no_form_is_an_error_that_names_it(small):
    with pytest.raises(ExportError, match="sidebar has no form in Markdown: 'Mind"):
        cells(small, "odd")
    assert "odd.rst: WARNING: no notebook of this page: sidebar has no form in Markdown" in small.warned


def test_what_only_the_site_shows_is_left_out(small):
    whole = "".join(cell.text for cell in cells(small))
    assert "What the cell printed" not in whole
    assert "Why it waits" not in whole
    assert "You will" not in whole
    assert whole.count("Two boxes.") == 1


def test_a_number_of_another_page_says_where_it_was_measured(small):
    assert "and 410 ms (NVIDIA H200, 21 November 2026): $a_b" in text(small, "quoting")


def test_the_build_writes_what_is_exported(small):
    folder = small.site.layout.docs / DOWNLOADS
    assert (folder / "first.py").read_text(encoding="utf-8") == script_text(
        export_page(small.site, small.page(), small.read["first"])
    )
    assert (folder / "first-sample.csv").read_text(encoding="utf-8").startswith("size,variant,")


def test_a_page_without_recording_says_so(small):
    words = text(small, "unmeasured")
    assert "It takes not measured yet" in words
    assert "Its code has not been measured yet" in words
    assert "NVIDIA" not in words.split("To run it")[0]


INSTALL = f'pip install "gpuguide @ {URL}/_static/wheels/gpuguide-'


def introduction(small, **changes):
    page = replace(small.page(), **changes)
    return export_page(small.site, page, small.read["first"], URL)[0].text


def test_a_reader_without_a_gpu_is_told_what_to_install_and_run(small):
    gpus = small.page().needs
    words = introduction(small, exercises=("guard",), needs=replace(gpus, gpus=1))
    assert "To run it you need an NVIDIA GPU and the package" in words
    assert "The exercise needs no GPU. Without one, install this, and run all cells; those" in words
    assert INSTALL in words.split("The exercise needs no GPU")[1]
    assert "The exercises need no GPU" in introduction(small, exercises=("guard", "map"))
    assert "no GPU" not in introduction(small, exercises=())
    assert "you need 2 NVIDIA GPUs" in introduction(small, needs=replace(gpus, gpus=2))


def test_a_page_that_does_without_the_package_asks_for_cupy_alone(small, monkeypatch):
    bare = [Piece("markdown", "By gpuguide."), Piece("code", "import cupy as cp")]
    monkeypatch.setattr(exporter, "pieces", lambda document: bare)
    intro, *body = export_page(small.site, small.page(), small.read["first"], URL)
    assert body == bare
    assert 'pip install "cupy-cuda13x[ctk]"' in intro.text
    assert INSTALL not in intro.text


def test_a_page_that_needs_no_gpu_says_so(small):
    words = introduction(small, needs=replace(small.page().needs, gpus=0))
    assert "To run it you need no GPU, only the package" in words
    assert INSTALL in words
    assert "NVIDIA GPU" not in words
    assert "cuda13" not in words


def exercise_part(small):
    """The cells from the exercise's task to its solution."""
    exported = cells(small, "exercised")
    first = next(i for i, cell in enumerate(exported) if cell.text.startswith("### Exercise"))
    last = next(i for i, cell in enumerate(exported) if cell.hidden)
    return exported[first : last + 1]


def test_an_exercise_becomes_cells_to_edit_and_to_run(small):
    task, start, check, first, second, solution = exercise_part(small)
    assert task.text.startswith(
        "### Exercise: Add one\n\n*beginner, 5 minutes, checked without a GPU*\n\nAdd *one* to each element."
    )
    assert "gpuguide exercises check add_one" in task.text
    assert start.text == START.strip()
    assert check.text == ('import gpuguide.exercises\n\ngpuguide.exercises.check("add_one", add_kernel)')
    assert first.text == "<details><summary>Hint 1</summary>\n\nLook at `x`.\n\n</details>"
    assert "<summary>Hint 2</summary>" in second.text
    assert solution.script == "# solution\n" + "\n".join(
        f"# {line}".rstrip() for line in SOLUTION.splitlines()
    )
    assert no_markup_left(text(small, "exercised")) == []


def test_the_solution_is_folded_away_and_takes_nobodys_place(small):
    made = nbformat.reads(notebook_text(cells(small, "exercised"), "first"), as_version=4)
    nbformat.validate(made)
    (solution,) = [cell for cell in made.cells if cell.metadata]
    assert solution.metadata == {"jupyter": {"source_hidden": True}}
    assert solution.source.startswith("# solution\n")
    namespace = {"add_kernel": "the reader's own"}
    exec(solution.source, namespace)
    assert namespace["add_kernel"] == "the reader's own"
    shown = solution.source.replace("if False:", "if True:")
    assert "add_kernel" in {node.name for node in ast.walk(ast.parse(shown)) if hasattr(node, "name")}


def test_the_script_has_hints_and_solution_as_comments(small):
    script = script_text(cells(small, "exercised"))
    names = [node.name for node in ast.parse(script).body if isinstance(node, ast.FunctionDef)]
    assert names.count("add_kernel") == 1, "the start, and not the solution"
    assert "# %%\n# solution\n# from numba import cuda\n" in script
    assert "# <details><summary>Hint 1</summary>" in script
    assert 'print(gpuguide.exercises.check("add_one", add_kernel))' in script


def test_an_exercise_links_to_where_it_stands(small):
    link = f"[Add one]({URL}/gallery/start/exercised.html#exercise-add-one)"
    assert link in text(small, "exercised")


SHOWN = """# The study runs.
#
# .. kernel:: gpuguide.topics.toy.study
#    :names: sum_numpy
"""


def test_a_download_runs_and_a_wrong_kernel_in_it_is_caught(project):
    project.edit("examples/start/toy.py", "# The study runs.\n", SHOWN)
    ran = project.build()
    assert ran.code == 0, ran.output
    script = project.layout.docs / DOWNLOADS / "toy.py"
    ran = project.run(str(script), MPLBACKEND="agg")
    assert ran.code == 0, ran.output
    script.write_text(script.read_text(encoding="utf-8").replace("x.sum()", "x.sum() + 1"), encoding="utf-8")
    ran = project.run(str(script), MPLBACKEND="agg")
    assert ran.code == 1
    assert "MismatchError" in ran.output


def test_the_notebook_of_a_page_has_the_cells_of_its_script(built):
    folder = built.layout.docs / DOWNLOADS
    read = nbformat.read(folder / "toy.ipynb", as_version=4)
    code = [cell.source for cell in read.cells if cell.cell_type == "code"]
    script = (folder / "toy.py").read_text(encoding="utf-8")
    assert len(code) == 5
    assert all(each in script for each in code)


def test_a_page_that_is_read_again_is_written_again_and_no_other(built_template):
    project = built_template.restored()
    folder = project.layout.docs / DOWNLOADS
    names = {path.name for path in folder.iterdir()}
    assert names >= {"toy.ipynb", "toy.py", "toy-sums.csv", "toy-sums.json", "pictures.ipynb", "pictures.py"}
    before = (folder / "pictures.py").stat().st_mtime_ns
    project.edit("examples/start/toy.py", "A sum is quick.", "A sum is soon done.")
    (folder / "old.py").touch()
    (folder / "toy.ipynb").unlink()
    assert project.build().code == 0
    assert {path.name for path in folder.iterdir()} == names
    assert "A sum is soon done." in (folder / "toy.py").read_text(encoding="utf-8")
    assert (folder / "pictures.py").stat().st_mtime_ns == before
    (folder / "pictures.ipynb").unlink()
    assert project.build().code == 0
    assert (folder / "pictures.ipynb").exists()


@pytest.mark.skipif(not NOTEBOOKS, reason=NOT_BUILT)
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_page_exports_without_a_role_or_directive(notebook):
    read = nbformat.read(notebook, as_version=4)
    nbformat.validate(read)
    words = "\n\n".join(cell.source for cell in read.cells if cell.cell_type == "markdown")
    assert no_markup_left(words) == []
    # A page written by hand has no script.
    if not (notebook.parents[2] / f"{notebook.stem}.md").exists():
        ast.parse(notebook.with_suffix(".py").read_text(encoding="utf-8"))
