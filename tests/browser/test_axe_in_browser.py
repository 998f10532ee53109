"""Holds the built pages against axe-core, which judges what screen readers and weak eyes need: make axe."""

import json
import os
from pathlib import Path

import pytest
from chromium import NEEDS_SITE_AND_BROWSER, SITE, run_in_browser

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


def pages():
    """Every page, but of those of one template some: of the reference a twentieth, of exercises a fourth."""
    names = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
    made = {"api/generated": 20, "exercises/": 4}
    own = [name for name in names if not name.startswith(("_", *made))]
    for start, step in made.items():
        own += [name for name in names if name.startswith(start)][::step]
    return own


def findings(names, profile, width=1440, theme="light"):
    source = json.dumps(AXE.read_text(encoding="utf-8")).replace("</", "<\\/")
    script = PROBE.replace("SOURCE", source).replace("PAGES", json.dumps(names))
    return run_in_browser(script.replace("WIDTH", str(width)).replace("THEME", theme), profile)


# Colours do not depend on the width: each page is seen in both themes, and at both widths.
@pytest.mark.parametrize(("width", "theme"), [(1440, "light"), (390, "dark")])
@pytest.mark.parametrize("part", range(3))
def test_axe_finds_nothing_on_any_page(part, width, theme, tmp_path):
    assert findings(pages()[part::3], tmp_path, width, theme) == []


def test_axe_finds_what_is_wrong(tmp_path):
    bad = SITE / "_axe_probe.html"
    bad.write_text(
        "<!doctype html><html><body><img src='x.png'><p>no title</p></body></html>", encoding="utf-8"
    )
    try:
        assert {each[1] for each in findings([bad.name], tmp_path)} >= {"image-alt", "document-title"}
    finally:
        bad.unlink()
