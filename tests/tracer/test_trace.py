"""gg.trace takes what readers have at hand: kernels of Numba, and arrays of NumPy, CuPy's kind and lists."""

from __future__ import annotations

import doctest
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gpuguide as gg
from gpuguide import tracer
from gpuguide.errors import ArgumentError

HERE = Path(__file__).parent
numba_cuda = pytest.mark.skipif(
    importlib.util.find_spec("numba_cuda") is None, reason="numba-cuda is not to be had on this system"
)
ADD = tracer.load("""
from numba import cuda
@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]
        if i < 30:
            print("at", i, out[i])
""").add


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint16", "int32", "uint64"])
@pytest.mark.parametrize(
    "arrange",
    [lambda a: a, lambda a: a[::2], lambda a: a[::-1], lambda a: np.array(a.reshape(5, 8), order="F")[1]],
    ids=["as it is", "every second", "backwards", "a row of Fortran order"],
)
def test_results_are_in_the_caller_s_arrays(dtype: str, arrange: Callable[[Any], Any]) -> None:
    a, b, out = (arrange(np.arange(40).astype(dtype)) for _ in range(3))
    expected = a + b
    assert gg.trace(ADD[2, 32], a, b, out).passed
    np.testing.assert_array_equal(out, expected)
    assert out.dtype == dtype


def test_lists_hold_the_results_and_prints_are_cut() -> None:
    out = [0.0] * 40
    trace = gg.trace(ADD[2, 32], list(range(40)), [1] * 40, out)
    assert out == [float(i + 1) for i in range(40)]
    assert trace.printed.splitlines()[0] == "at 0 1.0"
    assert trace.printed.splitlines()[20:] == ["... and 10 more lines"]


class OnGpu:
    """An array as CuPy's is, for the host: to be fetched and set."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def get(self) -> Any:
        return self.values.copy()

    def set(self, values: Any) -> None:
        self.values[...] = values


def test_arrays_of_the_gpu_are_fetched_and_set() -> None:
    a, b, out = (OnGpu(np.ones(3, np.float32)) for _ in range(3))
    gg.trace(ADD[1, 32], a, b, out)
    assert out.values.tolist() == [2, 2, 2]


def test_views_of_one_array_are_one_memory() -> None:
    x = np.zeros(5, np.float32)
    shift = tracer.load("""
from numba import cuda
@cuda.jit
def shift(a, b):
    a[cuda.grid(1)] = b[cuda.grid(1)]
""").shift
    (finding, *_) = gg.trace(shift[1, 4], x[:4], x[1:]).findings
    assert (finding.kind, finding.line) == ("race", 5)
    assert "the same memory" in finding.text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 2), "add takes 3 arguments"),
        ((np.zeros(3, complex), 1, 1), "complex128 are not known to the tracer"),
        ((1j, 1, 1), "complex numbers are not known to the tracer"),
        ((np.zeros(3, [("x", "f4")]), 1, 1), "are not known to the tracer"),
        (("text", 1, 1), "str is not known to the tracer"),
    ],
)
def test_what_it_does_not_know_is_named(arguments: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        gg.trace(ADD[1, 32], *arguments)


def test_a_kernel_without_a_launch_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"kernel\[blocks, threads\]"):
        gg.trace(ADD, 1, 2, 3)


def test_inputs_are_those_that_the_caller_names() -> None:
    x = np.ones(8, np.float32)
    assert not gg.trace(ADD[1, 8], x, x.copy(), x, inputs=["a"]).passed
    assert gg.trace(ADD[1, 8], x, x.copy(), x).passed


def test_large_launches_are_cut_down_and_say_so() -> None:
    out = np.zeros(100_000, np.float32)
    trace = gg.trace(ADD[1000, 128], np.ones_like(out), out, out)
    assert "Of 1,000 blocks only the first 16 and the last 16 were traced" in trace.notes[0]
    assert trace.counts.threads == 4096
    assert out[:2048].all()
    assert not out[2048:4096].any()


def test_it_prints_and_draws() -> None:
    trace = gg.trace(ADD[1, 32], np.zeros(3, "f4"), np.zeros(4, "f4"), np.zeros(5, "f4"))
    (first,) = trace.findings
    assert (first.array, first.element, first.thread) == ("a", (3,), (3,))
    assert str(trace).startswith("add, 1 block of 32 threads: 1 finding\n\n  Thread 3 of block 0 reads a[3]")
    assert "\na[3]                           r!\n" in str(trace)
    html = trace._repr_html_()
    assert html.count("<svg") == 1
    assert "<title>Which threads ask for which elements of a in line 7</title>" in html


@numba_cuda
def test_kernels_of_numba_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    """The dispatcher's own function and grid, device functions, types and constants of its module."""
    monkeypatch.setattr("numba.cuda.core.config.CUDA_LOW_OCCUPANCY_WARNINGS", 0, raising=False)
    from numba import config

    monkeypatch.setattr(config, "CUDA_LOW_OCCUPANCY_WARNINGS", 0, raising=False)
    agreement = load_module("agreement")
    for kernel, blocks, threads, arguments in agreement.cases():
        trace = gg.trace(kernel[blocks, threads], *arguments)
        assert {finding.kind for finding in trace.findings} <= {"float64"}, trace
        assert trace.label.count(" x ") == (2 if isinstance(blocks, tuple) else 0)


