"""Launches: what makes no sense is refused, results lie in the arrays, and work is counted in steps."""

import ast
import gc
import sys
import weakref
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from launching import launch, poisoned, prepare, ramp, run

import gpuguide.exercises.simulator
from gpuguide.errors import ArgumentError, UnknownNameError
from gpuguide.exercises.simulator.geometry import Geometry

GUARD = "def kernel(x, out):\n    i = cuda.grid(1)\n    if i < x.size:\n        out[i] = x[i] + 1\n"

REFUSED = [
    ({"grid": 0}, "grid expects one to three whole numbers of at least 1; got 0."),
    ({"grid": (1, 1, 1, 1)}, "grid expects one to three whole numbers of at least 1; got (1, 1, 1, 1)."),
    ({"block": (2, 0)}, "block expects one to three whole numbers of at least 1; got (2, 0)."),
    ({"block": 1.5}, "block expects one to three whole numbers of at least 1; got 1.5."),
    ({"block": (32, 33)}, "A block has at most 1024 threads; got 1056, from block=(32, 33)."),
    ({"arguments": {"x": 1}}, "kernel takes 2 arguments (x, out); got 1 (x)."),
    ({"arguments": {"x": [1], "out": 1}}, "x expects an array or a number; got a list."),
    ({"arguments": {"x": 1, "out": np.array(["a"])}}, "out expects an array of numbers; got one of <U1."),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED, ids=range(len(REFUSED)))
def test_a_launch_that_makes_no_sense_is_refused(changes: dict, message: str) -> None:
    launched = {"grid": 1, "block": 32, "arguments": {"x": ramp(3), "out": poisoned(3)}} | changes
    with pytest.raises(ArgumentError) as caught:
        run(prepare(GUARD), **launched)
    assert str(caught.value) == message


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="Unknown order 'backward'"):
        launch(GUARD, 1, 32, order="backward", x=ramp(3), out=poisoned(3))


def test_arguments_go_by_position_and_keep_the_reader_s_names() -> None:
    out = poisoned(3)
    trace = run(prepare(GUARD.replace("out", "y")), 1, 32, {"x": ramp(3), "out": out})
    assert trace.names == {"x": "x", "out": "y"}
    assert out.tolist() == [1, 2, 3]


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 255, 256, 257, 521])
@pytest.mark.parametrize("order", ["forward", "reverse"])
def test_results_lie_in_the_arrays(n: int, order: str) -> None:
    out = poisoned(n)
    trace = launch(GUARD, n // 64 + 1, 64, order, x=ramp(n), out=out)
    assert trace.findings == ()
    assert out.tolist() == list(range(1, n + 1))


def test_the_order_is_the_order_of_execution() -> None:
    source = "def kernel(out):\n    out[cuda.atomic.add(out, 7, 1)] = cuda.grid(1)\n"
    out = np.zeros(8, np.int64)
    launch(source, 3, 2, "forward", out=out)
    assert out.tolist() == [0, 1, 2, 3, 4, 5, 0, 6]
    out[:] = 0
    launch(source, 3, 2, "reverse", out=out)
    assert out.tolist() == [5, 4, 3, 2, 1, 0, 0, 6]


def test_a_kernel_can_be_launched_again_and_nothing_is_left_over() -> None:
    kernel = prepare(
        "def kernel(out):\n    s = cuda.shared.array(2, int32)\n    t = cuda.threadIdx.x\n    s[t] = t\n"
        "    cuda.syncthreads()\n    out[t] = s[1 - t]\n"
    )
    traces = []
    for _ in range(2):
        out = poisoned(2)
        traces.append(run(kernel, 1, 2, {"out": out}))
        assert out.tolist() == [1, 0]
    assert traces[0].findings == traces[1].findings == ()
    assert traces[0].figures.arrays == traces[1].figures.arrays


@pytest.mark.parametrize("end", ["out[t] = s[1 - t]", "out[3] = 0", "while True: cuda.syncthreads()"])
def test_what_was_noted_goes_with_the_trace(end: str) -> None:
    """It is large, and would else stay until Python looks for what knows itself."""
    kernel = prepare(
        "def kernel(out):\n    s = cuda.shared.array(2, int32)\n    t = cuda.threadIdx.x\n    s[t] = t\n"
        f"    cuda.syncthreads()\n    {end}\n"
    )
    trace = run(kernel, 1, 2, {"out": poisoned(2)})
    assert trace.figures.threads == 2
    machine = weakref.ref(trace.machine)
    gc.disable()
    try:
        del trace
        assert machine() is None
    finally:
        gc.enable()


def steps(source: str, grid: int, block: int, **arguments: object) -> int:
    """Entries of the log: what the simulator does for a launch, whatever the machine."""
    trace = launch(source, grid, block, **arguments)
    assert trace.findings == ()
    return len(trace.machine.log) + len(trace.machine.branches)


def test_a_thread_of_a_guarded_map_costs_three_steps() -> None:
    """Its branch, a load and a store: the work grows with the threads and with nothing else."""
    for n in (32, 1024):
        assert steps(GUARD, n // 32, 32, x=ramp(n), out=poisoned(n)) == 3 * n


def test_threads_have_numbers_and_places() -> None:
    geometry = Geometry.of((2, 3, 2), (4, 2, 3))
    for number in range(geometry.threads):
        assert geometry.number(geometry.thread_id(number)) == number
    assert Geometry.of(2, 40).warps_per_block == 2


def test_the_simulator_needs_nothing_but_the_standard_library() -> None:
    """So that it can run where there is no NumPy, as in a browser."""
    folder = Path(gpuguide.exercises.simulator.__file__).parent
    for path in sorted(folder.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        used = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
        used += [str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        others = {name for name in used if name.partition(".")[0] not in sys.stdlib_module_names}
        own = "gpuguide.exercises.simulator"
        assert all(
            name in ("gpuguide.errors", "gpuguide.exercises.model") or name.startswith(own) for name in others
        )


def test_a_kernel_is_judged_and_drawn_without_numpy(fresh_python: Callable[..., str]) -> None:
    """From launches that are data: a browser has no more."""
    said = fresh_python("""
import sys
sys.modules["numpy"] = None
from gpuguide.exercises.model import Limits
from gpuguide.exercises.simulator.drawing_svg import draw_svg
from gpuguide.exercises.simulator.drawing_text import draw_text
from gpuguide.exercises.simulator.judge import Launch, judge_launch
from gpuguide.exercises.simulator.memory import View
from gpuguide.exercises.simulator.number_rules import NUMBER_TYPES
from gpuguide.exercises.simulator.source import prepare

source = "from numba import cuda\\ndef double(x, out):\\n    i = cuda.grid(1)\\n    out[i] = 2 * x[i]\\n"
kernel = prepare(source)
single = NUMBER_TYPES["float32"]
arguments = {"x": View.of(single, [1, 2.5], (2,)), "out": View.of(single, [0, 0], (2,), unset=True)}
launch = Launch("two elements", (1,), (4,), arguments, {"out": [2.0, 5.0]})
trace, findings = judge_launch(kernel, launch, Limits())
print(findings[0], arguments["out"].values(), draw_text(trace, findings[0]).count("!"))
print(draw_svg(trace, findings[0]).startswith("<svg"))
""")
    assert said.startswith("Thread 2 of block 0 reads x[2] in line 4, but x has 2 elements")
    assert said.endswith("[2.0, 5.0] 3\nTrue\n")
