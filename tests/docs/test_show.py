"""What pages show of a slip, and of what was not measured; and the parts of a page that have rules."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from docutils import nodes
from mini_project import MACHINE, Project, words_of
from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword

from gpuguide.recordings import store
from gpuguide_docs.replay.figures import shown_drawing
from gpuguide_docs.show.card import card_rows, minutes_of
from gpuguide_docs.show.kernel import PythonWithCudaLexer
from gpuguide_docs.show.numbers import number_node
from gpuguide_docs.show.tiles import finding_in

PICTURES = "examples/later/pictures.py"

# A slip on a page -> what its warning names: what was written, and the nearest.
SLIPS = {
    ":measured:`toi:sums[numpy, 256].time`": ("'toi'", "'toy'"),
    ":measured:`sumz[numpy, 256].time`": ("'sumz'", "'sums'"),
    ":measured:`sums[nmpy, 256].time`": ("'nmpy'", "'numpy'"),
    ":measured:`sums[numpy, 512].time`": ("size 512",),
    ":measured:`answr`": ("'answr'", "'answer'"),
    ":measured:`sums[numpy].time`": ("sums[numpy].time", "page:study[variant, 2**24].time"),
    ":claimed:`tenfol`": ("'tenfol'", "'tenfold'"),
    ":evidence:`count sum_referenc`": ("'sum_referenc'", "'sum_reference'"),
    ":evidence:`variant halvs`": ("'halvs'", "'halves'"),
    ":evidence:`counter l2_writes`": ("'l2_writes'", "'l2_write_sectors'"),
    ":evidence:`opinions`": ("'opinions'", "'opinion'"),
    ":evidence:`opinion mine`": ("opinion takes no name",),
    ".. rung:: hlves": ("rung 'hlves'", "'halves'"),
    ".. rung:: dot": ("rung 'dot'", "more than once"),
    ".. kernel:: gpuguide.topics.toi.shown": ("'gpuguide.topics.toi.shown'", "'gpuguide.topics.toy.shown'"),
    ".. kernel:: gpuguide.topics.toy.shown\n   :names: hal": ("'hal'", "'half'"),
    ".. drawing:: ide\n\n   Words.": ("'ide'", "'idea'"),
    ".. remember::\n\n   * a\n   * b\n   * c\n   * d": ("at most 3 bullets",),
    ".. drawing:: idea": ("what the drawing shows",),
    ".. exercise:: add_onne": ("'add_onne'", "'add_one'"),
}


# These need no page that is measured: each on a page of its own, or another would have it read again.
ALONE = (":claimed:", ".. kernel::", ".. drawing:: ide\n", ".. exercise:: add_onne")


@pytest.fixture(scope="module")
def warnings(make_project) -> list[list[str]]:
    """All slips on the pages of one project: the warnings of two builds, one after the other."""
    project = make_project()
    script = (project.root / PICTURES).read_text(encoding="utf-8")
    for number, slip in enumerate(SLIPS):
        if slip.startswith(ALONE):
            alone = f":orphan:\n\nSlip\n====\n\n{slip}\n"
            (project.layout.docs / f"slip_{number}.rst").write_text(alone, encoding="utf-8")
        else:
            script += "\n# %%\n" + "\n".join(f"# {line}".rstrip() for line in slip.splitlines()) + "\n"
    (project.root / PICTURES).write_text(script, encoding="utf-8")
    # A strict build that fails leaves nothing to the next one.
    return [project.build(strict=False).output.splitlines() for _ in range(2)]


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_named_with_the_nearest_in_each_build(slip, warnings):
    for lines in warnings:
        assert any(all(name in line for name in SLIPS[slip]) for line in lines), lines


@pytest.fixture(scope="module")
def stale(make_project) -> Project:
    """The miniature guide, whose topic changed after it was measured."""
    project = make_project()
    project.edit("src/gpuguide/topics/toy/study.py", "out[0] = x.sum()", "out[0] = x.sum() + 0")
    ran = project.build()
    assert ran.code == 0, ran.output
    return project


def test_a_stale_page_shows_no_number(stale):
    page = stale.page("pictures", "later")
    shown = words_of(page)
    assert not re.search(r"\d (?:µs|GB/s|M/s|×)|8 million", shown)
    assert "beginner · not measured yet: the code changed" in shown
    assert "The product takes not measured yet" in shown
    assert [kind for kind in ("gpuguide-results", "gg-counters") if f'class="{kind}' in page] == []
    assert re.findall(r'<div class="(gg-strip-\w+)"><dt>time', page) == ["gg-strip-time"] * 3
    assert "It waits. [measured" not in shown, "the evidence"
    # What was kept for the end of the page has a fold of its own.
    assert 0 < shown.index("How this was measured") < shown.index("The study from gpuguide.topics.toy")
    assert "A CPU" not in shown


def test_other_pages_show_no_number_of_a_stale_page(stale):
    index = words_of((stale.html / "gallery/index.html").read_text(encoding="utf-8"))
    assert "Toy sums How long does a sum take?" in index
    other = words_of((stale.html / "other.html").read_text(encoding="utf-8"))
    assert "Start First steps." in other
    assert "is faster than" not in other
    assert "µs" not in index + other


def test_the_card_lists_each_run_and_what_differed(recorded_template):
    """Of four runs on three starts of the machine, of which the last has another driver."""
    newest = store.read(recorded_template.layout.recorded / MACHINE / "toy")
    runs = [
        replace(newest, provenance=replace(newest.provenance, start=start, driver=driver))
        for start, driver in (("a", "580"), ("b", "580"), ("b", "580"), ("c", "581"))
    ]
    rows = dict(card_rows(replace(runs[-1], runs=tuple(runs[:-1]))))
    assert rows["recorded on"] == "3 machine starts of one day, 4 runs"
    assert [rows[f"run {number}"].split(", ", 1)[1] for number in (1, 2, 3, 4)] == [
        "machine start 1, A CPU, driver 580",
        "machine start 2, A CPU, driver 580",
        "machine start 2, A CPU, driver 580",
        "machine start 3, A CPU, driver 581",
    ]


def words(n):
    return nodes.paragraph("", " ".join(["word"] * n))


def code_of(n, language="Python"):
    return nodes.literal_block("", "\n\n".join(["x = 1"] * n), language=language)


@pytest.mark.parametrize(
    ("parts", "minutes"),
    [
        ([words(180), code_of(24)], 3),
        ([words(180), code_of(24, "none")], 1),
        ([nodes.image(drawing="warp"), nodes.image()] * 12, 2),
        ([nodes.table("", words(8)), nodes.table("", words(7))] * 30, 11),
        ([words(180), nodes.container("", words(1800), classes=["gg-exercise"])], 1),
        ([], 1),
    ],
)
def test_minutes_are_those_of_words_open_code_and_pictures(parts, minutes):
    assert minutes_of(nodes.section("", *(part.deepcopy() for part in parts))) == minutes


@pytest.mark.parametrize(
    ("kind", "finding"), [("gg-measured", "It takes 3 ms alone."), ("gg-unmeasured", ""), ("gg-rule", "")]
)
def test_the_finding_is_the_first_sentence_with_a_measured_number(kind, finding):
    node = nodes.inline if kind == "gg-rule" else number_node
    number = node("", "3 ms", classes=[kind])
    evidence = nodes.inline("", "[counted]", evidence="count")
    parts = (nodes.Text("It is quick. It takes "), number, nodes.Text(" alone. "), evidence)
    found = finding_in([nodes.paragraph("", "", *parts)])
    assert "".join(part.astext() for part in found) == finding


@pytest.mark.parametrize(
    "text", ["# .. drawing:: idea\n", ".. drawing:: idea\n", "```{drawing} idea\n", ":::{drawing} idea"]
)
def test_the_drawing_of_a_page_is_the_first_that_is_there(recorded_template, text):
    docs = recorded_template.layout.docs
    assert shown_drawing(f"Words\n# .. drawing:: none\n{text}\n", docs) == "idea"
    assert shown_drawing("See drawing:: idea", docs) == ""


# CUDA C++ in a string of Python

KERNEL = "__global__ void add(float* x) {\n    x[threadIdx.x] += 1;  // each\n}\n"


def tokens(code: str, lexer: type[PythonLexer] = PythonWithCudaLexer) -> list[tuple]:
    return list(lexer().get_tokens(code))


@pytest.mark.parametrize(
    "code",
    [
        f"import cupy as cp\n\nADD_SOURCE = r'''\n{KERNEL}'''\nadd = cp.RawKernel(ADD_SOURCE, 'add')\n",
        f"add = cp.RawKernel(\n    r'''{KERNEL}''', 'add'\n)\n",
        # Only the changed lines of a rung: no whole program.
        f'    ADD_SOURCE = r"""{KERNEL}"""\nelse:\n',
        f'A_SOURCE = r"""{KERNEL}"""\nB_SOURCE = r"""{KERNEL}"""\n',
    ],
)
def test_a_kernel_in_a_string_is_highlighted_as_cuda(code):
    found = tokens(code)
    assert (Keyword.Reserved, "__global__") in found
    assert (Comment.Single, "// each\n") in found
    assert "".join(text for _, text in found) == code


@pytest.mark.parametrize(
    "code",
    [
        'SOURCE = """\ndef kernel(x):\n    x[0] = 1\n"""\n',
        f'def f():\n    r"""Say {KERNEL}"""\n',
        "kernel = cp.RawKernel(SOURCE, 'add')\n",
    ],
)
def test_other_strings_stay_strings(code):
    assert tokens(code) == tokens(code, PythonLexer)
