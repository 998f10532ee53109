"""Reads the built site by keys alone: all that can be pressed is reached, seen, and does what it says."""

import contextlib
import time

import pytest
from chromium import NEEDS_SITE_AND_BROWSER, SITE, Reader, pages, served

pytestmark = NEEDS_SITE_AND_BROWSER

# One page of each kind.
PAGES = [
    "index.html",
    "gallery/first_kernels/first_kernel.html",
    "gallery/first_kernels/index.html",
    "practice/puzzles.html",
    "exercises/guard.html",
    "results.html",
    "look_into_a_recording.html",
    "api/generated/gpuguide.plot_time.html",
]
LESSON, EXERCISE = PAGES[1], PAGES[4]
WIDTHS = [1500, 390]

# Colours that fade, and pages that glide, would be seen on their way.
STILL = """
(() => {
  const still = document.createElement("style");
  const rules = "transition: none !important; scroll-behavior: auto !important;";
  still.textContent = `*, ::before, ::after { ${rules} }`;
  document.head.append(still);
})()
"""

# Notes each thing that takes the focus, and what is wrong with how it is seen then.
WATCH = r"""
(() => {
  document.querySelectorAll("details").forEach(fold => fold.open = true);
  const parts = (e) => [[e], [e, "::after"], ...[...e.children].map(child => [child])];
  const rings = (e) => parts(e).flatMap(([part, pseudo]) => {
    const style = getComputedStyle(part, pseudo);
    const outline = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    return [outline && style.outlineColor, style.boxShadow !== "none" && style.boxShadow].filter(Boolean);
  });
  const scrolls = (e) => {
    const style = getComputedStyle(e), more = /auto|scroll/;
    return (more.test(style.overflowX) && e.scrollWidth > e.clientWidth + 1) ||
      (more.test(style.overflowY) && e.scrollHeight > e.clientHeight + 1);
  };
  const pressed = "summary, a[href], button, select, input:not([type=hidden]), [tabindex='0']";
  /* A box that scrolls is reached by what lies in it. */
  const wanted = [...document.querySelectorAll("body *")]
    .filter(e => (e.matches(pressed) && e.tabIndex >= 0) || (scrolls(e) && !e.querySelector(pressed)))
    .filter(e => !e.disabled && e.getClientRects().length)
    .filter(e => e.checkVisibility({ visibilityProperty: true }));
  const before = new Map(wanted.map(e => [e, rings(e)]));
  const reached = new Map();
  window.again = 0;
  addEventListener("focusin", ({ target: e }) => {
    if (reached.has(e)) { window.again++; return; }
    const wrong = [];
    if (!rings(e).some(ring => !(before.get(e) || []).includes(ring))) wrong.push("no ring");
    let faint = e;
    while (faint && +getComputedStyle(faint).opacity > 0.9) faint = faint.parentElement;
    if (faint) wrong.push("faint");
    /* The arrows of the sidebar hang out of a box without height; a card's link is all of the card. */
    const boxes = [e, ...e.children, e.parentElement].flatMap(part => [...part.getClientRects()]);
    const box = boxes.find(r => r.width && r.height);
    const left = Math.max(box.left, 0), right = Math.min(box.right, innerWidth);
    const upper = Math.max(box.top, 0), lower = Math.min(box.bottom, innerHeight);
    if (left >= right || upper >= lower) wrong.push("out of sight");
    else if (!scrolls(e)) {
      const top = document.elementFromPoint((left + right) / 2, (upper + lower) / 2);
      if (!top || !(e.contains(top) || top.contains(e)) || top.closest(".gg-tip")) wrong.push("covered");
    }
    reached.set(e, wrong);
  });
  const named = (e) => e.outerHTML.slice(0, 120);
  window.report = () => [
    ...wanted.filter(e => !reached.has(e)).map(e => [named(e), "not reached"]),
    ...[...reached].filter(([, wrong]) => wrong.length).map(([e, wrong]) => [named(e), wrong.join(", ")]),
  ];
  return wanted.length;
})()
"""

# Looks at the four corners of each number's tip while it has the focus: in the window, and above all.
TIPS = r"""
(() => {
  document.querySelectorAll("details").forEach(fold => fold.open = true);
  const wrong = [];
  const numbers = [...document.querySelectorAll(":has(> .gg-tip)")].filter(e => e.getClientRects().length);
  for (const number of numbers) {
    number.focus();
    const tip = number.querySelector(".gg-tip");
    const box = tip.getBoundingClientRect(), own = number.getBoundingClientRect();
    const ys = [box.top + 6, box.bottom - 6];
    const corners = [box.left + 6, box.right - 6].flatMap(x => ys.map(y => [x, y]));
    if (!corners.every(([x, y]) => document.elementFromPoint(x, y) === tip)) wrong.push([tip.id, "hidden"]);
    if (box.top < own.bottom - 1 && box.bottom > own.top + 1) wrong.push([tip.id, "over its number"]);
  }
  return [numbers.length, wrong];
})()
"""


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """Open a page of the site at a width; give the reader."""
    with served() as address, Reader(tmp_path_factory.mktemp("profile")) as reader:

        def open_page(page, width):
            reader.look(width)
            reader.open(f"{address}/{page}")
            reader.run(STILL)
            return reader

        yield open_page


