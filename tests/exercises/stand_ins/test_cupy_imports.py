"""What an answer imports of CuPy by itself: the stand-in while it is judged, and as before afterwards."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pool_answers import changed, judged

from gpuguide.exercises import get
from gpuguide.exercises.check import judge
from gpuguide.exercises.reading import execute
from gpuguide.exercises.stand_ins.cupy_imports import standing_in
from gpuguide.exercises.stand_ins.fake_cupy import FakeCupy
from gpuguide.exercises.stand_ins.virtual_streams import StreamingGpu

FORK = """
{}
def fork_and_join(streams, prepare, left, right, join):
    {}
    one, two = streams
    begun, done = {}(), {}()
    with one:
        prepare()
        begun.record()
        left()
    two.wait_event(begun)
    with two:
        right()
        done.record(two)
    one.wait_event(done)
    with one:
        join()
    {}
"""
WAIT = "one.synchronize()"
# Above the function, in it, the name of the class of events, and the wait at the end.
WAYS = (
    ("from cupy.cuda import Event, Stream", "pass", "Event", WAIT),
    ("import cupy.cuda", "pass", "cupy.cuda.Event", WAIT),
    ("import cupy.cuda as cuda", "pass", "cuda.Event", WAIT),
    ("from cupy import cuda", "pass", "cuda.Event", "cuda.Device().synchronize()"),
    ("import cupy as cp; Mark = cp.cuda.Event", "pass", "Mark", "cp.cuda.runtime.deviceSynchronize()"),
    ("pass", "import cupy as cp", "cp.cuda.Event", WAIT),
    ("pass", "from cupy.cuda import Event", "Event", WAIT),
    ("pass", "from cupy.cuda.stream import Event", "Event", WAIT),
    (
        "from cupy.cuda import Stream",
        "import cupy.cuda",
        "cupy.cuda.Event",
        f"{WAIT}, Stream.null.done",
    ),
)


@pytest.mark.parametrize(("above", "inside", "event", "wait"), WAYS)
def test_events_are_found_wherever_cupy_is_imported(above: str, inside: str, event: str, wait: str) -> None:
    assert judge(get("fork_and_join"), FORK.format(above, inside, event, event, wait)).passed


def test_streams_of_its_own_are_those_of_the_machine() -> None:
    own = "streams = [cp.cuda.Stream(non_blocking=True) for _ in range(2)]"
    waits = {WAIT: True, "cp.cuda.Device().synchronize()": True, "two.synchronize()": False}
    for wait, passes in waits.items():
        source = FORK.format("import cupy as cp", own, "cp.cuda.Event", "cp.cuda.Event", wait)
        assert judge(get("fork_and_join"), source).passed == passes


@pytest.mark.parametrize(
    ("name", "above", "right", "other"),
    [
        ("copy_and_work", "from cupy.cuda import Device", "cp.cuda.Device()", "Device()"),
        ("windows", "import cupy\ndef mean(x):\n    return cupy.mean(x)", "cp.mean(", "mean("),
        ("windows", "from cupy import mean", "cp.mean(", "mean("),
        ("windows", "", "    first = ", "    import cupy as cp\n    first = "),
        ("rows_apart", "from cupy.lib.stride_tricks import as_strided", "", ""),
        ("fill_in_either", "from cupy import ndarray", "xp =", "isinstance(a, ndarray)\n    xp ="),
        ("fill_in_either", "from cupy import get_array_module", "cp.get_array_module", "get_array_module"),
        ("windows", "import cupy", "(cp, signal,", "(cp, signal: cupy.ndarray | None,"),
        ("any_grouping", "import cupy as cp; SINGLE = cp.float32", "", ""),
        ("refine", "import cupy", "    narrow =", "    cupy.get_array_module(a).abs(a)\n    narrow ="),
    ],
)
def test_a_right_answer_may_import_it(name: str, above: str, right: str, other: str) -> None:
    report = judged(name, f"{above}\n{changed(name, (right, other))}")
    assert report.passed, report.findings


def test_the_real_one_is_there_again_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a notebook imported, and by whatever name, works on the stand-in as long as it is judged."""
    real, real_cuda = ModuleType("cupy"), ModuleType("cupy.cuda")
    vars(real).update(cuda=real_cuda)
    event = type("Event", (), {"__module__": "cupy.cuda.inside"})
    mean = type("mean", (), {"__module__": "cupy._statistics.meanvar"})
    monkeypatch.setitem(sys.modules, "cupy", real)
    known: dict[str, Any] = {"cp": real, "cuda": real_cuda, "Event": event, "mean": mean, "sys": sys}
    exec("def f():\n    import cupy\n    return cupy, cp.cuda, cuda, Event, mean\n", known)
    before, cuda_before = known.copy(), sys.modules.get("cupy.cuda")
    with standing_in(known["f"]):
        assert known["f"]()[0] is real, "there is no stand-in yet"
        gpu = StreamingGpu(1, 1)
        module, *_, of_streams, _ = known["f"]()
        assert module is not real
        assert of_streams().record is not None
        assert module.cuda.get_current_stream() is gpu.current
        cp = FakeCupy()
        *_, mean_now = known["f"]()
        assert float(mean_now(cp.arange(3))) == 1
    assert known == before
    assert import_module("cupy") is real
    assert sys.modules.get("cupy.cuda") is cuda_before


@pytest.mark.skipif(find_spec("cupy") is not None, reason="CuPy is installed")
def test_without_a_stand_in_it_is_said_that_there_is_none() -> None:
    text = "import cupy as cp\ndef event():\n    return cp.cuda.Event()\n"
    function = execute(text, "event", Path("answer.py"))
    with pytest.raises(ModuleNotFoundError, match=r"cupy\.cuda\.Event cannot be had, because CuPy is not"):
        function()
    with standing_in(function), pytest.raises(ModuleNotFoundError, match=r"cupy\.cuda cannot be had"):
        function()
    with pytest.raises(ModuleNotFoundError, match="No module named"):
        import_module("cupy")
