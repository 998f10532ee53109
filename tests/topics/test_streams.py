"""Work in streams: what goes where, what waits for what, right results, and the timeline's shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from compile_lane import needs_compilers, raw_facts
from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.topics.streams import kernels
from gpuguide.topics.streams import study as streams
from gpuguide_docs.commands import cupy_by_numpy


class Logged:
    """A stream that writes down what is asked of it."""

    def __init__(self, log: list[str], name: str) -> None:
        self.log, self.name = log, name

    def __enter__(self) -> Logged:
        self.log.append(f"in {self.name}")
        return self

    def __exit__(self, *_: object) -> None:
        self.log.append("out")

    def record(self) -> str:
        self.log.append(f"{self.name} records")
        return f"end of {self.name}"

    def wait_event(self, event: str) -> None:
        self.log.append(f"{self.name} waits for {event}")


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the streams in CuPy's place were asked for."""
    written: list[str] = []

    class Fake:
        def __getattr__(self, name: str) -> Any:
            return getattr(cupy_by_numpy, name)

        class cuda:
            @staticmethod
            def get_current_stream() -> Logged:
                return Logged(written, "current")

    monkeypatch.setattr(streams, "cupy", Fake)
    monkeypatch.setattr(streams, "streams", lambda n: tuple(Logged(written, f"s{i}") for i in range(n)))
    monkeypatch.setattr(streams, "kinds", lambda: {"own": streams.streams(2), "legacy": streams.streams(2)})
    monkeypatch.setattr(streams, "compiled", lambda source: _steps)
    return written


def _steps(grid: Any, block: Any, arguments: Any) -> None:
    x, out, n, n_steps = arguments
    assert grid[0] * block[0] >= n == x.size
    out[...] = streams.steps_reference(np.asarray(x), int(n_steps))


# Streams ----------------------------------------------------------------------------------------------------


def test_each_call_goes_to_its_stream_between_before_and_after(log: list[str]) -> None:
    """Nothing waits for a call in another stream, and what comes after waits for all."""
    streams.in_streams([lambda: log.append("first"), lambda: log.append("second")])
    assert log == [
        "current records",
        "s0 waits for end of current",
        *("in s0", "first", "out"),
        "s1 waits for end of current",
        *("in s1", "second", "out"),
        *("s0 records", "current waits for end of s0"),
        *("s1 records", "current waits for end of s1"),
    ]


@pytest.mark.parametrize("call", [streams.invert_in_one, streams.invert_in_two])
@pytest.mark.parametrize("exact", [True, False])
def test_both_matrices_are_inverted(call: Any, exact: bool, log: list[str]) -> None:
    a, b = streams.inverses_study().make_inputs(33**2, exact=exact)
    out = np.full((2, 33, 33), np.nan, np.float32)
    call(a, b, out)
    check = streams.InverseCheck()
    largest, tolerance = check.compare(out, check.prepare((a, b)))
    assert largest <= tolerance
    assert bool(log) == (call is streams.invert_in_two)
    with pytest.raises(MismatchError, match="Matrix 0 times its inverse is off"):
        check.compare(out[::-1], (a, b))


@pytest.mark.parametrize("call", [streams.multiply_in_one, streams.multiply_in_two])
def test_matrices_are_multiplied_in_both_orders(call: Any, log: list[str]) -> None:
    a, b = streams.products_study().make_inputs(17**2, exact=True)
    out = np.full((2, 17, 17), np.nan, np.float32)
    call(a, b, out)
    assert (out == np.stack([a @ b, b @ a])).all()
    assert bool(log) == (call is streams.multiply_in_two)


def test_rows_have_to_be_exchanged_and_rounding_stays_small() -> None:
    """A matrix whose largest elements lie on the diagonal would be inverted without pivoting."""
    a, b = streams.inverses_study().make_inputs(100**2, exact=False)
    for x in (a, b):
        assert (np.abs(x).argmax(axis=1) != np.arange(100)).mean() > 0.9
        assert np.linalg.cond(x) < 10


@pytest.mark.parametrize("n", [0, 1, 3])
def test_eight_kernels_make_their_steps(n: int, log: list[str]) -> None:
    study = streams.blocks_study()
    (x,) = study.make_inputs(n, exact=True)
    assert x.shape == (8, 256 * n)
    right = x.copy()
    with np.errstate(over="ignore"):
        for _ in range(streams.STEPS):
            right = np.uint32(1664525) * right + np.uint32(1013904223)
    for variant in study.variants:
        out = np.zeros_like(x)
        variant.call(x, out)
        assert (out == right).all()


