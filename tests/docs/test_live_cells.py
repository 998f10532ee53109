"""Live cells of hand-written pages run when page or package changed; a failing one fails the build."""

import json
import re

import pytest
from mini_project import REPOSITORY, Project, Snapshot
from test_record_replay import assert_incremental_equals_clean, built_ok

LIVE = """\
---
file_format: mystnb
kernelspec:
  name: python3
---

# Live

A page whose code runs.

```{code-cell}
from gpuguide.topics.toy.study import answer

print("The answer is", end=" ")
print(answer())
```

```{code-cell}
answer() + 1
```
"""
CHART = """
```{code-cell}
---
mystnb:
  image:
    alt: A line.
---
import matplotlib.pyplot as plt
from gpuguide.charts.style import style

with style():
    plt.plot([1, 2], [answer(), 3])
None
```

:::{container} gg-byline
{download}`notebook </gallery/downloads/live.ipynb>`
:::

See {doc}`Quiet <quiet>`.
"""
QUIET = """\
# Quiet

A page whose code is only shown.

```python
print("not", "run")
```
"""


def with_live_page(project: Project) -> Project:
    """Give a project a live page and one that is not, with the settings of the guide's own conf.py."""
    settings = re.findall(r"^nb_.*$", (REPOSITORY / "conf.py").read_text(), re.MULTILINE)
    assert settings
    settings.append("myst_enable_extensions = ['colon_fence']\n")
    project.edit("conf.py", "'sphinx_gallery.gen_gallery', ", "'myst_nb', 'sphinx_gallery.gen_gallery', ")
    project.edit("conf.py", "html_theme", "\n".join(settings) + "html_theme")
    project.edit(
        "src/gpuguide/topics/toy/study.py", "import math\n", "import math\n\n\ndef answer():\n    return 41\n"
    )
    (project.layout.docs / "live.md").write_text(LIVE + CHART)
    (project.layout.docs / "quiet.md").write_text(QUIET)
    project.edit("docs/index.rst", "   other\n", "   other\n   live\n   quiet\n")
    return project


@pytest.fixture(scope="module")
def built_live(make_project) -> Snapshot:
    """A copy that is built once, by two processes."""
    project = with_live_page(make_project())
    ran = project.build("-j", "2")
    assert ran.code == 0, ran.output
    assert ran.output == ""
    return Snapshot.of(project)


@pytest.fixture
def project(built_live) -> Project:
    """It, to change and build again."""
    return built_live.restored()


def page(project: Project, name: str) -> str:
    return re.sub(r"<span[^>]*>|</span>", "", (project.html / f"{name}.html").read_text(encoding="utf-8"))


def test_a_live_page_shows_what_its_cells_print_and_come_to(built_live):
    html = page(built_live.kept, "live")
    assert "<pre>The answer is 41\n</pre>" in html
    assert "<pre>42\n</pre>" in html


def notebook(project: Project) -> list[tuple[str, str]]:
    path = project.layout.docs / "gallery" / "downloads" / "live.ipynb"
    made = json.loads(path.read_text(encoding="utf-8"))
    return [(cell["cell_type"], "".join(cell["source"])) for cell in made["cells"]]


def test_a_live_page_becomes_a_notebook_without_outputs(built_live):
    intro, title, first, second, chart, end = notebook(built_live.kept)
    assert "To run it you need no GPU" in intro[1]
    assert title == ("markdown", "# Live\n\nA page whose code runs.")
    assert (first[0], second) == ("code", ("code", "answer() + 1"))
    assert "The answer is 41" not in "".join(text for _, text in notebook(built_live.kept))
    assert chart[1].startswith("import matplotlib.pyplot as plt")
    assert end[1].startswith("See ")
    assert "notebook" not in end[1]
    html = (built_live.kept.html / "live.html").read_text(encoding="utf-8")
    assert re.search(r'href="_downloads/\w+/live\.ipynb"', html)


