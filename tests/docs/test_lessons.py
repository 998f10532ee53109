"""What only a lesson has: evidence for its causes, minutes worked out from its text; and the box to try."""

from __future__ import annotations

import re

import pytest
from docutils import nodes
from small_site import PAGES, build, generated, page, recording, write
from tiny_pool import use_pool

from gpuguide_docs.replay.states import PageState
from gpuguide_docs.show.card import minutes_of
from gpuguide_docs.show.cells import fold

LESSON = PAGES.replace("needs =", 'exercises = ["add_one"]\nneeds =', 1)
MORE = ("sphinx_design", *(f"gpuguide_docs.show.{name}" for name in ("evidence", "exercises", "cells")))
SCRIPT = '''"""
First page
==========

What is measured?
"""

# %%
# The answer.

# %%
# Steps
# -----
#
{body}
#
# .. kernel:: gpuguide.topics.toy
#    :names: add_one_kernel
#    :fold: How steps are counted
#
# .. results:: sample

n = 3
gg.fact("marks", n, unit="1")
'''
KERNEL = 'href="#evidence-add-one-kernel">counted</a>]</span>'


def built(tmp_path, monkeypatch, *body, status="current", pages=LESSON):
    """The page, the warnings and the application; each text of the body is a paragraph."""
    use_pool(monkeypatch, tmp_path / "pool")
    text = "\n#\n".join(f"# {each}" for each in body)
    files = {"examples/pages.toml": pages, "examples/start/first.py": SCRIPT.replace("{body}", text)}
    layout = write(tmp_path, files)
    script = layout.examples / "start" / "first.py"
    made = recording(tmp_path) if status == "current" else None
    files |= {"docs/index.rst": "Index\n=====\n", "docs/gallery/start/first.rst": generated(script)}
    files["docs/gallery/start/second.rst"] = "Second page\n===========\n\nAnd then?\n\nNothing.\n"
    state = PageState("first", status, made)
    app, warnings = build(tmp_path, files, {"first": state}, monkeypatch, more=MORE)
    return page(tmp_path, "gallery/start/first"), warnings, app


def test_a_count_leads_to_its_code_in_its_fold(tmp_path, monkeypatch):
    html, warnings, _ = built(tmp_path, monkeypatch, "It waits. :evidence:`count add_one_kernel`")
    assert warnings == ""
    assert '<span class="gg-evidence">[<a class="reference internal" ' + KERNEL in html
    folded = html[html.index("How steps are counted</summary>") :]
    assert 'id="evidence-add-one-kernel"' in folded[: folded.index("</details>")]


@pytest.mark.parametrize(
    ("text", "shown", "target"),
    [
        ("count marks", "counted", "evidence-marks"),
        ("count steps", "counted", ""),
        ("variant numba", "measured", "evidence-numba"),
        ("opinion", "not tested", ""),
        ("count\n# marks", "counted", "evidence-marks"),
    ],
)
def test_evidence_says_what_a_cause_rests_on(tmp_path, monkeypatch, text, shown, target):
    html, warnings, _ = built(tmp_path, monkeypatch, f"It waits. :evidence:`{text}`")
    assert warnings == ""
    (said,) = re.findall(r'<span class="gg-evidence">(.*?)</span>', html)
    assert re.sub(r"<[^>]+>", "", said) == f"[{shown}]"
    assert (f'href="#{target}"' in said) == (f'id="{target}"' in html) == bool(target)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("count add_one_kernl", "Unknown count 'add_one_kernl'. Did you mean 'add_one_kernel'"),
        ("variant nmba", "Unknown variant 'nmba'. Did you mean 'numba'?"),
        ("counter l2_writes", "Unknown counter 'l2_writes'. Did you mean 'l2_write_sectors'?"),
        ("opinions", "Unknown kind of evidence 'opinions'. Did you mean 'opinion'?"),
        ("opinion mine", "opinion takes no name"),
        ("variant", "variant needs a name"),
    ],
)
def test_what_is_unknown_is_named_with_the_nearest(tmp_path, monkeypatch, text, message):
    _, warnings, _ = built(tmp_path, monkeypatch, f"It waits. :evidence:`{text}`")
    assert message in warnings


def test_without_a_recording_nothing_is_called_measured(tmp_path, monkeypatch):
    html, warnings, _ = built(tmp_path, monkeypatch, "It waits. :evidence:`variant numba`", status="missing")
    assert warnings == ""
    assert '<span class="gg-evidence">[not measured yet]</span>' in html


def test_the_byline_of_a_lesson_has_its_own_minutes_and_those_of_its_exercise(tmp_path, monkeypatch):
    html, warnings, _ = built(tmp_path, monkeypatch, " ".join(["word"] * 700), ".. try-it::\n#\n#    Run.")
    assert warnings == ""
    assert "4 min, exercise 5 min · needs 1 GPU" in html


def words(n):
    return nodes.paragraph("", " ".join(["word"] * n))


def code(n, language="Python"):
    return nodes.literal_block("", "\n\n".join(["x = 1"] * n), language=language)


@pytest.mark.parametrize(
    ("parts", "minutes"),
    [
        ([words(180 * 3)], 3),
        ([words(180), code(24)], 3),
        ([words(180), code(24, "none")], 1),
        ([code(60), nodes.container("", nodes.image(), classes=["gg-chart"])] * 6, 31),
        ([nodes.table("", nodes.title("", "One two"))] * 12, 2),
        ([nodes.table("", words(8)), nodes.table("", words(7))] * 30, 11),
        ([nodes.image(drawing="warp"), nodes.image()] * 12, 2),
        ([words(180), fold("More", words(1800), code(240))], 1),
        ([words(180), nodes.container("", words(1800), classes=["gg-exercise"])], 1),
        ([], 1),
    ],
)
def test_minutes_are_those_of_words_open_code_and_pictures(parts, minutes):
    copies = [part.deepcopy() for part in parts]
    assert minutes_of(nodes.section("", *copies)) == minutes


def test_the_box_to_try_begins_with_its_words(tmp_path, monkeypatch):
    html, warnings, _ = built(tmp_path, monkeypatch, ".. try-it::\n#\n#    Replace ``1`` with *two*.")
    assert warnings == ""
    assert '<p><strong class="gg-try-lead">Try it.</strong> Replace <code' in html
