"""Random inputs: the same whatever the number of CPUs, of the range and dtype asked for."""

from __future__ import annotations

import numpy as np
import pytest

from gpuguide.machine import cpu as host_threads
from gpuguide.machine.cpu import assign, in_threads
from gpuguide.measure import random_inputs
from gpuguide.measure.plan import generator
from gpuguide.measure.random_inputs import uniform, whole_numbers


@pytest.fixture(autouse=True)
def short_slices(monkeypatch):
    monkeypatch.setattr(random_inputs, "_SLICE", 1000)
    monkeypatch.setattr(host_threads, "_WORTHWHILE", 100)
    monkeypatch.setattr(host_threads, "_PART_BYTES", 64)


@pytest.mark.parametrize("n", [0, 1000, 1001, 12_345])
def test_the_number_of_threads_changes_nothing(n, monkeypatch):
    drawn = []
    for cpus in (1, 16):
        monkeypatch.setattr(host_threads, "_cpus", lambda cpus=cpus: cpus)
        rng = generator("inputs", n)
        drawn.append((uniform(rng, n, "float32"), whole_numbers(rng, n, 2, "int8", low=-1)))
    for one, other in zip(*drawn, strict=True):
        assert one.size == n
        assert np.array_equal(one, other)


def test_slices_and_calls_differ():
    rng = generator("inputs")
    a, b = uniform(rng, 5000), uniform(rng, 5000)
    assert np.unique(np.concatenate([a, b])).size == 10_000


def test_ranges_and_dtypes():
    x = uniform(generator(1), 5000, "float16")
    assert x.dtype == "float16"
    assert 0 <= x.min() < 0.01
    assert 0.99 < x.max() <= 1
    for high, low, dtype in ((2**24, 0, "f4"), (2, -1, "f8"), (2**40, 0, "i8"), (128, -128, "i1")):
        y = whole_numbers(generator(1), 5000, high, dtype, low=low)
        assert y.dtype == dtype
        assert low <= y.min()
        assert y.max() == high - 1 if high <= 128 else y.max() < high
        assert (y == np.trunc(y)).all()


def test_work_in_threads_keeps_its_order_and_raises(monkeypatch):
    monkeypatch.setattr(host_threads, "_cpus", lambda: 4)
    assert in_threads(lambda i: i * i, range(100), 1 << 30) == [i * i for i in range(100)]
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda i: 1 // i, range(3), 1 << 30)


def test_assignment_in_threads_does_what_numpy_does(monkeypatch):
    monkeypatch.setattr(host_threads, "_cpus", lambda: 4)
    x = np.arange(600.0).reshape(20, 30)
    for source in (x, 7, x[:1], np.asfortranarray(x)):
        for y in (np.empty((20, 30), "f4"), np.zeros((20, 60))[:, ::2]):
            assign(y, source)
            assert np.array_equal(y, np.broadcast_to(source, (20, 30)))
