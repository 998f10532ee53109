"""Pages of the built site in Chromium: looked at by a test's own page, or typed into as a reader does."""

from __future__ import annotations

import contextlib
import functools
import html
import http.server
import json
import os
import select
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

NEEDS_SITE_AND_BROWSER = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
    pytest.mark.skipif(
        not (SITE / "index.html").is_file(), reason="the site is not built: run make html first"
    ),
]

_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-sync", "--disable-component-update", "--disable-quic"),
)
#: Keys that are no characters: their numbers, and what they write.
_KEYS = {
    "Tab": (9, ""),
    "Enter": (13, "\r"),
    "Escape": (27, ""),
    "ArrowDown": (40, ""),
}
_PAGE = '<!doctype html><meta charset="utf-8"><title>waiting</title><body><script>{script}</script>'


def pages(*, nth_exercise: int = 1) -> list[str]:
    """List the built pages; of the reference's, which one template makes, every twentieth."""
    names = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
    steps = {"api/generated": 20, "exercises/": nth_exercise}
    own = [name for name in names if not name.startswith(("_", *steps))]
    for start, step in steps.items():
        own += [name for name in names if name.startswith(start)][::step]
    return own


def run_in_browser(script: str, profile: Path, *, lazy: bool = False) -> Any:
    """Run a script that sets the title of its page to JSON, and give what it set.

    Without a window Chromium loads pictures that are out of sight, too; `lazy` has it do as it does with one.
    """
    command = [str(CHROMIUM), *_FLAGS, f"--user-data-dir={profile}"]
    command += ["--blink-settings=lazyLoadEnabled=true"] if lazy else []
    command += ["--virtual-time-budget=120000", "--window-size=1500,1000", "--dump-dom"]
    with served(probe=_PAGE.format(script=script)) as address:
        command += [f"{address}/probe"]
        out = subprocess.run(command, capture_output=True, text=True, timeout=170, check=True).stdout
    title = out.split("<title>", 1)[1].split("</title>", 1)[0]
    return json.loads(html.unescape(title))


@contextlib.contextmanager
def served(*, probe: str = "", headers: dict[str, str] | None = None) -> Iterator[str]:
    """Serve the built site, and a page of the test's own as /probe; give its address."""
    handler = type("Handler", (_Handler,), {"probe": probe.encode(), "more": headers or {}})
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(handler, directory=str(SITE))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


class _Handler(http.server.SimpleHTTPRequestHandler):
    probe = b""
    more: ClassVar[dict[str, str]] = {}

    def do_GET(self):
        if self.path != "/probe":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(self.probe)
        return None

    def end_headers(self):
        for name, value in self.more.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, *args):
        """Say nothing: pytest shows what matters."""


class BrowserEndedError(RuntimeError):
    """Chromium crashed, or says nothing any more."""


class Reader:
    """A browser whose keys a test presses, which no script may: by Chromium's debugging protocol."""

    def __init__(self, profile: Path) -> None:
        self._profile = profile
        self._look: tuple[int, int, dict[str, str]] | None = None
        self._start()

    def _start(self) -> None:
        told, self._tell = os.pipe()
        self._hear, said = os.pipe()
        command = [str(CHROMIUM), *_FLAGS, "--remote-debugging-pipe", f"--user-data-dir={self._profile}"]
        # Chromium listens at 3 and answers at 4, whatever numbers the pipes have here.
        move = f'exec "$@" 3<&{told} 4>&{said}'
        self._process = subprocess.Popen(
            ["bash", "-c", move, "bash", *command, "about:blank"],
            pass_fds=(told, said),
            stderr=subprocess.DEVNULL,
        )
        os.close(told)
        os.close(said)
        self._left = b""
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.send(f"{domain}.enable")
        # After a page's last thing Tab goes to the browser's own buttons; the next page has the focus again.
        self.send("Emulation.setFocusEmulationEnabled", enabled=True)

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *error: object) -> None:
        self._session = None
        with contextlib.suppress(BrowserEndedError, BrokenPipeError):
            self.send("Browser.close")
            self._process.wait(30)
        self._end()

    def _end(self) -> None:
        self._process.kill()
        self._process.wait(30)
        os.close(self._hear)
        os.close(self._tell)

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Give one command and wait for its answer; what is told meanwhile goes to `events`."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._tell, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            ready, _, _ = select.select([self._hear], [], [], 60)
            more = os.read(self._hear, 1 << 16) if ready else b""
            if not more:
                raise BrowserEndedError(f"no word from the browser any more (exit {self._process.poll()})")
            self._left += more
        message, _, self._left = self._left.partition(b"\0")
        return json.loads(message)

    def look(self, width: int, height: int = 900, **media: str) -> None:
        """Set the window's size and what the reader prefers, such as ``prefers_color_scheme="dark"``."""
        self._look = width, height, media
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.send("Emulation.setDeviceMetricsOverride", **size)
        features = [{"name": name.replace("_", "-"), "value": value} for name, value in media.items()]
        self.send("Emulation.setEmulatedMedia", features=features)

    def open(self, address: str) -> None:
        """Load a page, and wait until its scripts ran; a browser that crashed begins anew, once."""
        try:
            self._load(address)
        except (BrowserEndedError, BrokenPipeError):
            self._end()
            self._start()
            if self._look:
                width, height, media = self._look
                self.look(width, height, **media)
            self._load(address)

    def _load(self, address: str) -> None:
        self.events = []
        self.send("Page.navigate", url=address)
        self.wait_for("Page.loadEventFired")

    def wait_for(self, event: str) -> None:
        """Wait for an event that `events` may have already."""
        while not any(happened.get("method") == event for happened in self.events):
            self.events.append(self._next())

    def run(self, script: str) -> Any:
        """Give what an expression of the page comes to."""
        done = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"])
        return done["result"].get("value")

    def press(self, *keys: str) -> None:
        """Press keys one after the other, each by its name or its character."""
        for key in keys:
            code, text = _KEYS.get(key) or (ord(key.upper()), key)
            about = {"key": key, "windowsVirtualKeyCode": code}
            for event in ({"type": "keyDown", "text": text}, {"type": "keyUp"}):
                self.send("Input.dispatchKeyEvent", **event, **about)
