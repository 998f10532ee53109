"""The large cube, with NumPy in CuPy's place: each way gives NumPy's numbers, and one wrong one is seen."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpuguide.errors import MismatchError
from gpuguide.topics.memory_pools import large
from gpuguide.topics.memory_pools import study as memory_pools


@pytest.fixture
def cube(monkeypatch: pytest.MonkeyPatch) -> large.Cube:
    """A cube of twelve to the third, which repeats 64 numbers."""
    fake = SimpleNamespace(asarray=np.asarray, empty=np.empty, multiply=np.multiply)
    monkeypatch.setitem(sys.modules, "cupy", fake)
    monkeypatch.setattr(large, "_PERIOD", 64)
    monkeypatch.setattr(large, "triple_square", lambda: one_kernel)
    return large.Cube(12)


def one_kernel(x: np.ndarray, out: np.ndarray) -> None:
    out[...] = (3 * x) ** 2


def test_every_way_triples_and_squares(cube: large.Cube) -> None:
    ways: list[Callable[[], Any]] = [cube.in_place, cube.new_arrays, cube.one_kernel]
    ways += [lambda n=n: cube.in_chunks(n) for n in (1, 7, 64, 12**3, 2000)]
    for way in ways:
        cube.check("a way", way)


def test_one_wrong_element_is_seen(cube: large.Cube) -> None:
    def nearly() -> None:
        cube.in_place()
        cube.x[11, 11, 11] = np.nextafter(cube.x[11, 11, 11], 2)

    with pytest.raises(MismatchError, match="nearly: 1 of 1,728 elements are wrong"):
        cube.check("nearly", nearly)
    with pytest.raises(MismatchError, match="1,728 of 1,728"):
        cube.check("nothing", lambda: None)


@pytest.mark.parametrize(("threads", "n"), [(2, 0), (7, 1), (7, 6), (7, 1009)])
def test_threads_leave_no_element_out(monkeypatch: pytest.MonkeyPatch, threads: int, n: int) -> None:
    monkeypatch.setattr(memory_pools, "ALONE_BELOW", 0)
    x = np.random.default_rng(0).random(n)
    right = (3 * x) ** 2
    memory_pools.in_place_threads(threads, x)
    assert (x == right).all()
