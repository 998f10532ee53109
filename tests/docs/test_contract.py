"""The contract: a page that holds to it, and what each rule finds when the page does not."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest
from small_site import PAGES, PROVENANCE, build, generated, recording, write
from tiny_pool import use_pool

from gpuguide.recordings.recording import CellOutput, FormerRun, Stated
from gpuguide.results.claims import Faster, decide
from gpuguide.results.counters import Counted, KernelCounts
from gpuguide.results.records import CheckResult, ClaimResult, Fact, Measurement, Traffic, VariantInfo
from gpuguide.results.results import Results
from gpuguide_docs.contract import check as contract
from gpuguide_docs.contract.page_source import Documents, PageSource
from gpuguide_docs.pages.pages_toml import Experiment, Page
from gpuguide_docs.replay.outputs import Drawing, Output, Picture
from gpuguide_docs.replay.states import PageState
from gpuguide_docs.show import site
from gpuguide_docs.show.site import Site

SIZES = (2**10, 2**12, 2**14, 2**16, 2**18, 2**20)
FILL = "\n".join(["# " + "Threads walk in step and wait for memory now and then. " * 2] * 33)

SCRIPT = f'''"""
First page
==========

What is measured?
"""

# %%
# It takes :measured:`add[one, 2**20].time`, which is :measured:`add[one, 2**20].speedup(host)`.

# %%
# Typed by anybody
# ----------------
# Nothing but NumPy, in a :term:`warp`.

import numpy as np

print(np.ones(3))

# %%
# .. try-it::
#
#    Take four.
{FILL}

# %%
# Smallest kernel
# ---------------
# The kernel one, against the host.
#
# .. kernel:: gpuguide.topics.toy
#    :names: add_one
#
# Both are checked.

results = toy.study().run()
results

# %%
# Small sizes
# -----------
# At few elements it takes :measured:`add[one, 2**10].time`, and :measured:`first_call` at first.

# %%
# Result: the kernel overtakes
# ----------------------------
# Memory decides.

# draw
gg.claim(results, "one", faster_than="host", at=2**20)

# %%
# The chart.

# draw
gg.plot_time(results, variants=["one", "host"])

# %%
# .. finding::
#
#    It takes :measured:`add[one, 2**20].time`.
#
# And another.

# draw
gg.plot_speedup(results, "host")

# %%
# .. finding::
#
#    Overtakes :measured:`add.crossover(host, one)`.

# %%
# Add one yourself
# ----------------
# Now you.
#
# .. exercise:: add_one

# %%
# Next
# ----
# Onward: :doc:`second`. Sideways: :doc:`/glossary`.
'''

INFOS = (
    VariantInfo("one", "One a thread", source="gpuguide.topics.toy.add_one"),
    VariantInfo("host", "Host", device="cpu", clock="host", source="numpy.add"),
)


def measured(quick=False, n=20, sizes=SIZES):
    """Results in which the host wins small sizes and the kernel large ones."""
    cells = [
        Measurement(
            info.name,
            size,
            info.clock,
            tuple(range(base, base + n)),
            tuple(i // 4 for i in range(n)),
            method="host" if info.device == "cpu" else "events",
        )
        for info in INFOS
        for size in sizes
        for base in [100_000 if info.name == "one" else 10 * size]
    ]
    checks = [
        CheckResult(info.name, size, kind, 0.0, 0.0)
        for info in INFOS
        for size in sizes
        for kind in ("exact", "after")
    ]
    return Results(
        name="add",
        title="Add one",
        size_name="elements",
        dtype="float32",
        variants=INFOS,
        sizes=sizes,
        measurements=tuple(cells),
        checks=tuple(checks),
        quick=quick,
    )


CLAIMS = tuple(decide(Faster("one", ("host",), size), measured()).result for size in (2**18, 2**20))
# Of two runs, the second has the host win.
UNSURE = decide(
    Faster("one", ("host",), 2**20),
    replace(measured(), start="b", others=(measured().swap_samples("one", "host"),)),
).result
ALWAYS = ClaimResult("Always", True, 0.5, 2.0, "ratio", swapped=True)
ALONE = ClaimResult("It takes time", True, 1e-6, 2e-6, "s")
GOOD = {"studies": {"add": measured()}, "names": {"results": "add"}}
WORDS = "Chart of time against size. It runs from 3 at 1 to 4 at 10."
CHART = Output(pictures=(Picture(b"", WORDS),))

BROKEN = [
    ("C1", ("What is measured?", "What?"), "the script's question is 'What?'"),
    ("C11", (".. exercise:: add_one", ""), "'add_one' is listed but not shown (.. exercise:: add_one)"),
    ("C11", (".. exercise:: add_one", ".. exercise:: add_two"), "'add_two' is shown but not listed in"),
    ("C11", ("# Now you.\n", "# .. exercise:: add_one\n"), "exercise 'add_one' is shown 2 times"),
    ("C12", (" Sideways: :doc:`/glossary`", ""), "1 links to other pages"),
    ("figures", ("Memory decides.", "It is twice as fast."), "typed speed-up 'twice as fast'"),
    ("figures", ("Memory decides.", ":rule:`3 s`"), "the role rule is for hand-written pages"),
    ("style", ("print(np.ones(3))", "from time import perf_counter"), "not of kind 'clock'"),
    ("style", ("print(np.ones(3))", "if gpu:\n    print(np.ones(3))"), "if gpu: a page runs on a GPU"),
    ("recorded", ("print(np.ones(3))", "results.quantity('one', 4, 'time')"), "results.quantity() in a"),
    ("recorded", ("print(np.ones(3))", "cell.median_s"), "line 18: cell.median_s in a recorded cell"),
    ("recorded", ("print(np.ones(3))", "gg.claim(results, 'one', at=8)"), "gg.claim in a recorded cell"),
    ("recorded", ("print(np.ones(3))", "gg.machine_ceilings().get('copy')"), ".get() in a recorded"),
    ("recorded", ("print(np.ones(3))", "from gpuguide.results import units"), "gpuguide.results.units"),
    ("recorded", ("print(np.ones(3))", "import gpuguide.charts.style"), "gpuguide.charts.style in a"),
    ("numbers", ("`first_call`", "`first_cal`"), "Did you mean 'first_call'"),
    ("one run", ("`first_call`", "`second:first_call`"), "numbers of one page come from one run"),
]

READS = ("x.get()", "held.share", "fact.value", "{c.mix: c.value for c in gg.machine_ceilings().items}")
DRAWN_FACT = ("`first_call`", "`ratio`")
TYPED = ("Both are checked", "It takes 3 ms")
SECOND = ("First page", "Second page")


def _reading(code):
    return ("print(np.ones(3))", f"print({code})")


EDITS = [edit for _, edit, _ in BROKEN]
EDITS += [DRAWN_FACT, TYPED, SECOND, *map(_reading, READS)]

HOW_TO = """# Second page

