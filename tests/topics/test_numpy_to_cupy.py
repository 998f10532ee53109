"""One function for both libraries, a convolution in one dimension, rows in a loop and at once."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpuguide.topics.numpy_to_cupy import functions
from gpuguide.topics.numpy_to_cupy import study as numpy_to_cupy
from gpuguide.topics.numpy_to_cupy.functions import at_once, in_cells, row_by_row
from gpuguide_docs.commands import cupy_by_numpy


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
    monkeypatch.setattr(numpy_to_cupy, "cp", module)
    return module


def test_copies_go_there_and_back_once_for_each_array(cupy: Any) -> None:
    points = numpy_to_cupy.cells.make_inputs(257, exact=False)
    right = numpy_to_cupy.cells_reference(*points)
    for call, there in (
        (numpy_to_cupy.with_copies, "asarray"),
        (numpy_to_cupy.with_copies_pinned, "from pinned"),
    ):
        cupy.noted.clear()
        out = np.full(257, np.nan)
        call(*points, out)
        np.testing.assert_allclose(out, right, rtol=1e-14)
        assert cupy.noted == [there] * 3 + ["back"]


def test_calls_on_arrays_of_the_gpu_return_what_numpy_does(cupy: Any) -> None:
    points = numpy_to_cupy.cells.make_inputs(33, exact=False)
    assert (numpy_to_cupy.cupy(*points) == in_cells(*points)).all()
    (table,) = numpy_to_cupy.rows.make_inputs(16**2, exact=False)
    assert (numpy_to_cupy.cupy_loop(table) == row_by_row(table)).all()
    assert (numpy_to_cupy.cupy_once(table) == at_once(table)).all()


@pytest.mark.parametrize("n", [1, 224, 225, 226, 2**16 - 1, 2**16 + 7, 200_003])
def test_all_threads_convolve_as_one_does(n: int) -> None:
    """Shorter than the weights, around one part, and several parts."""
    signal, weights = numpy_to_cupy.convolve.make_inputs(n, exact=True)
    right = np.convolve(signal, weights)
    assert (numpy_to_cupy.convolve_threads(signal, weights) == right).all()
    assert (numpy_to_cupy.convolve_reference(signal, weights) == right).all()


@pytest.mark.gpu
def test_numpy_hands_every_function_of_the_program_to_cupy() -> None:
    import cupy as cp

    x, y, cell = map(cp.asarray, numpy_to_cupy.cells.make_inputs(1000, exact=False))
    assert isinstance(in_cells(x, y, cell), cp.ndarray)
    assert isinstance(np.convolve(cp.ones(1000), cp.ones(225)), cp.ndarray)
    assert isinstance(row_by_row(cp.ones((4, 4))), cp.ndarray)


def test_the_functions_need_no_cupy() -> None:
    """They are NumPy's code, as a reader has it."""
    modules = [value for value in vars(functions).values() if isinstance(value, ModuleType)]
    assert modules == [sys.modules["numpy"]]
