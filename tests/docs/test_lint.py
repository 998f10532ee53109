"""What lint says of pages: a made page, and for each mistake an edit of it, the line and the words."""

from dataclasses import replace

import pytest
from small_site import PAGES, recording, write

from gpuguide.recordings.recording import FormerRun
from gpuguide_docs.lint import __main__ as command
from gpuguide_docs.lint.prose import markdown_paragraphs, rst_paragraphs
from gpuguide_docs.lint.rules import PageText, page_problems, recorded
from gpuguide_docs.replay.states import PageState
from gpuguide_docs.show import site

SCRIPT = '''"""
First page
==========

What is measured?
"""

# %%
# It takes :measured:`add[one, 2**20].time`, which is :measured:`add[one, 2**20].speedup(host)`.

# %%
# Steps
# -----

import numpy as np

print(np.ones(3))

# %%
# Slow, because threads wait. :evidence:`count
# waits` We think it is
# memory, because nothing else is left.

# record: The study
import gpuguide as gg

results = study().run()
gg.keep("x", results.items)

# %%
# :measured:`a` :measured:`b` :measured:`c`

# draw
gg.plot_time(results)
share = results.quantity("one", 4, "share")

# %%
# .. finding::
#
#    It takes :measured:`add[one, 2**20].time`.
#
# .. code-block:: python
#
#    wait("3 ms")
#
# .. exercise:: add_one
'''
LISTED = PAGES.replace("needs =", 'exercises = ["add_one"]\nneeds =', 1)
# Rule, edit, what stands on the line that is named (nothing for the whole page), and what is said.
MISTAKES = [
    (1, ("It takes", "It takes 3 ms or"), "It takes 3 ms", "typed time '3 ms'; write the role measured"),
    (1, ("   It takes :m", "   It is twice as\n#    fast :m"), "It is twice as", "'twice as fast'"),
    (1, ("`a` :", "`a` in 5 us, :"), ":measured:`a`", "'5 us'"),
    (2, (" :evidence:`count\n# waits`", ""), "# Slow,", "'Slow, because threads wait.'"),
    (2, ("We think it is", "It is"), "It is", "'It is memory, because nothing else is left.'"),
    (3, (".. finding::", ".. note::"), "# draw", "a chart without its finding"),
    (3, ("share = ", "\n# %%\n\n# draw\nplt.plot(share)\nshare = "), "# draw", "a chart without its finding"),
    (4, (" :measured:`c`", ""), "", "5 measured numbers"),
    (
        5,
        ("import numpy as np\n", "import gpuguide as np\n"),
        "import gpuguide",
        "the first code uses gpuguide",
    ),
    (5, ("import numpy as np\n", ""), "print", "the first code imports nothing"),
    (6, (".. exercise:: add_one", ""), "", "exercise 'add_one' of the entry is not shown"),
    (6, (".. exercise:: add_one", ".. exercise:: two"), ".. exercise:: two", "'two' is not in the entry"),
    (8, ("results.items", "results.quantity('one', 4)"), "gg.keep", "'results.quantity(' in a recorded cell"),
    (8, ("results.items", "cell.median_s"), "gg.keep", "'cell.median_s'"),
    (8, ("gg.keep", "gg.claim"), "gg.claim", "'gg.claim'"),
    (8, ("results.items", "gg.machine_ceilings().get('copy')"), "gg.keep", "ceilings().get("),
    (8, ("import gpuguide as gg", "from gpuguide.results import units"), "from gpuguide", "gpuguide.results"),
    (8, ("print(np.ones(3))", "time.perf_counter()"), "import numpy", "let a study or gg.benchmark"),
]


def problems(tmp_path, script, kind="tutorial", exercises=("add_one",), name="first.py"):
    path = tmp_path / name
    path.write_text(script, encoding="utf-8")
    return page_problems(PageText.read(kind, path, exercises))


