"""Slices before and after a copy, with NumPy in CuPy's place: both orders give the same numbers."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpuguide.measure.study import Study
from gpuguide.topics.slicing import study as slicing
from gpuguide.topics.slicing import views

STUDIES = (slicing.strided, slicing.picked, slicing.block)


class OnDevice(np.ndarray):
    """As much of a CuPy array as the copies need; it is filled by `set` alone."""

    def set(self, values: Any, stream: Any = None) -> None:
        assert not isinstance(values, OnDevice)
        assert values.flags.c_contiguous
        assert stream == "the current stream"
        self[...] = values


@pytest.fixture
def on_host(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Put NumPy in CuPy's place, and note from which memory parts are copied."""
    seen: list[str] = []
    fake = SimpleNamespace(
        empty=lambda shape, dtype: np.full(shape, -9, dtype).view(OnDevice),
        take=lambda x, index, out: np.take(np.asarray(x), np.asarray(index), out=np.asarray(out)),
        cuda=SimpleNamespace(get_current_stream=lambda: "the current stream"),
    )

    def part(memory: str) -> np.ndarray:
        seen.append(memory)
        return np.full(2**16, -9, np.float32)

    monkeypatch.setitem(sys.modules, "cupy", fake)
    monkeypatch.setattr(slicing, "has_gpu", lambda: False)
    monkeypatch.setattr(slicing, "part_on_host", part)
    monkeypatch.setattr(slicing, "TAKEN_ALONE_BELOW", 16)
    return seen


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
@pytest.mark.parametrize("n", [0, 1, 33, 257, 2**15 + 1])
def test_both_orders_give_the_numbers_that_are_wanted(study: Study, n: int, on_host: list[str]) -> None:
    for variant in study.variants:
        if variant.clock != "end_to_end":
            continue
        inputs = study.make_inputs(n, exact=False)
        out = np.full(n, -9, np.float32).view(OnDevice)
        variant.call(*inputs, out)
        assert study.reference is not None
        assert (out == study.reference(*inputs)).all(), variant.name


def test_a_block_is_copied_from_where_it_lies(on_host: list[str]) -> None:
    """A buffer between is for what has to be gathered, and lies in the memory that the label names."""
    study = slicing.block
    study.variant("block_slice_first").call(
        *study.make_inputs(33, exact=False), np.empty(33, np.float32).view(OnDevice)
    )
    assert on_host == []
    study = slicing.strided
    for name in ("strided_slice_first", "strided_slice_first_pinned"):
        study.variant(name).call(*study.make_inputs(33, exact=False), np.empty(33, np.float32).view(OnDevice))
    assert on_host == ["pageable", "pinned"]


@pytest.mark.parametrize("n", [1, 33, *slicing.SIZES[:2]])
def test_sectors_are_those_in_which_the_numbers_lie(n: int) -> None:
    whole = slicing.total(n)
    places = np.arange(whole)[slicing.every(n, whole)]
    assert len(places) == n
    assert slicing.sectors(n) == len(np.unique(places // 8))


def test_a_smaller_gpu_gets_a_shorter_array(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = SimpleNamespace(Device=lambda: SimpleNamespace(mem_info=(5 * 10**8, 10**9)))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=memory))
    monkeypatch.setattr(slicing, "has_gpu", lambda: True)
    slicing.longest.cache_clear()
    try:
        assert (slicing.longest(), slicing.total(2**22)) == (2**24, 2**24)
    finally:
        slicing.longest.cache_clear()


def test_mask_and_index_must_pick_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = SimpleNamespace(zeros=np.zeros, asarray=np.asarray, flatnonzero=np.flatnonzero)
    monkeypatch.setitem(sys.modules, "cupy", fake)
    monkeypatch.setattr(views, "N", 100)
    monkeypatch.setattr(
        views, "launches_in_turns", lambda calls, n: {k: [call()] for k, call in calls.items()}
    )
    assert [len(view) for (view,) in views.views().values()] == [50, 50]
    (index,), (mask,) = views.waits().values()
    assert (index == mask).all()
