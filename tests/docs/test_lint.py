"""What lint says of pages: a page, and for each mistake an edit of it, the line and the words."""

from dataclasses import replace

import pytest
from mini_project import MACHINE, Project

from gpuguide.recordings import harness, store
from gpuguide.recordings.recording import Run
from gpuguide_docs.lint import __main__ as command
from gpuguide_docs.lint.figures import find_typed_figures
from gpuguide_docs.lint.prose import markdown_paragraphs, rst_paragraphs
from gpuguide_docs.lint.rules import PageText, page_problems, recorded, typed_figures
from gpuguide_docs.replay.states import PageState

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
#
# .. headline:: Larger is slower

# draw
gg.plot_time(results)
share = results.quantity("one", 4, "share")

# %%
# .. note::
#
#    It takes :measured:`add[one, 2**20].time`.
#
# .. code-block:: python
#
#    wait("3 ms")
#
# .. exercise:: add_one
'''
# Rule, edit, what stands on the line that is named (nothing for the whole page), and what is said.
MISTAKES = [
    (1, ("It takes", "It takes 3 ms or"), "It takes 3 ms", "typed time '3 ms'; write the role measured"),
    (1, ("   It takes :m", "   It is twice as\n#    fast :m"), "It is twice as", "'twice as fast'"),
    (1, ("`a` :", "`a` in 5 us, :"), ":measured:`a`", "'5 us'"),
    (2, (" :evidence:`count\n# waits`", ""), "# Slow,", "'Slow, because threads wait.'"),
    (2, ("We think it is", "It is"), "It is", "'It is memory, because nothing else is left.'"),
    (3, (".. headline::", ".. hint::"), "# draw", "a chart without its head"),
    (3, ("share = ", "\n# %%\n\n# draw\nplt.plot(share)\nshare = "), "# draw", "a chart without its head"),
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


CAUGHT = """\
time | The launch takes 3.5 µs.
time | The launch takes 3.5 us of host time.
time | The first call needs 0.41 s.
time | It is done in 12 seconds.
time | It needs five seconds to run.
time | This may take half a second.
time | It takes a second to start.
time | A few runs later it took twenty-three milliseconds.
time | The build lasts about a minute.
speed-up | On this machine the sort is twice as fast.
speed-up | The kernel runs 1.7x faster than CuPy.
speed-up | The GPU wins 152 times.
speed-up | It is a hundred times faster than the loop.
speed-up | The speed-up is 12× at this size.
speed-up | An 8-fold gain is left.
speed-up | A tenfold gain waits behind one line.
speed-up | Two orders of magnitude separate them.
speed-up | We see a speed-up of 40 here.
speed-up | The times differ by a factor of 30.
speed-up | Four elements a thread doubles the bandwidth.
speed-up | Pinned memory halves the time.
fraction | It takes half the time of the loop.
fraction | The kernel reaches a third of the peak.
fraction | Copies make up three quarters of the total time.
fraction | It runs half as fast on one thread.
percentage | It reaches 59 % of the copy rate.
percentage | The copy costs eight per cent more.
rate | A device copy moves 4.2 TB/s.
rate | The FMA kernel executes 29.9 TFLOP/s.
rate | It reads 4,260 gigabytes per second.
rate | It sorts 300 million keys per second.
energy | One pass costs 12 J.
energy | The board draws 650 W while sorting.
"""
PASSED = """\
We launch 256 threads in each block.
A 32x32 tile of float32 lies in shared memory.
The page needs 1 GPU and 4 GB of memory.
A float64 takes 8 bytes; three arrays take 24 bytes an element.
The H200 has 132 SMs. L2 holds 60 MB on this GPU.
The loop runs four times, and each element is read twice and written once.
The kernel is launched 100 times in one graph. The result equals 2 everywhere.
Sizes run from 10^3 to 10^9. Two copies, one kernel, one copy back.
The 95 % interval of the median is shown.
A 95% confidence interval comes from order statistics.
The second run is faster than the first.
Add them up in a second launch.
On 8 February 2022 the workshop was held.
Half of the threads do nothing. Most of the time goes into copies.
Multiply by a factor that the launcher works out. The factor is the size of the block.
The third block starts at element 512. Open the 2nd tab and run the 3rd cell.
An order of operations that suits the cache.
A 64-bit integer does not overflow here. The 1-D grid becomes a 2-D grid.
"""


@pytest.mark.parametrize(("kind", "line"), [line.split(" | ") for line in CAUGHT.splitlines()])
def test_a_typed_figure_is_caught(kind, line):
    assert [found.kind for found in find_typed_figures(line)] == [kind]


@pytest.mark.parametrize("line", PASSED.splitlines())
def test_what_was_not_measured_passes(line):
    assert find_typed_figures(line) == []


def test_a_figure_may_stand_on_two_lines_and_not_in_code_or_roles():
    (found,) = find_typed_figures("It was soon\n\ntwice as\nfast.", 3)
    assert (found.line, found.text) == (5, "twice as fast")
    text = (
        "# Title\n\nTakes {measured}`page:fact` and `3 ms`, [5 ms](https://a.b), :measured:`page:study[a,\n"
    )
    text += "2**4].time`.\n\n```python\nsleep  # 7 ms\n```\n\nTyped: 9 ms.\n"
    assert [problem.line for problem in typed_figures(markdown_paragraphs(text))] == [3, 10]


STARTS = {
    ("current", 3, ""): (False, False, "current, 3 machine starts"),
    ("current", 1, ""): (True, True, "current, 1 machine start"),
    ("current", 1, "two more follow"): (True, False, "waits: two more follow"),
    ("current", 3, "two more follow"): (False, True, "take 'waits' out"),
    ("stale", 3, ""): (True, True, "cell 1 changed"),
    ("pending", 3, "no GPU"): (True, False, "waits: no GPU"),
    ("missing", 0, ""): (True, True, "never recorded"),
}


@pytest.mark.parametrize(("given", "expected"), STARTS.items())
def test_a_recording_is_current_on_three_starts_or_its_page_waits(recorded_template, given, expected):
    status, n_starts, reason = given
    made = store.read(recorded_template.layout.recorded / MACHINE / "toy")
    names = [replace(made.provenance, start=name) for name in "abc"[:n_starts]]
    runs = tuple(Run(made.machine, made.page, each, made.key) for each in names[:-1])
    whole = replace(made, provenance=names[-1], runs=runs) if names else None
    state = PageState("toy", status, whole, ("cell 1",) if status == "stale" else (), reason)
    needs_gpu, fails, words = expected
    answer = recorded(state, strict=True)
    assert (answer.needs_gpu, answer.fails) == (needs_gpu, fails)
    assert words in answer.words
    assert recorded(state).fails == ("take" in words)


# The report


@pytest.fixture
def project(recordable: Project, monkeypatch) -> Project:
    """The miniature guide with a typed figure on one page, another page not written, and more beside them."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(recordable.root)
    monkeypatch.setattr(harness, "problem", lambda _source: "")
    recordable.edit("examples/pages.toml", "needs =", 'exercises = ["add_one"]\nneeds =')
    recordable.edit("examples/pages.toml", '\nexercises = ["add_one"]\n\n', "\n")
    for name, text in {
        "examples/start/toy.py": SCRIPT.replace("It takes", "It takes 3 ms or", 1),
        "README.md": "It is 12x faster.\n",
        "src/gpuguide/exercises/pool/one/task.md": "At most 30 %, 3 times each. It takes 3 ms.\n",
        "src/gpuguide/topics/toy/study.py": '"""Sorts in 3 ms.\n\n>>> wait("5 ms")\n"""\n',
        "src/gpuguide/topics/other/kernels.py": '"""Sorts."""\n\nx = 1  # 5 us\n',
    }.items():
        (recordable.root / name).parent.mkdir(exist_ok=True)
        (recordable.root / name).write_text(text, encoding="utf-8")
    (recordable.root / "examples/later/pictures.py").unlink()
    return recordable


@pytest.fixture
def checked(capsys):
    """Run ``make check`` with these arguments; give its status and its words."""

    def check(*arguments: str) -> tuple[int, str]:
        code = command.main(list(arguments))
        return code, " ".join(capsys.readouterr().out.split())

    return check


def test_the_report_of_a_page_speaks_of_it_alone_and_says_what_to_do_next(project, capsys):
    assert command.main(["toy"]) == 1
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    assert "pictures" not in printed
    printed = " ".join(printed.split())
    assert "line 9: typed time '3 ms'" in printed
    assert "out of date" in printed
    assert "Mend the problem above, then make check PAGE=toy." in printed


def test_a_page_without_mistakes_is_handed_in_unless_it_is_to_be_published(project, checked):
    project.edit("examples/start/toy.py", "It takes 3 ms or", "It takes")
    code, printed = checked("toy")
    assert (code, "hand it in" in printed) == (0, True)
    code, printed = checked("toy", "--strict")
    assert (code, 'make record PAGES="toy"' in printed) == (1, True)


def test_the_report_of_all_pages_names_what_lies_beside_them(project, checked, monkeypatch):
    monkeypatch.setattr(harness, "problem", lambda _source: "run make harness")
    code, printed = checked()
    assert code == 1
    for words in (
        "examples/later/pictures.py is missing",
        "README.md line 1: typed speed-up '12x'",
        "task.md line 1: typed time '3 ms'",
        "study.py line 1: typed time '3 ms'",
        "kernels.py line 3: typed time '5 us'",
        "harness.toml run make harness",
        "then make check.",
    ):
        assert words in printed
    assert "30 %" not in printed
    assert "5 ms" not in printed


@pytest.mark.parametrize(
    ("old", "new", "code", "words"),
    [
        # A header that would be shown as text.
        ("\n\n# record: The study", "\n\n# %%\n# record: The study", 2, "leave a line empty above it"),
        ("print(np.ones(3))", "print(np.ones(3)", 1, "line 17: this is not Python"),
    ],
)
def test_a_script_that_cannot_be_read_is_named_without_a_traceback(project, checked, old, new, code, words):
    project.edit("examples/start/toy.py", old, new)
    answer, printed = checked("toy")
    assert answer == code
    assert words in printed


def test_an_unknown_page_is_named_with_the_nearest(project, checked):
    code, printed = checked("tyo")
    assert code == 2
    assert "'toy'" in printed