def test_a_good_page_has_no_problems(tmp_path):
    assert problems(tmp_path, SCRIPT) == []


@pytest.mark.parametrize(("_rule", "edit", "line", "words"), MISTAKES)
def test_a_mistake_is_named_with_its_line(tmp_path, _rule, edit, line, words):
    assert edit[0] in SCRIPT
    script = SCRIPT.replace(*edit, 1)
    named = {problem.message: problem.line for problem in problems(tmp_path, script)}
    (number,) = [number for message, number in named.items() if words in message] or [named]
    assert line in script.split("\n")[number - 1] if line else number == 0


@pytest.mark.parametrize("code", ["x.get()", "held.share", "fact.value", "{c.mix: c.value for c in items}"])
def test_a_recorded_cell_may_read_data(tmp_path, code):
    assert problems(tmp_path, SCRIPT.replace("results.items", code)) == []


def test_a_page_that_is_no_lesson_needs_neither_numbers_nor_an_exercise(tmp_path):
    text = "# Install\n\nWhat now?\n\nSee {doc}`/glossary`.\n"
    assert problems(tmp_path, text, "how_to", (), "install.md") == []
    said = "\n".join(each.message for each in problems(tmp_path, text, "case", (), "case.md"))
    assert all(words in said for words in ("no exercise", "0 measured numbers", "no open code"))


RST = """Title
-----
Takes
``3 ms`` in code.

* one
* two

.. a comment of
   the author

.. dropdown:: More
   :open:

   Inside.

.. math::

   x = 5 s

Literal::

   6 s

Last.
"""
MARKDOWN = """\
---
kernelspec: {name: python3}
---
# Title

One
line.

```{exercise} add_one
```

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
"""


@pytest.mark.parametrize(
    ("read", "text", "paragraphs"),
    [
        (
            rst_paragraphs,
            RST,
            [
                (1, "Title"),
                (3, "Takes\n``3 ms`` in code."),
                (6, "* one"),
                (7, "* two"),
                (12, "More"),
                (15, "Inside."),
                (21, "Literal::"),
                (25, "Last."),
            ],
        ),
        (
            markdown_paragraphs,
            MARKDOWN,
            [(4, "# Title"), (6, "One\nline."), (9, "add_one"), (17, "Linux"), (18, "Do this.")],
        ),
    ],
)
def test_prose_is_read_without_code_and_comments(read, text, paragraphs):
    assert [(part.line, part.text) for part in read(text)] == paragraphs


STARTS = {
    ("current", 3, ""): (False, False, "current, 3 machine starts"),
    ("current", 1, ""): (True, True, "current, 1 machine start"),
    ("current", 1, "two more follow"): (True, False, "waits: two more follow"),
    ("current", 3, "two more follow"): (False, True, "take 'waits' out"),
    ("stale", 3, ""): (True, True, "out of date: cell 1 changed"),
    ("pending", 3, "no GPU"): (True, False, "waits: no GPU"),
    ("missing", 0, ""): (True, True, "never recorded"),
}


@pytest.mark.parametrize(("given", "expected"), STARTS.items())
def test_a_recording_is_current_on_three_starts_or_its_page_waits(tmp_path, given, expected):
    status, n_starts, reason = given
    made = recording(tmp_path)
    names = [replace(made.provenance, start=name) for name in "abc"[:n_starts]]
    runs = tuple(FormerRun(made.keys.measuring, each) for each in names[:-1])
    whole = replace(made, provenance=names[-1], runs=runs) if names else None
    state = PageState("first", status, whole, ("cell 1",) if status == "stale" else (), reason)
    needs_gpu, fails, words = expected
    answer = recorded(state, strict=True)
    assert (answer.needs_gpu, answer.fails) == (needs_gpu, fails)
    assert words in answer.words
    if "take" not in words:
        assert not recorded(state).fails


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Two pages, the first with a typed figure and the second not written, and what lies beside them."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    states = {name: PageState(name, "missing") for name in ("first", "second")}
    monkeypatch.setattr(site, "states_of", lambda _layout: states)
    return write(
        tmp_path,
        {
            "examples/pages.toml": LISTED,
            "examples/start/first.py": SCRIPT.replace("It takes", "It takes 3 ms or", 1),
            "README.md": "It is 12x faster.\n",
            "src/gpuguide/exercises/pool/one/task.md": "At most 30 %, 3 times each. It takes 3 ms.\n",
            "src/gpuguide/topics/toy.py": '"""Sorts in 3 ms.\n\n>>> wait("5 ms")\n"""\n',
            "src/gpuguide/topics/other/kernels.py": '"""Sorts."""\n\nx = 1  # 5 us\n',
        },
    )


