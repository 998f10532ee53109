"""Kernel families: what the checks accept and reject, and the loads of kernels in CUDA C++."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from compile_lane import needs_compilers, raw_facts
from gpuguide.errors import MismatchError
from gpuguide.topics.kernel_families import accelerators, kernels
from gpuguide.topics.kernel_families import study as families

RNG = np.random.default_rng(5)


def test_accelerators_are_put_back_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: dict[str, Any] = {"routine": [1], "reduction": [1, 2]}
    calls: dict[str, Any] = {}
    for kind in chosen:
        calls[f"get_{kind}_accelerators"] = partial(chosen.get, kind)
        calls[f"set_{kind}_accelerators"] = partial(chosen.__setitem__, kind)
    monkeypatch.setattr(accelerators, "cp", SimpleNamespace(_core=SimpleNamespace(**calls)))

    def fail() -> None:
        assert chosen == {"routine": ("cub",), "reduction": ("cub",)}
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        accelerators.using(("cub",), fail)
    assert chosen == {"routine": [1], "reduction": [1, 2]}


@pytest.mark.parametrize("exact", [True, False])
def test_wrong_sums_are_rejected(exact: bool) -> None:
    """A single number cannot be shifted; one element that is left out shows where sums are exact."""
    judge = families.TotalCheck()
    (x,) = families.total.make_inputs(20_000, exact=exact)
    right, tolerance = prepared = judge.prepare((x,))
    assert tolerance == (0.0 if exact else 1e-5 * right)
    assert judge.compare(x.sum(keepdims=True), prepared)[0] <= tolerance
    wrongs = [right - 1, right + 1] if exact else [1.00003 * right, right / 2, 0]
    for wrong in map(np.float32, (*wrongs, np.nan)):
        assert not judge.compare(np.full(1, wrong), prepared)[0] <= tolerance
    with pytest.raises(MismatchError, match=r"should be a single number; it has shape \(2,\)"):
        judge.compare(np.ones(2, np.float32), prepared)
    assert judge.prepare((x[:0],)) == (0.0, 0.0)


def test_cumulative_sums_are_judged_by_their_steps() -> None:
    judge = accelerators.CumulativeCheck()
    x = RNG.integers(0, 1000, 1009)
    for inputs in (x, x[:1], x[:0]):
        assert judge.compare(np.cumsum(inputs), judge.prepare((inputs,))) == (0.0, 0.0)
    wrong = np.cumsum(x)
    wrong[500:] += 1
    with pytest.raises(MismatchError, match="1 sums do not follow from the one before, the first at 500"):
        judge.compare(wrong, judge.prepare((x,)))


@needs_compilers()
@pytest.mark.parametrize(
    ("source", "name", "loads"),
    [
        (kernels.add_source, "add_single", {"ld.global.f32": 2}),
        (kernels.add_source, "add_quads", {"ld.global.v4.f32": 2}),
        (kernels.sum_source, "sum_quads", {"ld.global.v4.f32": 4}),
    ],
)
def test_kernels_in_cuda_load_as_much_at_once_as_the_page_says(
    source: str, name: str, loads: dict[str, int]
) -> None:
    facts = raw_facts(source, name)
    assert facts.spills == 0
    # As many threads as a multiprocessor holds, 2048, share 65 536 registers.
    assert facts.registers <= 32
    for load, count in loads.items():
        assert facts.count(load) >= count
