"""Memory with a limit: what counts, for how long, and what is raised."""

from __future__ import annotations

import numpy as np
import pytest

from gpuguide.exercises.stand_ins.limited_memory import LimitedCupy, OutOfMemoryError


def test_an_array_counts_until_its_last_view_is_gone() -> None:
    cp = LimitedCupy(1000)
    x = cp.asarray(np.arange(10.0))
    view = x[:1]
    assert cp.used == 80
    del x
    assert cp.used == 80
    del view
    assert (cp.used, cp.most_used) == (0, 80)


def test_in_place_needs_nothing_new_and_an_expression_does() -> None:
    cp = LimitedCupy(1000)
    x = cp.asarray(np.arange(10.0))
    x *= x
    cp.log(x + 1, out=x)
    assert (cp.used, cp.most_used) == (80, 160)


def test_the_old_array_lives_until_the_new_one_has_its_name() -> None:
    cp = LimitedCupy(100)
    x = cp.zeros(10)
    with pytest.raises(OutOfMemoryError):
        x = cp.zeros(10)
    del x
    x = cp.zeros(10)
    assert x.size == 10


def test_the_error_is_that_of_cupy() -> None:
    cp = LimitedCupy(2048)
    x = cp.ones(200)
    with pytest.raises(cp.cuda.memory.OutOfMemoryError) as raised:
        _ = x + x
    assert isinstance(raised.value, MemoryError)
    assert str(raised.value) == (
        "Out of memory allocating 1,600 bytes (allocated so far: 1,600 bytes, limit set to: 2,048 bytes)."
    )
    assert cp.used == 1600


def test_the_pool_tells_what_is_in_use() -> None:
    cp = LimitedCupy(1000)
    x, pool = cp.zeros(10), cp.get_default_memory_pool()
    assert (pool.used_bytes(), pool.total_bytes(), pool.get_limit()) == (80, 80, 1000)
    del x
    assert pool.used_bytes() == 0


def test_the_limit_may_be_set_and_not_raised() -> None:
    cp = LimitedCupy(1000)
    pool = cp.get_default_memory_pool()
    for size, expected in ((2000, 1000), (0, 1000), (500, 500), (1000, 500)):
        pool.set_limit(size=size)
        assert pool.get_limit() == expected
