"""The check for equality to the last bit, on arrays with any number of axes."""

import numpy as np
import pytest

from gpuguide.errors import MismatchError
from gpuguide.measure.equal_check import EqualCheck

CHECK = EqualCheck(lambda x: x + 1)


@pytest.mark.parametrize("shape", [(6,), (2, 3), (1, 2, 3), (0, 3), ()])
def test_equal_arrays_of_any_shape_pass(shape: tuple[int, ...]) -> None:
    x = np.ones(shape)
    assert CHECK.compare(x + 1, CHECK.prepare((x,))) == (0.0, 0.0)


def test_a_wrong_element_of_a_box_is_named_by_its_place_in_memory() -> None:
    x = np.zeros((2, 3, 4))
    wrong = x + 1
    wrong[1, 0, 2] = 7
    with pytest.raises(MismatchError, match=r"element at 14 is wrong: expected 1\.0, got 7\.0"):
        CHECK.compare(wrong, CHECK.prepare((x,)))


def test_another_shape_of_the_same_elements_fails() -> None:
    with pytest.raises(MismatchError, match=r"shape \(2, 3\); it has \(3, 2\)"):
        CHECK.compare(np.ones((3, 2)), CHECK.prepare((np.zeros((2, 3)),)))
