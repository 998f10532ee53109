"""One pipeline for several libraries: the strips of a photo."""

import numpy as np
import pytest

from gpuguide.topics.agnostic import study as agnostic
from gpuguide.topics.agnostic.functions import local_contrast


def photo(rows: int, columns: int) -> np.ndarray:
    return np.random.default_rng(rows).integers(0, 256, (rows, columns, 3), dtype=np.uint8)


@pytest.mark.parametrize("rows", [1, 2, 63, 64, 65, 200])
def test_strips_are_put_together_without_a_seam(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agnostic, "ALONE_BELOW", 0)
    x = photo(rows, 17)
    np.testing.assert_array_equal(agnostic.numpy_threads(x), local_contrast(x))