And then?

The answer, with {term}`warps <warp>` in it.

"""
BY_HAND = [
    ("how_to", "Words " * 200, []),
    ("explanation", "Words " * 700, []),
    # It has no run of its own, and compares those of pages.
    ("explanation", "Words " * 700 + "Takes {measured}`first:first_call`.", []),
    ("how_to", "Short.", ["C2: 11 words; about 150 to 600 are required"]),
    ("how_to", "Words " * 200 + "\n\n```python\nx =\n```\n", ["style: line 10: this code is not Python"]),
    ("explanation", "It takes 3 ms.", ["figures: line 7: typed time '3 ms'"]),
    (
        "explanation",
        "```python\nfrom time import perf_counter\n```",
        ["style: line 8: 'perf_counter' on a page"],
    ),
    (
        "explanation",
        "```{exercise} add_two\n```",
        ["C11: line 7: exercise 'add_two' is shown but not listed"],
    ),
]

WHAT_NOW = HOW_TO.replace("And then?", "What now?")
HANDS = [*(f"{HOW_TO}{text}\n" for _, text, _ in BY_HAND), HOW_TO, WHAT_NOW]

GLOSSARY = ":::{glossary}\nwarp\n  32 threads.\n\nlatency\n  A wait.\n:::\n"
FIRST = {"examples/start/first.py": SCRIPT, "tests/topics/test_toy.py": "", "docs/glossary.md": GLOSSARY}
STATED = Stated({"ratio": (("", Fact("ratio", 2.0, "ratio")),)}, CLAIMS)
LOOSE = "# Method\n\nWe wait {rule}`0.2 s`. It\ntakes 7 ms.\n"


@dataclass(frozen=True)
class Texts:
    """The texts of the pages that a test looks at, as one build read them."""

    documents: Documents
    known: dict[str, PageSource]
    here: dict[str, PageSource]

    def using(self, **here: tuple[str, ...] | str) -> "Texts":
        """Put texts in the places of pages: an edit of the script, or a page written by hand."""
        return replace(self, here={name: self.known[_key(text)] for name, text in here.items()})

    def page(self, page: Page) -> PageSource:
        return self.here[page.name]

    def named(self, docname: str) -> PageSource:
        return self.documents.named(docname)


def _key(text: tuple[str, ...] | str) -> str:
    return text if isinstance(text, str) else SCRIPT.replace(*text) if text else SCRIPT


def _listed(name: str, markup: str) -> str:
    entry = PAGES.partition("[[page]]")[2].partition("[[page]]")[0].replace('"first"', f'"{name}"')
    if markup == "myst":
        entry = entry.replace('"tutorial"', '"explanation"')
    return f'\n[[page]]{entry}format = "{markup}"\n'


@pytest.fixture(scope="module")
def texts(tmp_path_factory) -> Texts:
    """One build of a project in which each edited page is a page of its own."""
    root = tmp_path_factory.mktemp("texts")
    scripts = {SCRIPT: "script0"}
    for edit in EDITS:
        assert edit[0] in SCRIPT, edit
        scripts.setdefault(SCRIPT.replace(*edit), f"script{len(scripts)}")
    by_hand = {text: f"hand{number}" for number, text in enumerate(dict.fromkeys(HANDS))}
    pages = [_listed(name, "script") for name in scripts.values()]
    pages += [_listed(name, "myst") for name in by_hand.values()]
    files = {f"examples/start/{name}.py": text for text, name in scripts.items()}
    files |= {f"docs/start/{name}.md": text for text, name in by_hand.items()}
    files |= {"docs/glossary.md": f"# Glossary\n\n{GLOSSARY}", "docs/method.md": LOOSE}
    files |= {"examples/pages.toml": PAGES + "".join(pages), "docs/gallery/start/second.md": "# Second\n"}
    files |= {f"docs/_static/drawings/{name}.svg": "<svg/>" for name in ("host", "host-dark")}
    layout = write(root, files)
    paths = {text: layout.examples / "start" / f"{name}.py" for text, name in scripts.items()}
    read = {f"docs/gallery/start/{path.stem}.rst": generated(path) for path in paths.values()}
    made = recording(root, **GOOD)
    states = {name: PageState(name, "current", made) for name in scripts.values()}
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_pool(monkeypatch, root / "pool")
        app, _ = build(
            root,
            {**files, **read},
            states,
            monkeypatch,
            more=("myst_parser", "gpuguide_docs.show.exercises", "gpuguide_docs.show.try_it"),
            drawing=Drawing((), STATED),
            root_doc="method",
            myst_enable_extensions=["colon_fence"],
        )
    documents = Documents(app.env, layout)
    known = {text: documents.named(f"gallery/start/{path.stem}", path) for text, path in paths.items()}
    known |= {text: documents.named(f"start/{name}") for text, name in by_hand.items()}
    return Texts(documents, known, {})


def checked(
    texts,
    tmp_path,
    monkeypatch,
    *,
    edit=(),
    page=None,
    status="current",
    reason="",
    exercise=None,
    claims=CLAIMS,
    stored=False,
    **changes,
):
    """Report of the first page; `reason`: why it is listed; `stored`: what was recorded is read."""
    if stored:
        monkeypatch.setattr(contract.store, "read", lambda folder: recording(tmp_path, **{**GOOD, **changes}))
    use_pool(monkeypatch, tmp_path / "pool", **(exercise or {}))
    cells = (
        CellOutput(0, "0" * 64, stdout="[1. 1. 1.]\n"),
        CellOutput(1, "0" * 64, shows="add"),
    )
    changes = {**GOOD, "cells": cells, **changes}
    layout = write(tmp_path, {**FIRST, "examples/start/first.py": _key(edit)})
    made = recording(tmp_path, **changes) if status != "missing" else None
    states = {
        "first": PageState("first", status, made, ("cell 1",) if status == "stale" else (), reason),
        "second": PageState("second", "missing"),
    }
    monkeypatch.setattr(site, "states_of", lambda _layout: states)
    here = Site(layout)
    drawing = Drawing((CHART, CHART), Stated({"ratio": (("", Fact("ratio", 2.0, "ratio")),)}, claims))
    monkeypatch.setattr(here, "drawing", lambda state: drawing if state.current else Drawing())
    first = replace(here.page("first"), **{"exercises": ("add_one",), **(page or {})})
    here.pages = (first, *here.pages[1:])
    return contract.check_page(here, first, texts.using(first=edit))


def test_a_good_page_holds(texts, tmp_path, monkeypatch):
    report = checked(texts, tmp_path, monkeypatch)
    assert [(violation.rule, violation.message) for violation in report.violations] == []
    assert set(report.marks.values()) == {"ok"}
    assert report.waived == []


@pytest.mark.parametrize("code", READS)
def test_a_recorded_cell_may_read_data(texts, tmp_path, monkeypatch, code):
    report = checked(texts, tmp_path, monkeypatch, edit=_reading(code))
    assert report.marks["recorded"] == "ok"


def test_a_fact_of_a_drawn_cell_is_a_number_of_the_page(texts, tmp_path, monkeypatch):
    assert checked(texts, tmp_path, monkeypatch, edit=DRAWN_FACT).marks["numbers"] == "ok"


def test_without_a_recording_its_rules_wait(texts, tmp_path, monkeypatch):
    report = checked(texts, tmp_path, monkeypatch, status="stale")
    assert report.violations == []
    assert report.lacking == "stale (changed: cell 1)"
    assert {report.marks[code] for code in ("C5", "C9", "samples")} == {"waits"}


@pytest.mark.parametrize(("rule", "edit", "message"), BROKEN)
def test_what_the_text_breaks_is_found(texts, tmp_path, monkeypatch, rule, edit, message):
    report = checked(texts, tmp_path, monkeypatch, edit=edit)
    assert message in "\n".join(
        violation.message for violation in report.violations if violation.rule == rule
    )


@pytest.mark.parametrize(
    ("rule", "changes", "message"),
    [
        ("C4", {"cells": ()}, "the bare cell prints nothing"),
        ("C6", {"studies": {"add": measured(sizes=SIZES[:5])}}, "has 5 sizes from 1024 to 262144"),
        ("C9", {"claims": CLAIMS[:1]}, "1 claims; at least two"),
        ("C9", {"claims": (*CLAIMS, ALWAYS)}, "claim 'Always' still holds when"),
        ("C9", {"claims": (*CLAIMS, ALONE)}, "claim 'It takes time' still holds when"),
        ("C9", {"claims": (*CLAIMS, ClaimResult("No", False))}, "'No' does not hold"),
        ("C9", {"claims": (*CLAIMS, UNSURE)}, "cannot be decided, or holds only in some runs"),
        (
            "C10",
            {"studies": {"add": replace(measured(), checks=())}},
            "'one' was timed; it was checked: never",
        ),
        (
            "C13",
            {"provenance": replace(PROVENANCE, peak_memory_bytes=5 * 2**30)},
            "used 5.0 GiB of GPU memory, needs says 4",
        ),
        ("samples", {"studies": {"add": measured(quick=True)}}, "is a quick run"),
        ("samples", {"studies": {"add": measured(n=4)}}, "'one' at 1024 has only 4 samples"),
        (
            "recomputed",
            {"facts": {"first_call": Fact("first_call", 0.7, "s", (0.4, 0.6))}},
            "facts.first_call.value: its samples lie from",
        ),
    ],
)
def test_what_the_recording_breaks_is_found(texts, tmp_path, monkeypatch, rule, changes, message):
    report = checked(texts, tmp_path, monkeypatch, **changes)
    assert message in "\n".join(
        violation.message for violation in report.violations if violation.rule == rule
    )


@pytest.mark.parametrize(
    ("rule", "page", "message"),
    [
        ("C1", {"objectives": ("One",)}, "1 objectives; 2 to 4"),
        ("C1", {"title": "First page of the many that follow"}, "the title has 7 words"),
        ("C1", {"after": ("second",)}, "'second' must come earlier"),
        ("C11", {"exercises": ()}, "no exercise"),
        ("C11", {"exercises": ("add_none",)}, "Unknown exercise 'add_none'. Did you mean 'add_one'"),
        ("waivers", {"waivers": {"C4": "why not"}}, "C4 is never waived"),
        ("waivers", {"waivers": {"C11": "a", "C6": "b", "C7": "c"}}, "3 waivers; at most 2 are allowed"),
        ("waivers", {"waivers": {"C99": "a"}}, "'C99' cannot be waived"),
        ("shown", {"experiments": (Experiment("S2.1"),)}, "S2.1: neither measured (key) nor shown ('')"),
        ("shown", {"experiments": (Experiment("S2.1", shown="nowhere"),)}, "nor shown ('nowhere')"),
        (
            "experiments",
            {"experiments": (Experiment("S2.1", "add[one, 2**10].time", "2**20"),)},
            "S2.1: measured at 1024, the source has 1048576",
        ),
        (
            "experiments",
            {"experiments": (Experiment("S2.1", "add[one, 2**20].time", "2**20", "float64"),)},
            "S2.1: measured in float32, the source has float64",
        ),
        ("experiments", {"experiments": (Experiment("S2.1", "add[two, 4].time"),)}, "Unknown variant 'two'"),
    ],
)
def test_what_the_entry_breaks_is_found(texts, tmp_path, monkeypatch, rule, page, message):
    report = checked(texts, tmp_path, monkeypatch, page=page)
    assert message in "\n".join(
        violation.message for violation in report.violations if violation.rule == rule
    )


@pytest.mark.parametrize(
    ("exercise", "message"),
    [
        ({"texts": {"start": "x = 1\n"}}, "Exercise 'add_one': start.py must hold a function"),
        ({"pages": ("second",)}, "belongs to second by its own entry, not to this page"),
    ],
)
def test_what_an_exercise_lacks_is_found(texts, tmp_path, monkeypatch, exercise, message):
    report = checked(texts, tmp_path, monkeypatch, exercise=exercise)
    assert message in "\n".join(
        violation.message for violation in report.violations if violation.rule == "C11"
    )


def test_a_waived_rule_is_no_violation(texts, tmp_path, monkeypatch):
    changes = {"studies": {"add": measured(sizes=SIZES[:5])}, "claims": (), "cells": ()}
    page = {"waivers": {"C6": "five sizes say it all", "C9": "no"}}
    report = checked(texts, tmp_path, monkeypatch, page=page, **changes)
    assert report.marks["C6"] == "waived"
    assert report.marks["C9"] == "fails"
    assert "C6 waived: five sizes say it all" in report.waived


def test_shared_text_is_found(texts, tmp_path, monkeypatch):
    report = checked(texts, tmp_path, monkeypatch)
    assert report.violations == []
    layout = write(tmp_path, {"examples/start/second.py": _key(SECOND)})
    here = Site(layout)
    second = contract.check_page(here, here.page("second"), texts.using(first=(), second=SECOND))
    messages = [violation.message for violation in second.violations if violation.rule == "C12"]
    assert any("heading 'Smallest kernel' is also on page 'first'" in message for message in messages)


def test_typed_figures_outside_of_pages_are_found(texts, tmp_path):
    topic = '"""Sorts in 3 ms."""\n\n\ndef study():\n    """Two ways.\n\n    >>> wait("5 ms")\n    """\n'
    layout = write(
        tmp_path,
        {
            "README.md": "It is 12x faster.\n",
            "src/gpuguide/exercises/pool/one/task.md": "At most 30 %, 3 times each. It takes 3 ms.\n",
            "docs/method.md": LOOSE,
            "src/gpuguide/topics/toy.py": topic,
        },
    )
    prose = contract.check_prose(layout, texts)
    assert [(violation.page, violation.message.split(";")[0]) for violation in prose] == [
        ("docs/method.md", "line 4: typed time '7 ms'"),
        ("README.md", "line 1: typed speed-up '12x'"),
        ("src/gpuguide/exercises/pool/one/task.md", "line 1: typed time '3 ms'"),
        ("src/gpuguide/topics/toy.py", "line 1: typed time '3 ms'"),
    ]


@pytest.mark.parametrize(
    ("status", "strict", "holds"),
    [("current", False, True), ("stale", False, True), ("stale", True, False), ("pending", True, True)],
)
def test_the_verdict(texts, tmp_path, monkeypatch, capsys, status, strict, holds):
    waiver = {"exercises": (), "waivers": {"C11": "nothing to do here"}}
    reason = "a new variant" if status == "pending" else ""
    report = checked(texts, tmp_path, monkeypatch, status=status, reason=reason, page=waiver)
    assert contract.report([report], [], strict=strict) == holds
    printed = capsys.readouterr().out
    assert "C11 waived: nothing to do here" in printed
    assert ("needs a GPU: a maintainer records this" in printed) == (status != "current")


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("starts", "said"),
    [("a", "one machine start"), ("aaa", "one machine start"), ("ab", "two machine starts"), ("abcb", "")],
)
def test_what_is_published_was_recorded_on_three_machine_starts(
    texts, tmp_path, monkeypatch, capsys, starts, said, strict
):
    told = [replace(PROVENANCE, start=start) for start in starts]
    runs = tuple(FormerRun("0123456789abcdef" * 4, each) for each in told[:-1])
    report = checked(texts, tmp_path, monkeypatch, provenance=told[-1], runs=runs, stored=True)
    assert report.violations == []
    assert report.too_few == said
    assert contract.report([report], [], strict=strict) == (not said or not strict)
    printed = " ".join(capsys.readouterr().out.split())
    words = f"first: {said}; before it is published, it must be recorded on 3, each in a run of its own"
    assert (words in printed) == bool(said)
    assert ("1 on too few machine starts" in printed) == bool(said)


def test_a_listed_page_may_wait_for_more_machine_starts(texts, tmp_path, monkeypatch, capsys):
    report = checked(texts, tmp_path, monkeypatch, reason="two more follow", stored=True)
    assert contract.report([report], [], strict=True)
    printed = " ".join(capsys.readouterr().out.split())
    assert "first: one machine start; before it is published" in printed
    assert "(it waits)" in printed


def test_a_page_that_waits_for_nothing_is_not_listed(texts, tmp_path, monkeypatch):
    told = [replace(PROVENANCE, start=start) for start in "abc"]
    runs = tuple(FormerRun("0123456789abcdef" * 4, each) for each in told[:-1])
    how = {"provenance": told[-1], "runs": runs, "stored": True}
    report = checked(texts, tmp_path, monkeypatch, reason="two more follow", **how)
    assert [str(each.message) for each in report.violations] == [
        "the page no longer waits; take 'waits' out of its entry"
    ]


@pytest.mark.parametrize("status", ["stale", "missing"])
def test_a_page_that_waits_is_not_blamed_for_too_few_starts(texts, tmp_path, monkeypatch, status):
    assert checked(texts, tmp_path, monkeypatch, status=status).too_few == ""


@pytest.mark.parametrize("value", [0.5, 0.7])
def test_of_several_runs_what_is_stored_is_worked_out_again(texts, tmp_path, monkeypatch, value):
    """Over three starts a fact may lie beside the newest run's samples; in its own run it must not."""
    facts = [Fact("first_call", number, "s", (0.4, 0.6)) for number in (0.9, 0.9, value)]
    over = Fact.over_starts([(str(number), fact) for number, fact in enumerate(facts)])
    stored = recording(tmp_path, facts={"first_call": facts[-1]})
    monkeypatch.setattr(contract.store, "read", lambda folder: stored)
    runs = tuple(FormerRun("0123456789abcdef" * 4, PROVENANCE) for _ in range(2))
    report = checked(texts, tmp_path, monkeypatch, facts={"first_call": over}, runs=runs)
    assert over.value == 0.9
    assert report.marks["recomputed"] == ("ok" if value == 0.5 else "fails")


