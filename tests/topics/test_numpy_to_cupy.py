"""One function for both libraries, a convolution in one dimension, rows in a loop and at once."""

import sys
from types import ModuleType

import numpy as np
import pytest

from gpuguide.topics.numpy_to_cupy import functions
from gpuguide.topics.numpy_to_cupy import study as numpy_to_cupy


@pytest.mark.parametrize("n", [1, 224, 225, 226, 2**16 - 1, 2**16 + 7, 200_003])
def test_all_threads_convolve_as_one_does(n: int) -> None:
    """Shorter than the weights, around one part, and several parts."""
    signal, weights = numpy_to_cupy.convolve.make_inputs(n, exact=True)
    right = np.convolve(signal, weights)
    assert (numpy_to_cupy.convolve_threads(signal, weights) == right).all()
    assert (numpy_to_cupy.convolve_reference(signal, weights) == right).all()


def test_the_functions_need_no_cupy() -> None:
    """They are NumPy's code, as a reader has it."""
    modules = [value for value in vars(functions).values() if isinstance(value, ModuleType)]
    assert modules == [sys.modules["numpy"]]
