"""The roles: what they render, and that a wrong reference fails each build."""

import pytest
from small_site import build, page, recording

from gpuguide_docs.replay.states import PageState

INDEX = "Index\n=====\n\n{body}\n"


def site(tmp_path, monkeypatch, body, status="current", **state):
    states = {"first": PageState("first", status, recording(tmp_path), **state)}
    _, warnings = build(tmp_path, {"docs/index.rst": INDEX.format(body=body)}, states, monkeypatch)
    return page(tmp_path, "index"), warnings


def test_a_measured_number_carries_its_detail(tmp_path, monkeypatch):
    html, warnings = site(tmp_path, monkeypatch, "Takes :measured:`first:sample[numba, 2**20].time` here.")
    assert warnings == ""
    assert '<span aria-describedby="gg-tip-0" class="gg-measured" tabindex="0">6.0 µs<span' in html
    assert '<span class="gg-tip" role="tooltip" id="gg-tip-0">Numba, time on the GPU; one machine' in html
    assert "10 samples; 2²⁰ elements; NVIDIA H200, 21 November 2026</span></span> here." in html


def test_a_claimed_number_names_its_source(tmp_path, monkeypatch):
    html, warnings = site(tmp_path, monkeypatch, "Not :claimed:`s2_speedup` and :rule:`0.2 s`.")
    assert warnings == ""
    assert 'class="gg-claimed" tabindex="0">1000 times<span' in html
    assert "claimed by “A workshop”, not measured here" in html
    assert '<span class="gg-rule">0.2 s</span>' in html


@pytest.mark.parametrize(
    ("status", "state", "why"),
    [
        ("missing", {}, "this page was never measured"),
        ("stale", {"changed": ("topic",)}, "the code changed since it was measured"),
        ("pending", {"reason": "no GPU until Monday"}, "waits for a GPU: no GPU until Monday"),
    ],
)
def test_without_a_current_recording_no_number_is_shown(tmp_path, monkeypatch, status, state, why):
    body = "Takes :measured:`first:sample[numba, 2**20].time` here."
    html, warnings = site(tmp_path, monkeypatch, body, status, **state)
    assert warnings == ""
    assert 'class="gg-unmeasured" tabindex="0">not measured yet<span' in html
    assert why in html
    assert "6.0" not in html


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (":measured:`frist:first_call`", "Unknown page 'frist'. Did you mean 'first'?"),
        (":measured:`first_call`", "Unknown page ''."),
        (":measured:`first:first_cal`", "Unknown fact or study 'first_cal'. Did you mean 'first_call'?"),
        (":measured:`first:sample[nmba, 2**20].time`", "Unknown variant 'nmba'. Did you mean 'numba'?"),
        (":measured:`first:sample[numba].time`", "is not a reference: write page:study"),
        (":claimed:`s2_speed`", "Unknown claim 's2_speed'. Did you mean 's2_speedup'?"),
    ],
)
def test_a_wrong_reference_fails_each_build_anew(tmp_path, monkeypatch, body, message):
    for _ in range(2):
        _, warnings = site(tmp_path, monkeypatch, body)
        assert message in warnings
        assert "index.rst:4: ERROR" in warnings


def test_numbers_of_this_page_need_no_page_name(tmp_path, monkeypatch):
    files = {
        "docs/index.rst": INDEX.format(body="Hello"),
        "docs/gallery/start/first.rst": "First\n=====\n\nQuestion?\n\nTakes :measured:`first_call`.\n",
    }
    states = {"first": PageState("first", "current", recording(tmp_path))}
    app, warnings = build(tmp_path, files, states, monkeypatch)
    assert warnings == ""
    assert ">410 ms<" in page(tmp_path, "gallery/start/first")
    assert "first.txt" in {path.name for path in app.env.dependencies["gallery/start/first"]}


def test_the_roles_work_in_markdown(tmp_path, monkeypatch):
    files = {
        "docs/index.rst": INDEX.format(body="Hello"),
        "docs/other.md": "# Other\n\nTakes {measured}`first:first_call`, not {claimed}`s2_speedup`.\n",
        "docs/wrong.md": "# Wrong\n\nTakes {measured}`first:first_cal`.\n",
    }
    states = {"first": PageState("first", "current", recording(tmp_path))}
    _, warnings = build(tmp_path, files, states, monkeypatch, more=["myst_nb"])
    assert "wrong.md:3: ERROR: measured 'first:first_cal': Unknown fact" in warnings
    assert 'class="gg-measured" tabindex="0">410 ms<span' in page(tmp_path, "other")
    assert 'class="gg-claimed" tabindex="0">1000 times<span' in page(tmp_path, "other")
