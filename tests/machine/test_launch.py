"""Launch sizes cover the data and refuse what CUDA refuses."""

from typing import Any

import numpy as np
import pytest

from gpuguide.errors import ArgumentError
from gpuguide.machine.launch import blocks_1d, check

X = np.ones(3, np.float32)


def test_arrays_that_fit_give_their_length_or_their_shape() -> None:
    assert check(x=X, out=X, ndim=1, dtype="float32") == 3
    assert check(x=X[:0], ndim=1, dtype="float32") == 0
    assert check(x=np.ones((2, 3)), ndim=2, dtype="float64") == (2, 3)
    assert check(x=X, out=np.ones(3), dtype={"x": "float32", "out": "float64"}) == 3
    assert check(x=X, out=X[:2], ndim=1, same_shape=False) == 3
    assert check(out=X, shape=(3,)) == 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: check(x=np.ones((2, 2), "f4"), ndim=1, dtype="float32"),
            "x must be a one-dimensional float32 array; got shape (2, 2), float32. Use x.ravel().",
        ),
        (
            lambda: check(x=X, ndim=2, dtype="int32"),
            "x must be a two-dimensional int32 array; got shape (3,), float32. Use x.reshape with 2 lengths.",
        ),
        (
            lambda: check(x=X, ndim=1, dtype="float64"),
            'x must be a one-dimensional float64 array; got shape (3,), float32. Use x.astype("float64").',
        ),
        (
            lambda: check(x=X, out=X[:2], ndim=1, dtype="float32"),
            "out must be a float32 array of shape (3,), as x; got shape (2,), float32.",
        ),
        (
            lambda: check(x=X, order=X, dtype={"x": "float32", "order": "int32"}),
            "order must be an int32 array of shape (3,), as x; got shape (3,), float32. "
            'Use order.astype("int32").',
        ),
        (lambda: check(out=X, shape=(2,)), "out must be an array of shape (2,); got shape (3,), float32."),
        (lambda: check(x=np.float32(1), ndim=1), "x must be a one-dimensional array; got shape (), float32."),
        (lambda: check(x=None), "x must be an array; got None. Make it one on the GPU: cupy.asarray(x)."),
        (lambda: check(x=[1, 2], ndim=1), "x must be an array; got [1, 2]."),
        (lambda: check(x=X, out=3.0, ndim=1), "out must be an array; got 3.0."),
        (lambda: check(ndim=1), "check expects at least one array, by its name; got none."),
    ],
)
def test_an_array_that_does_not_fit_is_named_with_the_cure(call: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as error:
        call()
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("n", "threads", "blocks"), [(0, 256, 1), (1, 256, 1), (255, 256, 1), (256, 256, 1), (257, 256, 2)]
)
def test_blocks_cover_every_element(n: int, threads: int, blocks: int) -> None:
    assert blocks_1d(n, threads) == blocks


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: blocks_1d(-1, 256), "n must be an integer of at least 0; got -1."),
        (lambda: blocks_1d(1.5, 256), "n must be an integer of at least 0; got 1.5."),
        (lambda: blocks_1d(True, 256), "n must be an integer of at least 0; got True."),
        (lambda: blocks_1d(10, 0), "threads_per_block must be an integer from 1 to 1024; got 0."),
        (lambda: blocks_1d(10, 2048), "threads_per_block must be an integer from 1 to 1024; got 2048."),
        (lambda: blocks_1d(2**40, 32), "CUDA takes at most 2147483647"),
    ],
)
def test_arguments_are_checked(call, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert message in str(caught.value)
