"""A page as the contract sees it: title, prose, roles, directives and code, each with its line."""

from pathlib import Path

import pytest
from small_site import build, generated, recording, write
from tiny_pool import use_pool

from gpuguide_docs.contract.page_source import Documents
from gpuguide_docs.contract.typed_figures import find_typed_figures
from gpuguide_docs.replay.states import PageState

# MyST's own, when it resolves a link.
pytestmark = pytest.mark.filterwarnings("ignore:.*MystReferenceResolver.app.*is deprecated")

MYST = """\
---
file_format: mystnb
kernelspec: {name: python3, display_name: Python 3}
---
# Second page

And
then?

One line: {term}`warps <warp>` and *em* [a link](x.md),
`code` and {measured}`first:first_call`, typed 1 ms.

- an item {measured}`first:sample[numba, 2**20].time`

```{install-command} cuda13
```

:::{note}
Beware of {doc}`/glossary`, typed 2 ms.
:::

```python
x = 1  # 3 ms
```

::::{tab-set}
:::{tab-item} Linux
Do this.
```console
$ ls
```
:::
::::

## Two

As {rule}`5 ms`, not 4 ms.

```{exercise} add_one
```

```{code-cell}
y = 2
```
"""

SCRIPT = '''"""
First page
==========

What's measured?
"""

# %%
# Slow: 1 ms
# ----------
#
# Takes :measured:`sample[numba,
# 2**20].time` and ``2 ms`` in code, `5 ms <https://a.b>`_ in a link. See :doc:`3 ms </glossary>`
# and the :term:`warp`; :claimed:`s2_speedup`.
#
# .. code-block:: python
#
#    sleep  # 7 ms

x = 1

# %%
# .. finding::
#
#    Typed: 9 ms. The kernel takes
#    :measured:`first_call`, no more.
#
# .. kernel:: gpuguide.topics.toy
#    :names: add_one, study
#
# .. list-table::
#
#    * - predicted
#      - 11 ms
#
# Literal::
#
#    12 ms
#
# .. drawing:: host
#
#    Thirteen boxes, 13 ms.

# draw
gg.claim("It holds", results, bool)

# %%
# Onwards
# -------
# More :measured:`first_cal`.
'''


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The first page, from a script, and the second, written in MyST."""
    root = tmp_path_factory.mktemp("sources")
    files = {
        "examples/start/first.py": SCRIPT,
        "docs/gallery/start/second.md": MYST,
        "docs/glossary.md": "# Glossary\n\n:::{glossary}\nwarp\n  32.\n\nShared memory\n  Fast.\n:::\n",
        **{f"docs/_static/drawings/{name}.svg": "<svg/>" for name in ("host", "host-dark")},
    }
    layout = write(root, files)
    script = layout.examples / "start" / "first.py"
    files["docs/gallery/start/first.rst"] = generated(script)
    modules = ("exercises", "install_command")
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_pool(monkeypatch, root / "pool")
        app, _ = build(
            root,
            files,
            {"first": PageState("first", "current", recording(root))},
            monkeypatch,
            more=("myst_nb", "sphinx_design", *(f"gpuguide_docs.show.{name}" for name in modules)),
            root_doc="glossary",
            myst_enable_extensions=["colon_fence"],
            nb_execution_mode="off",
        )
    documents = Documents(app.env, layout)
    script_source = documents.named("gallery/start/first", Path(script))
    return script_source, documents.named("gallery/start/second"), documents


@pytest.fixture
def script(sources):
    return sources[0]


@pytest.fixture
def myst(sources):
    return sources[1]


def lines(passages):
    return [(passage.text, passage.line) for passage in passages]


def uses(source):
    return [(use.kind, use.key, use.line) for use in source.uses]


def figures(source):
    return [(figure.line, figure.text) for figure in find_typed_figures(source.figures)]


def test_a_script_is_read_with_its_own_lines(script):
    assert (script.title, script.question) == ("First page", "What's measured?")
    assert lines(script.headings) == [("Slow: 1 ms", 9), ("Onwards", 48)]
    assert lines(script.paragraphs) == [
        ("Takes N and in code, 5 ms in a link. See 3 ms and the warp; N.", 12),
        ("Typed: 9 ms. The kernel takes N, no more.", 25),
        ("predicted", 33),
        ("11 ms", 34),
        ("Literal:", 36),
        ("More .", 50),
    ]


def test_roles_and_directives_of_a_script_have_their_lines(script):
    assert uses(script) == [
        ("measured", "sample[numba, 2**20].time", 12),
        ("doc", "/glossary", 13),
        ("term", "warp", 14),
        ("claimed", "s2_speedup", 14),
        ("finding", uses(script)[4][1], 23),
        ("measured", "first_call", 26),
        ("kernel", "gpuguide.topics.toy", 28),
        ("drawing", "host", 42),
        ("problem", uses(script)[8][1], 50),
    ]
    (kernel,) = script.of("kernel")
    assert kernel.node["names"] == ["add_one", "study"]
    assert "Did you mean 'first_call'" in script.of("problem")[0].key


def test_cells_of_a_script_are_known(script):
    assert [(use.cell.kind, use.shown_as) for use in script.code] == [
        ("recorded", "code"),
        ("drawn", "stated"),
    ]


def test_typed_figures_of_a_script_are_those_of_its_prose(script):
    assert figures(script) == [(9, "1 ms"), (13, "5 ms"), (25, "9 ms"), (34, "11 ms"), (42, "13 ms")]


def test_a_page_written_by_hand_is_read_with_its_lines(myst):
    assert (myst.title, myst.question) == ("Second page", "And then?")
    assert lines(myst.headings) == [("Two", 35)]
    assert lines(myst.paragraphs) == [
        ("One line: warps and em a link, and N, typed 1 ms.", 10),
        ("an item N", 13),
        ("Beware of /glossary, typed 2 ms.", 19),
        ("Do this.", 28),
        ("As N, not 4 ms.", 37),
    ]
    assert uses(myst) == [
        ("term", "warp", 10),
        ("measured", "first:first_call", 11),
        ("measured", "first:sample[numba, 2**20].time", 13),
        ("doc", "/glossary", 19),
        ("rule", "5 ms", 37),
        ("exercise", "add_one", 39),
    ]
    assert figures(myst) == [(11, "1 ms"), (19, "2 ms"), (37, "4 ms")]


def test_code_of_a_page_written_by_hand_is_kept_where_it_is_python(myst):
    assert [(use.cell.content.strip(), use.cell.lineno) for use in myst.code] == [
        ("x = 1  # 3 ms", 23),
        ("y = 2", 43),
    ]


WAITING = '''"""
First page
==========

What's measured?
"""

# %%
# Takes :measured:`first_call`.
#
# .. checks:: sample
#
# .. results:: sample
'''


def test_what_a_page_says_while_it_waits_is_no_text_of_its_own(tmp_path, monkeypatch):
    """Each page that waits has the same sentence in the place of its tables."""
    layout = write(tmp_path, {"examples/start/first.py": WAITING})
    script = layout.examples / "start" / "first.py"
    app, _ = build(
        tmp_path,
        {"docs/index.rst": "Index\n=====\n", "docs/gallery/start/first.rst": generated(script)},
        {"first": PageState("first", "missing")},
        monkeypatch,
        more=("sphinx_design",),
    )
    document = app.env.get_doctree("gallery/start/first").astext()
    assert document.count("not measured yet: this page was never measured") == 3
    source = Documents(app.env, layout).named("gallery/start/first", script)
    assert lines(source.paragraphs) == [("Takes N.", 9)]
