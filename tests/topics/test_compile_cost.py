"""What the compiler costs: the cache on disk, and the parts of first calls in fresh processes."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest

from gpuguide.topics.compile_cost import compile_parts, kernels
from gpuguide.topics.compile_cost import study as compile_cost
from gpuguide.topics.first_call import fresh


def test_the_second_function_with_a_cache_reads_what_the_first_wrote(tmp_path: Path) -> None:
    box = np.ones((2, 3, 4), np.float32)
    before = vars(numba.config)["CACHE_DIR"]
    hits = []
    for _ in range(2):
        with compile_cost.caching_in(str(tmp_path)):
            loops = numba.njit(cache=True)(kernels.larger_loops)
        loops(box, box, np.empty_like(box))
        hits.append(sum(loops.stats.cache_hits.values()))
    assert hits == [0, 1]
    assert vars(numba.config)["CACHE_DIR"] == before


def test_a_fresh_process_compiles_and_the_next_one_reads(tmp_path: Path) -> None:
    """Two real processes; a GPU adds its parts to the second."""
    command = [
        sys.executable,
        "-c",
        "from gpuguide.topics.compile_cost.compile_parts import first_call; first_call()",
    ]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    reports = []
    for _ in range(2):
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=120, check=True
        )
        reports.append(json.loads(done.stdout))
    assert [report["hits"] for report in reports] == [0, 1]
    for report in reports:
        assert list(report["parts"])[:3] == ["imports", "first", "later"]


def test_the_import_of_numba_is_timed_and_not_made_before(fresh_python: Callable[..., str]) -> None:
    printed = fresh_python(
        "import sys; import gpuguide.topics.compile_cost.compile_parts; print('numba' in sys.modules)"
    )
    assert printed.strip() == "False"


class Processes:
    """Stands in for processes: what each of them prints, by its number; number 0 is not counted."""

    def __init__(self) -> None:
        self.caches: list[str] = []

    def __call__(self, command: list[str], env: Mapping[str, str], **options: object) -> SimpleNamespace:
        assert command[-1] == "gpuguide.topics.compile_cost.compile_parts:first_call"
        n = len(self.caches)
        self.caches.append(env["NUMBA_CACHE_DIR"])
        parts = {"imports": n, "first": 10 * n, "later": 100 * n}
        parts |= {"context": 7 * n, "kernel_compile": 8 * n, "kernel_call": 9 * n} if n % 2 == 0 else {}
        lines = [json.dumps({"hits": 1 - n % 2, "parts": parts}), json.dumps({"ns": n + 1})]
        return SimpleNamespace(stdout="\n".join(lines) + "\n", stderr="", returncode=0)


def test_each_empty_cache_is_filled_by_one_process_and_read_by_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    processes = Processes()
    monkeypatch.setattr(fresh.subprocess, "run", processes)
    taken = compile_parts.measure_fresh_processes(n_processes=2)
    assert processes.caches[1::2] == processes.caches[2::2]
    assert len(set(processes.caches)) == 3
    assert taken["first"] == pytest.approx([10e-9, 30e-9])
    assert taken["cached_imports"] == pytest.approx([2e-9, 4e-9])
    assert taken["cached"] == pytest.approx([20e-9, 40e-9])
    assert taken["kernel_compile"] == pytest.approx([16e-9, 32e-9])
    assert list(taken) == [
        "imports", "first", "later", "cached_imports", "cached", "context", "kernel_compile", "kernel_call",
    ]  # fmt: skip
