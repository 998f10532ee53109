"""First calls: fresh processes, empty caches, the first process not counted."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from gpuguide.measure.first_call import CACHES, FirstCallError, _run, time_first_call
from gpuguide.measure.timing import Samples


def answering(*answers):
    """Return a runner that answers in turn, and the environments it was given."""
    left, environments = list(answers), []

    def run(command, environment, timeout_s):
        environments.append(dict(environment))
        return left.pop(0)

    return run, environments


def test_the_first_process_is_not_counted_and_each_has_empty_caches_of_its_own():
    run, environments = answering('{"ns": 900}', 'hello\n{"ns": 10}\n', '{"ns": 20}')
    assert time_first_call("a.b:c", n_processes=2, run=run) == Samples((10, 20), method="process")
    for name in CACHES:
        folders = {environment[name] for environment in environments}
        assert len(folders) == 3
        assert not any(Path(folder).exists() for folder in folders)
    assert {environment["CUDA_CACHE_DISABLE"] for environment in environments} == {"1"}
    assert environments[0]["PATH"] == os.environ["PATH"]


def test_by_default_one_process_counts_and_what_is_in_memory_is_not_brought_again():
    run, environments = answering('{"ns": 900}', '{"ns": 10}', '{"ns": 20}')
    assert time_first_call("a:b", run=run).ns == (10,)
    assert time_first_call("a:c", n_discarded=0, run=run).ns == (20,)
    assert len(environments) == 3


def test_a_real_process_runs_the_function():
    samples = time_first_call("gc:collect", n_processes=1)
    assert (len(samples.ns), samples.method, samples.n_calls) == (1, "process", 1)


def hanging(command, environment, timeout_s):
    return _run([sys.executable, "-c", "import time; time.sleep(30)"], environment, timeout_s)


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ("a:b", {"run": answering("hello\n")[0]}, "expected a time on the last line, got 'hello"),
        ("gc:no_such_function", {}, "exit status 1"),
        ("sys:stdin", {"timeout_s": 0.2, "run": hanging}, r"took over 0\.2 s"),
    ],
)
def test_a_process_that_fails_or_hangs_says_why(target, options, message):
    with pytest.raises(FirstCallError, match=message):
        time_first_call(target, n_processes=1, **options)
