"""The table of rungs and the strips: rows, links and gains come from the page and its recording."""

import re
from dataclasses import replace

import pytest
from docutils import nodes
from small_site import build, generated, page, recording

from gpuguide.errors import ArgumentError
from gpuguide.results.ceilings import Ceiling, Ceilings
from gpuguide.results.counters import Counted, KernelCounts
from gpuguide.results.records import Traffic, VariantInfo, Work
from gpuguide_docs.replay.states import PageState
from gpuguide_docs.show.ladder import ladder_of, strip_cell, strip_node
from study_results import CEILINGS, SIZES, VARIANTS, cell, make, missing

SCRIPT = '''"""
First page
==========

What is measured?
"""

# %%
# The fastest takes :measured:`add[eight, 2**26].time`.
#
# .. rungs:: add
#    :at: 2**10, 2**26
#    :beside: numpy, copied

# %%
# One element
# -----------
# An idea.
#
# .. rung:: one

from numba import cuda


@cuda.jit
def one(x):
    x[0] += 1


one[1, 1](x)

# %%
# More of it.
#
# .. rung:: slow

# wrong: waits each time
slow[1, 1](x)

# %%
# Eight elements
# --------------
# An idea.
#
# .. rung:: eight

eight[1, 1](x)
print("eight")

# %%
# Four elements
# -------------
# Another idea.
#
# .. rung:: four

four[1, 1](x)

# %%
# And so on.
'''
KERNELS = '''"""Kernels."""

from numba import cuda

ITEMS = 4


def width():
    return ITEMS


@cuda.jit
def four(x):
    x[:ITEMS] += width()


@cuda.jit
def eight(x):
    x[: 2 * ITEMS] += 1
'''
STUDY = make(
    variants=(
        *VARIANTS,
        VariantInfo("slow", "Waiting"),
        VariantInfo("eight", "Eight a thread"),
        VariantInfo("copied", "Eight, pinned copy", clock="end_to_end"),
    ),
    measurements=(
        cell("numpy", SIZES[0], 2_000),
        missing("numpy", SIZES[2], "too long"),
        cell("one", SIZES[0], 4_000),
        cell("one", SIZES[1], 8_000),
        missing("one", SIZES[2], "too long"),
        cell("four", SIZES[0], 2_000),
        cell("four", SIZES[1], 3_000),
        cell("four", SIZES[2], 160_000),
        cell("slow", SIZES[0], 9_000),
        cell("eight", SIZES[0], 3_000),
        cell("eight", SIZES[2], 140_000),
        cell("copied", SIZES[2], 9_000_000, clock="end_to_end"),
    ),
)


COUNTED = {
    "one": (Work("warp_steps", 9_000), Work("marks", 500)),
    "four": (Work("marks", 50_000_000_000),),
    "eight": (Work("tests", 7), Work("marks", 2_500_000_000, ceiling=2e13)),
}


def built(
    tmp_path,
    monkeypatch,
    script=SCRIPT,
    status="current",
    kernels=KERNELS,
    counters=(),
    study=STUDY,
    **state,
):
    path = tmp_path / "examples" / "start" / "first.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script, encoding="utf-8")
    files = {
        "docs/index.rst": "Index\n=====\n\nHello.\n",
        "docs/gallery/start/first.rst": generated(path),
        "src/gpuguide/topics/toy/kernels.py": kernels,
        "src/gpuguide/topics/toy/__init__.py": "",
    }
    read = recording(tmp_path, studies={"add": study}, names={"results": "add"}, counters=counters)
    states = {"first": PageState("first", status, read, **state)}
    app, warnings = build(
        tmp_path, files, states, monkeypatch, more=("sphinx_design", "gpuguide_docs.show.evidence")
    )
    return app, warnings, page(tmp_path, "gallery/start/first")


def rows(html):
    table = re.search(r'<table class="gg-rungs.*?</table>', html, re.DOTALL)[0]
    table = re.sub(r'<span class="gg-tip".*?</span>', "", table, flags=re.DOTALL)
    lines = re.findall(r"<tr.*?</tr>", table, re.DOTALL)
    plain = [
        [re.sub(r"<[^>]+>", "", each) for each in re.findall(r"<t[hd].*?</t[hd]>", x, re.DOTALL)]
        for x in lines
    ]
    return [[each.strip() for each in row] for row in plain]


