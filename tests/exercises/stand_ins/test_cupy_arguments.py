"""Arguments of CuPy and of its stand-in: what CuPy takes works, and anything else is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpuguide.exercises.stand_ins.fake_cupy import FakeCupy
from gpuguide.machine.backends import cupy

HOST = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(params=["stand-in", pytest.param("real", marks=pytest.mark.gpu)])
def cp(request: pytest.FixtureRequest) -> Any:
    return FakeCupy() if request.param == "stand-in" else cupy()


# A call, its shape, and whether its memory is in the order of Fortran.
MADE = {
    "empty, order": (lambda cp, x: cp.empty((2, 3), order="F"), (2, 3), True),
    "zeros, order": (lambda cp, x: cp.zeros(shape=(2, 3), dtype="int8", order="F"), (2, 3), True),
    "ones, order": (lambda cp, x: cp.ones((2, 3), order="C"), (2, 3), False),
    "full, by name": (lambda cp, x: cp.full((4,), fill_value=2, order="C"), (4,), False),
    "empty_like, shape": (lambda cp, x: cp.empty_like(x, shape=7), (7,), False),
    "zeros_like, shape": (lambda cp, x: cp.zeros_like(x, shape=(3, 4), order="F"), (3, 4), True),
    "ones_like, dtype": (lambda cp, x: cp.ones_like(x, "int16", subok=None), (2, 3), False),
    "full_like, by name": (lambda cp, x: cp.full_like(x, fill_value=3, shape=(5,)), (5,), False),
    "empty_like of Fortran's": (lambda cp, x: cp.empty_like(cp.asfortranarray(x)), (2, 3), True),
    "empty_like in C": (lambda cp, x: cp.empty_like(cp.asfortranarray(x), order="C"), (2, 3), False),
    "asarray, order": (lambda cp, x: cp.asarray(x, order="F"), (2, 3), True),
    "asarray, blocking": (lambda cp, x: cp.asarray(HOST, blocking=True), (2, 3), False),
    "array, ndmin": (lambda cp, x: cp.array(HOST, ndmin=3), (1, 2, 3), False),
    "array, order": (lambda cp, x: cp.array(x, order="F"), (2, 3), True),
    "arange, by name": (lambda cp, x: cp.arange(0, 9, step=3), (3,), True),
    "arange, stop": (lambda cp, x: cp.arange(4), (4,), True),
    "linspace, by name": (lambda cp, x: cp.linspace(start=0, stop=1, num=5), (5,), True),
}


@pytest.mark.parametrize("title", MADE)
def test_what_cupy_takes_works(title: str, cp: Any) -> None:
    make, shape, is_fortran = MADE[title]
    made = make(cp, cp.asarray(HOST))
    assert made.shape == shape
    if made.ndim > 1:
        assert made.flags.f_contiguous is is_fortran
    assert made.flags.c_contiguous is (made.ndim == 1 or not is_fortran)


def test_the_order_changes_no_values(cp: Any) -> None:
    x = cp.asarray(HOST)
    assert (cp.asarray(x, order="F").get() == HOST).all()
    assert (cp.array(x, order="F").get() == HOST).all()
    assert cp.asarray(x, order="C") is x
    assert (cp.full((2, 3), 7, order="F").get() == 7).all()


REFUSED: dict[str, Callable[[Any], object]] = {
    name: lambda cp, name=name, given=given: getattr(cp, name)(*given, colour="red")
    for name, given in {
        **dict.fromkeys(("empty", "zeros", "ones"), (3,)),
        **dict.fromkeys(("empty_like", "zeros_like", "ones_like", "asarray", "array", "asnumpy"), (HOST,)),
        **dict.fromkeys(("full_like", "arange", "linspace"), (HOST, 1)),
    }.items()
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_argument_that_it_does_not_know_is_refused_by_name(name: str, cp: Any) -> None:
    with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'colour'"):
        REFUSED[name](cp)


# A stream that CuPy could not make has no reference, which its own end asks for.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_events_and_streams_take_what_cupy_s_take(cp: Any) -> None:
    stream = cp.cuda.Stream(non_blocking=True)
    event = cp.cuda.Event(True, disable_timing=True)
    event.record(stream)
    stream.wait_event(event)
    for make in (cp.cuda.Event, cp.cuda.Stream):
        with pytest.raises(TypeError, match="colour"):
            make(colour="red")


def test_no_array_is_of_a_class_of_the_reader_s(cp: Any) -> None:
    with pytest.raises(TypeError, match="subok is not supported yet"):
        cp.ones_like(cp.ones(3), subok=False)
    with pytest.raises(TypeError, match="subok"):
        cp.ones(3, subok=None)


@pytest.mark.parametrize("name", ["initial", "where"])
def test_a_reduction_has_no_argument_of_numpy_alone(name: str, cp: Any) -> None:
    x = cp.ones(3)
    for call in (x.sum, lambda **given: cp.sum(x, **given), lambda **given: np.max(x, **given)):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
            call(**{name: True})
