"""Slices before and after a copy: the sectors in which strided numbers lie."""

from __future__ import annotations

import numpy as np
import pytest

from gpuguide.topics.slicing import study as slicing


@pytest.mark.parametrize("n", [1, 33, *slicing.SIZES[:2]])
def test_sectors_are_those_in_which_the_numbers_lie(n: int) -> None:
    whole = slicing.total(n)
    places = np.arange(whole)[slicing.every(n, whole)]
    assert len(places) == n
    assert slicing.sectors(n) == len(np.unique(places // 8))
