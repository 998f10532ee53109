"""Exercises in a real browser: links open folds, a print shows everything, filters filter."""

import json
import re

import pytest
from chromium import NEEDS_SITE_AND_BROWSER, SITE, run_in_browser

from gpuguide.exercises import pool
from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.show.exercises import exercise_id, home_of
from gpuguide_docs.show.site import Site

pytestmark = NEEDS_SITE_AND_BROWSER

POOL = "/practice/puzzles.html"
PAGE = "/gallery/first_kernels/first_kernel.html"

# Each block of the probe loads a page in a frame and notes what a reader would see.
PROBE = """
const pause = (ms) => new Promise(done => setTimeout(done, ms));
async function load(url, width = 1200) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${width}px;height:900px;border:0`;
  document.body.append(frame);
  await new Promise(done => { frame.onload = done; frame.src = url; });
  await pause(100);
  return frame.contentWindow;
}
const open = (page) => [...page.document.querySelectorAll("details[open] .gg-fold-target")].map(e => e.id);
const inView = (page, id) => {
  const box = page.document.getElementById(id).getBoundingClientRect();
  return box.height > 0 && box.top >= 0 && box.top < page.innerHeight;
};
const rows = (page) => [...page.document.querySelectorAll("table.gg-pool tbody tr")]
  .filter(row => page.getComputedStyle(row).display !== "none").map(row => row.className);
(async () => {
  const seen = {};
  let page = await load(PAGE);
  seen.closed = open(page);
  page.location.hash = "exercise-guard-solution";
  await pause(100);
  seen.changed = [open(page), inView(page, "exercise-guard-solution")];

  page = await load(PAGE + "#exercise-guard-hint-2");
  seen.deep = [open(page), inView(page, "exercise-guard-hint-2")];
  page.dispatchEvent(new page.Event("beforeprint"));
  seen.printed = [...page.document.querySelectorAll("details")].every(fold => fold.open);
  page.dispatchEvent(new page.Event("afterprint"));
  seen.afterwards = open(page);
  page.document.querySelector(".gg-exercise summary").focus();
  // As it is shown and copied: HTML may break the line before the words.
  seen.focused = page.document.activeElement.innerText;
  page.document.activeElement.click();
  seen.pressed = open(page);

  for (const width of [1200, 390]) {
    page = await load(POOL, width);
    const form = page.document.querySelector("form.gg-filter");
    const shown = seen[width] = { all: rows(page), form: form.offsetHeight > 0 };
    const [beginner, ...others] = form.querySelectorAll("input");
    for (const box of others) box.click();
    shown.beginner = rows(page);
    shown.count = form.querySelector("output").textContent;
    const about = form.querySelector("select");
    about.value = TAG;
    about.dispatchEvent(new page.Event("change", { bubbles: true }));
    shown.tag = rows(page);
    beginner.click();
    shown.none = rows(page);
  }
  document.title = JSON.stringify(seen);
})();
"""


def _pool():
    return [pool.get(name) for name in pool.names()]


def _tag():
    """The tag that most beginners' exercises share."""
    tags = [tag for exercise in _pool() if exercise.level == "beginner" for tag in exercise.tags]
    return max(sorted(set(tags)), key=tags.count)


def _tag_class(tag):
    return "gg-tag-" + re.sub(r"[^a-z0-9]+", "-", tag.lower()).strip("-")


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    script = PROBE
    for name, value in (("PAGE", PAGE), ("POOL", POOL), ("TAG", _tag_class(_tag()))):
        script = re.sub(rf"\b{name}\b", json.dumps(value), script)
    return run_in_browser(script, tmp_path_factory.mktemp("profile"))


def test_everything_is_folded_until_it_is_asked_for(seen):
    assert seen["closed"] == []


def test_a_link_from_elsewhere_opens_its_fold_and_no_other(seen):
    assert seen["deep"] == [["exercise-guard-hint-2"], True]


def test_a_link_on_the_same_page_opens_its_fold(seen):
    assert seen["changed"] == [["exercise-guard-solution"], True]


def test_a_print_shows_everything_and_leaves_the_page_as_it_was(seen):
    assert seen["printed"]
    assert seen["afterwards"] == ["exercise-guard-hint-2"]


def test_folds_take_the_focus_and_open(seen):
    assert seen["focused"] == "Hint 1"
    assert seen["pressed"] == ["exercise-guard-hint-1", "exercise-guard-hint-2"]


@pytest.mark.parametrize("width", ["1200", "390"])
def test_filters_show_what_fits(seen, width):
    shown, pool = seen[width], _pool()
    assert shown["form"]
    assert len(shown["all"]) == len(pool)
    beginners = [exercise for exercise in pool if exercise.level == "beginner"]
    assert len(shown["beginner"]) == len(beginners) > 0
    assert shown["count"] == f"{len(beginners)} of {len(pool)} exercises"
    tagged = [exercise for exercise in beginners if _tag() in exercise.tags]
    assert 0 < len(shown["tag"]) == len(tagged) < len(pool)
    assert shown["none"] == []


@pytest.mark.parametrize("name", pool.names())
def test_every_exercise_stands_somewhere(name):
    home = home_of(Site(Layout(SITE.parents[2])), name)
    file = SITE / (f"{home.docname}.html" if home else POOL.lstrip("/"))
    assert file.read_text(encoding="utf-8").count(f'id="{exercise_id(name)}"') == 1
