"""Exercises on a page: what is shown, folded, linked, and what is refused."""

import re

import pytest
from small_site import build, page
from tiny_pool import use_pool

INDEX = """\
Index
=====

Do :ref:`exercise-add-one`.

.. toctree::

   gallery/start/first
"""
FIRST = """\
First page
==========

What is measured?

.. exercise:: add_one

"""
MORE = (
    "myst_parser",
    "gpuguide_docs.show.exercises",
)
LISTED = {
    "examples/pages.toml": """
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
exercises = ["add_one"]

[[page]]
section = "start"
name = "second"
title = "Second page"
question = "And then?"
kind = "how_to"
level = "beginner"
needs = { gpus = 0 }
objectives = ["Read on", "Stop"]
""",
    "examples/start/first.py": "",
}


def built(tmp_path, monkeypatch, files=None, site_url="", **changes):
    """The small site with the tiny pool; the warnings of its build."""
    use_pool(monkeypatch, tmp_path / "pool", **changes)
    pages = {"docs/index.rst": INDEX, "docs/gallery/start/first.rst": FIRST}
    files = {**LISTED, **pages, **(files or {})}
    return build(tmp_path, files, {}, monkeypatch, more=MORE, gpuguide_site_url=site_url)


def body(html):
    """What stands on a page between its title and its footer, without highlighting."""
    whole = html[html.index("<h1>") : html.index("sphinxsidebar")]
    return re.sub(r"</?span[^>]*>", "", whole).replace("&quot;", '"').replace("&#39;", "'")


def test_a_page_shows_task_start_and_how_to_check(tmp_path, monkeypatch):
    _, warnings = built(tmp_path, monkeypatch)
    assert warnings == ""
    html = body(page(tmp_path, "gallery/start/first"))
    for shown in (
        '<h3 class="rubric">Exercise: Add one<a class="headerlink reference internal" '
        'href="#exercise-add-one" title="Link to this exercise">#</a></h3>',
        '<p class="gg-exercise-about">beginner · 5 min · checked without a GPU</p>',
        "<p>Add <em>one</em> to each element. The kernel gets</p>",
        '<a class="reference external" href="https://why.example">why</a>',
        "out[cuda.grid(1)] = x[cuda.grid(1)] + 1  # is there such an element?",
        'gpuguide.exercises.check("add_one", add_kernel)',
        "$ gpuguide exercises start add_one\n$ gpuguide exercises check add_one",
    ):
        assert shown in html
    assert html.count("highlight-python") == 4


def test_hints_and_solution_are_folded_under_stable_names(tmp_path, monkeypatch):
    built(tmp_path, monkeypatch)
    html = body(page(tmp_path, "gallery/start/first"))
    folds = re.findall(
        r'<details class="gg-fold[^"]*">\s*<summary>\s*([^<]*)</summary>\s*<div[^>]* id="([^"]*)">', html
    )
    assert folds == [
        ("Hint 1", "exercise-add-one-hint-1"),
        ("Hint 2", "exercise-add-one-hint-2"),
        ("Solution", "exercise-add-one-solution"),
    ]
    solution = html[html.index('id="exercise-add-one-solution"') :]
    assert "if i &lt; out.size:" in solution[: solution.index("</details>")]


def test_another_page_links_the_exercise(tmp_path, monkeypatch):
    built(tmp_path, monkeypatch)
    assert 'href="gallery/start/first.html#exercise-add-one"' in page(tmp_path, "index")


def test_of_two_pages_that_show_an_exercise_its_own_is_linked(tmp_path, monkeypatch):
    """Another lesson may show it first."""
    listed = LISTED["examples/pages.toml"] + 'exercises = ["add_one"]\n'
    second = FIRST.replace("First page\n", "Second page\n=")
    files = {
        "examples/pages.toml": listed,
        "docs/gallery/start/second.rst": second,
        "examples/start/second.py": "",
    }
    _, warnings = built(tmp_path, monkeypatch, files, pages=("second", "first"))
    assert warnings == ""
    assert 'href="gallery/start/second.html#exercise-add-one"' in page(tmp_path, "index")
    for name in ("first", "second"):
        assert 'id="exercise-add-one"' in page(tmp_path, f"gallery/start/{name}")