@pytest.mark.parametrize("strict", [False, True])
def test_a_draft_passes_until_it_is_to_be_published(texts, tmp_path, monkeypatch, capsys, strict):
    draft = {"objectives": ("One",), "unwritten": ("C1", "C9")}
    report = checked(texts, tmp_path, monkeypatch, page=draft)
    assert contract.report([report], [], strict=strict) != strict
    printed = capsys.readouterr().out
    assert "first: unwritten C1: 1 objectives; 2 to 4 are allowed" in printed
    assert "first: draft: unwritten C1 (complete entry), C9 (claims)" in printed


def test_a_typed_figure_is_never_unwritten(texts, tmp_path, monkeypatch):
    report = checked(texts, tmp_path, monkeypatch, edit=TYPED, page={"unwritten": ("figures",)})
    assert [violation.rule for violation in report.violations] == ["unwritten", "figures"]


def test_violations_fail(texts, tmp_path, monkeypatch, capsys):
    report = checked(texts, tmp_path, monkeypatch, page={"objectives": ("One",)})
    assert not contract.report([report], [], strict=False)
    assert "first: C1: 1 objectives; 2 to 4 are allowed" in capsys.readouterr().out


def test_a_page_without_script_is_a_violation(texts, tmp_path):
    layout = write(tmp_path, {})
    here = Site(layout)
    assert isinstance(here.pages[0], Page)
    (violation,) = contract.check_page(here, here.pages[0], texts).violations
    assert violation.message == "examples/start/first.py is missing"