def test_a_chart_of_a_live_page_has_a_dark_twin(built_live):
    project = built_live.kept
    html = (project.html / "live.html").read_text(encoding="utf-8")
    light, dark = re.findall(r'<img alt="A line\." class="recorded-figure only-\w+"[^>]* src="([^"]+)"', html)
    assert "#0060b9" in (project.html / light).read_text()
    assert "#5aa9f5" in (project.html / dark).read_text()


def test_code_of_other_pages_is_not_run(built_live):
    assert "not run" not in page(built_live.kept, "quiet")
    assert [path.stem for path in (built_live.kept.layout.build / "jupyter_execute").rglob("*.ipynb")] == [
        "live"
    ]


def test_edited_modules_and_cells_run_the_page_again_and_it_equals_a_clean_build(project):
    project.edit("src/gpuguide/topics/toy/study.py", "return 41", "return 6")
    built_ok(project)
    assert "<pre>The answer is 6\n</pre>" in page(project, "live")
    assert "<pre>7\n</pre>" in page(project, "live")
    # A kernel that was asked to end now and then aborts in libzmq, and says so on the terminal.
    at_end = "import atexit, os; told = atexit.register(os.write, 2, b'ended'); answer() + 2"
    project.edit("docs/live.md", "answer() + 1", at_end)
    project.edit("docs/live.md", "{download}`notebook </gallery/downloads/live.ipynb>`", "No notebook.")
    ran = project.build()
    assert (ran.code, ran.output) == (0, "")
    assert "<pre>8\n</pre>" in page(project, "live")
    downloads = project.layout.docs / "gallery" / "downloads"
    assert (downloads / "toy.ipynb").exists()
    assert not (downloads / "live.ipynb").exists(), "it goes with its link"
    assert_incremental_equals_clean(project)


def test_an_unchanged_build_runs_nothing(project):
    made = project.layout.build / "jupyter_execute" / "live.ipynb"
    before = made.stat().st_mtime_ns
    built_ok(project)
    assert made.stat().st_mtime_ns == before


def test_a_cell_that_raises_is_reported_by_each_build(project):
    project.edit("src/gpuguide/topics/toy/study.py", "return 41", "raise ValueError('no answer')")
    # Without -W, Sphinx keeps what it read, and the page must be read again all the same.
    for strict in (True, False):
        ran = project.build("-j", "2", strict=strict)
        assert (ran.code != 0) == strict
        assert re.search(r"docs/live\.md: WARNING: Executing notebook failed: CellExecutionError", ran.output)
        assert "no answer" in ran.output


def test_cells_that_take_too_long_that_warn_and_that_do_not_run_fail_the_build(project):
    project.edit("conf.py", "nb_execution_timeout = 60", "nb_execution_timeout = 1")
    warns = "import warnings; warnings.warn('beware')"
    project.edit(
        "docs/live.md", "answer() + 1\n", f"{warns}\n```\n\n```{{code-cell}}\nimport time; time.sleep(30)\n"
    )
    project.edit("docs/quiet.md", "```python", "```{code-cell}")
    ran = project.build()
    assert ran.code != 0
    assert re.search(r"docs/live\.md:\d+: WARNING: .*stderr", ran.output)
    assert re.search(r"docs/live\.md: WARNING: Executing notebook failed: CellTimeoutError", ran.output)
    assert re.search(r"docs/quiet\.md:\d+: WARNING: .*code-cell", ran.output)


def test_what_the_user_set_ipython_up_to_do_is_left_out(project, tmp_path):
    startup = tmp_path / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00-mine.py").write_text(
        "from builtins import print as say\nprint = lambda *a, **k: say('mine')\n"
    )
    project.edit("docs/live.md", "answer() + 1", "answer() + 2")
    ran = project.run(
        "-m", "sphinx", "-q", "-c", ".", "-d", "docs/_build/doctrees", "docs", "docs/_build/html",
        IPYTHONDIR=str(tmp_path),
    )  # fmt: skip
    assert ran.code == 0, ran.output
    assert "<pre>The answer is 41\n</pre>" in page(project, "live")