def test_the_page_depends_on_the_files_of_the_exercise(tmp_path, monkeypatch):
    app, _ = built(tmp_path, monkeypatch)
    noted = {str(path) for path in app.env.dependencies["gallery/start/first"]}
    for name in ("exercise.py", "task.md", "start.py", "solution.py"):
        assert any(path.endswith(f"pool/add_one/{name}") for path in noted), name


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("add_one", "add_none", "exercise: Unknown exercise 'add_none'. Did you mean 'add_one' or"),
        (".. exercise:: add_one", ".. exercise:: add_one\n\n.. exercise:: add_one", "Duplicate ID"),
    ],
)
def test_what_a_page_gets_wrong_is_named(tmp_path, monkeypatch, old, new, message):
    files = {"docs/gallery/start/first.rst": FIRST.replace(old, new), "docs/index.rst": "Index\n=====\n"}
    app, warnings = built(tmp_path, monkeypatch, files)
    assert message in warnings
    if message.startswith("exercise"):
        assert "gallery/start/first" in app.env.reread_always, "else the next build would pass"


# The page of the pool ---------------------------------------------------------------------------------------

POOL = """\
Second page
===========

And then?

.. exercise-pool::

.. other-exercises::

.. install-command::

.. install-command:: cuda13
"""


def pool_page(tmp_path, monkeypatch, **changes):
    files = {"docs/gallery/start/second.rst": POOL, "examples/start/second.py": ""}
    _, warnings = built(tmp_path, monkeypatch, files, **changes)
    assert warnings == ""
    return body(page(tmp_path, "gallery/start/second"))


def test_the_pool_is_a_table_that_leads_to_each_exercise(tmp_path, monkeypatch):
    html = pool_page(tmp_path, monkeypatch)
    rows = re.findall(r'<tr class="(gg-level[^"]*)">(.*?)</tr>', html, flags=re.DOTALL)
    assert [names.replace("row-even", "").replace("row-odd", "").split() for names, _ in rows] == [
        ["gg-level-beginner", "gg-tag-grid"],
        ["gg-level-advanced", "gg-tag-shared-memory"],
    ]
    one, two = (" ".join(re.sub(r"<[^>]+>", " ", cells).split()) for _, cells in rows)
    assert one == "Add one It teaches one. beginner 5 First page"
    assert two == "Add two It teaches two. advanced 5 below"
    assert 'href="first.html#exercise-add-one"' in rows[0][1]
    assert 'href="#exercise-add-two"' in rows[1][1]


def test_what_no_page_shows_is_shown_whole(tmp_path, monkeypatch):
    html = pool_page(tmp_path, monkeypatch)
    assert re.findall(r'<div class="gg-exercise[^"]*" id="([^"]*)">', html) == ["exercise-add-two"]


def test_the_filters_wait_for_a_script(tmp_path, monkeypatch):
    html = pool_page(tmp_path, monkeypatch)
    form = html[html.index("<form") : html.index("</form>")]
    assert form.startswith('<form class="gg-filter" aria-label="Which exercises to list" hidden>')
    assert re.findall(r'<input type="checkbox" value="([^"]*)" checked>', form) == [
        "gg-level-beginner",
        "gg-level-advanced",
    ]
    assert re.findall(r'<option value="([^"]*)">([^<]*)<', form) == [
        ("", "everything"),
        ("gg-tag-grid", "grid"),
        ("gg-tag-shared-memory", "shared memory"),
    ]
    assert '<output class="gg-filter-count">2 of 2 exercises</output>' in form


def test_the_wheel_of_the_site_is_installed(tmp_path, monkeypatch):
    html = pool_page(tmp_path, monkeypatch, site_url="https://guide.example/")
    wheel = r"https://guide\.example/_static/wheels/gpuguide-[\d.]+-py3-none-any\.whl"
    assert re.search(rf'\$ pip install "gpuguide\[cuda13\] @ {wheel}"', html)
    assert "Download" not in html


def test_without_an_address_the_wheel_is_downloaded_and_installed(tmp_path, monkeypatch):
    html = pool_page(tmp_path, monkeypatch)
    (name,) = set(re.findall(r'href="\.\./\.\./_static/wheels/(gpuguide-[\d.]+-py3-none-any\.whl)"', html))
    assert f'pip install "./{name}"' in html
    assert set(re.findall(r"\w+://[\w.]+", html)) == {"https://why.example"}, "the link in the statement"
    assert re.search(r'\$ pip install "\./gpuguide-[\d.]+-py3-none-any\.whl"', html)
    assert re.search(r'\$ pip install "\./gpuguide-[\d.]+-py3-none-any\.whl\[cuda13\]"', html)