def test_the_rows_are_the_rungs_of_the_page_in_the_order_of_the_study(tmp_path, monkeypatch):
    _, warnings, html = built(tmp_path, monkeypatch)
    assert warnings == ""
    assert rows(html) == [
        ["elements", "2¹⁰", "2²⁶", "gain"],
        ["NumPy, CPU", "2.0 µs", "–", ""],
        ["1 One a thread", "4.0 µs", "–", ""],
        ["2 Four a thread", "2.0 µs", "160 µs", "2.0×"],
        ["Waiting, a mistake on purpose", "9.0 µs", "–", ""],
        ["3 Eight a thread", "3.0 µs", "140 µs", "1.1×"],
        ["Eight, pinned copy, end to end", "–", "9.0 ms", ""],
    ]
    # A row leads to its section, or to the rung.
    table = re.search(r'<table class="gg-rungs.*?</table>', html, re.DOTALL)[0]
    targets = re.findall(r'href="#([\w-]+)">', table)
    assert targets == ["one-element", "four-elements", "rung-slow", "eight-elements"]
    assert all(f'id="{target}"' in html for target in targets)
    assert '<h2><span class="gg-no">3</span> Eight elements' in html
    # The fastest rung of a size is bold, and rows beside are grey.
    bold = re.findall(r'<td class="gg-best"><p><span[^>]*>([^<]+)<', html)
    assert bold == ["2.0 µs", "140 µs"]
    lines = re.findall(r'<tr class="([^"]*)">', html)[1:7]
    assert ["gg-beside" in each for each in lines] == [True, False, False, True, False, True]
    assert html.index("gg-answer") < html.index("gg-rungs-note") < html.index("gg-byline")


def test_rungs_whose_times_look_the_same_are_both_bold(tmp_path, monkeypatch):
    """2.00 and 2.01 µs are both written as 2.0 µs; a reader sees a tie."""
    cells = [each for each in STUDY.measurements if (each.variant, each.size) != ("one", SIZES[0])]
    study = replace(STUDY, measurements=(*cells, cell("one", SIZES[0], 2_010)))
    _, _, html = built(tmp_path, monkeypatch, study=study)
    bold = re.findall(r'<td class="gg-best"><p><span[^>]*>([^<]+)<', html)
    assert bold == ["2.0 µs", "2.0 µs", "140 µs"]


def strips(app):
    document = app.env.get_doctree("gallery/start/first")
    return {
        strip["strip"]: {each["kind"]: each.astext() for each in strip.findall(strip_cell)}
        for strip in document.findall(strip_node)
    }


def test_a_strip_has_time_gain_and_work(tmp_path, monkeypatch):
    app, _, html = built(tmp_path, monkeypatch)
    found = strips(app)
    assert found["eight"] == {
        "time": "140 µs 2²⁶ elements",
        "gain": "1.1× over Four a thread",
        "work": "96 % before: 84 %",
    }
    assert found["four"]["gain"] == "2.0× over One a thread, 2¹⁰ elements"
    # In the cache a share of the memory's ceiling would mislead.
    assert found["one"] == {"time": "4.0 µs 2¹⁰ elements", "work": "2.0 GB/s"}
    assert "<dt>share of the memory ceiling</dt>" in html
    assert "gg-strip-counter" not in html


def counted(variant, conflicts):
    values = (("registers", 32.0), ("bank_conflicts", conflicts))
    return Counted("add", variant, 2**26, (KernelCounts(variant, 1e-3, values, "barrier"),))


ASKED = SCRIPT.replace(".. rung:: eight\n", ".. rung:: eight\n#    :counter: bank_conflicts\n")


def test_a_strip_shows_the_counter_that_its_rung_asks_for(tmp_path, monkeypatch):
    script = ASKED.replace(
        "# An idea.\n#\n# .. rung:: one", "# Fewer. :evidence:`counter bank_conflicts`\n#\n# .. rung:: one"
    )
    both = (counted("four", 8e6), counted("eight", 0.0))
    app, warnings, html = built(tmp_path, monkeypatch, script, counters=both)
    assert warnings == ""
    assert strips(app)["eight"]["counter"] == "0 before: 8 million"
    assert "<dt>extra turns of shared memory because of bank conflicts</dt>" in html
    # Evidence leads to the strip, the first place that shows the counter.
    document = app.env.get_doctree("gallery/start/first")
    (cell,) = (each for each in document.findall(strip_cell) if each["kind"] == "counter")
    assert f'href="#{cell["ids"][0]}"' in html
    assert f'id="{cell["ids"][0]}"' in html


def test_evidence_of_a_counter_in_no_strip_leads_to_the_card(tmp_path, monkeypatch):
    script = SCRIPT.replace("# And so on.", "# Fewer meet. :evidence:`counter bank_conflicts`")
    _, warnings, html = built(tmp_path, monkeypatch, script, counters=(counted("eight", 0.0),))
    assert warnings == ""
    assert '[<a class="reference internal" href="#evidence-bank-conflicts">measured</a>]' in html
    assert re.search(r'<table class="gg-counters[^>]*id="evidence-bank-conflicts"', html)


