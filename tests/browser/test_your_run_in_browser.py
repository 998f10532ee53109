"""Drops files on *Your GPU and ours*, under a strict policy and from disk: a table, or a sentence."""

import json
import re
import time

import pytest
from chromium import NEEDS_SITE_AND_BROWSER, SITE, Reader, served
from test_policy_in_browser import policy

from gpuguide.recordings import store

pytestmark = NEEDS_SITE_AND_BROWSER

PAGE = "your_gpu.html"
DROP = """
(() => {
  const files = new DataTransfer();
  files.items.add(new File([%s], "mine.json"));
  const event = new DragEvent("drop", {dataTransfer: files, cancelable: true});
  document.querySelector(".gg-drop").dispatchEvent(event);
})()
"""
STATUS = "document.querySelector('.gg-your-status').textContent"
ROWS = """
[...document.querySelectorAll(".gg-your-table tbody tr:has(td)")].map(
  row => [...row.children].map(cell => cell.textContent)
)
"""
CHART = """
(() => {
  const svg = document.querySelector(".gg-your-chart svg");
  const labels = [...svg.querySelectorAll("text[fill]")];
  return {
    role: svg.getAttribute("role"),
    title: svg.querySelector("title").textContent,
    lines: svg.querySelectorAll(".gg-line").length,
    labels: labels.length,
    dots: svg.querySelectorAll("circle").length,
    right: Math.max(...labels.map(label => label.getBoundingClientRect().right)),
    page: document.documentElement.scrollWidth,
  };
})()
"""


def recorded(page="first_kernel"):
    folder = store.ROOT / store.PRIMARY_MACHINE / page
    return json.loads(sorted(folder.glob("2*.json"))[-1].read_text(encoding="utf-8"))


def changed(**changes):
    """The recording, with other fields in its study."""
    run = recorded()
    run["studies"]["increment"] |= changes
    return json.dumps(run)


@pytest.fixture(scope="module", params=["under a strict policy", "from disk"])
def reader(request, tmp_path_factory):
    headers = {"Content-Security-Policy": policy()}
    with served(headers=headers) as address, Reader(tmp_path_factory.mktemp("profile")) as opened:
        opened.look(1440)
        opened.open(f"{address}/{PAGE}" if "policy" in request.param else (SITE / PAGE).as_uri())
        yield opened


def drop(reader, text):
    reader.run(f"{STATUS.removesuffix('.textContent')}.textContent = ''")
    reader.run(DROP % json.dumps(text))
    for _ in range(100):
        if said := reader.run(STATUS):
            return said
        time.sleep(0.05)
    return ""


def test_a_run_stands_beside_the_guide(reader):
    assert "sent nowhere" in drop(reader, json.dumps(recorded()))
    rows = reader.run(ROWS)
    assert len(rows) > 20
    numpy = next(row for row in rows if row[0] == "NumPy, one thread")
    assert numpy[1].endswith("µs")
    assert numpy[3].endswith("µs")
    assert 0.5 < float(numpy[2].removesuffix("×")) < 2
    widths = reader.run(
        "[...document.querySelectorAll('.gg-bar-own')].map(bar => bar.getBoundingClientRect().width)"
    )
    # In a row, the bar of the slowest is as wide as its cell.
    assert 0 < min(widths) < max(widths)


@pytest.mark.parametrize("width", [1440, 390])
def test_the_run_of_a_laptop_lies_as_dots_over_the_lines_of_the_guide(reader, width):
    run = recorded("random_numbers")  # whose chart shows the CPU as well
    for study in run["studies"].values():
        for cell in study["measurements"]:
            factor = 1 if cell.get("clock") == "host" else 20
            cell["samples_ns"] = [factor * sample for sample in cell.get("samples_ns", [])]
    reader.look(width)
    drop(reader, json.dumps(run))
    shown = reader.run(CHART)
    assert shown["role"] == "img"
    assert re.search(r"on the GPU.* about \d+ times as long as the H200", shown["title"])
    assert 0 < shown["lines"] <= min(6, shown["labels"])
    assert shown["dots"] > 15
    # Nothing is cut off, and a phone scrolls up and down only.
    assert shown["right"] <= shown["page"] <= width


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (json.dumps(recorded())[:5000], "cut short"),
        ('{"a": 1}', "holds no run"),
        ("[]", "holds no run"),
        (json.dumps({"gpuguide": "0.1", "studies": {}}), "holds no run"),
        (json.dumps(recorded() | {"page": "no_page"}), "no_page"),
        (json.dumps(recorded() | {"page": "__proto__"}), "__proto__"),
        (json.dumps(recorded() | {"page": "primes"}), "no study increment"),
        (changed(dtype="float32"), "dtype differ"),
        (changed(measurements=[]), "on both sides"),
        (changed(measurements=3), "on both sides"),
        (changed(measurements=[None, 3]), "on both sides"),
        (
            changed(measurements=[{"variant": "numpy", "clock": "host", "size": 10**300, "samples_ns": [1]}]),
            "both",
        ),
    ],
)
def test_a_file_that_does_not_fit_gets_a_sentence(reader, text, words):
    assert words in drop(reader, text)
    assert reader.run(ROWS) == []


def test_sizes_that_one_side_lacks_are_named(reader):
    """Those that were left out here with the reason."""
    cells = recorded()["studies"]["increment"]["measurements"]
    for cell in cells:
        if cell["size"] == 2**26:
            cell |= {"samples_ns": [], "reason": "out of memory"}
    drop(reader, changed(sizes=[1024, 2**13, 2**16, 2**20, 2**24, 2**26, 3000], measurements=cells))
    notes = reader.run("document.querySelector('.gg-your-run ul').textContent")
    assert "Only your run of increment has the sizes 3000." in notes
    assert "no times of 2²⁶ numbers: out of memory" in notes


def test_what_a_file_says_is_never_read_as_html(reader):
    run = recorded()
    run["provenance"]["gpu"] = "<img src=x onerror=alert(1)>"
    drop(reader, json.dumps(run))
    assert reader.run("document.querySelectorAll('.gg-your-run img').length") == 0


def test_without_scripts_the_page_has_a_table_of_rates():
    text = (SITE / PAGE).read_text(encoding="utf-8")
    assert "GPU memory, copy" in text.partition('class="gg-your-run"')[2]
