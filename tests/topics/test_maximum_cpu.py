"""The larger of two numbers on the CPU: variants against the reference, NaN, shapes, the compiler."""

import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fake_clock import FakeHost
from gpuguide.errors import ArgumentError
from gpuguide.measure import turns as compiler_in_the_clock
from gpuguide.measure.session import Machine, recording_session
from gpuguide.results.ceilings import Ceilings
from gpuguide.topics.launch_sizes.maximum import maximum_reference
from gpuguide.topics.maximum_cpu import kernels
from gpuguide.topics.maximum_cpu import study as maximum_cpu

FILLING = ("python", "numpy", "numpy_threads", "loops", "vectorize", "parallel")


def call(name: str) -> Callable[..., Any]:
    return maximum_cpu.study().variant(name).call


@pytest.mark.parametrize("name", FILLING)
def test_arrays_of_any_shape_with_nan_in_either(name: str) -> None:
    rng = np.random.default_rng(7)
    a, b = rng.standard_normal((2, 3, 5, 7)).astype(np.float32)
    a[0, 0, :3] = b[0, 0, 2:5] = np.nan
    out = np.empty_like(a)
    call(name)(a, b, out)
    assert np.array_equal(out, maximum_reference(a, b), equal_nan=True)
    assert int(np.isnan(out).sum()) == 5


def test_pythons_own_max_has_another_rule() -> None:
    """Why the loops here do not call it: what it says of NaN depends on the order."""
    nan = float("nan")
    assert np.isnan(max(nan, 1.0))
    assert max(1.0, nan) == 1.0


@pytest.mark.parametrize("name", ["python", "numpy_threads", "loops", "parallel"])
def test_arrays_of_different_shapes_are_refused(name: str) -> None:
    a, b = np.zeros((2, 3, 4), np.float32), np.zeros((2, 3, 5), np.float32)
    with pytest.raises(ValueError, match=r"one shape|\(2, 3, 4\), as a"):
        call(name)(a, b, a.copy())
    with pytest.raises(ValueError, match=r"one shape|\(2, 3, 4\), as a"):
        call(name)(a, a, b)


def test_threads_refuse_what_they_cannot_cut_without_copying() -> None:
    a = np.zeros((4, 4, 4), np.float32)
    with pytest.raises(ArgumentError, match="ascontiguousarray"):
        maximum_cpu.maximum_numpy_threads(a, a, a.T)


@pytest.mark.parametrize("name", ["vectorize", "vectorize_new"])
def test_the_compiled_ufunc_says_nothing_of_nan(name: str) -> None:
    """Compared with NaN, the CPU sets a flag that a ufunc would report as an invalid value."""
    a, b = np.full((1, 1, 9), np.nan, np.float32), np.ones((1, 1, 9), np.float32)
    arrays = (a, b) if name == "vectorize_new" else (a, b, np.empty_like(a))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(name)(*arrays)


def test_who_allocates_and_who_uses_threads_is_declared() -> None:
    study = maximum_cpu.study()
    assert {v.name for v in study.variants if v.allocates} == {"numpy_new", "vectorize_new"}
    threads = {v.name: v.threads for v in study.variants}
    assert threads.pop("parallel") == threads.pop("numpy_threads") == maximum_cpu.THREADS >= 1
    assert set(threads.values()) == {1}
    assert all(v.clock == "host" for v in study.variants)


def test_the_sources_sizes_and_dtype_are_among_those_measured() -> None:
    study = maximum_cpu.study()
    assert {32**3, 128**3, 256**3} <= set(study.sizes)
    assert study.dtype == "float32"
    assert len(study.sizes) >= 6
    assert study.sizes[-1] >= 1000 * study.sizes[0]


def test_a_size_that_is_no_cube_is_refused() -> None:
    with pytest.raises(ArgumentError, match="there is none of 100"):
        maximum_cpu.study().make_inputs(100, exact=False)


# The clock that holds the compiler --------------------------------------------------------------------------


class FakeFunction:
    """A dispatcher whose compilation and calls take made-up time."""

    signatures = ("float32",)

    def __init__(self, host: FakeHost, log: list[str], *, compiled: bool = True) -> None:
        self.host, self.log, self.compiled = host, log, compiled

    def py_func(self) -> None:
        """Never called: only handed to the compiler."""

    def compile(self, signature: str) -> None:
        self.log.append(f"compile {signature}")
        self.host.advance(300_000_000)
        self.compiled = True

    def __call__(self) -> None:
        if not self.compiled:
            self.compile("in a call")
        self.host.advance(2_000_000)


def test_parts_of_the_wrong_clock_are_timed_apart_and_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    host, log = FakeHost(), []
    function = FakeFunction(host, log)
    numba = SimpleNamespace(njit=lambda _: FakeFunction(host, log, compiled=False))
    monkeypatch.setattr(compiler_in_the_clock, "numba", lambda: numba)

    def five_calls(fresh: Callable[[], None]) -> float:
        begin = host.now_ns()
        for _ in range(5):
            fresh()
        return (host.now_ns() - begin) / 5e9

    machine = Machine(host=host)
    with recording_session(given_machine=machine, ceilings=Ceilings()):
        wrong, compilations, calls = compiler_in_the_clock.beside_compilation(five_calls, function, (), 3)
    assert wrong == pytest.approx([0.062] * 3)
    assert compilations == pytest.approx([0.3] * 3)
    assert calls == pytest.approx([0.002] * 3)
    assert log == ["compile in a call", "compile float32"] * 3


def test_a_fresh_dispatcher_really_compiles() -> None:
    """With Numba itself: each turn gets a function that has no signature yet."""
    seen: list[int] = []
    ones = np.ones((1, 1, 1), np.float32)
    arguments = (ones, ones, ones.copy())
    kernels.maximum_loops(*arguments)

    def wrong(fresh: Any) -> float:
        seen.append(len(fresh.signatures))
        return 1.0

    samples = compiler_in_the_clock.beside_compilation(wrong, kernels.maximum_loops, arguments, 1)
    assert seen == [0]
    assert [len(each) for each in samples] == [1, 1, 1]
