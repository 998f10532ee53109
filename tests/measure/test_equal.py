"""Studies whose results must equal the reference to the last bit, on arrays with any number of axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpuguide.errors import MismatchError
from gpuguide.measure.plan import Variant
from gpuguide.measure.study import Study


def study(call: Any, shape: tuple[int, ...] = (6,), **options: Any) -> Study:
    return Study(
        name="next",
        title="The next number",
        variants=(Variant("mine", call, device="cpu", clock="host"),),
        sizes=(max(1, int(np.prod(shape))),),
        inputs=lambda n, dtype, rng, exact: (np.arange(np.prod(shape), dtype=dtype).reshape(shape),),
        **{"reference": lambda x: x + 1, "equal": True, "dtype": "float64"} | options,
    )


def add_one(x: np.ndarray, out: np.ndarray) -> None:
    out[...] = x + 1


def wrong_at(*place: int, value: float) -> Any:
    def call(x: np.ndarray, out: np.ndarray) -> None:
        out[...] = x + 1
        out[place] = value

    return call


@pytest.mark.parametrize("shape", [(6,), (2, 3), (1, 2, 3), (0, 3), ()])
def test_equal_arrays_of_any_shape_pass(shape: tuple[int, ...]) -> None:
    report = study(add_one, shape).check_all()
    assert [(result.largest_difference, result.tolerance) for result in report] == [(0.0, 0.0)] * 2


def test_a_wrong_element_of_a_box_is_named_by_its_place_in_memory() -> None:
    with pytest.raises(MismatchError, match=r"element at 14 is wrong: expected 15\.0, got 7\.0"):
        study(wrong_at(1, 0, 2, value=7), (2, 3, 4)).check_all()


def test_nan_equals_nan_and_nothing_else() -> None:
    nan = study(lambda x, out: out.fill(np.nan), reference=lambda x: x * np.nan)
    assert len(nan.check_all()) == 2
    with pytest.raises(MismatchError, match=r"expected 3\.0, got nan"):
        study(wrong_at(2, value=np.nan)).check_all()


def test_a_reference_of_another_shape_fails() -> None:
    with pytest.raises(MismatchError, match=r"shape \(3, 2\); it has \(2, 3\)"):
        study(add_one, (2, 3), reference=lambda x: x.T).check_all()


def test_the_reference_gets_the_inputs_as_they_are() -> None:
    """A tolerance is taken against float64; equality against the arithmetic of the study's own type."""
    seen = []

    def reference(x: np.ndarray) -> np.ndarray:
        seen.append(x.dtype.name)
        return x + 1

    study(add_one, reference=reference, dtype="float32").check_all()
    assert seen == ["float32"] * 2


def test_the_description_says_so() -> None:
    assert study(add_one).tolerance_note == "Every element equals the reference, to the last bit."
    assert "Right means: Every element equals the reference" in str(study(add_one).describe())
