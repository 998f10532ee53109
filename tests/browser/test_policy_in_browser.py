"""Opens the pages under a strict Content-Security-Policy: each does without what a server may forbid."""

import base64
import hashlib
import re
import time

import pytest
from chromium import NEEDS_SITE_AND_BROWSER, SITE, Reader, pages, served

pytestmark = NEEDS_SITE_AND_BROWSER

INLINE = {
    "script-src": re.compile(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL),
    "style-src": re.compile(r"<style[^>]*>(.*?)</style>", re.DOTALL),
}
WATCH = """
window.refused = [];
addEventListener("securitypolicyviolation", (event) => {
  refused.push([event.effectiveDirective, event.blockedURI, event.sourceFile, event.lineNumber]);
}, true);
"""


def policy():
    """Forbid all but the site's own files, and the theme's few inline scripts by their hashes."""
    texts = [(SITE / page).read_text(encoding="utf-8") for page in pages()]
    allowed = {}
    for directive, inline in INLINE.items():
        digests = {
            hashlib.sha256(found.encode()).digest() for text in texts for found in inline.findall(text)
        }
        # Python, which checks exercises, is WebAssembly.
        more = ["'wasm-unsafe-eval'"] if directive == "script-src" else []
        allowed[directive] = [
            "'self'",
            *more,
            *sorted(f"'sha256-{base64.b64encode(d).decode()}'" for d in digests),
        ]
    own = [f"{directive} {' '.join(sources)}" for directive, sources in allowed.items()]
    return "; ".join(
        [
            *("default-src 'none'", *own, "img-src 'self' data:", "font-src 'self'", "connect-src 'self'"),
            *("form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"),
        ]
    )


@pytest.fixture(scope="module")
def refused(tmp_path_factory):
    """Open a page under the policy: give what was refused."""
    headers = {"Content-Security-Policy": policy()}
    with served(headers=headers) as address, Reader(tmp_path_factory.mktemp("profile")) as reader:
        reader.send("Page.addScriptToEvaluateOnNewDocument", source=WATCH)

        def open_page(page, done="true"):
            reader.open(f"{address}/{page}")
            for _ in range(200):
                if reader.run(done):
                    break
                time.sleep(0.05)
            return reader.run("refused")

        yield open_page


def test_no_page_does_what_a_strict_policy_refuses(refused):
    print(policy())
    assert {page: found for page in pages() if (found := refused(page))} == {}


def test_the_search_works_under_a_strict_policy(refused):
    done = "document.querySelectorAll('ul.search p.context').length > 3"
    assert refused("search.html?q=warp", done) == []


def test_few_scripts_stand_in_the_pages():
    # Two of every page, and one of the search; a page of its own kind would make the policy longer.
    assert policy().count("'sha256-") <= 4


def test_what_a_policy_refuses_is_seen(refused):
    probe = SITE / "_policy_probe.html"
    probe.write_text('<!doctype html><p style="color: red">x<script>alert(1)</script>', encoding="utf-8")
    try:
        assert {found[0] for found in refused(probe.name)} == {"style-src-attr", "script-src-elem"}
    finally:
        probe.unlink()
