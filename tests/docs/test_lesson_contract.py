"""The contract of a lesson: a page that holds to it, and what is found where it does not."""

from dataclasses import replace

import pytest
from small_site import PAGES, PROVENANCE, build, generated, recording, write
from tiny_pool import SOLUTION, use_pool

from gpuguide.recordings.recording import CellOutput, Stated
from gpuguide.results.claims import Faster, decide
from gpuguide.results.records import CheckResult, Measurement, VariantInfo
from gpuguide.results.results import Results
from gpuguide_docs.contract import check as contract
from gpuguide_docs.contract import lesson
from gpuguide_docs.contract.page_source import Documents
from gpuguide_docs.replay.outputs import Drawing, Output, Picture
from gpuguide_docs.replay.states import PageState
from gpuguide_docs.show import site
from gpuguide_docs.show.site import Site

SIZES = (2**10, 2**12, 2**14, 2**16, 2**18, 2**20)
FILL = "\n".join(["# " + "Threads walk in step and wait for memory now and then. " * 2] * 33)
KERNELS = (
    '"""Kernels."""\n\nfrom numba import cuda\n'
    + "".join(
        f"\n\n@cuda.jit\ndef {name}(x):\n    i = cuda.grid(1)\n    x[i] += {n}\n"
        for n, name in enumerate(("one", "two", "three", "four"))
    )
    + "\n\ndef on_host(x):\n    x += 1\n"
)
SCRIPT = f'''"""
First page
==========

What is measured?
"""

# %%
# It takes :measured:`add[four, 2**20].time`, not :measured:`add[one, 2**20].time`.
#
# .. rungs:: add
#    :at: 2**10, 2**20
#    :beside: host

# %%
# One element for each thread
# ---------------------------
# The loop becomes the grid, in each warp. On the host, NumPy takes :measured:`add[host, 2**20].time`.
#
# .. rung:: one

import numpy as np


def one(x):
    x += 1


print(np.ones(3))

# %%
# .. try-it::
#
#    Take two. And then there is :doc:`second`.
{FILL}

# %%

# record: The study
import gpuguide as gg
from gpuguide.topics.toy.study import study

results = study().run()

# %%
# Two elements for each thread
# ----------------------------
# The next one is faster.
#
# .. rung:: two

two(x)

# %%
# It takes :measured:`add[two, 2**20].time`. Three follow.
#
# .. rung:: three

three(x)

# %%
# And four.
#
# .. rung:: four

four(x)

# %%
# Small sizes
# -----------
# A thousand take :measured:`add[four, 2**10].time` :evidence:`variant one`.

# %%

# draw
gg.claim(results, "four", faster_than="one", at=2**20)

# %%
# Result: four elements are enough
# --------------------------------

# draw
gg.plot_time(results)

# %%
# .. finding::
#
#    Four take :measured:`add[four, 2**20].time`.
#
# .. kernel:: gpuguide.topics.toy.kernels
#    :names: on_host
#    :fold: How the host adds

# %%
# Your turn: add one
# ------------------
#
# .. exercise:: add_one

# %%
# Next
# ----
# Onward: :doc:`second`. Sideways: :doc:`/glossary`.
'''
NAMES = ("one", "two", "three", "four")
INFOS = (
    VariantInfo("host", "Host", device="cpu", clock="host", source="gpuguide.topics.toy.kernels.on_host"),
    *(VariantInfo(name, f"Rung {name}", source=f"gpuguide.topics.toy.study.{name}_launch") for name in NAMES),
)


