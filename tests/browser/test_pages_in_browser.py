"""Looks at the built site in a real browser: no overflow, nothing from another host, nothing broken."""

import functools
import html
import http.server
import json
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
    pytest.mark.skipif(
        not (SITE / "index.html").is_file(), reason="the site is not built: run make html first"
    ),
]

# One page that loads every other in a frame of a given width and writes what it saw into its title.
PROBE = """<!doctype html><meta charset="utf-8"><title>waiting</title><body><script>
const found = [];
async function look(url, width, theme) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${width}px;height:900px;border:0`;
  document.body.append(frame);
  await new Promise(done => { frame.onload = done; frame.src = url; });
  const page = frame.contentWindow, root = page.document.documentElement;
  root.dataset.theme = theme;
  await new Promise(done => setTimeout(done, 60));
  const loaded = page.performance.getEntriesByType("resource").map(entry => entry.name);
  const pictures = [...page.document.querySelectorAll(".bd-article img")];
  const shown = pictures.filter(image => page.getComputedStyle(image).display !== "none");
  found.push({
    url, width, theme, overflow: root.scrollWidth - width,
    foreign: loaded.filter(name => !name.startsWith(location.origin) && !name.startsWith("data:")),
    broken: shown.filter(image => image.complete && !image.naturalWidth).map(image => image.src),
    // A thumbnail's title stands beside it, so its text is empty on purpose.
    nameless: pictures.filter(image => !image.alt.trim() && !image.closest(".sphx-glr-thumbcontainer"))
      .map(image => image.src),
    twins: shown.filter(i => i.classList.contains(theme === "dark" ? "only-light" : "only-dark")).length,
  });
  frame.remove();
}
(async () => {
  for (const url of PAGES) for (const width of [1440, 390]) for (const theme of ["light", "dark"])
    await look(url, width, theme);
  document.title = JSON.stringify(found);
})();
</script>"""


class _Handler(http.server.SimpleHTTPRequestHandler):
    probe = b""

    def do_GET(self):
        if self.path != "/probe":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(self.probe)
        return None

    def log_message(self, *args):
        """Say nothing: pytest shows what matters."""


def _pages():
    gallery = sorted(path.relative_to(SITE).as_posix() for path in SITE.glob("gallery/*/*.html"))
    return ["index.html", "glossary.html", "method.html", "api/index.html", *gallery]


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    _Handler.probe = PROBE.replace("PAGES", json.dumps(["/" + page for page in _pages()])).encode()
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(_Handler, directory=str(SITE))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    flags = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking"
    command = [CHROMIUM, *flags.split(), "--disable-sync", "--disable-component-update", "--disable-quic"]
    command += [f"--user-data-dir={tmp_path_factory.mktemp('profile')}", "--virtual-time-budget=120000"]
    command += ["--window-size=1500,1000", "--dump-dom", f"http://127.0.0.1:{server.server_address[1]}/probe"]
    out = subprocess.run(command, capture_output=True, text=True, timeout=170, check=True).stdout
    server.shutdown()
    server.server_close()
    title = out.split("<title>", 1)[1].split("</title>", 1)[0]
    return json.loads(html.unescape(title))


def test_every_page_was_looked_at_wide_and_narrow_light_and_dark(seen):
    assert len(seen) == 4 * len(_pages())


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
    assert [(look["url"], look["width"], look["overflow"]) for look in seen if look["overflow"] > 0] == []
