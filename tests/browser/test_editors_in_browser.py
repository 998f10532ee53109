"""Solves exercises in the page, and traces a kernel there: the verdicts are those of the command line."""

import json
import time
from importlib import import_module

import pytest
from chromium import NEEDS_SITE_AND_BROWSER, SITE, Reader, served
from test_policy_in_browser import policy

from gpuguide.exercises import in_page, pool

PYTHON = SITE / "_static" / "python" / "pyodide.mjs"
pytestmark = [
    *NEEDS_SITE_AND_BROWSER,
    pytest.mark.skipif(
        not PYTHON.is_file(), reason="the site has no Python: make html could not fetch it by npm"
    ),
]

IN_PAGE = [name for name in pool.names() if pool.get(name).in_page]
EXERCISE, TRACE = "exercises/guard.html", "practice/trace.html"
ENDLESS = "while True:\n    pass\n\ndef maximum_kernel(a, b, out):\n    pass\n"
BROKEN = "import os\nos._exit(1)\n\ndef maximum_kernel(a, b, out):\n    pass\n"
WIDE = """
from numba import cuda
import numpy as np

@cuda.jit
def twice(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += x[i]

x = cuda.to_device(np.ones(1000).astype(np.float32))
twice[1, 1024](x)
print(x.copy_to_host()[999])
"""
# An answer that comes by a way out of Python, and sends the page what no verdict has.
HOSTILE = """
from js import setTimeout
reply = '{state: "done", reply: {html: "<p onclick=x()>sent<img src=x onerror=x()></p><script>x()</script>"}}'
setTimeout.constructor(f"postMessage({reply})")()
"""
# Python judges all answers in one worker, one after the other, while the test judges them, too.
JUDGED = """
const worker = new Worker("/_static/python_worker.mjs", { type: "module" });
const waiting = [];
worker.onmessage = ({ data }) => data.state === "ready" || waiting.shift()(data.reply || data);
window.judged = ANSWERS.map((args) => new Promise((resolve) => {
  waiting.push(resolve);
  worker.postMessage({ call: "check", args });
}));
0
"""
# Waits take a tenth of their time.
HASTE = "const wait = setTimeout; window.setTimeout = (act, ms) => wait(act, ms / 10)"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A reader and the address of the site, under a strict policy."""
    headers = {"Content-Security-Policy": policy()}
    with served(headers=headers) as address, Reader(tmp_path_factory.mktemp("profile")) as reader:
        yield reader, address


def python_files(reader):
    names = "performance.getEntriesByType('resource').map(entry => entry.name)"
    return [name for name in reader.run(names) if "python" in name]


def run_in_editor(reader, text):
    """Put a text into the page's editor, press the keys that check it, and return the verdict's text."""
    area = "document.querySelector('.gg-editor textarea')"
    reader.run(
        f"{area}.focus(); {area}.select(); document.execCommand('insertText', false, {json.dumps(text)})"
    )
    for kind in ("keyDown", "keyUp"):
        reader.send("Input.dispatchKeyEvent", type=kind, key="Enter", windowsVirtualKeyCode=13, modifiers=2)
    for _ in range(600):
        time.sleep(0.05)
        if reader.run("document.querySelector('.gg-editor').ariaBusy !== 'true'"):
            return reader.run("document.querySelector('.gg-verdict').textContent")
    return pytest.fail("no verdict came")


def test_an_exercise_is_solved_in_the_page_and_its_list_says_so(site):
    reader, address = site
    reader.look(390)
    reader.open(f"{address}/{EXERCISE}")
    assert not python_files(reader)
    exercise = pool.get("guard")
    assert run_in_editor(reader, exercise.start).startswith("guard: not yet")
    assert reader.run("document.querySelector('.gg-lines .gg-marked').textContent.trim()") == "8"
    assert "guard: passed" in run_in_editor(reader, exercise.solution)
    reader.open(f"{address}/practice/puzzles.html")
    solved = "[...document.querySelectorAll('dt:has(.gg-solved) a')].map(link => link.textContent)"
    assert reader.run(solved) == [exercise.title]
    mark, page = (f"getComputedStyle(document.querySelector('{name}'))" for name in (".gg-solved", "body"))
    assert reader.run(f"{mark}.color") != reader.run(f"{page}.backgroundColor")


@pytest.mark.parametrize(
    ("text", "words"), [(ENDLESS, "10 s"), (BROKEN, "stopped in this page")], ids=["endless", "broken"]
)
def test_after_what_ends_python_the_next_answer_is_judged(site, text, words):
    reader, address = site
    reader.open(f"{address}/{EXERCISE}")
    reader.run(HASTE)
    assert words in run_in_editor(reader, text)
    assert "guard: passed" in run_in_editor(reader, pool.get("guard").solution)


def test_hints_and_the_solution_open_below_the_editor(site):
    reader, address = site
    reader.open(f"{address}/{EXERCISE}")
    names = [f"Hint {n}" for n in range(1, len(pool.get("guard").hints) + 1)]
    buttons = "[...document.querySelectorAll('.gg-editor button')]"
    for name in (*["Hint"] * len(names), "Solution"):
        reader.run(f"{buttons}.find(button => button.textContent === '{name}').click()")
    opened = (
        "[...document.querySelectorAll('.gg-editor [open] summary')].map(fold => fold.textContent.trim())"
    )
    assert reader.run(opened) == [*names, "Solution"]


def test_a_page_from_disk_says_how_to_serve_it(site):
    reader, _ = site
    reader.open((SITE / EXERCISE).as_uri())
    assert "http.server" in run_in_editor(reader, "")


def test_a_script_is_traced_launch_by_launch(site):
    reader, address = site
    reader.open(f"{address}/{TRACE}")
    text = run_in_editor(reader, WIDE)
    assert "line 12:twice, 1 block of 1024 threads: no findings" in text
    assert "2.0" in text
    for n, words in enumerate(("both change", "but x has 5 elements", "barrier")):
        reader.run(f"document.querySelectorAll('.gg-samples button')[{n}].click()")
        code = reader.run("document.querySelector('.gg-editor textarea').value")
        assert words in run_in_editor(reader, code)


def answers(name):
    """Give the solution of an exercise, its start, and the solution with each of its mistakes."""
    exercise = pool.get(name)
    mistakes = import_module(f"gpuguide.exercises.pool.{name}.exercise").MISTAKES
    return [exercise.solution, exercise.start, *(each.made_in(exercise.solution) for each in mistakes)]


@pytest.fixture(scope="module")
def judged(site):
    """The places in the page's list of replies, by exercise."""
    reader, address = site
    reader.open(f"{address}/{EXERCISE}")
    every = [[name, source] for name in IN_PAGE for source in answers(name)]
    reader.run(JUDGED.replace("ANSWERS", json.dumps(every)))
    return {name: [n for n, (of, _) in enumerate(every) if of == name] for name in IN_PAGE}


@pytest.mark.parametrize("name", IN_PAGE)
def test_verdicts_are_those_of_the_command_line(site, judged, name):
    here = [json.loads(in_page.check(name, source)) for source in answers(name)]
    there = site[0].run(f"Promise.all({judged[name]}.map(n => judged[n]))")
    assert there == here
    assert [reply["passed"] for reply in there] == [True] + [False] * (len(there) - 1)


def test_an_answer_reaches_nothing_but_its_worker(site):
    reader, _ = site
    with served() as address:  # without a policy, which would forbid it by itself
        reader.open(f"{address}/{EXERCISE}")
        reader.run("window.x = () => { window.reached = true; }")
        assert run_in_editor(reader, HOSTILE + pool.get("guard").solution).startswith("sent")
        reader.run("document.querySelector('.gg-verdict p').click()")
        assert not reader.run("Boolean(window.reached || document.querySelector('.gg-verdict img'))")
