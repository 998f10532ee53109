"""Folds in a real browser: links open them, keys open them, and a print shows everything."""

import json
import re

import pytest
from chromium import NEEDS_SITE_AND_BROWSER, run_in_browser

pytestmark = NEEDS_SITE_AND_BROWSER

PAGE = "/gallery/first_kernels/first_kernel.html"
EXERCISE = "/exercises/guard.html"
CARD = "how-this-was-measured"

# Each block of the probe loads a page in a frame and notes what a reader would see.
PROBE = """
const pause = (ms) => new Promise(done => setTimeout(done, ms));
async function load(url) {
  const frame = document.createElement("iframe");
  frame.style.cssText = "width:1200px;height:900px;border:0";
  document.body.append(frame);
  await new Promise(done => { frame.onload = done; frame.src = url; });
  await pause(100);
  return frame.contentWindow;
}
const folds = (page) => [...page.document.querySelectorAll("article details")];
const open = (page) => folds(page).filter(fold => fold.open)
  .map(fold => fold.querySelector("summary").innerText.trim());
const inView = (page, id) => {
  const box = page.document.getElementById(id).getBoundingClientRect();
  return box.height > 0 && box.top >= 0 && box.top < page.innerHeight;
};
(async () => {
  const seen = {};
  let page = await load(PAGE);
  seen.closed = open(page);
  page.location.hash = CARD;
  await pause(100);
  seen.changed = [open(page), inView(page, CARD)];

  page = await load(PAGE + "#" + CARD);
  seen.deep = [open(page), inView(page, CARD)];
  page.dispatchEvent(new page.Event("beforeprint"));
  seen.printed = folds(page).every(fold => fold.open);
  page.dispatchEvent(new page.Event("afterprint"));
  seen.afterwards = open(page);

  page = await load(EXERCISE);
  seen.hidden = open(page);
  page.document.querySelector("article summary").focus();
  page.document.activeElement.click();
  seen.pressed = open(page);
  document.title = JSON.stringify(seen);
})();
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    script = PROBE
    for name, value in (("PAGE", PAGE), ("EXERCISE", EXERCISE), ("CARD", CARD)):
        script = re.sub(rf"\b{name}\b", json.dumps(value), script)
    return run_in_browser(script, tmp_path_factory.mktemp("profile"))


def test_everything_is_folded_until_it_is_asked_for(seen):
    assert seen["closed"] == seen["hidden"] == []


def test_a_link_opens_its_fold_and_no_other(seen):
    assert seen["deep"] == seen["changed"] == [["How this was measured"], True]


def test_a_print_shows_everything_and_leaves_the_page_as_it_was(seen):
    assert seen["printed"]
    assert seen["afterwards"] == ["How this was measured"]


def test_a_hint_takes_the_focus_and_opens(seen):
    assert seen["pressed"] == ["Hint 1"]