def tab_to(reader, selector):
    """Press Tab until what the selector names has the focus."""
    for _ in range(400):
        reader.press("Tab")
        if reader.run(f"document.activeElement.matches({selector!r})"):
            return
    pytest.fail(f"Tab never came to {selector}")


def until(reader, expression):
    """Wait until an expression of the page holds: scripts and browser take their time."""
    for _ in range(100):
        # A page that is just being left answers nothing.
        with contextlib.suppress(RuntimeError):
            if reader.run(f"Boolean({expression})"):
                return
        time.sleep(0.05)
    pytest.fail(f"never held: {expression}")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("page", PAGES)
def test_tab_comes_to_everything_and_it_is_seen(opened, page, width):
    reader = opened(page, width)
    wanted = reader.run(WATCH)
    # At the end the focus goes to the browser, and then to the page's beginning.
    while not reader.run("window.again"):
        reader.press(*["Tab"] * 20)
    assert wanted > 5
    assert reader.run("report()") == []


def test_what_a_number_rests_on_is_seen_whole_beside_it(opened):
    having = [page for page in pages() if 'class="gg-tip"' in (SITE / page).read_text(encoding="utf-8")]
    seen = {page: opened(page, WIDTHS[i % 2]).run(TIPS) for i, page in enumerate(having)}
    assert {page: wrong for page, (_, wrong) in seen.items() if wrong} == {}
    assert sum(n for n, _ in seen.values()) > 100


def test_what_a_number_rests_on_goes_where_the_number_goes(opened):
    """As when a picture above it arrives."""
    reader = opened(LESSON, 1500)
    tab_to(reader, ".gg-measured")
    reader.run("document.querySelector('.bd-article').style.paddingTop = '200px'")
    number, tip = "document.activeElement", "document.activeElement.querySelector('.gg-tip')"
    box = "getBoundingClientRect()"
    until(reader, f"Math.abs({number}.{box}.bottom - {tip}.{box}.top) < 2")


@pytest.mark.parametrize("width", WIDTHS)
def test_escape_puts_away_what_a_number_rests_on(opened, width):
    reader = opened(LESSON, width)
    tab_to(reader, ".gg-measured")
    tip = "document.activeElement.querySelector('.gg-tip').checkVisibility()"
    assert reader.run(tip)
    reader.press("Escape")
    assert not reader.run(tip)
    reader.press("Tab")
    assert not reader.run(
        "[...document.querySelectorAll('.gg-tip')].some(e => e.checkVisibility() && "
        "!e.parentElement.matches(':focus'))"
    )


def test_enter_opens_a_fold_and_copies_code(opened):
    reader = opened(EXERCISE, 1500)
    tab_to(reader, "article summary")
    reader.press("Enter")
    assert reader.run("document.activeElement.parentElement.open")
    reader.press("Enter")
    assert not reader.run("document.activeElement.parentElement.open")
    reader.open(reader.run("location.href"))
    tab_to(reader, "button.copybtn")
    reader.press("Enter")
    # The focus stays, so that the next Tab goes on from here.
    until(reader, "document.activeElement.matches('button.copybtn.success')")


@pytest.mark.parametrize("width", WIDTHS)
def test_the_theme_is_switched_by_keys(opened, width):
    reader = opened(EXERCISE, width)
    if width < 600:
        tab_to(reader, "button.primary-toggle")
        reader.press("Enter")
        until(reader, "document.querySelector('dialog[open]')")
    for theme in ("dark", "light"):
        tab_to(reader, "button.theme-switch-button")
        reader.press("Enter")
        tab_to(reader, f"button[data-mode={theme}]")
        reader.press("Enter")
        until(reader, f"document.documentElement.dataset.theme === '{theme}'")


@pytest.mark.parametrize("width", WIDTHS)
def test_the_search_is_opened_and_closed_and_asked_by_keys(opened, width):
    reader = opened(LESSON, width)
    tab_to(reader, ".search-button-field, .search-button")
    reader.press("Enter")
    until(reader, "document.activeElement.matches('dialog input')")
    reader.press("Escape")
    until(reader, "!document.querySelector('dialog[open]')")
    assert reader.run("document.activeElement.matches('.search-button-field, .search-button')")
    reader.press("Enter")
    until(reader, "document.activeElement.matches('dialog input')")
    reader.press(*"warp", "Enter")
    until(reader, "location.search === '?q=warp'")
    until(reader, "document.querySelector('ul.search a')")
    tab_to(reader, "ul.search a")
