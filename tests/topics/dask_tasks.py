"""What workers without a GPU do in the tests of Dask; they import it by name, so it imports little."""

from typing import Any

import numpy as np

__all__ = ["as_on_a_gpu"]


def as_on_a_gpu(numbers: Any, first: float, n: int, source: str) -> np.ndarray:
    """Do a worker's part of the integral by arctangents."""
    left = first + np.asarray(numbers) / 64
    return np.asarray(4 * np.arctan(1 / 64 / (1 + left * (left + 1 / 64))))
