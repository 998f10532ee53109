"""Looks at the built site in a real browser: no overflow, nothing from another host, nothing broken."""

import json
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from chromium import NEEDS_SITE_AND_BROWSER, SITE, run_in_browser

from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.pages.pages_toml import read_sections

pytestmark = NEEDS_SITE_AND_BROWSER

# One page that loads every other in a frame, first wide, then narrow, and writes what it saw into its title.
PROBE = """
const found = [];
async function look(url) {
  const frame = document.createElement("iframe");
  frame.style.cssText = "width:1440px;height:900px;border:0";
  document.body.append(frame);
  await new Promise(done => { frame.onload = done; frame.src = url; });
  // The last two are a window of 1280 pixels whose reader zooms to 200 % and to 400 %.
  for (const width of [1440, 390, 640, 320]) {
    frame.style.width = `${width}px`;
    const themes = width === 1440 || width === 390 ? ["light", "dark"] : ["light"];
    for (const theme of themes) await check(frame.contentWindow, url, width, theme);
  }
  frame.remove();
}
async function check(page, url, width, theme) {
  const root = page.document.documentElement;
  // On a narrow page this scrolls, and the window does not.
  const article = page.document.querySelector(".bd-article-container");
  root.dataset.theme = theme;
  await new Promise(done => setTimeout(done, 60));
  const loaded = page.performance.getEntriesByType("resource").map(entry => entry.name);
  const pictures = [...page.document.querySelectorAll(".bd-article img")];
  const shown = pictures.filter(image => page.getComputedStyle(image).display !== "none");
  // Another width may have brought another file.
  await Promise.all(shown.filter(image => !image.complete).map(image => new Promise(done => {
    image.onload = image.onerror = done;
  })));
  found.push({
    url, width, theme,
    overflow: Math.max(root.scrollWidth - width, article.scrollWidth - article.clientWidth),
    foreign: loaded.filter(name => !name.startsWith(location.origin) && !name.startsWith("data:")),
    broken: shown.filter(image => !image.naturalWidth).map(image => image.src),
    // A thumbnail's title stands beside it, so its text is empty on purpose.
    nameless: pictures.filter(image => !image.alt.trim())
      .filter(image => !image.closest(".gg-tile, .sphx-glr-thumbcontainer")).map(image => image.src),
    twins: shown.filter(i => i.classList.contains(theme === "dark" ? "only-light" : "only-dark")).length,
  });
}
(async () => {
  for (const url of PAGES) await look(url);
  document.title = JSON.stringify(found);
})();
"""


def _pages():
    gallery = sorted(path.relative_to(SITE).as_posix() for path in SITE.glob("gallery/*/*.html"))
    sections = [section.name for section in read_sections(Layout(Path(__file__).parents[2]))]
    written = [path for name in sections for path in sorted((SITE / name).glob("*.html"))]
    others = [path.relative_to(SITE).as_posix() for path in written]
    return [
        "index.html",
        "results.html",
        "gallery/index.html",
        "glossary.html",
        "symptoms.html",
        "method.html",
        "api/index.html",
        *gallery,
        *others,
    ]


class Anchors(HTMLParser):
    """The identifiers of a page, and the places that it links to."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links = {""}, set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids |= {found.get("id"), found.get("name")}
        if tag == "a" and found.get("href"):
            self.links.add(found["href"])


def test_no_link_within_the_site_leads_nowhere():
    pages = {path: Anchors(path.read_text(encoding="utf-8")) for path in SITE.rglob("*.html")}
    lost = []
    for path, page in pages.items():
        for url in map(urlsplit, page.links):
            there = (path.parent / unquote(url.path)).resolve() if url.path else path
            if url.scheme or url.netloc:
                continue
            if not there.exists() or (there in pages and unquote(url.fragment) not in pages[there].ids):
                lost.append(f"{path.relative_to(SITE)} -> {url.geturl()}")
    assert not lost


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    script = PROBE.replace("PAGES", json.dumps(["/" + page for page in _pages()]))
    return run_in_browser(script, tmp_path_factory.mktemp("profile"))


def test_every_page_was_looked_at_wide_narrow_and_zoomed_light_and_dark(seen):
    assert len(seen) == 6 * len(_pages())


@pytest.mark.parametrize(
    ("what", "meaning"),
    [
        ("foreign", "loaded from another host"),
        ("broken", "pictures that cannot be shown"),
        ("nameless", "pictures without alternative text"),
        ("twins", "pictures of the other theme"),
    ],
)
def test_no_page_has(seen, what, meaning):
    assert [(look["url"], look[what]) for look in seen if look[what]] == [], meaning


def test_no_page_is_wider_than_its_window(seen):
    wide = [(look["url"], look["width"], look["overflow"]) for look in seen if look["overflow"] > 0]
    assert not wide, wide