@pytest.mark.parametrize(("kind", "text", "expected"), BY_HAND)
def test_a_page_written_by_hand_is_held_to_the_rules_of_its_kind(
    texts, tmp_path, monkeypatch, kind, text, expected
):
    use_pool(monkeypatch, tmp_path / "pool")
    report = by_hand(texts, tmp_path, f"{HOW_TO}{text}\n", kind=kind)
    found = [f"{violation.rule}: {violation.message}" for violation in report.violations]
    if expected == []:
        assert found == []
    assert all(any(each.startswith(start) for each in found) for start in expected), found
    assert (report.status, report.lacking) == ("by hand", "")


def by_hand(texts, tmp_path, text, files=(), **page):
    """Report of the second page, written in MyST."""
    layout = write(tmp_path, {"docs/start/second.md": text, **dict(files)})
    here = Site(layout)
    second = replace(here.page("second"), **{"kind": "explanation", "format": "myst", "after": (), **page})
    here.pages = (here.pages[0], second)
    return contract.check_page(here, second, texts.using(second=text))


def messages(report):
    # These pages are shorter than any should be.
    return [violation.message for violation in report.violations if violation.rule != "C2"]


def test_title_and_question_of_a_page_written_by_hand_are_those_of_the_list(texts, tmp_path):
    said = messages(by_hand(texts, tmp_path, WHAT_NOW))
    assert said == ["the page's question is 'What now?', its entry says 'And then?'"]


