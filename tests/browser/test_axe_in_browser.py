"""Holds the built pages against axe-core, which judges what screen readers and weak eyes need: make axe."""

import json
import os
from pathlib import Path

import pytest
from chromium import NEEDS_SITE_AND_BROWSER, SITE, pages, run_in_browser

AXE = Path(os.environ.get("GPUGUIDE_AXE", ""))

pytestmark = [
    *NEEDS_SITE_AND_BROWSER,
    pytest.mark.skipif(not AXE.is_file(), reason="takes minutes, and axe-core from npm: run make axe"),
]

PROBE = """
const AXE = SOURCE;
(async () => {
  const found = [];
  for (const url of PAGES) {
    const frame = document.createElement("iframe");
    frame.style.cssText = "width:WIDTHpx;height:900px;border:0";
    document.body.append(frame);
    await new Promise(done => { frame.onload = done; frame.src = url; });
    const page = frame.contentWindow;
    // Without a window no frame is drawn, and a colour that fades to another stays as it was.
    const still = page.document.createElement("style");
    still.textContent = "* { transition: none !important; }";
    page.document.head.append(still);
    page.eval(AXE);
    page.document.documentElement.dataset.theme = "THEME";
    const seen = await page.axe.run(page.document, { resultTypes: ["violations"], iframes: false });
    for (const each of seen.violations)
      found.push([url, each.id, each.nodes.length, each.nodes[0].html.slice(0, 200)]);
    frame.remove();
  }
  document.title = JSON.stringify(found);
})();
"""


def findings(names, profile, width=1440, theme="light"):
    source = json.dumps(AXE.read_text(encoding="utf-8")).replace("</", "<\\/")
    script = PROBE.replace("SOURCE", source).replace("PAGES", json.dumps(names))
    return run_in_browser(script.replace("WIDTH", str(width)).replace("THEME", theme), profile)


# Style sheets are the same on all pages: each page is seen once, every second one dark and on a phone.
@pytest.mark.parametrize(("first", "width", "theme"), [(0, 1440, "light"), (1, 390, "dark")])
@pytest.mark.parametrize("part", range(2))
def test_axe_finds_nothing_on_any_page(part, first, width, theme, tmp_path):
    assert findings(pages(nth_exercise=4)[first::2][part::2], tmp_path, width, theme) == []


def test_axe_finds_what_is_wrong(tmp_path):
    bad = SITE / "_axe_probe.html"
    bad.write_text(
        "<!doctype html><html><body><img src='x.png'><p>no title</p></body></html>", encoding="utf-8"
    )
    try:
        assert {each[1] for each in findings([bad.name], tmp_path)} >= {"image-alt", "document-title"}
    finally:
        bad.unlink()
