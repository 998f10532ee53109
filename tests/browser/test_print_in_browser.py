"""Prints the pages: paper neither scrolls nor unfolds, so everything stands on it."""

import base64
import re

from chromium import NEEDS_SITE_AND_BROWSER, Reader, pages, served

pytestmark = NEEDS_SITE_AND_BROWSER

# A4 in portrait, less its margins.
WIDTH = 700

LOOK = r"""
(() => {
  const lost = [];
  for (const e of document.querySelectorAll(".bd-article *")) {
    if (!e.getClientRects().length || e.closest("math")) continue;
    const clipped = getComputedStyle(e).overflowX !== "visible" && e.clientWidth > 1;
    if (clipped && e.scrollWidth > e.clientWidth + 1) lost.push(["cut", e.outerHTML.slice(0, 80)]);
    const box = e.getBoundingClientRect();
    const beside = box.width > 2 && box.right > innerWidth + 1;
    if (beside) lost.push(["beside the paper", e.outerHTML.slice(0, 80)]);
  }
  for (const part of document.querySelectorAll(".bd-article details > *"))
    if (!part.checkVisibility()) lost.push(["folded", part.outerHTML.slice(0, 80)]);
  return lost;
})()
"""


def test_a_print_loses_nothing(tmp_path):
    lost = {}
    with served() as address, Reader(tmp_path) as reader:
        reader.look(WIDTH)
        reader.send("Emulation.setEmulatedMedia", media="print")
        for page in pages():
            reader.open(f"{address}/{page}")
            lost[page] = reader.run(LOOK)
    assert {page: parts[:3] for page, parts in lost.items() if parts} == {}


def test_the_cheat_sheet_takes_two_sides(tmp_path):
    with served() as address, Reader(tmp_path) as reader:
        reader.open(f"{address}/cheat_sheet.html")
        answer = reader.send("Page.printToPDF", preferCSSPageSize=True)
    assert len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(answer["data"]))) == 2
