"""Chunks in streams: right results for any number of rows, and spans of the timeline."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from gpuguide.measure.study import Study
from gpuguide.topics.overlap import study as overlap
from gpuguide.topics.overlap import timeline
from gpuguide_docs.commands import cupy_by_numpy

STUDIES = (overlap.overlap, overlap.changes, overlap.sums, overlap.chain)


@pytest.fixture(autouse=True)
def on_numpy(monkeypatch: pytest.MonkeyPatch) -> Any:
    """NumPy in CuPy's place; what the topic keeps from call to call is made anew."""
    monkeypatch.setitem(sys.modules, "cupy", cupy_by_numpy)
    kept = overlap.buffers, overlap.weights_on_gpu, overlap.done
    for made in kept:
        made.cache_clear()
    yield
    for made in kept:
        made.cache_clear()


@pytest.mark.parametrize("n", [0, 1, 33])
@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_each_variant_is_right_for_any_number_of_rows(
    study: Study, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with a last chunk that is shorter, and with fewer chunks than streams."""
    monkeypatch.setattr(overlap, "CHUNK", 16)
    assert study.reference is not None
    (x,) = study.make_inputs(n, exact=True)
    before = x.copy()
    right = study.reference(x.astype(np.float64))
    for variant in study.variants:
        # A chunk's rows are an argument there, bound before.
        short = {"rows": 16} if "rows" in getattr(variant.call, "keywords", {}) else {}
        out = np.full(right.shape, np.nan, np.float32)
        variant.call(x, out, **short)
        assert (out == right).all(), variant.name
        assert (x == before).all()


def test_a_span_begins_when_stream_and_engine_are_both_free() -> None:
    """The second chunk's stream is ready at once, but the first one is still being copied in."""
    steps = timeline.spans([[0, 2, 3, 4], [0, 4, 5, 7], [4, 6, 7, 9]])
    assert steps.shape == (3, 3, 2)
    assert steps[:, 0].tolist() == [[0, 2], [2, 4], [4, 6]]
    assert steps[:, 1].tolist() == [[2, 3], [4, 5], [6, 7]]
    assert steps[:, 2].tolist() == [[3, 4], [5, 7], [7, 9]]
    assert (steps[:, :, 1] >= steps[:, :, 0]).all()
