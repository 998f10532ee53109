"""First calls: fresh processes, empty caches, the first process not counted."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from gpuguide.measure.first_call import CACHES, FirstCallError, time_first_call
from gpuguide.measure.timing import Samples


def answering(*answers):
    """Return a runner that answers in turn, and the environments it was given."""
    left, seen = list(answers), []

    def run(command, environment, timeout_s):
        seen.append((command, dict(environment), timeout_s))
        return left.pop(0)

    return run, seen


def test_the_first_process_is_not_counted():
    run, seen = answering(*(json.dumps({"ns": ns}) + "\n" for ns in (900, 10, 20, 30)))
    assert time_first_call("a.b:c", n_processes=3, run=run) == Samples((10, 20, 30), method="process")
    assert len(seen) == 4


def test_by_default_one_process_counts_and_what_is_in_memory_is_not_brought_again():
    run, seen = answering('{"ns": 900}', '{"ns": 10}', '{"ns": 20}')
    assert time_first_call("a:b", run=run).ns == (10,)
    assert time_first_call("a:c", n_discarded=0, run=run).ns == (20,)
    assert len(seen) == 3


def test_every_process_has_empty_caches_of_its_own():
    run, seen = answering(*['{"ns": 1}'] * 3)
    time_first_call("a:b", n_processes=2, run=run)
    for name in CACHES:
        folders = [environment[name] for _, environment, _ in seen]
        assert len(set(folders)) == 3
        assert not any(Path(folder).exists() for folder in folders)
    assert {environment["CUDA_CACHE_DISABLE"] for _, environment, _ in seen} == {"1"}
    assert seen[0][1]["PATH"] == os.environ["PATH"]


def test_what_a_function_prints_before_does_not_matter():
    run, _ = answering("hello\n", 'hello\n{"ns": 7}\n')
    with pytest.raises(FirstCallError, match="expected a time on the last line, got 'hello"):
        time_first_call("a:b", n_processes=1, run=run)
    run, _ = answering('hello\n{"ns": 7}\n', 'hello\n{"ns": 7}\n')
    assert time_first_call("a:b", n_processes=1, run=run).ns == (7,)


def test_a_real_process_runs_the_function():
    samples = time_first_call("gc:collect", n_processes=1)
    assert (len(samples.ns), samples.method, samples.n_calls) == (1, "process", 1)


def test_a_failing_process_says_why():
    with pytest.raises(FirstCallError, match="exit status 1"):
        time_first_call("gc:no_such_function", n_processes=1)


def test_a_hanging_process_is_ended():
    with pytest.raises(FirstCallError, match=r"took over 0\.2 s"):
        time_first_call("sys:stdin", n_processes=1, timeout_s=0.2, run=_hanging)


def _hanging(command, environment, timeout_s):
    from gpuguide.measure.first_call import _run

    return _run([sys.executable, "-c", "import time; time.sleep(30)"], environment, timeout_s)