def test_kernels_of_the_successor_keep_their_sizes_in_a_dictionary() -> None:
    """As numba-cuda-mlir 0.6.0 configures a kernel: the sizes have three axes."""
    sizes = {"grid": (2, 1, 1), "block": (4, 1, 1), "sharedmem": 0, "cluster": None}
    configured = SimpleNamespace(
        _dispatcher=SimpleNamespace(py_func=ADD.py_func), _available_launch_config=sizes
    )
    out = [0] * 8
    trace = gg.trace(configured, [1] * 8, [*range(8)], out)
    assert (trace.label, out) == ("2 blocks of 4 threads", [1, 2, 3, 4, 5, 6, 7, 8])


IN_NUMBA = """
import json, sys
sys.path.insert(0, {here!r})
import numpy as np
import gpuguide as gg
import agreement
pairs = []
for (kernel, blocks, threads, own), (*_, traced) in zip(agreement.cases(), agreement.cases()):
    kernel[blocks, threads](*own)
    gg.trace(kernel[blocks, threads], *traced)
    pairs.append([kernel.__name__, own[-1].ravel().tolist(), traced[-1].ravel().tolist()])
print(json.dumps(pairs))
"""


@numba_cuda
def test_results_are_those_of_numba_s_simulator(simulator_python: Callable[..., str]) -> None:
    """And gg.trace takes the simulator's kernels."""
    for name, expected, traced in json.loads(simulator_python(IN_NUMBA.format(here=str(HERE)))):
        # The simulator computes with Python's floats, Numba and the tracer with float32, too.
        np.testing.assert_allclose(traced, expected, rtol=2e-6, atol=1e-6, err_msg=name)


def test_the_example_of_the_page_prints_what_the_page_shows() -> None:
    page = (HERE.parents[1] / "docs" / "practice" / "puzzles.md").read_text(encoding="utf-8")
    example = page.partition("```pycon\n")[2].partition("```")[0]
    test = doctest.DocTestParser().get_doctest(example, {}, "puzzles", None, None)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


def load_module(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


WITHOUT = """
import sys
for name in ("numpy", "numba", "cupy"):
    sys.modules[name] = None
from gpuguide import tracer
answer = tracer.load('''
import math
import numpy as np
from numba import cuda
TABLE = np.array([3.0, 4.0], np.float32)
@cuda.jit
def k(x):
    i = cuda.grid(1)
    x[i] = np.float32(math.sqrt(TABLE[0] * TABLE[0] + TABLE[1] * TABLE[1]))
''')
x = tracer.array([0, 0], "float32")
trace = tracer.launch(answer.k, 1, 2, {"x": x}, expected={"x": [5, 5]},
limits=tracer.Limits(sectors_per_request=4))
print(trace.passed, x.tolist())
"""


def test_it_needs_neither_numpy_nor_numba(fresh_python: Callable[..., str]) -> None:
    assert fresh_python(WITHOUT) == "True [5.0, 5.0]\n"
