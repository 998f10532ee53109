"""Chunks in streams: right results for any number of rows, the order that keeps buffers right, and spans."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpuguide.errors import ArgumentError
from gpuguide.topics.overlap import study as overlap
from gpuguide.topics.overlap import timeline
from gpuguide.topics.overlap.kernels import in_chunks
from gpuguide_docs.commands import cupy_by_numpy

STUDIES = {
    made.name: made
    for made in (
        overlap.study(),
        overlap.changes_study(),
        overlap.sums_study(),
        overlap.chain_study(),
    )
}


CHUNKED = (overlap.one_stream, overlap.two_streams, overlap.three_streams, overlap.four_streams)


@pytest.fixture(autouse=True)
def on_numpy(monkeypatch: pytest.MonkeyPatch) -> Any:
    """NumPy in CuPy's place; what the topic keeps from call to call is made anew."""
    for module in (overlap, timeline):
        monkeypatch.setattr(module, "cupy", lambda: cupy_by_numpy)
    kept = overlap.buffers, overlap.weights_on_gpu, overlap.done
    for each in kept:
        each.cache_clear()
    yield
    for each in kept:
        each.cache_clear()


@pytest.mark.parametrize("n", [0, 1, 33])
@pytest.mark.parametrize("name", STUDIES)
def test_each_variant_is_right_for_any_number_of_rows(
    name: str, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with a last chunk that is shorter, and with fewer chunks than streams."""
    monkeypatch.setattr(overlap, "CHUNK", 16)
    study = STUDIES[name]
    (x,) = study.make_inputs(n, exact=True)
    before = x.copy()
    right = study.reference(x.astype(np.float64))
    for variant in study.variants:
        call = partial(variant.call, **_small(variant.call))
        out = np.full(right.shape, np.nan, np.float32)
        call(x, out)
        assert (out == right).all(), variant.name
        assert (x == before).all()


def _small(call: Any) -> dict[str, int]:
    """One stream to three get their chunk as a default, which was read before."""
    plain = getattr(call, "func", call)
    return {"rows": 16} if plain in CHUNKED else {}


def test_a_smaller_gpu_gets_fewer_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = SimpleNamespace(Device=lambda: SimpleNamespace(mem_info=(10**9, 16 * 10**9)))
    monkeypatch.setattr(overlap, "cupy", lambda: SimpleNamespace(cuda=memory))
    monkeypatch.setattr(overlap, "has_gpu", lambda: True)
    assert overlap.study().sizes[-1] == 8192
    assert overlap.changes_study().sizes == overlap.sums_study().sizes == (8192,)
    assert "rows_16384" not in overlap.changes_study().names


def test_the_rounds_of_the_chain_halve_exactly() -> None:
    half = overlap.half_turns_host()
    assert np.unique(np.abs(half)).tolist() == [1 / 64]
    assert (half @ half == np.eye(overlap.WIDTH) / 2).all()


def test_all_of_the_weights_differ_from_a_constant_and_are_exact() -> None:
    weights = overlap.weights_host()
    assert (weights * 8 == np.round(weights * 8)).all()
    assert np.abs(weights).max() == 1


class Logged:
    """A stream, or its arrays, that write down what is asked of them."""

    def __init__(self, log: list[str], name: str, rows: int = 4) -> None:
        self.log, self.name, self.rows = log, name, rows

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, part: slice) -> Logged:
        return self

    def __enter__(self) -> None:
        self.log.append(self.name)

    def __exit__(self, *_: object) -> None:
        self.log.append("end")

    def set(self, x: Any) -> None:
        self.log.append("in")

    def dot(self, weights: Any, out: Any) -> None:
        self.log.append("work")

    def get(self, out: Any, blocking: bool) -> None:
        assert not blocking
        self.log.append("out")

    def synchronize(self) -> None:
        self.log.append(f"wait {self.name}")


def test_all_of_a_chunk_goes_to_one_stream_and_nothing_waits_before_the_end() -> None:
    log: list[str] = []
    streams = [(Logged(log, f"s{i}"), Logged(log, "x"), Logged(log, "out")) for i in range(2)]
    in_chunks(np.zeros((9, 1)), None, np.zeros((9, 1)), streams)
    steps = ["in", "work", "out", "end"]
    assert log == ["s0", *steps, "s1", *steps, "s0", *steps, "wait s0", "wait s1"]


@pytest.mark.parametrize("call", [overlap.one_stream, overlap.waiting, overlap.default_stream])
@pytest.mark.parametrize(
    ("x", "out", "message"),
    [
        (np.zeros((4, 7), "f4"), np.zeros((4, 7), "f4"), r"x_host must be .* \(4, 2048\).*\(4, 7\)"),
        (np.zeros((4, 2048)), np.zeros((4, 2048), "f4"), "x_host must be a float32 array.*float64"),
        (np.zeros((4, 2048), "f4"), np.zeros((3, 2048), "f4"), r"out_host must be .*\(3, 2048\)"),
        (np.zeros(2048, "f4"), np.zeros((1, 2048), "f4"), r"x_host must be .*\(2048,\)"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(call: Any, x: Any, out: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        call(x, out)


def test_a_span_begins_when_stream_and_engine_are_both_free() -> None:
    """The second chunk's stream is ready at once, but the first one is still being copied in."""
    found = timeline.spans([[0, 2, 3, 4], [0, 4, 5, 7], [4, 6, 7, 9]])
    assert found.shape == (3, 3, 2)
    assert found[:, 0].tolist() == [[0, 2], [2, 4], [4, 6]]
    assert found[:, 1].tolist() == [[2, 3], [4, 5], [6, 7]]
    assert found[:, 2].tolist() == [[3, 4], [5, 7], [7, 9]]
    assert (found[:, :, 1] >= found[:, :, 0]).all()


def test_spans_follow_the_order_in_which_the_gpu_took_the_chunks() -> None:
    """The third chunk was copied in before the second one."""
    found = timeline.spans([[0, 2, 3, 4], [0, 6, 7, 8], [0, 4, 5, 6]])
    assert found[:, 0].tolist() == [[0, 2], [4, 6], [2, 4]]
