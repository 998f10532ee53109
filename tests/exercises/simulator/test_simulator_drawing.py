"""Drawings: the text to the letter; SVG well-formed, safe, described, and the same picture."""

import textwrap
from xml.etree import ElementTree

import numpy as np
import pytest
from launching import launch, poisoned, ramp

from gpuguide.exercises.simulator.drawing_svg import draw_svg
from gpuguide.exercises.simulator.drawing_text import draw_text
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.simulator.judge import bank_conflicts, uncoalesced
from gpuguide.exercises.simulator.pictures import GAP, picture
from gpuguide.exercises.simulator.trace import Trace
from plain_drawing import assert_only_draws

SVG = "{http://www.w3.org/2000/svg}"


def shift() -> tuple[Trace, Finding]:
    trace = launch(
        "def kernel(x):\n    i = cuda.grid(1)\n    if i < 63: x[i] = x[i + 1]\n", 2, 32, x=ramp(64)
    )
    return trace, trace.findings[0]


def blocks() -> tuple[Trace, Finding]:
    source = "def kernel(x):\n    if cuda.threadIdx.x == 0: x[0] = cuda.blockIdx.x\n"
    trace = launch(source, 3, 32, x=ramp(1))
    return trace, trace.findings[0]


def atomics() -> tuple[Trace, Finding]:
    source = (
        "def kernel(x, h):\n    i = cuda.grid(1)\n    cuda.atomic.add(h, x[i], 1)\n    if i == 9: h[2] = 0\n"
    )
    trace = launch(source, 2, 16, x=np.arange(32) % 4, h=np.zeros(4, int))
    return trace, trace.findings[0]


def behind_the_end() -> tuple[Trace, Finding]:
    source = "def kernel(x, out):\n    i = cuda.grid(1)\n    out[i] = x[i]\n"
    trace = launch(source, 2, 32, x=ramp(60), out=poisoned(60))
    return trace, trace.findings[0]


def below_zero() -> tuple[Trace, Finding]:
    source = "def kernel(x, out):\n    i = cuda.grid(1)\n    out[i] = x[i - 1]\n"
    trace = launch(source, 1, 8, x=ramp(8), out=poisoned(8))
    return trace, trace.findings[0]


def two_axes() -> tuple[Trace, Finding]:
    source = "def kernel(out):\n    i, j = cuda.grid(2)\n    out[j, i] = 1\n"
    trace = launch(source, (1, 1), (4, 2), out=poisoned(4, 2))
    return trace, trace.findings[0]


def unset() -> tuple[Trace, Finding]:
    source = (
        "def kernel(out):\n    s = cuda.shared.array(8, float32)\n    t = cuda.threadIdx.x\n"
        "    if t < 2: s[t] = 1\n    cuda.syncthreads()\n    out[t] = s[t]\n"
    )
    trace = launch(source, 1, 4, out=poisoned(4))
    return trace, trace.findings[0]


def barrier() -> tuple[Trace, Finding]:
    source = "def kernel(x):\n    t = cuda.threadIdx.x\n    if t > 40: return\n    cuda.syncthreads()\n"
    trace = launch(source, 2, 64, x=ramp(1))
    return trace, trace.findings[0]


def some_written() -> tuple[Trace, Finding]:
    source = "def kernel(out):\n    i = cuda.grid(1)\n    if i % 3: out[i] = i\n"
    trace = launch(source, 1, 32, out=poisoned(32))
    return trace, Finding("wrong", "Nothing was written to out[0].", array="out", index=(0,))


def wrong() -> tuple[Trace, Finding]:
    return some_written()[0], Finding("wrong", "out[10] is 10.", array="out", index=(10,))


def changed() -> tuple[Trace, Finding]:
    return some_written()[0], Finding("input_changed", "out[1] is changed.", array="out", index=(1,))


def scattered() -> tuple[Trace, Finding]:
    source = "def kernel(x, out):\n    t = cuda.threadIdx.x\n    out[t] = x[16 * t]\n"
    trace = launch(source, 1, 32, x=ramp(512), out=poisoned(32))
    finding = next(uncoalesced(trace, 4), None)
    assert finding is not None
    return trace, finding


def banks() -> tuple[Trace, Finding]:
    source = "def kernel(x):\n    s = cuda.shared.array(64, float32)\n    s[2 * cuda.threadIdx.x] = 1\n"
    trace = launch(source, 1, 32, x=ramp(1))
    finding = next(bank_conflicts(trace), None)
    assert finding is not None
    return trace, finding


