"""One function for both libraries, a convolution in one dimension, rows in a loop and at once."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpuguide.errors import ArgumentError
from gpuguide.topics.numpy_to_cupy import study as numpy_to_cupy
from gpuguide.topics.numpy_to_cupy.functions import at_once, in_cells, row_by_row
from gpuguide_docs.commands import cupy_by_numpy


def points(n: int) -> tuple[np.ndarray, ...]:
    return numpy_to_cupy.study().make_inputs(n, exact=False)


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Any:
    """NumPy under CuPy's name; what is copied to it is noted."""
    noted: list[str] = []

    class Array(cupy_by_numpy.ndarray):
        def __array_function__(self, *call: Any) -> Any:
            return np.array(super().__array_function__(*call)).view(Array)

        def set(self, values: np.ndarray, stream: Any = None) -> None:
            assert stream == "the current stream"
            noted.append("from pinned")
            self[...] = values

        def get(self, out: np.ndarray | None = None) -> np.ndarray:
            noted.append("back")
            return super().get(out=out)

    def asarray(values: np.ndarray) -> Array:
        noted.append("asarray")
        return np.array(values).view(Array)

    module = SimpleNamespace(
        asarray=asarray,
        empty=lambda shape, dtype: np.empty(shape, dtype).view(Array),
        cuda=SimpleNamespace(get_current_stream=lambda: "the current stream"),
        noted=noted,
    )
    monkeypatch.setattr(numpy_to_cupy, "cupy", lambda: module)
    return module


def test_copies_go_there_and_back_once_for_each_array(cupy: Any) -> None:
    x, y, cell = points(257)
    right = numpy_to_cupy.in_cells_reference(*(each.astype(float) for each in (x, y, cell)))
    for call, there in (
        (numpy_to_cupy.in_cells_with_copies, "asarray"),
        (numpy_to_cupy.in_cells_pinned, "from pinned"),
    ):
        cupy.noted.clear()
        out = np.full(257, np.nan)
        call(x, y, cell, out)
        np.testing.assert_allclose(out, right, rtol=1e-14)
        assert cupy.noted == [there] * 3 + ["back"]


def test_calls_on_arrays_of_the_gpu_return_what_numpy_does(cupy: Any) -> None:
    assert (numpy_to_cupy.in_cells_cupy(*points(33)) == in_cells(*points(33))).all()
    (table,) = numpy_to_cupy.rows_study().make_inputs(16**2, exact=False)
    assert (numpy_to_cupy.rows_cupy_loop(table) == row_by_row(table)).all()
    assert (numpy_to_cupy.rows_cupy(table) == at_once(table)).all()


def test_nothing_is_copied_for_no_points_and_no_signal(cupy: Any) -> None:
    numpy_to_cupy.in_cells_with_copies(*points(0), np.empty(0))
    assert numpy_to_cupy.convolve_cupy(np.empty(0), np.ones(3)).size == 0
    assert cupy.noted == []


def test_the_cell_must_have_two_edges() -> None:
    x, y, cell = points(8)
    with pytest.raises(ArgumentError, match=r"cell must be a float64 array of shape \(2, 2\)"):
        numpy_to_cupy.in_cells_pinned(x, y, cell[0], np.empty_like(x))
    with pytest.raises(ArgumentError, match="weights must be a one-dimensional float64 array"):
        numpy_to_cupy.convolve_cupy(np.ones(4), np.ones((2, 2)))


@pytest.mark.parametrize("n", [1, 224, 225, 226, 2**16 - 1, 2**16 + 7, 200_003])
def test_all_threads_convolve_as_one_does(n: int) -> None:
    """Shorter than the weights, around one part, and several parts."""
    signal, weights = numpy_to_cupy.convolve_study().make_inputs(n, exact=True)
    right = np.convolve(signal, weights)
    assert (numpy_to_cupy.convolve_threads(signal, weights) == right).all()
    assert (numpy_to_cupy.convolve_reference(signal, weights) == right).all()


def test_a_smaller_gpu_gets_fewer_points(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = SimpleNamespace(Device=lambda: SimpleNamespace(mem_info=(10**9, 16 * 10**9)))
    monkeypatch.setattr(numpy_to_cupy, "cupy", lambda: SimpleNamespace(cuda=memory))
    monkeypatch.setattr(numpy_to_cupy, "has_gpu", lambda: True)
    assert numpy_to_cupy.study().sizes[-1] == 10**6


def test_the_source_s_image_is_one_of_the_sizes() -> None:
    study = numpy_to_cupy.convolve_study()
    assert (study.sizes[-1], numpy_to_cupy.N_WEIGHTS, study.dtype) == (2048**2, 225, "float64")


@pytest.mark.gpu
def test_numpy_hands_every_function_of_the_program_to_cupy() -> None:
    import cupy as cp

    x, y, cell = map(cp.asarray, points(1000))
    assert isinstance(in_cells(x, y, cell), cp.ndarray)
    assert isinstance(np.convolve(cp.ones(1000), cp.ones(225)), cp.ndarray)
    assert isinstance(row_by_row(cp.ones((4, 4))), cp.ndarray)


def test_the_functions_need_no_cupy() -> None:
    """They are NumPy's code, as a reader has it."""
    from gpuguide.topics.numpy_to_cupy import functions

    modules = [value for value in vars(functions).values() if isinstance(value, ModuleType)]
    assert modules == [sys.modules["numpy"]]
