"""Copies: what their checks accept and reject, and which calls of CuPy each of them makes."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpuguide.errors import MismatchError
from gpuguide.measure.study import Study
from gpuguide.topics.transfers import convolution, numbers, product, study

N_BYTES = 8 * 1009


class OnDevice(np.ndarray):
    """As much of a CuPy array as the copies need, with a note of each copy."""

    calls: list[str]

    def set(self, arr: Any, stream: Any = None) -> None:
        assert not isinstance(arr, OnDevice)
        assert stream is not None
        fake.calls.append("set")
        self[...] = arr

    def get(self, stream: Any = None, out: Any = None, *, blocking: bool = True) -> Any:
        fake.calls.append("get" if blocking else "get without waiting")
        if out is None:
            return np.array(self)
        assert not isinstance(out, OnDevice)
        out[...] = self
        return out


class Stream:
    def __init__(self, name: str = "a stream of ours", non_blocking: bool = False) -> None:
        self.name = name

    def synchronize(self) -> None:
        fake.calls.append("wait")


class FakeGpu:
    def use(self) -> Any:
        return nullcontext()

    def synchronize(self) -> None:
        fake.calls.append("wait")


def on_device(function: Any) -> Any:
    return lambda *args, **options: np.asarray(function(*args, **options)).view(OnDevice)


fake = SimpleNamespace(
    calls=[],
    empty=on_device(np.empty),
    asarray=on_device(np.array),
    arange=on_device(np.arange),
    add=np.add,
    prod=on_device(np.prod),
    cuda=SimpleNamespace(
        get_current_stream=lambda: Stream("the current stream"),
        Stream=Stream,
        alloc_pinned_memory=lambda n: bytearray(2 * n),
        UnownedMemory=lambda pointer, n_bytes, owner: owner,
        MemoryPointer=lambda memory, offset: memory,
        runtime=SimpleNamespace(
            hostRegister=lambda pointer, n_bytes, flags: fake.calls.append(f"register {n_bytes}"),
            hostUnregister=lambda pointer: fake.calls.append("unregister"),
        ),
    ),
    ndarray=lambda shape, dtype, memory: memory.view(OnDevice),
)


@pytest.fixture(autouse=True)
def with_fake_cupy(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Any:
    """CuPy's part is played by NumPy, but on a GPU; and no array is left over from another test."""
    if request.node.get_closest_marker("gpu") is None:
        monkeypatch.setitem(sys.modules, "cupy", fake)  # what cp stands for
        monkeypatch.setattr(numbers, "has_gpu", lambda: False)
        monkeypatch.setattr(product, "has_gpu", lambda: False)
    fake.calls.clear()
    numbers.release()
    study.two_streams.cache_clear()
    yield
    numbers.release()