DRAWN = [
    (shift, """
        Which threads touch x in line 3
        thread of block 0  0   1   2   3   4   5
        x[0]               w
        x[1]               r!  w!
        x[2]                   r!  w!
        x[3]                       r!  w!
        x[4]                           r!  w!
        x[5]                               r!  w!
        …
        r reads, w writes; ! one of these writes, and nothing makes it wait for the
        other
     """),
    (blocks, """
        Which threads touch x in line 2
        block:thread  0:0  1:0  2:0
        x[0]          w!   w!   w!
        w writes; ! one of these writes, and nothing makes it wait for the other
     """),
    (atomics, """
        Which threads touch h in lines 3 and 4
        thread of block 0  0   1   2   3   4   5   6   7   8   9   10  11  12  13  …
        h[0]               a               a               a               a
        h[1]                   a               a               a               a
        h[2]                       a!              a!          w!  a!
        h[3]                           a               a               a
        w writes, a reads and writes in one atomic step; ! one of these writes, and
        nothing makes it wait for the other
     """),
    (behind_the_end, """
        Which threads ask for which elements of x in line 3
        thread of block 1  25  26  27  28  29  30  31
        …
        x[57]              r
        x[58]                  r
        x[59]                      r  (the last element)
        x[60]                          r!
        x[61]                              r!
        x[62]                                  r!
        x[63]                                      r!
        r reads; ! no such element
     """),
    (below_zero, """
        Which threads ask for which elements of x in line 3
        thread of block 0  0   1   2   3
        x[-1]              r!  (in Numba x[7])
        x[0]                   r  (the first element)
        x[1]                       r
        x[2]                           r
        …
        r reads; ! counted from the end
     """),
    (two_axes, """
        Which threads ask for which elements of out in line 3
        thread of block (0, 0)  2,0  3,0  2,1  3,1
        out[0, 2]               w!
        out[0, 3]                    w!
        out[1, 2]                         w!
        out[1, 3]                              w!
        w writes; ! no such element
     """),
    (unset, """
        Which threads touch s in line 6
        thread of block 0  0   1   2   3
        s[0]               r
        s[1]                   r
        s[2]                       r!
        s[3]                           r!
        s[4]
        s[5]
        s[6]
        …
        r reads; ! reads before anything was written
     """),
    (barrier, """
        Where the threads of one block stand
        thread of block 0  0-40   41-63
        line 4             x
        has returned              x!
        ! not where the others stand
     """),
    (some_written, """
        Which threads write out
        thread of block 0  1   2   4
        out[0]  (never written)
        out[1]             w
        out[2]                 w
        out[3]
        out[4]                     w
        …
        w writes
     """),
    (wrong, """
        Which threads write out
        thread of block 0  7   8   10  11  13  14
        …
        out[6]
        out[7]             w
        out[8]                 w
        out[9]
        out[10]                    w!  (wrong)
        out[11]                        w
        out[12]
        out[13]                            w
        out[14]                                w
        …
        w writes; ! writes the wrong value
     """),
    (changed, """
        Which threads write out
        thread of block 0  1   2   4   5
        out[0]
        out[1]             w!  (changed)
        out[2]                 w!
        out[3]
        out[4]                     w!
        out[5]                         w!
        …
        w writes; ! changes an input
     """),
    (scattered, """
        One warp touches 32 sectors of 32 bytes of x at once in line 3
        thread of block 0  0   1   2   3   4   5   6   7   8   9   10  11  12  13  …
        sector 0           r
        sector 2               r
        sector 4                   r
        sector 6                       r
        sector 8                           r
        sector 10                              r
        sector 12                                  r
        sector 14                                      r
        sector 16                                          r
        sector 18                                              r
        sector 20                                                  r
        sector 22                                                      r
        sector 24                                                          r
        sector 26                                                              r
        …
        r reads
     """),
    (banks, """
        One warp wants words of s from 16 banks at once in line 3
        thread of block 0  0   1   2   3   4   …   12  13  14  15  16  17  18  19  …
        bank 0             w!                                      w!
        bank 2                 w!                                      w!
        bank 4                     w!                                      w!
        bank 6                         w!                                      w!
        bank 8                             w!
        …
        bank 24                                    w!
        bank 26                                        w!
        bank 28                                            w!
        bank 30                                                w!
        w writes; ! different words of one bank, which come one after the other
     """),
]  # fmt: skip
NAMES = [case[0].__name__ for case in DRAWN]


@pytest.mark.parametrize(("made", "expected"), DRAWN, ids=NAMES)
def test_the_text_to_the_letter(made, expected: str) -> None:
    trace, finding = made()
    assert draw_text(trace, finding) == textwrap.dedent(expected).strip()


@pytest.mark.parametrize("width", [40, 60, 78, 200])
@pytest.mark.parametrize("made", [case[0] for case in DRAWN], ids=NAMES)
def test_no_line_is_longer_than_the_terminal(made, width: int) -> None:
    assert max(len(line) for line in draw_text(*made(), width=width).splitlines()) <= width


