"""Searches the built site in a real browser: pages come before the reference."""

import json
import re

import pytest
from chromium import NEEDS_SITE_AND_BROWSER, SITE, run_in_browser

pytestmark = NEEDS_SITE_AND_BROWSER

#: What readers search for, and the words of which a page must have all to be found.
QUERIES = {
    "matmul": ["matmul"],
    "out of memory": ["memory"],
    "pinned": ["pinned"],
    "sort": ["sort"],
    "divergence": ["divergence"],
    "how many threads per block": ["threads", "block"],
    "why is gpu slower": ["slower"],
}

# The search page loads each page that it found for its summary; the list alone is of interest here.
PROBE = """
(async () => {
  const found = {};
  for (const query of QUERIES) {
    const frame = document.createElement("iframe");
    document.body.append(frame);
    await new Promise(done => {
      frame.onload = done;
      frame.src = "/search.html?q=" + encodeURIComponent(query);
    });
    const summary = () => frame.contentDocument.querySelector(".search-summary")?.innerText.trim();
    for (let waited = 0; waited < 100 && !summary(); waited++)
      await new Promise(done => setTimeout(done, 100));
    const links = [...frame.contentDocument.querySelectorAll("ul.search > li > a")];
    found[query] = links.map(link => link.getAttribute("href"));
    frame.remove();
  }
  document.title = JSON.stringify(found);
})();
"""


def _pages():
    """The pages of the sections: file below the site -> its words."""
    found = {}
    for file in sorted(SITE.rglob("*.html")):
        name = file.relative_to(SITE).as_posix()
        if "/" in name and not name.startswith(("api/", "_")):
            article = file.read_text(encoding="utf-8").partition('id="main-content"')[2]
            found[name] = set(re.findall(r"[a-z]+", re.sub(r"<[^>]+>", " ", article).lower()))
    return found


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    queries = json.dumps([*QUERIES, "plot_time", "warp"])
    return run_in_browser(PROBE.replace("QUERIES", queries), tmp_path_factory.mktemp("profile"))


@pytest.mark.parametrize("query", QUERIES)
def test_a_page_is_among_the_first_three(found, query):
    pages = _pages()
    having = [name for name, words in pages.items() if words.issuperset(QUERIES[query])]
    if not having:
        pytest.skip(f"no page has the word {query!r} yet")
    assert any(link.partition("#")[0] in pages for link in found[query][:3]), found[query][:3]


@pytest.mark.parametrize("query", QUERIES)
def test_pages_come_before_the_reference(found, query):
    assert found[query], "nothing was found"
    reference = [link.startswith("api/") for link in found[query]]
    assert reference == sorted(reference)


def test_the_name_of_a_function_leads_to_its_reference(found):
    assert found["plot_time"][0].startswith("api/generated/")
    assert any(not link.startswith("api/") for link in found["plot_time"])


def test_a_word_of_the_glossary_leads_to_its_entry(found):
    if '"indexentries":{}' in (SITE / "searchindex.js").read_text(encoding="utf-8"):
        pytest.skip("a build that reads only what changed loses Sphinx's index entries: run make clean html")
    assert found["warp"][0] == "glossary.html#term-warp"
    assert found["warp"][1].startswith(("gallery/", "start/"))
