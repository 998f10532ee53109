"""Solves exercises in the page, and traces a kernel there: the verdicts are those of the command line."""

import json
import os
import time

import pytest
from chromium import NEEDS_SITE_AND_BROWSER, SITE, Reader, served
from test_policy_in_browser import policy

from gpuguide.exercises import in_page, pool
from gpuguide.exercises.model import KernelExercise

PYTHON = SITE / "_static" / "python" / "pyodide.mjs"
pytestmark = [
    *NEEDS_SITE_AND_BROWSER,
    pytest.mark.skipif(
        not PYTHON.is_file() and not os.environ.get("CI"),
        reason="the site has no Python: make html fetches it by npm",
    ),
]

KERNELS = [name for name in pool.names() if isinstance(pool.get(name), KernelExercise)]
EXERCISE, TRACE = "exercises/guard.html", "practice/trace.html"
ENDLESS = "while True:\n    pass\n\ndef maximum_kernel(a, b, out):\n    pass\n"
WIDE = """
from numba import cuda
import numpy as np

@cuda.jit
def twice(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += x[i]

x = np.ones(1000, dtype=np.float32)
twice[1, 1024](x)
print(x[999])
"""
# An answer that comes by a way out of Python, and sends the page what no verdict has.
HOSTILE = """
from js import setTimeout
reply = '{state: "done", reply: {html: "<p onclick=x()>sent<img src=x onerror=x()></p><script>x()</script>"}}'
setTimeout.constructor(f"postMessage({reply})")()
"""
WORKER = """
window.worker = new Worker("/_static/python_worker.mjs", { type: "module" });
window.judged = (name, source) => new Promise((resolve) => {
  worker.onmessage = ({ data }) => data.state === "ready" || resolve(data.reply || data);
  worker.postMessage({ call: "check", args: [name, source] });
});
"""


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
    verdict = run_in_editor(reader, exercise.start)
    assert verdict.startswith("guard: not yet")
    assert reader.run("document.querySelector('.gg-lines .gg-marked').textContent.trim()") == "8"
    assert "guard: passed" in run_in_editor(reader, exercise.solution)
    reader.open(f"{address}/practice/puzzles.html")
    solved = "[...document.querySelectorAll('dt:has(.gg-solved) a')].map(link => link.textContent)"
    assert reader.run(solved) == [exercise.title]


def test_what_does_not_end_is_stopped_and_the_next_answer_is_judged(site):
    reader, address = site
    reader.open(f"{address}/{EXERCISE}")
    assert "10 s" in run_in_editor(reader, ENDLESS)
    assert "guard: passed" in run_in_editor(reader, pool.get("guard").solution)


def test_a_script_is_traced_launch_by_launch(site):
    reader, address = site
    reader.open(f"{address}/{TRACE}")
    assert "line 12:twice, 1 block of 1024 threads: no findings" in run_in_editor(reader, WIDE)
    seen = []
    for n in range(3):
        reader.run(f"document.querySelectorAll('.gg-samples button')[{n}].click()")
        code = reader.run("document.querySelector('.gg-editor textarea').value")
        seen.append(run_in_editor(reader, code))
    for text, words in zip(seen, ("both change", "but x has 5 elements", "barrier"), strict=True):
        assert words in text


@pytest.mark.parametrize("name", KERNELS)
def test_verdicts_are_those_of_the_command_line(site, name):
    reader, address = site
    if not reader.run("Boolean(window.judged)"):
        reader.open(f"{address}/{EXERCISE}")
        reader.run(WORKER)
    exercise = pool.get(name)
    mistakes = __import__(f"gpuguide.exercises.pool.{name}.exercise", fromlist=["MISTAKES"]).MISTAKES
    sources = [exercise.solution, exercise.start, *(m.made_in(exercise.solution) for m in mistakes)]
    here = [json.loads(in_page.check(name, source)) for source in sources]
    there = [reader.run(f"judged({json.dumps(name)}, {json.dumps(source)})") for source in sources]
    assert there == here
    assert [reply["passed"] for reply in there[:2]] == [True, False]


def test_an_answer_reaches_nothing_but_its_worker(tmp_path):
    with served() as address, Reader(tmp_path / "profile") as reader:
        reader.open(f"{address}/{EXERCISE}")
        reader.run("window.x = () => { window.reached = true; }")
        assert run_in_editor(reader, HOSTILE + pool.get("guard").solution).startswith("sent")
        reader.run("document.querySelector('.gg-verdict p').click()")
        assert not reader.run("Boolean(window.reached || document.querySelector('.gg-verdict img'))")
