"""Fusion: the expressions by a stand-in for CuPy, the arrays that each moves, and what is refused."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gpuguide.errors import ArgumentError
from gpuguide.topics.fusion import study as fusion

STUDIES = [
    make()
    for make in (
        fusion.study,
        fusion.reversed_study,
        fusion.subtract_study,
        fusion.multiply_study,
        fusion.square_study,
        fusion.single_study,
        fusion.sum_study,
    )
]


@pytest.fixture(autouse=True)
def with_fake_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = SimpleNamespace(fuse=lambda function: function, sum=np.sum)
    monkeypatch.setattr(fusion, "cupy", lambda: fake)
    for maker in (fusion.fused_function, fusion.fused_sum, fusion.fused_sum_of_one):
        maker.cache_clear()


@pytest.mark.parametrize("n", [0, 1, 33, 1009])
def test_expressions_are_those_of_the_reference(n: int) -> None:
    for study in STUDIES:
        x, y = study.make_inputs(n, exact=True)
        right = study.reference(x, y)
        for variant in study.variants:
            if variant.allocates:
                found = variant.call(x, y)
                assert np.array_equal(found, right), variant.name
                assert found.dtype == study.dtype


def test_large_sums_are_exact_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusion, "_BLOCK", 100)
    x, y = fusion.sum_study().make_inputs(1009, exact=True)
    assert int(fusion.sum_reference(x, y)) == int(((x - y) ** 2).sum())


def test_a_wrong_sum_is_rejected() -> None:
    """A single number cannot be shifted."""
    judge = fusion.sum_study().judge
    assert judge is not None
    x, y = fusion.sum_study().make_inputs(1009, exact=True)
    prepared = judge.prepare((x, y))
    right = np.asarray(((x - y) ** 2).sum())
    assert judge.compare(right, prepared) == (0.0, 0.0)
    for wrong in (right + 1, right - 1, 0 * right):
        with pytest.raises(Exception, match="is wrong"):
            judge.compare(np.asarray(wrong), prepared)


def test_the_traffic_counts_the_arrays_that_each_way_moves() -> None:
    arrays = {
        "three_steps": 9,
        "two_steps": 5,
        "fused": 3,
        "three_steps_reversed": 9,
        "fused_reversed": 3,
        "subtract": 3,
        "multiply": 3,
        "square": 2,
        "fused_single": 3,
        "squared_four": 3,
        "sum_apart": 4,
        "sum_fused": 2,
        "sum_of_one_array": 4,
    }
    counted = {
        variant.name: variant.traffic(10**6, np.dtype(study.dtype)).bytes_total
        / (10**6 * np.dtype(study.dtype).itemsize)
        for study in STUDIES
        for variant in study.variants
        if variant.traffic
    }
    assert counted == arrays


def test_the_source_s_size_and_dtype_are_measured() -> None:
    assert fusion.reversed_study().sizes == (10**4, 10**8)
    assert fusion.reversed_study().dtype == fusion.study().dtype == "int64"


def test_a_small_gpu_gets_smaller_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = SimpleNamespace(Device=lambda: SimpleNamespace(mem_info=(10**9, 16 * 10**9)))
    monkeypatch.setattr(fusion, "cupy", lambda: SimpleNamespace(cuda=memory))
    monkeypatch.setattr(fusion, "has_gpu", lambda: True)
    assert fusion.study().sizes[-1] == 10**7
    assert fusion.sum_study().sizes == (10**7,)
    assert fusion.reversed_study().sizes == (10**4, 10**7)


def test_arrays_that_do_not_fit_are_refused() -> None:
    x = np.arange(7)
    for call in (fusion.three_steps, fusion.two_steps, fusion.one_step, fusion.sum_fused):
        for wrong in (x[:-1], x.astype("f4"), x[None], 3.0):
            with pytest.raises(ArgumentError, match=r"y must be an? .*array.*; got"):
                call(x, wrong)