def test_a_counter_that_nobody_read_is_said_to_be_missing(tmp_path, monkeypatch):
    said = "# It has :measured:`add[eight, 2**26].counter(registers)`. The fastest takes"
    app, warnings, html = built(tmp_path, monkeypatch, ASKED.replace("# The fastest takes", said))
    assert warnings == ""
    assert strips(app)["eight"]["counter"] == "not counted yet"
    assert html.count("not counted yet") >= 2


def test_a_strip_shows_declared_work_its_rate_and_those_of_the_rung_above(tmp_path, monkeypatch):
    cells = tuple(replace(each, work=COUNTED.get(each.variant, ())) for each in STUDY.measurements if each.n)
    app, warnings, html = built(tmp_path, monkeypatch, study=replace(STUDY, measurements=cells))
    assert warnings == ""
    found = {name: strip["work"] for name, strip in strips(app).items() if "work" in strip}
    assert found == {
        "one": "9000 at 2.2 G/s",
        # Of what both count; the share is of the ceiling that this one declares.
        "eight": "2.50 billion at 18 T/s 89 % of the ceiling; before: 50.0 billion at 310 T/s",
        "four": "50.0 billion at 310 T/s",
        "slow": "910 MB/s",
    }
    assert re.findall(r'gg-strip-work"><dt>([^<]*)<', html) == [
        "warp steps",
        "rate, 8.2 kB moved",
        "marks",
        "marks",
    ]
    rungs = app.env.get_doctree("gallery/start/first").findall(nodes.container)
    counts = {node["rung"]: node["counts"] for node in rungs if "rung" in node}
    assert counts == {"one": "warp_steps", "slow": "", "eight": "marks", "four": "marks"}


def test_a_rung_that_does_more_than_the_one_above_can_stand_beside(tmp_path, monkeypatch):
    script = SCRIPT.replace(".. rung:: eight\n", ".. rung:: eight\n#    :beside:\n")
    app, warnings, _ = built(tmp_path, monkeypatch, script)
    assert warnings == ""
    assert strips(app)["eight"] == {"time": "140 µs 2²⁶ elements", "work": "96 %"}


def test_a_rung_is_one_block_of_kernel_launch_and_strip(tmp_path, monkeypatch):
    app, _, _ = built(tmp_path, monkeypatch)
    document = app.env.get_doctree("gallery/start/first")
    rungs = {node["rung"]: node for node in document.findall(nodes.container) if "rung" in node}
    code = {
        name: [block.astext() for block in node.findall(nodes.literal_block)] for name, node in rungs.items()
    }
    assert [len(blocks) for blocks in code.values()] == [1, 1, 2, 2]
    assert code["eight"][0].startswith("ITEMS = 4\n\n\n@cuda.jit\ndef eight(x):")
    # What a rung above has shown is not shown again.
    assert code["four"][0].startswith("def width():")
    assert code["four"][1] == "four[1, 1](x)"
    assert rungs["slow"]["wrong"]
    assert not rungs["four"]["wrong"]


def test_the_imports_of_a_rung_stand_above_its_kernel(tmp_path, monkeypatch):
    script = SCRIPT.replace(
        "eight[1, 1](x)\n", "import math\nfrom math import pi  # both\n\neight[1, 1](x)\n"
    )
    app, _, _ = built(tmp_path, monkeypatch, script)
    document = app.env.get_doctree("gallery/start/first")
    (rung,) = (node for node in document.findall(nodes.container) if node.get("rung") == "eight")
    kernel, launch = (block.astext() for block in rung.findall(nodes.literal_block))
    assert kernel.startswith("import math\nfrom math import pi  # both\n\n\nITEMS = 4\n\n\n@cuda.jit\n")
    assert launch == 'eight[1, 1](x)\nprint("eight")'


def test_what_the_cell_of_a_rung_defines_is_not_shown_again_below(tmp_path, monkeypatch):
    own = "def width():\n    return ITEMS\n\n\n@cuda.jit\ndef one(x):"
    app, _, _ = built(tmp_path, monkeypatch, SCRIPT.replace("@cuda.jit\ndef one(x):", own))
    document = app.env.get_doctree("gallery/start/first")
    (four,) = (node for node in document.findall(nodes.container) if node.get("rung") == "four")
    assert four.next_node(nodes.literal_block).astext().startswith("@cuda.jit\ndef four(x):")


