"""Byline and card: put on a gallery page without being asked."""

import re
from dataclasses import replace

from small_site import PROVENANCE, build, page, recording

from gpuguide.recordings.keys import Key
from gpuguide.recordings.recording import Run
from gpuguide.results.sample import sample_results
from gpuguide_docs.replay.states import PageState
from study_results import on_starts

INDEX = {"docs/index.rst": "Index\n=====\n\nHello.\n"}
FIRST = """
First page
==========

What is measured?

..
   A comment.

The answer.

More of the answer.

.. cell::

   .. code-block:: Python

      x = 1

Not the answer.

A section
---------

Text.
"""

KEY = Key((), (), 3)


def text_of(html):
    """The text of a page's body, blanks joined."""
    body = html[html.index('<div class="body"') : html.index("sphinxsidebar")]
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def built(tmp_path, monkeypatch, state=None, **files):
    (tmp_path / "examples" / "start").mkdir(parents=True, exist_ok=True)
    (tmp_path / "examples" / "start" / "first.py").touch()
    pages = {"docs/gallery/start/first.rst": FIRST, "docs/gallery/start/second.rst": FIRST, **files}
    state = state or PageState("first", "current", recording(tmp_path))
    _, warnings = build(tmp_path, {**INDEX, **pages}, {"first": state}, monkeypatch)
    assert warnings == ""
    return page(tmp_path, "gallery/start/first")


def test_the_byline_stands_under_the_answer(tmp_path, monkeypatch):
    html = built(tmp_path, monkeypatch)
    text = text_of(html)
    byline = (
        "1 min · needs 1 GPU, 4 GB | measured on NVIDIA H200, one machine start, 21 November 2026, "
        "results checked, details | notebook · script x = 1 Not the answer."
    )
    assert f"The answer. More of the answer. {byline}" in text
    assert '<p class="gg-question">What is measured?</p>' in html
    assert '<p class="gg-answer">More of the answer.</p>' in html
    assert "<p>Not the answer.</p>" in html


def test_the_card_is_last_and_details_opens_it(tmp_path, monkeypatch):
    html = built(tmp_path, monkeypatch)
    assert '<a class="reference internal" href="#how-this-was-measured">details</a>' in html
    card = html[html.index('<details class="gg-fold gg-measured-card no-search">') :]
    assert card.index("How this was measured</summary>") < card.index('id="how-this-was-measured"')
    text = " ".join(re.sub(r"<[^>]+>", " ", card).split())
    for said in (
        "compute capability : 9.0",
        "SMs : 132",
        "clocks : SM 1.98 GHz, memory 3.2 GHz",
        "power limit : 700 W",
        "ECC : on",
        "SM clock seen : 1.90 GHz to 1.98 GHz",
        "CPU caches : L1d 48 KiB, L2 2 MiB, L3 300 MiB",
        "host : kvm, time from tsc",
        "host shared during : 2.0 % of the samples",
        "driver : 580.159",
        "versions : numpy 2.4.6, cupy 14.2",
        "CPU : Some CPU, 16 logical CPUs, 16 threads",
        "date : 2026-11-21 10:00:00 UTC",
        "harness : version 1",
        "run : 2026-11-21-c0ffee",
        "run time : 12.5 s",
        "recorded on : one machine start",
        "raw files : 2026-11-21-c0ffee.json",
        "how to cite : The gpuguide developers, “First page”",
    ):
        assert said in text
    assert "steal time" not in text
    assert "run 1" not in text
    links = re.findall(r'href="[./]*_downloads/\w+/([\w.-]+)"', html)
    assert links == ["first.ipynb", "first.py", "2026-11-21-c0ffee.json"]


def several_runs(root, **last):
    """A page recorded four times on three machine starts; the second was on another CPU."""
    starts = (
        {"start": "a"},
        {"start": "b", "cpu": "Intel Emerald Rapids"},
        {"start": "b"},
        {"start": "c", **last},
    )
    told = [
        replace(PROVENANCE, utc_date=f"2026-11-{day}T10:00:00Z", **each)
        for day, each in zip((17, 18, 19, 22), starts, strict=True)
    ]
    return recording(
        root,
        provenance=told[-1],
        files=("2026-11-19-b.json", "2026-11-22-c.json"),
        runs=tuple(Run("nvidia-h200", "first", each, KEY) for each in told[:-1]),
        studies={"sample": on_starts(sample_results(), 1.1, 1.2, 1.3)},
    )


def test_the_card_lists_each_run_and_what_differed(tmp_path, monkeypatch):
    written = several_runs(tmp_path, shared_host=0.25, driver="581.2")
    html = built(tmp_path, monkeypatch, PageState("first", "current", written))
    assert "NVIDIA H200, 3 machine starts, latest on 22 November 2026, results checked," in text_of(html)
    text = " ".join(re.sub(r"<[^>]+>", " ", html[html.index("gg-measured-card") :]).split())
    for said in (
        "recorded on : 3 machine starts, 4 runs",
        "run 1 : 2026-11-17 10:00:00 UTC, machine start 1, Some CPU, driver 580.159, "
        "host shared during 2.0 % of the samples run 2",
        "run 2 : 2026-11-18 10:00:00 UTC, machine start 2, Intel Emerald Rapids, driver 580.159, host shared",
        "run 3 : 2026-11-19 10:00:00 UTC, machine start 2, Some CPU, driver 580.159, host shared",
        "run 4 : 2026-11-22 10:00:00 UTC, machine start 3, Some CPU, driver 581.2, "
        "host shared during 25 % of the samples",
        "2026-11-22-c.json · 2026-11-19-b.json",
    ):
        assert said in text
    assert "CUDA 13" not in text.split("run 1")[1], "what is the same in all runs is said once"


def test_a_later_page_links_the_earlier_one(tmp_path, monkeypatch):
    built(tmp_path, monkeypatch)
    html = page(tmp_path, "gallery/start/second")
    assert 'after <a class="reference internal" href="first.html">' in html
    assert "1 min · after First page · needs no GPU | not measured yet : this page was never" in text_of(html)
    assert "gg-measured-card" not in html


def test_a_stale_page_shows_no_provenance(tmp_path, monkeypatch):
    state = PageState("first", "stale", recording(tmp_path), ("topic",))
    html = built(tmp_path, monkeypatch, state)
    assert "NVIDIA H200" not in html
    assert "gg-measured-card" not in html
    assert "not measured yet" in text_of(html)
