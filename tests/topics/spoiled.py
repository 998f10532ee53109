"""Variants that every study must reject: they write nothing, or a result that is slightly wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpuguide.errors import MismatchError
from gpuguide.measure.plan import Variant
from gpuguide.measure.study import Study

Right = Callable[..., np.ndarray]


def host_variant(call: Callable[..., Any]) -> Variant:
    return Variant("spoiled", call, device="cpu", clock="host")


def _one_wrong(result: np.ndarray) -> None:
    flat = result.reshape(-1)
    flat[flat.size // 2] += flat.dtype.type(1)


def _shifted(result: np.ndarray) -> None:
    result[...] = np.roll(result, 1, axis=0) if result.size > 1 else result + 1


def assert_rejects(study: Study, right: Right, size: int, *, elementwise: bool = True) -> None:
    """Fail unless the study takes `right` and rejects it spoiled in each way."""

    def spoiled(spoil: Callable[[np.ndarray], None]) -> Callable[..., None]:
        def call(*arrays: np.ndarray) -> None:
            *inputs, out = arrays
            out[...] = right(*inputs)
            spoil(out)

        return call

    def verdict(call: Callable[..., None]) -> Any:
        return replace(study, variants=(host_variant(call),), baseline="", in_place=False).check_all([size])

    report = verdict(spoiled(lambda result: None))
    assert len(report) == 2
    allowed = max(result.tolerance for result in report)

    def beyond(result: np.ndarray) -> None:
        flat = result.reshape(-1)
        flat[flat.size // 2] += flat.dtype.type(2.2 * allowed)

    ways: dict[str, Callable[..., None]] = {
        "writes nothing": lambda *arrays: None,
        "one wrong element": spoiled(_one_wrong),
        "shifted by one": spoiled(_shifted),
    }
    if allowed and elementwise:
        ways["twice the tolerance"] = spoiled(beyond)
    for way, call in ways.items():
        try:
            verdict(call)
        except MismatchError:
            continue
        pytest.fail(f"{study.name} accepts a variant that is wrong: {way}")