@pytest.mark.parametrize("made", [study.to_device, study.to_host], ids=lambda made: made.name)
@pytest.mark.parametrize("n_bytes", [0, 8, 31, N_BYTES])
def test_each_copy_brings_all_numbers(made: Study, n_bytes: int) -> None:
    check = numbers.NumbersCheck()
    for variant in made.variants:
        out = np.full(n_bytes // 8, np.nan)
        out = out.view(OnDevice) if made is study.to_device else out
        returned = variant.call(n_bytes, *([out] if variant.takes_output else []))
        copy = out if variant.takes_output else returned
        assert check.compare(copy, check.prepare((n_bytes,))) == (0.0, 0.0), variant.name


def test_the_pageable_array_is_registered_for_one_copy_only() -> None:
    """A second registration of the same memory would be an error."""
    study.register_first(N_BYTES, np.empty(1009).view(OnDevice))
    assert fake.calls.index(f"register {N_BYTES}") < fake.calls.index("set") < fake.calls.index("unregister")


@pytest.mark.parametrize("at_once", [False, True])
def test_both_ways_at_once_waits_for_nothing_in_between(at_once: bool) -> None:
    out = np.full(1009, np.nan)
    numbers.on_gpu(1009)
    fake.calls.clear()
    study.there_and_back(numbers.pageable, at_once, N_BYTES, out)
    between = fake.calls[fake.calls.index("set") : fake.calls.index("get without waiting")]
    assert ("wait" in between) is not at_once
    check = study.BothWaysCheck()
    assert check.compare(out, 1009) == (0.0, 0.0)


def test_what_did_not_arrive_on_the_gpu_is_seen() -> None:
    """What was there before is spoiled by the check, so that the next copy must bring all of it."""
    out = np.empty(1009)
    check = study.BothWaysCheck()
    study.there_and_back(numbers.pageable, True, N_BYTES, out)
    assert check.compare(out, 1009) == (0.0, 0.0)
    study.sent["numbers"] = 1009
    with pytest.raises(MismatchError, match=r"at 0 is wrong: expected 0\.5, got nan"):
        check.compare(out, 1009)
    study.sent["numbers"] = 0


def test_numbers_vary_and_do_not_repeat_soon() -> None:
    x = numbers.numbers(np, 0, 10_000)
    assert sorted(set(x.tolist())) == [0.5, 1.0, 2.0]
    assert all((x[shift:] != x[:-shift]).any() for shift in range(1, 2000))
    assert (numbers.numbers(np, 7000, 7100) == x[7000:7100]).all()


def test_one_array_serves_all_lengths() -> None:
    made: list[str] = []

    def make(n: int) -> np.ndarray:
        made.append(f"made {n}")
        return np.zeros(n)

    held = numbers.Held(make, lambda x: made.append(f"let go of {x.size}"))
    assert held(5).size == 5
    assert held(3).base is held(5).base
    held(9)
    assert made == ["made 5", "let go of 5", "made 9"]


@pytest.mark.parametrize("n_layers", [0, 1, 3, 65])
def test_each_product_multiplies_all_layers(n_layers: int) -> None:
    right = product.product_reference(n_layers)
    layers = numbers.numbers(np, 0, n_layers * right.size).reshape(n_layers, *right.shape)
    assert (right == np.prod(layers, axis=0)).all()
    for variant in study.product.variants:
        out = np.full(product.LAYER, np.nan)
        returned = variant.call(n_layers, *([out] if variant.takes_output else []))
        assert ((out if variant.takes_output else returned) == right).all(), variant.name
    for call in (product.product_numpy, product.product_with_copies):
        out[...] = np.nan
        call(n_layers, out)
        assert (out == right).all()


def test_slow_calls_are_checked_and_timed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "convolution", replace(study.convolution, sizes=(33**2,)))
    monkeypatch.setattr(study, "gpu_clock", FakeGpu)
    taken = study.timed_once(3)
    assert list(taken) == ["convolution_one_thread", "product_one_thread", "product_pageable"]
    assert all(seconds > 0 for (seconds,) in taken.values())
    monkeypatch.setattr(study, "product_numpy", lambda n_layers, out: out.fill(2))
    with pytest.raises(MismatchError, match="'product_one_thread' at size 3, random check"):
        study.timed_once(3)


def test_the_convolution_from_pinned_memory_copies_straight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convolution, "convolve2d_full", on_device(convolution.convolve_direct))
    rng = np.random.default_rng(0)
    image, kernel = convolution.image_and_kernel(17**2, np.dtype("f8"), rng, exact=True)
    right = convolution.convolve_direct(image, kernel)
    for call, n_straight in ((convolution.with_copies, 0), (convolution.with_copies_pinned, 2)):
        fake.calls.clear()
        out = np.full(right.shape, np.nan)
        call(image, kernel, out)
        assert (out == right).all()
        assert fake.calls.count("set") == n_straight


@pytest.mark.parametrize("exact", [True, False])
def test_the_kernel_is_taken_apart_for_the_check(exact: bool) -> None:
    check = convolution.ConvolutionCheck()
    image, kernel = convolution.image_and_kernel(33**2, np.dtype("f8"), np.random.default_rng(0), exact)
    right, _, tolerance = prepared = check.prepare((image, kernel))
    assert np.abs(right - convolution.convolve_direct(image, kernel)).max() < 1e-13
    assert tolerance == 0.25 if exact else 0 < tolerance < 1e-12
    with pytest.raises(MismatchError):
        check.compare(right * np.nan, prepared)


def test_less_memory_means_a_smaller_size(monkeypatch: pytest.MonkeyPatch) -> None:
    device = SimpleNamespace(Device=lambda: SimpleNamespace(mem_info=(8 * 2**30, 16 * 2**30)))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=device))
    monkeypatch.setattr(numbers, "has_gpu", lambda: True)
    assert numbers.most_bytes(2**33) == 2**31
    assert product.layers_with_room() == 1024


def test_a_host_without_the_memory_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers, "available_bytes", lambda: 8000)
    assert numbers.pageable(250).size == 250
    with pytest.raises(MemoryError, match="2,008 bytes are more than a quarter of the 8,000"):
        numbers.pageable(251)


@pytest.mark.gpu
def test_all_copies_pass_the_gate_on_the_gpu() -> None:
    for made in (study.to_device, study.to_host, study.both_ways):
        made.check_all((0, 8, 31, 257, 2**20))
    study.product.check_all((1, 7))
    study.convolution.check_all((1, 33**2))
