"""A page of a test's own, run in Chromium next to the built site; what it puts into its title comes back."""

from __future__ import annotations

import functools
import html
import http.server
import json
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

NEEDS_SITE_AND_BROWSER = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
    pytest.mark.skipif(
        not (SITE / "index.html").is_file(), reason="the site is not built: run make html first"
    ),
]

_PAGE = '<!doctype html><meta charset="utf-8"><title>waiting</title><body><script>{script}</script>'


def run_in_browser(script: str, profile: Path, *, lazy: bool = False) -> Any:
    """Run a script that sets the title of its page to JSON, and give what it set.

    Without a window Chromium loads pictures that are out of sight, too; `lazy` has it do as it does with one.
    """
    handler = type("Handler", (_Handler,), {"probe": _PAGE.format(script=script).encode()})
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(handler, directory=str(SITE))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    flags = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking"
    command = [
        str(CHROMIUM),
        *flags.split(),
        "--disable-sync",
        "--disable-component-update",
        "--disable-quic",
    ]
    command += ["--blink-settings=lazyLoadEnabled=true"] if lazy else []
    command += [f"--user-data-dir={profile}", "--virtual-time-budget=120000", "--window-size=1500,1000"]
    command += ["--dump-dom", f"http://127.0.0.1:{server.server_address[1]}/probe"]
    try:
        out = subprocess.run(command, capture_output=True, text=True, timeout=170, check=True).stdout
    finally:
        server.shutdown()
        server.server_close()
    title = out.split("<title>", 1)[1].split("</title>", 1)[0]
    return json.loads(html.unescape(title))


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