@pytest.mark.parametrize("made", [case[0] for case in DRAWN], ids=NAMES)
def test_the_drawing_is_safe_svg_with_title_and_description(made) -> None:
    trace, finding = made()
    svg = draw_svg(trace, finding)
    assert_only_draws(svg)
    root = ElementTree.fromstring(svg)
    assert (root.tag, root.get("role")) == (f"{SVG}svg", "img")
    title, description = root.findtext(f"{SVG}title"), root.findtext(f"{SVG}desc")
    assert title == draw_text(trace, finding, width=200).splitlines()[0]
    assert description
    assert not [tag.tag for tag in root.iter() if tag.tag in (f"{SVG}script", f"{SVG}image", f"{SVG}a")]


@pytest.mark.parametrize("made", [case[0] for case in DRAWN], ids=NAMES)
def test_the_drawing_shows_what_the_picture_holds(made) -> None:
    """One line a link, one box a thread or element, all of it inside the drawing."""
    trace, finding = made()
    drawn = picture(trace, finding, 12)
    assert drawn is not None
    root = ElementTree.fromstring(draw_svg(trace, finding))
    labels = [label for label in (*drawn.above, *drawn.below) if label != GAP]
    assert len(root.findall(f"{SVG}rect")) == len(labels)
    assert len(root.findall(f"{SVG}line")) == len(drawn.links)
    written = {text.text for text in root.findall(f"{SVG}text")}
    assert set(labels) <= written
    width, height = (float(root.get(name, "0")) for name in ("width", "height"))
    for box in root.findall(f"{SVG}rect"):
        x, y, wide, high = (float(box.get(name, "-1")) for name in ("x", "y", "width", "height"))
        assert x >= 0
        assert x + wide <= width
        assert y + high <= height


@pytest.mark.parametrize("made", [case[0] for case in DRAWN], ids=NAMES)
def test_colours_are_the_page_s(made) -> None:
    """Everything has the text's colour but what is wrong, whose colour the page may set."""
    svg = draw_svg(*made())
    assert svg.count("#") == svg.count("var(--gg-wrong, #d6453d)")
    assert 'fill="currentColor"' in svg
    assert " id=" not in svg


def test_an_element_that_nobody_writes_is_marked_without_a_link() -> None:
    root = ElementTree.fromstring(draw_svg(*some_written()))
    marked = [box for box in root.findall(f"{SVG}rect") if "--gg-wrong" in box.get("style", "")]
    first = min(
        (box for box in root.findall(f"{SVG}rect") if box.get("y") == marked[0].get("y")),
        key=lambda box: float(box.get("x", "0")),
    )
    assert marked == [first], "out[0], which has no line to it"
    assert "out[0]: never written" in {text.text for text in root.findall(f"{SVG}text")}


def test_the_description_tells_who_does_what() -> None:
    root = ElementTree.fromstring(draw_svg(*blocks()))
    mark = "(one of these writes, and nothing makes it wait for the other)"
    assert root.findtext(f"{SVG}desc") == " ".join(f"Thread {b}:0 writes x[0] {mark}." for b in range(3))


def test_what_has_no_place_has_no_drawing() -> None:
    trace = launch("def kernel(x):\n    while True: pass\n", 1, 1, x=ramp(1), step_limit=10)
    assert (draw_text(trace, trace.findings[0]), draw_svg(trace, trace.findings[0])) == ("", "")
    for finding in (
        Finding("wrong", "No such array.", array="y", index=(0,)),
        Finding("wrong", "No such element.", array="x", index=(1,)),
        Finding("wrong", "No such axis.", array="x", index=(0, 0)),
        Finding("gpu", "Something else.", array="x", index=(0,)),
    ):
        assert draw_text(trace, finding) == ""


def test_a_race_is_drawn_between_the_barriers_where_it_happens() -> None:
    """Other turns of the loop touch the same elements in the same lines, in good order."""
    source = """
def kernel(out):
    s = cuda.shared.array(4, float32)
    t = cuda.threadIdx.x
    for k in range(3):
        if k < 2 or t < 2:
            s[(t + k) % 4] = t
        if k == 1:
            out[t] = s[t]
        cuda.syncthreads()
"""
    trace = launch(source, 1, 4, out=poisoned(4))
    (finding,) = trace.findings
    assert draw_text(trace, finding).splitlines()[1:6] == [
        "thread of block 0  0   1   2   3",
        "s[0]               r!          w!",
        "s[1]               w!  r!",
        "s[2]                   w!  r!",
        "s[3]                       w!  r!",
    ]


def test_overlapping_arguments_are_drawn_as_one_memory() -> None:
    source = "def kernel(x, out):\n    i = cuda.grid(1)\n    if i < out.size: out[i] = x[i]\n"
    memory = ramp(9)
    trace = launch(source, 1, 32, x=memory[1:], out=memory[:8])
    assert draw_text(trace, trace.findings[0]).splitlines()[:4] == [
        "Which threads touch x in line 3",
        "thread of block 0  0   1   2   3   4   5",
        "x[0]               r!  w!",
        "x[1]                   r!  w!",
    ]