def test_short_kernels_make_as_many_steps_as_they_are_told(log: list[str]) -> None:
    study = streams.short_study()
    n, x = study.make_inputs(3, exact=True)
    for variant in study.variants:
        out = np.zeros_like(x)
        variant.call(n, x, out)
        assert (out == streams.steps_reference(x, 3)).all()


def test_pairs_are_what_the_table_names(log: list[str]) -> None:
    x = np.arange(512, dtype=np.uint32).reshape(2, 256)
    out = np.zeros_like(x)
    streams.pair("own", "legacy", x, out)
    assert (out == streams.steps_reference(x)).all()
    names = {variant.name: variant.call.args for variant in streams.waits_study().variants}
    assert names == {
        "same": ("legacy", "legacy"),
        "own_own": ("own", "own"),
        "blocking_blocking": ("blocking", "blocking"),
        "own_legacy": ("own", "legacy"),
        "blocking_legacy": ("blocking", "legacy"),
        "blocking_thread": ("blocking", "per_thread"),
        "legacy_thread": ("legacy", "per_thread"),
    }


@pytest.mark.parametrize(
    ("call", "arrays", "message"),
    [
        (streams.invert_in_two, [(4, 5), (4, 5), (2, 4, 5)], r"a must be a square matrix.*\(4, 5\)"),
        (streams.invert_in_one, [(4, 4), (4, 5), (2, 4, 4)], r"b must be.*\(4, 5\)"),
        (streams.invert_in_one, [(4, 4), (4, 4), (4, 4)], r"out must be.*\(2, 4, 4\).*\(4, 4\)"),
        (streams.multiply_in_two, [(4, 4), (4, 4), (4, 4)], r"out must be.*\(2, 4, 4\).*\(4, 4\)"),
        (streams.steps_in_one, [(8, 4), (8, 5)], r"out must be.*\(8, 5\)"),
        (streams.steps_in_eight, [(7, 4), (7, 4)], r"x must have 8 rows; got shape \(7, 4\)"),
        (streams.steps_in_eight, [(8,), (8,)], "x must be a two-dimensional"),
        (lambda x, out: streams.pair("own", "own", x, out), [(3, 4), (3, 4)], "x must have 2 rows"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(
    call: Any, arrays: list[tuple[int, ...]], message: str, log: list[str]
) -> None:
    floats = (streams.invert_in_one, streams.invert_in_two, streams.multiply_in_two)
    dtype = np.float32 if call in floats else np.uint32
    with pytest.raises(ArgumentError, match=message):
        call(*(np.zeros(shape, dtype) for shape in arrays))
    assert not log


def test_another_dtype_is_refused(log: list[str]) -> None:
    with pytest.raises(ArgumentError, match=r"a must be.*float32.*float64"):
        streams.invert_in_one(np.eye(3), np.eye(3), np.zeros((2, 3, 3)))
    with pytest.raises(ArgumentError, match=r"x must be.*uint32.*int64"):
        streams.steps_in_one(np.zeros((8, 3), int), np.zeros((8, 3), int))


@needs_compilers()
def test_a_step_stays_a_step() -> None:
    """Without the pragma the compiler would make one multiplication of four steps."""
    facts = raw_facts(kernels.steps_source, "steps")
    assert facts.count("mad.lo") + facts.count("mul.lo") == 2  # the index, and the step
    assert facts.registers <= 32
    assert facts.spills == 0


@pytest.mark.gpu
def test_the_timeline_and_the_urgent_kernel_have_times() -> None:
    from gpuguide.topics.streams import timeline

    for n_streams in (1, 2):
        ((first, second),) = timeline.timeline(n_streams, 300)
        assert 0 <= first[0] < first[1]
        assert second[0] < second[1]
        assert n_streams == 2 or second[0] >= first[1]
    timeline.crowd(5)()
    seconds = timeline.urgent_times(n_turns=3)
    assert set(seconds) == {"urgent_default", "urgent_high", "background"}
    assert all(each > 0 for times in seconds.values() for each in times)
