"""Runs the open code of a page on a CuPy whose GPU and host are made up, so that every time is known."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from fake_clock import FakeGpu, FakeHost
from gpuguide_docs.pages.cells import Cell, read_cells

ROOT = Path(__file__).parents[2]
SPIN_NS = 500_000


def open_cells(page: str) -> list[Cell]:
    """Give the recorded cells of a page that stand where they run, open or folded."""
    (script,) = (ROOT / "examples").glob(f"*/{page}.py")
    return [cell for cell in read_cells(script) if cell.kind == "recorded" and cell.place != "end"]


def functions(page: str, monkeypatch: pytest.MonkeyPatch, host: FakeHost, gpu: FakeGpu) -> dict[str, Any]:
    """Define the functions of a page's open cells, with clocks that are those of `host` and `gpu`."""
    kept = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.Assign)
    namespace: dict[str, Any] = {}
    monkeypatch.setitem(sys.modules, "cupy", _cupy(host, gpu))
    profiler: Any = SimpleNamespace(benchmark=None)  # imported beside clocks, and not called here
    monkeypatch.setitem(sys.modules, "cupyx", SimpleNamespace(profiler=profiler))
    monkeypatch.setitem(sys.modules, "cupyx.profiler", profiler)
    for cell in open_cells(page):
        for node in ast.parse(cell.content).body:
            is_source = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).startswith("spin")
            if isinstance(node, kept) and (is_source or not isinstance(node, ast.Assign)):
                # Kernels are not called here; to make one takes no GPU.
                exec(compile(ast.Module([node], []), page, "exec"), namespace)
    namespace["perf_counter"] = lambda: host.now / 1e9
    return namespace


def _cupy(host: FakeHost, gpu: FakeGpu) -> ModuleType:
    """Make as much of CuPy as clocks need: a stream, events, a kernel that spins, and the device."""

    class Event:
        def __init__(self) -> None:
            self.at: int = gpu.record()

        def synchronize(self) -> None:
            host.wait_until(self.at)

    def kernel(source: str, name: str) -> Callable[..., None]:
        assert f"void {name}()" in source
        return lambda grid, block, args: gpu.delay(SPIN_NS)

    stream = SimpleNamespace(synchronize=gpu.synchronize, record=Event)
    module: Any = ModuleType("cupy")
    module.RawKernel = kernel
    module.cuda = SimpleNamespace(
        Device=lambda: SimpleNamespace(synchronize=gpu.synchronize),
        get_current_stream=lambda: stream,
        get_elapsed_time=lambda start, stop: gpu.elapsed_ns(start.at, stop.at) / 1e6,
    )
    return module