def test_a_page_written_by_hand_shows_and_does_not_measure(texts, tmp_path):
    experiments = (
        Experiment("S1.1", "a[b, 2].time"),
        Experiment("S1.2", shown="{term}`warps"),
        Experiment("S1.3"),
    )
    assert messages(by_hand(texts, tmp_path, HOW_TO, experiments=experiments)) == [
        "S1.1: a page without a recording cannot measure it (a[b, 2].time)",
        "S1.3: neither measured (key) nor shown ('')",
    ]


def test_a_page_has_one_text(texts, tmp_path):
    said = messages(by_hand(texts, tmp_path, HOW_TO, {"examples/start/second.py": ""}))
    assert said == ["it has both a MyST file and a script; delete one of them"]


@pytest.mark.parametrize(
    ("declared", "counted", "wrong"),
    [
        (1_000_000_000, 1_090_000_000, False),
        (1_000_000_000, 1_110_000_000, True),
        (1_000_000_000, 890_000_000, True),
        # The caches may keep it, and so the memory never sees it.
        (199_000_000, 1_000_000, False),
    ],
)
def test_counted_bytes_are_those_that_are_declared(declared, counted, wrong):
    cell = Measurement("one", 1024, samples_ns=(5,), rounds=(0,), traffic=Traffic(bytes_read=declared))
    study = replace(measured(), measurements=(cell,))
    counts = Counted("add", "one", 1024, (KernelCounts("add_one", 1e-3, (("dram_bytes", counted),)),))
    shown = SimpleNamespace(
        counters=(counts,), studies={"add": study}, provenance=SimpleNamespace(l2_bytes=50_000_000)
    )
    found = list(contract.check_counted(SimpleNamespace(measured=shown)))
    assert [("declares 1.0 GB" in each) for each in found] == [True] * wrong
