"""Import this, and what the guide's own modules are made of is at hand, though they are not loaded.

Each copied project has these modules in a folder of its own and imports them from there. Most of that is
reading their code and compiling patterns and the methods of data classes, which is the same for all copies.
"""

import atexit
import dataclasses
import functools
import hashlib
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from subprocess import Popen

import sitecustomize

import warm_python

ROOT = Path(__file__).resolve().parents[1]
OWN = ("gpuguide", "gpuguide_docs")


@functools.cache
def compiled(text):
    return compile(text, "<string>", "exec")


def run_compiled(text, *namespaces):
    """Take the place of `exec` where methods of data classes are made."""
    exec(compiled(text), *namespaces)


def forget_own() -> list:
    """Make this Python import the guide's own modules anew; return those that were loaded."""
    names = [name for name in sys.modules if name.partition(".")[0] in OWN]
    return [sys.modules.pop(name) for name in names]


# What is put behind the code of a module, where projects have it unchanged.
REMEMBERED = """
import own_code
digest = own_code.remembered(digest)
"""


def remembered(function):
    """Let all copies share what a function says of a module's source, for which it parses that."""

    @functools.wraps(function)
    def remembers(*arguments, **named):
        asked = hashlib.sha256(repr((function.__name__, arguments, named)).encode()).hexdigest()
        kept = Path(sitecustomize.FOLDER, asked)
        try:
            return json.loads(kept.read_bytes())
        except FileNotFoundError:
            value = function(*arguments, **named)
            # Another copy may be writing the same.
            written = kept.with_suffix(f".{os.getpid()}")
            written.write_text(json.dumps(value), encoding="utf-8")
            written.replace(kept)
            return value

    return remembers


def keep_code() -> None:
    path = sys.path[:]
    sys.path[:0] = [str(ROOT / "docs" / "_ext"), str(ROOT / "src")]
    extension = importlib.import_module("gpuguide_docs.extension")
    for name in extension.MODULES:
        importlib.import_module(f"gpuguide_docs.{name}")
    sys.path[:] = path
    for module in forget_own():
        sitecustomize.keep(
            module, REMEMBERED if module.__name__ == "gpuguide.recordings.source_digest" else ""
        )


class PageProcess:
    """A page's process that need not import what this one has; the guide's own modules are its project's."""

    def __init__(self, command, *, start_new_session):
        assert start_new_session
        self.returncode = None
        sys.stdout.flush()
        self.pid = warm_python.fork()
        if not self.pid:
            os.setsid()
            # What the recorder wants done at its end, as to remove its files.
            atexit._clear()
            forget_own()
            order = {"command": command[1:], "cwd": os.getcwd(), "env": dict(os.environ)}
            warm_python.end_as_python_does(order)

    def poll(self):
        return self._ended(os.WNOHANG)

    def wait(self):
        return self._ended(0)

    def _ended(self, options):
        if self.returncode is None:
            number, status = os.waitpid(self.pid, options)
            if number:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


def process(command, **options):
    """Take the place of `subprocess.Popen`."""
    is_page = command[:3] == [sys.executable, "-m", "gpuguide_docs.record.page_run"]
    return (PageProcess if is_page else Popen)(command, **options)


subprocess.Popen = process
dataclasses.exec = run_compiled
keep_code()
