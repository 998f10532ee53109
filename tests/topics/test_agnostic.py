"""One pipeline for several libraries: strips of a photo, copies, and what it takes."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpuguide.topics.agnostic import study as agnostic
from gpuguide.topics.agnostic.functions import local_contrast
from gpuguide_docs.commands import cupy_by_numpy


def photo(rows: int, columns: int) -> np.ndarray:
    return np.random.default_rng(rows).integers(0, 256, (rows, columns, 3), dtype=np.uint8)


@pytest.mark.parametrize("rows", [1, 2, 63, 64, 65, 200])
def test_strips_are_put_together_without_a_seam(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agnostic, "ALONE_BELOW", 0)
    x = photo(rows, 17)
    np.testing.assert_array_equal(agnostic.numpy_threads(x), local_contrast(x))


def test_the_edges_continue_on_the_other_side() -> None:
    x = photo(9, 12)
    moved = np.roll(x, (4, -5), axis=(0, 1))
    np.testing.assert_array_equal(local_contrast(moved), np.roll(local_contrast(x), (4, -5), axis=(0, 1)))


def test_the_contrast_is_that_of_a_float64_blur() -> None:
    x = photo(7, 5)
    np.testing.assert_allclose(local_contrast(x), agnostic.reference(x), atol=1e-6)
    assert local_contrast(x).dtype == np.float32


def test_photos_are_copied_once_each_way(monkeypatch: pytest.MonkeyPatch) -> None:
    noted = []

    class Array(cupy_by_numpy.ndarray):
        def set(self, values: np.ndarray, stream: Any = None) -> None:
            assert stream == "the current stream"
            noted.append("from pinned")
            self[...] = values

        def get(self, out: np.ndarray | None = None) -> np.ndarray:
            noted.append("back")
            return super().get(out=out)

        def __array_function__(self, *call: Any) -> Any:
            return np.array(super().__array_function__(*call)).view(Array)

    def asarray(values: np.ndarray) -> Array:
        noted.append("asarray")
        return np.array(values).view(Array)

    module = SimpleNamespace(
        asarray=asarray,
        empty=lambda shape, dtype: np.empty(shape, dtype).view(Array),
        cuda=SimpleNamespace(get_current_stream=lambda: "the current stream"),
    )
    monkeypatch.setattr(agnostic, "cp", module)
    x = photo(40, 40)
    for call, there in (
        (agnostic.with_copies, "asarray"),
        (agnostic.with_copies_pinned, "from pinned"),
    ):
        noted.clear()
        out = np.full((40, 40), np.nan, np.float32)
        call(x, out)
        np.testing.assert_array_equal(out, local_contrast(x))
        assert noted == [there, "back"]


def test_by_hand_is_the_same_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agnostic, "cp", np)
    x = photo(20, 30)
    np.testing.assert_array_equal(agnostic.cupy_by_hand(x), local_contrast(x))


@pytest.mark.gpu
def test_the_gpu_s_arrays_come_from_the_gpu() -> None:
    import cupy as cp

    x = photo(50, 60)
    made = local_contrast(cp.asarray(x))
    assert isinstance(made, cp.ndarray)
    np.testing.assert_allclose(made.get(), local_contrast(x), atol=4e-6)
