"""Opens every page in a real browser as a first visit does: it loads little."""

import functools
import gzip
import re
from urllib.parse import urlsplit

import pytest
from chromium import NEEDS_SITE_AND_BROWSER, SITE, pages, run_in_browser

pytestmark = NEEDS_SITE_AND_BROWSER

LIMIT_BYTES = 250_000
"""For what a first visit loads, compressed as servers do."""

LOAD = """
(async () => {
  const loaded = {}, waiting = PAGES;
  async function look(url) {
    const frame = document.createElement("iframe");
    frame.style.cssText = "position:absolute;width:1440px;height:900px;border:0";
    document.body.append(frame);
    await new Promise(done => { frame.onload = done; frame.src = url; });
    await new Promise(done => setTimeout(done, 800));
    const entries = frame.contentWindow.performance.getEntriesByType("resource");
    loaded[url] = entries.map(entry => entry.name);
    frame.remove();
  }
  while (waiting.length) await Promise.all(waiting.splice(0, 8).map(look));
  document.title = JSON.stringify(loaded);
})();
"""


@functools.cache
def compressed(name):
    data = (SITE / name).read_bytes()
    # Fonts and bitmaps are compressed already.
    return len(data) if name.endswith((".woff2", ".png")) else len(gzip.compress(data, 6))


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    guide = [name for name in pages() if not name.startswith("search")]
    found = run_in_browser(LOAD.replace("PAGES", str(guide)), tmp_path_factory.mktemp("profile"), lazy=True)
    return {
        page: {page, *(urlsplit(name).path.lstrip("/") for name in names)} for page, names in found.items()
    }


def test_a_first_visit_loads_little(loaded):
    weights = {page: sum(map(compressed, files)) for page, files in loaded.items()}
    heavy = {page: weight for page, weight in weights.items() if weight > LIMIT_BYTES}
    assert not heavy, heavy
    # A page whose style sheet did not arrive would be light, too.
    assert min(weights.values()) > 50_000, weights


def test_only_the_shown_themes_pictures_are_loaded(loaded):
    twins = {
        page: [f for f in files if "-dark" in f and f.startswith("_images/")]
        for page, files in loaded.items()
    }
    assert not any(twins.values()), twins
    assert any("-light" in file for files in loaded.values() for file in files)


def test_the_search_is_loaded_by_its_own_page_alone(loaded):
    assert not [page for page, files in loaded.items() if "searchindex.js" in files]
    assert "searchindex.js" in (SITE / "search.html").read_text(encoding="utf-8")


def test_no_inline_script_differs_from_page_to_page():
    inline = re.compile(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL)
    found = [path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html")]
    guide = [name for name in found if not name.startswith(("_", "search"))]
    scripts = {name: set(inline.findall((SITE / name).read_text(encoding="utf-8"))) for name in guide}
    every = set.union(*scripts.values())
    own = {script: [name for name, those in scripts.items() if script in those] for script in every}
    # What few pages have, such as the filter of the exercises, would be own, too: there is none.
    assert {script: names for script, names in own.items() if len(names) < len(scripts)} == {}
