"""Copies: the numbers that are copied, the check of the convolution, and hosts with little memory."""

from __future__ import annotations

import numpy as np
import pytest

from gpuguide.errors import MismatchError
from gpuguide.topics.transfers import convolution, numbers


def test_numbers_vary_and_do_not_repeat_soon() -> None:
    x = numbers.numbers(np, 0, 10_000)
    assert sorted(set(x.tolist())) == [0.5, 1.0, 2.0]
    assert all((x[shift:] != x[:-shift]).any() for shift in range(1, 2000))
    assert (numbers.numbers(np, 7000, 7100) == x[7000:7100]).all()


@pytest.mark.parametrize("exact", [True, False])
def test_the_kernel_is_taken_apart_for_the_check(exact: bool) -> None:
    check = convolution.ConvolutionCheck()
    image, kernel = convolution.image_and_kernel(33**2, np.dtype("f8"), np.random.default_rng(0), exact)
    right, _, tolerance = prepared = check.prepare((image, kernel))
    assert np.abs(right - convolution.convolve_direct(image, kernel)).max() < 1e-13
    assert tolerance == 0.25 if exact else 0 < tolerance < 1e-12
    with pytest.raises(MismatchError):
        check.compare(right * np.nan, prepared)


def test_a_host_without_the_memory_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers, "available_bytes", lambda: 8000)
    assert numbers.pageable(250).size == 250
    with pytest.raises(MemoryError, match="2,008 bytes are more than a quarter of the 8,000"):
        numbers.pageable(251)