def test_the_report_of_a_page_speaks_of_it_alone(project, capsys):
    assert command.main(["first"]) == 1
    printed = capsys.readouterr().out
    assert "line 9: typed time '3 ms'" in printed
    assert "never recorded" in printed
    assert "second" not in printed
    assert "Mend the problem above, then make check PAGE=first." in " ".join(printed.split())
    assert max(map(len, printed.splitlines())) <= 80


def test_a_page_without_mistakes_is_handed_in_unless_it_is_to_be_published(project, capsys):
    write(project.root, {"examples/pages.toml": LISTED, "examples/start/first.py": SCRIPT})
    assert command.main(["first"]) == 0
    assert "hand it in" in " ".join(capsys.readouterr().out.split())
    assert command.main(["first", "--strict"]) == 1
    assert 'make record PAGES="first"' in " ".join(capsys.readouterr().out.split())


def test_the_report_of_all_pages_names_what_lies_beside_them(project, capsys):
    assert command.main([]) == 1
    printed = capsys.readouterr().out
    for words in (
        "examples/start/second.py is missing",
        "README.md\n  line 1: typed speed-up '12x'",
        "task.md\n  line 1: typed time '3 ms'",
        "toy.py\n  line 1: typed time '3 ms'",
        "kernels.py\n  line 3: typed time '5 us'",
        "Mend the 6 problems above, then make check.",
    ):
        assert words in printed
    assert "30 %" not in printed
    assert "5 ms" not in printed


def test_a_page_that_no_longer_waits_is_to_be_mended(project, capsys, monkeypatch):
    write(project.root, {"examples/pages.toml": LISTED, "examples/start/first.py": SCRIPT})
    made = recording(project.root)
    starts = [FormerRun(made.keys.measuring, replace(made.provenance, start=name)) for name in "ab"]
    state = PageState("first", "current", replace(made, runs=tuple(starts)), reason="no GPU")
    monkeypatch.setattr(site, "states_of", lambda _layout: {"first": state})
    assert command.main(["first"]) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "take 'waits' out" in printed
    assert "Mend the problem above" in printed


def test_a_header_that_would_be_shown_as_text_is_said_without_a_traceback(project, capsys):
    script = SCRIPT.replace("\n\n# record: The study", "\n\n# %%\n# record: The study")
    write(project.root, {"examples/pages.toml": LISTED, "examples/start/first.py": script})
    assert command.main(["first"]) == 2
    assert "leave a line empty above it" in " ".join(capsys.readouterr().out.split())


def test_of_a_script_that_is_not_python_only_this_is_said(project, capsys):
    script = SCRIPT.replace("print(np.ones(3))", "print(np.ones(3)")
    write(project.root, {"examples/pages.toml": LISTED, "examples/start/first.py": script})
    assert command.main(["first"]) == 1
    printed = capsys.readouterr().out
    assert "line 17: this is not Python: '(' was never closed" in printed
    assert "Mend the problem above" in printed


def test_an_unknown_page_is_named_with_the_nearest(project, capsys):
    assert command.main(["frist"]) == 2
    assert "'first'" in capsys.readouterr().out