def measured(infos=INFOS):
    """Results in which each variant is faster than the one before."""
    cells = [
        Measurement(
            info.name,
            size,
            info.clock,
            tuple(range(base, base + 20)),
            tuple(i // 4 for i in range(20)),
            method="host" if info.device == "cpu" else "events",
        )
        for rank, info in enumerate(infos)
        for size in SIZES
        for base in [100 * size - 10 * rank * size]
    ]
    checks = [
        CheckResult(info.name, size, kind, 0.0, 0.0)
        for info in infos
        for size in SIZES
        for kind in ("exact", "after")
    ]
    return Results(
        name="add",
        title="Add one",
        size_name="elements",
        dtype="float32",
        variants=infos,
        sizes=SIZES,
        measurements=tuple(cells),
        checks=tuple(checks),
        quick=False,
    )


CLAIMS = tuple(decide(Faster("four", ("one",), size), measured()).result for size in SIZES[-2:])
GOOD = {"studies": {"add": measured()}, "names": {"results": "add"}}
CHART = Output(pictures=(Picture(b"", "Chart of time against size. It runs from 3 at 1 to 4 at 10."),))
LONG_KERNEL = "def more(x):\n" + "    x += 1\n" * 30
BARE = "print(np.ones(3))\n"
TRY = "# .. try-it::\n#\n#    Take two. And then there is :doc:`second`.\n"

# Rule, edit, and what is said of it; what is marked "early" is said without a recording, too.
BROKEN = [
    ("C2", (FILL, "# Short."), "words; about 700 to 1200 are required"),
    ("C2", (FILL, f"{FILL}\n{FILL}"), "words; about 700 to 1200 are required"),
    ("C2", (BARE, BARE + LONG_KERNEL), "line 20: more has 31 lines; about 25 are allowed"),
    ("C2", ("four(x)\n", "four(x)\n" * 46), "a block of 50 lines; about 40 are allowed"),
    ("C2", ("three(x)\n", "three(x)\n" * 160), "lines of open code; about 140 are allowed"),
    ("C3", (", not :measured:", f", not {'so ' * 60}:measured:"), "the answer has 65 words; at most 50"),
    (
        "C3",
        (
            "It takes :measured:`add[four, 2**20].time`, not :measured:`add[one, 2**20].time`.",
            "It is fast.",
        ),
        "the answer has no measured number",
    ),
    (
        "C3",
        (
            "# It takes :measured:`add[four, 2**20].time`, not :measured:`add[one, 2**20].time`.\n#\n"
            "# .. rungs:: add\n#    :at: 2**10, 2**20\n#    :beside: host\n\n# %%\n",
            "",
        ),
        "no answer",
    ),
    (
        "C3",
        ("# .. rungs:: add\n#    :at: 2**10, 2**20\n#    :beside: host\n\n# %%\n", "# %%\n"),
        "a ladder shows its table of rungs",
    ),
    ("C3", (TRY, "# Take two.\n"), "line 32: right after the bare cell stands the first thing to try"),
    ("C3", (TRY, f"# Wait.\n#\n{TRY}"), "line 32: right after the bare cell"),
    ("C3", ("Result: four", "Four"), ""),
    ("C3", ("# draw\ngg.plot_time(results)\n", ""), ""),
    ("C3", ("# .. exercise:: add_one", "# Think."), "no section has an exercise"),
    ("C3", ("# Next\n# ----", "# Onward\n# ------"), "the last section is 'Onward'; a lesson ends with"),
    ("C3", (" Sideways: :doc:`/glossary`.", ""), "'Next' leads to 1 pages"),
    (
        "C3",
        (
            "# .. finding::",
            "# .. finding::\n#\n#    :measured:`add[one, 2**20].time`.\n\n"
            + 2 * ("# %%\n# And.\n\n# draw\ngg.plot_time(results)\n\n")
            + "# %%\n# .. finding::",
        ),
        "3 charts (lines ",
    ),
    ("C3", ("# Your turn: add one\n# ------------------\n#\n", ""), "the exercise stands in the section of"),
    ("C4", (BARE, "import gpuguide as gg\n" + BARE), "line 21: the bare cell uses gpuguide"),
    ("C4", ("import numpy as np\n", ""), "the bare cell imports nothing"),
    ("C5", ("# .. rung:: four\n", "# Four.\n"), "a ladder of 3 rungs; 4 to 8 are required"),
    ("C5", ("    :names: on_host", "    :names: one"), "'host' is charted, and nothing on the page opens"),
    ("C5", (" On the host, NumPy", " NumPy"), "'host' is charted, and no sentence names it (Host)"),
    ("C7", ("Four take :measured:`add[four, 2**20].time`.", "Four win."), "caption has no measured"),
    ("C7", ("# .. finding::\n#\n#    Four", "# Four"), "0 captions (.. finding::) for 1 charts"),
    ("C8", ("It takes :measured:`add[two, 2**20].time`. ", ""), "5 measured numbers in sentences and"),
    ("C9", ('gg.claim(results, "four", faster_than="one", at=2**20)', "pass"), "0 claims; at least two"),
    ("C11", ("def one(x):\n    x += 1\n", SOLUTION), "answer of exercise 'add_one' is on the page: add"),
    (
        "C11",
        (
            "def one(x):\n    x += 1\n",
            SOLUTION.replace("out", "y").replace(" i ", " k ").replace("[i]", "[k]"),
        ),
        "answer of exercise 'add_one' is on the page",
    ),
    ("pasted", ("two(x)\n", "from gpuguide.topics.toy import two\n"), "an open cell imports a module of"),
]
WAITING = ("C4", "C5", "C7", "C9", "C10", "samples")
EDITS = [("", ""), *(edit for _, edit, _ in BROKEN)]
GLOSSARY = "# Glossary\n\n:::{glossary}\nwarp\n  32 threads.\n:::\n"


@pytest.fixture(scope="module")
def site_built(tmp_path_factory):
    """One build in which each edit of the page is a page of its own."""
    root = tmp_path_factory.mktemp("lessons")
    scripts = {SCRIPT.replace(*edit): f"first{n}" if n else "first" for n, edit in enumerate(EDITS)}
    for edit in EDITS:
        assert edit[0] in SCRIPT, edit
    head, first, second = PAGES.split("[[page]]")
    first = first.replace("needs =", 'exercises = ["add_one"]\ntags = ["ladder"]\nneeds =')
    entries = [first.replace('"first"', f'"{name}"') for name in scripts.values()]
    files = {f"examples/start/{name}.py": text for text, name in scripts.items()}
    files |= {
        "examples/pages.toml": "[[page]]".join([head, *entries, second]),
        "docs/glossary.md": GLOSSARY,
        "docs/gallery/start/second.md": "# Second\n",
        "src/gpuguide/topics/toy/__init__.py": "",
        "src/gpuguide/topics/toy/kernels.py": KERNELS,
        "tests/topics/test_toy.py": "",
    }
    layout = write(root, files)
    (root / "src/gpuguide/topics/toy.py").unlink()
    for name in scripts.values():
        files[f"docs/gallery/start/{name}.rst"] = generated(layout.examples / "start" / f"{name}.py")
    states = {name: PageState(name, "current", recording(root, **GOOD)) for name in scripts.values()}
    more = ("myst_parser", *(f"gpuguide_docs.show.{name}" for name in MODULES))
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_pool(monkeypatch, root / "pool")
        app, _ = build(
            root,
            files,
            states,
            monkeypatch,
            more=more,
            drawing=Drawing((), Stated({}, CLAIMS)),
            root_doc="glossary",
            myst_enable_extensions=["colon_fence"],
        )
    return layout, Documents(app.env, layout), scripts


MODULES = ("exercises", "folded_cells", "evidence", "try_it", "glossary_links")


def checked(site_built, tmp_path, monkeypatch, edit=("", ""), status="current", page=None, **made):
    layout, documents, scripts = site_built
    name = scripts[SCRIPT.replace(*edit)]
    use_pool(monkeypatch, tmp_path / status, pages=(name,))
    cells = (CellOutput(0, "0" * 64, stdout="[1. 1. 1.]\n"),)
    read = recording(tmp_path, **{**GOOD, "page": name, "cells": cells, **made})
    states = {each: PageState(each, "missing") for each in (*scripts.values(), "second")}
    states[name] = PageState(name, status, read, ("cell 1",) if status == "stale" else ())
    monkeypatch.setattr(site, "states_of", lambda _layout: states)
    here = Site(layout)
    own = replace(here.page(name), **(page or {}))
    # The edited pages are not part of the guide that the rules see.
    here.pages = (own, here.page("second"))
    drawing = Drawing((CHART,), Stated({}, CLAIMS))
    monkeypatch.setattr(here, "drawing", lambda state: drawing if state.current else Drawing())
    return contract.check_page(here, own, documents)


def said(report, rule):
    return [violation.message for violation in report.violations if violation.rule == rule]


def test_a_good_lesson_holds(site_built, tmp_path, monkeypatch):
    report = checked(site_built, tmp_path, monkeypatch)
    assert [(violation.rule, violation.message) for violation in report.violations] == []
    assert set(report.marks.values()) == {"ok"}
    assert list(report.marks)[:14] == [f"C{number}" for number in range(1, 15)]


@pytest.mark.parametrize(("rule", "edit", "message"), BROKEN)
def test_what_a_lesson_breaks_is_found(site_built, tmp_path, monkeypatch, rule, edit, message):
    found = said(checked(site_built, tmp_path, monkeypatch, edit), rule)
    if message:
        assert any(message in each for each in found), found
    else:
        assert found == []
    # Most of it is said of a page that waits, too.
    if rule not in WAITING and message:
        waiting = said(checked(site_built, tmp_path, monkeypatch, edit, status="stale"), rule)
        assert any(message in each for each in waiting), waiting


def test_without_a_recording_a_lesson_waits_where_numbers_are_needed(site_built, tmp_path, monkeypatch):
    report = checked(site_built, tmp_path, monkeypatch, status="stale")
    assert report.violations == []
    waiting = {code for code, mark in report.marks.items() if mark == "waits"}
    assert {*WAITING, "C6", "C13"} <= waiting
    assert {report.marks[code] for code in ("C1", "C2", "C3", "C8", "C11", "C12", "C14")} == {"ok"}


def test_what_can_be_seen_without_a_recording_does_not_wait(site_built, tmp_path, monkeypatch):
    edit = ("# .. rung:: four\n", "# Four.\n")
    report = checked(site_built, tmp_path, monkeypatch, edit, status="stale")
    assert (report.marks["C5"], said(report, "C5")) == (
        "fails",
        ["a ladder of 3 rungs; 4 to 8 are required"],
    )


@pytest.mark.parametrize(
    ("rule", "changes", "message"),
    [
        ("C4", {"cells": ()}, "line 21: the bare cell prints nothing"),
        ("C11", {"page": {"exercises": ("add_one", "add_two")}}, "2 exercises (add_one, add_two); a lesson"),
        ("C13", {"provenance": replace(PROVENANCE, run_time_s=3600.0)}, "longer than reading the page"),
    ],
)
def test_what_the_recording_or_the_entry_breaks_is_found(
    site_built, tmp_path, monkeypatch, rule, changes, message
):
    found = said(checked(site_built, tmp_path, monkeypatch, **changes), rule)
    assert any(message in each for each in found), found


def test_rungs_on_another_clock_do_not_count(site_built, tmp_path, monkeypatch):
    """The table has put them beside; what is left must still be a ladder."""
    _, documents, _ = site_built
    (table,) = documents.named("gallery/start/first").of("rungs")
    rows = [row for row in table.node.findall(lesson.nodes.row) if "variant" in row]
    assert [row["variant"] for row in rows] == ["host", *NAMES]
    monkeypatch.setitem(rows[1].attributes, "classes", ["gg-beside"])
    found = said(checked(site_built, tmp_path, monkeypatch), "C5")
    assert found == ["line 11: 3 rungs on one clock; 4 to 8 are required"]


def test_a_page_that_is_no_lesson_may_have_several_exercises(site_built):
    layout, documents, _ = site_built
    here = Site(layout)
    several = {"exercises": ("add_one", "add_two")}
    for kind, found in (("tutorial", 1), ("how_to", 0)):
        facts = contract.PageFacts(here, replace(here.page("first"), kind=kind, **several), documents)
        said = [each for each in contract._one_exercise(facts) if "a lesson has one" in each]
        assert len(said) == found


def test_the_report_has_the_length_of_a_lesson_and_what_its_causes_rest_on(
    site_built, tmp_path, monkeypatch, capsys
):
    report = checked(site_built, tmp_path, monkeypatch)
    assert contract.report([report], [], strict=False)
    (line,) = [each for each in capsys.readouterr().out.splitlines() if "1 variant" in each]
    words, minutes, code, *causes = line.split()[1:]
    assert (int(words), int(minutes), int(code)) == (report.reading.words, 8, 27)
    assert 700 <= report.reading.words <= 1200
    assert causes == ["1", "(1", "variant)"]