@pytest.mark.parametrize(
    ("status", "why"), [("missing", "this page was never measured"), ("stale", "the code changed")]
)
def test_without_a_recording_nothing_is_shown_but_that(tmp_path, monkeypatch, status, why):
    script = SCRIPT.replace(":measured:`add[eight, 2**26].time`", "much")
    app, warnings, html = built(tmp_path, monkeypatch, script, status)
    assert warnings == ""
    assert f'<span class="gg-unmeasured">not measured yet</span>: {why}' in html
    assert "gg-rungs" not in html
    assert strips(app)["four"] == {"time": "not measured yet"}
    assert "µs" not in html


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rungs:: add", "rungs:: ad", "rungs 'ad': Unknown study 'ad'. Did you mean 'add'?"),
        (":at: 2**10, 2**26", ":at: 2**10, 2**25", "Unknown size 33554432"),
        (":at: 2**10, 2**26", ":at: 10, n", "'n' is not a size"),
        ("#    :at: 2**10, 2**26\n", "", "list one to three sizes, as in :at: 10**4, 10**6"),
        (":at: 2**10, 2**26", ":at: 2**10, 2**20, 2**26, 2**26", "lists one to three sizes; got 4"),
        ("numpy, copied", "nmpy", "Unknown variant 'nmpy'. Did you mean 'numpy'?"),
        (".. rung:: four", ".. rung:: four\n#    :counter: conflicts", "Unknown counter 'conflicts'"),
        (".. rung:: four", ".. rung:: fuor", "rung 'fuor': Unknown variant 'fuor'. Did you mean 'four'?"),
        (".. rung:: four", ".. rung:: eight", "occurs more than once on page 'first'"),
    ],
)
def test_an_error_names_what_is_wrong_in_each_build(tmp_path, monkeypatch, old, new, message):
    assert old in SCRIPT
    for _ in range(2):
        _, warnings, _ = built(tmp_path, monkeypatch, SCRIPT.replace(old, new))
        assert message in warnings


def test_a_table_has_at_most_nine_rows():
    names = [f"v{number}" for number in range(10)]
    results = make(variants=tuple(VariantInfo(name, name) for name in names), measurements=())
    assert len(ladder_of(results, names[:9]).rows) == 9
    with pytest.raises(ArgumentError, match="at most 9 rows; got 10"):
        ladder_of(results, names)


def test_a_share_of_other_units_is_no_value_before():
    size = SIZES[2]
    single = Traffic(bytes_read=4 * size, bytes_written=4 * size, flops=10**10)

    def strip(unit):
        work = replace(single, unit=unit)
        cells = (cell("one", size, 1_000_000, traffic=work), cell("four", size, 400_000, traffic=single))
        ceilings = Ceilings((*CEILINGS.items, Ceiling("fp64", 2.5e13, "FLOP/s")))
        results = make(sizes=(size,), measurements=(missing("numpy", size, "no"), *cells), ceilings=ceilings)
        return ladder_of(results, ["one", "four"]).done("four")

    assert strip("fp32").words == strip("fp64").words == "share of what the FP32 units can do"
    assert [each.key for each in strip("fp32").before] == [f"add[one, {size}].flop_share"]
    assert strip("fp64").before == ()


def test_rungs_on_another_clock_than_most_stand_beside():
    ladder = ladder_of(STUDY, ["numpy", "eight", "one", "four", "copied"])
    assert ladder.rungs == ("one", "four", "eight")
    assert ladder.beside == ("numpy", "copied")
    assert [ladder.above(name) for name in ladder.rows] == ["", "", "one", "four", ""]


def test_a_recorded_page_gets_its_ladder_without_being_recorded_again(built_template):
    project = built_template.restored()
    table = "# A sum is quick.\n#\n# .. rungs:: sums\n#    :at: 256, 65536\n#    :beside: numpy\n"
    project.edit("examples/start/toy.py", "# A sum is quick.\n", table)
    project.edit(
        "examples/start/toy.py", "# Nothing but NumPy.\n", "# Nothing but NumPy.\n#\n# .. rung:: dot\n"
    )
    ran = project.build()
    assert ran.code == 0, ran.output
    html = project.page()
    head, *others = rows(html)
    assert head == ["elements", "256", "2¹⁶", "gain"]
    assert [row[0] for row in others] == ["numpy", "1 dot"]
    assert all(re.match(r"[\d.]+ (ns|µs|ms)", time) for row in others for time in row[1:3])
    rung = html[html.index('id="rung-dot"') :]
    assert rung.index(">arange<") < rung.index("not a substitution") < rung.index("gg-strip-time")
    assert "The study runs." in rung[rung.index("gg-strip-time") :]
    notebook = (project.layout.docs / "gallery" / "downloads" / "toy.ipynb").read_text(encoding="utf-8")
    assert "| elements | 256 | 2¹⁶ | gain over the row above |" in notebook
    assert re.search(r"\*Measured: [\d.]+ (ns|µs|ms) for 2¹⁶ elements; ", notebook)
