"""A machine with streams: what overlaps, what waits for what, and what nothing keeps in order."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from gpuguide.exercises.simulator.machine import UnsupportedError
from gpuguide.exercises.stand_ins import virtual_streams
from gpuguide.exercises.stand_ins.time_limit import TooLongError
from gpuguide.exercises.stand_ins.virtual_streams import StreamingGpu, run_on

N = 1000


@pytest.fixture
def host() -> dict[str, np.ndarray]:
    return {
        "x_host": np.arange(4.0 * N, dtype=np.float32).reshape(4, N),
        "out_host": np.full((4, N), np.nan, np.float32),
    }


@pytest.fixture
def gpu(host: dict[str, np.ndarray]) -> StreamingGpu:
    """100 us for each copy of a row."""
    return StreamingGpu(in_rate=0.04, out_rate=0.04, pinned=host)


def test_steps_of_one_stream_run_in_order_and_host_does_not_wait(gpu: StreamingGpu, host: Any) -> None:
    stream, x, out = gpu.stream(), gpu.array(host["x_host"][0], "x"), gpu.array(host["x_host"][0], "out")
    with stream:
        x.set(host["x_host"][0])
        run_on(gpu, lambda values: 2 * values, 50_000)(x, out)
        out.get(out=host["out_host"][0], blocking=False)
    assert gpu.now_ns == 3_000
    assert [step.started_ns for step in gpu.steps] == [1_000, 101_000, 151_000]
    assert gpu.races == []
    assert [step.kind for step in gpu.unfinished] == ["copy in", "work", "copy out"]
    stream.synchronize()
    assert gpu.now_ns == 251_000
    assert gpu.unfinished == []
    assert (host["out_host"][0] == 2 * host["x_host"][0]).all()


def test_copies_in_both_directions_and_work_overlap_and_two_copies_of_one_do_not(
    gpu: StreamingGpu, host: Any
) -> None:
    rows = [gpu.array(row, f"row {i}") for i, row in enumerate(host["x_host"])]
    streams = [gpu.stream() for _ in range(4)]
    rows[0].set(host["x_host"][0], stream=streams[0])
    rows[1].set(host["x_host"][1], stream=streams[1])
    rows[2].get(out=host["out_host"][2], stream=streams[2], blocking=False)
    with streams[3]:
        gpu.work("the work", 10_000, rows[3], gpu.array(host["x_host"][3], "out"))
    assert [step.started_ns for step in gpu.steps] == [1_000, 101_000, 3_000, 4_000]
    assert gpu.races == []


def test_an_event_keeps_two_streams_in_order(gpu: StreamingGpu, host: Any) -> None:
    first, second, x = gpu.stream(), gpu.stream(), gpu.array(host["x_host"][0], "x")
    x.set(host["x_host"][0], stream=first)
    event = first.record()
    assert not event.done
    second.wait_event(event)
    x.get(out=host["out_host"][0], stream=second, blocking=False)
    assert gpu.races == []
    assert gpu.steps[1].started_ns == gpu.steps[0].done_ns
    event.synchronize()
    assert event.done


def test_asking_an_event_until_it_is_done_is_a_wait(gpu: StreamingGpu, host: Any) -> None:
    stream, x = gpu.stream(), gpu.array(host["x_host"][0], "x")
    x.set(host["x_host"][0], stream=stream)
    event = stream.record()
    while not event.done:
        pass
    assert gpu.now_ns >= gpu.steps[0].done_ns
    assert stream.done
    x.get(out=host["out_host"][0], stream=gpu.stream(), blocking=False)
    assert gpu.races == []
    assert len(gpu.waits) == 1


def test_asking_now_and_then_is_no_wait(gpu: StreamingGpu, host: Any) -> None:
    stream, x = gpu.stream(), gpu.array(host["x_host"][0], "x")
    for i in range(4):
        x.set(host["x_host"][i], stream=stream)
        assert not stream.done
    stream.synchronize()
    assert gpu.waits == []


def test_an_event_recorded_too_early_keeps_nothing_in_order(gpu: StreamingGpu, host: Any) -> None:
    first, second, x = gpu.stream(), gpu.stream(), gpu.array(host["x_host"][0], "x")
    event = first.record()
    x.set(host["x_host"][0], stream=first)
    second.wait_event(event)
    x.get(out=host["out_host"][0], stream=second, blocking=False)
    (race,) = gpu.races
    assert (race.earlier.what, race.later.what) == (
        "the copy of x_host[0] into x",
        "the copy of x into out_host[0]",
    )


def test_a_race_is_one_even_if_the_times_happen_to_fit(gpu: StreamingGpu, host: Any) -> None:
    """The second copy waits for the engine, which no program may count on."""
    x = gpu.array(host["x_host"][0], "x")
    for i in range(2):
        x.set(host["x_host"][i], stream=gpu.stream())
    assert gpu.steps[1].started_ns >= gpu.steps[0].done_ns
    assert len(gpu.races) == 1


def test_order_passes_through_a_third_stream_and_through_the_host(gpu: StreamingGpu, host: Any) -> None:
    first, second, third = (gpu.stream() for _ in range(3))
    x = gpu.array(host["x_host"][0], "x")
    x.set(host["x_host"][0], stream=first)
    second.wait_event(first.record())
    third.wait_event(second.record())
    x.get(out=host["out_host"][0], stream=third, blocking=False)
    third.synchronize()
    x.set(host["x_host"][1], stream=gpu.stream())
    assert gpu.races == []


def test_two_that_only_read_need_no_order(gpu: StreamingGpu, host: Any) -> None:
    for i in range(2):
        gpu.array(host["x_host"][0], f"x{i}").set(host["x_host"][0], stream=gpu.stream())
    assert gpu.races == []


def test_what_blocks_or_is_pageable_makes_the_host_wait(gpu: StreamingGpu, host: Any) -> None:
    x = gpu.array(host["x_host"][0], "x")
    x.set(host["x_host"][0].copy())
    assert gpu.now_ns == 101_000
    x.get(out=host["out_host"][0])
    assert gpu.now_ns == 202_000
    fetched = x.get(blocking=False)
    assert gpu.now_ns == 303_000
    assert (fetched == host["x_host"][0]).all()
    assert len(gpu.waits) == 2, "the last wait, after which nothing more is asked for, is none too many"
    assert gpu.steps[-1].what == "the copy of x into another array of the host"


def test_the_current_stream_is_the_innermost_one(gpu: StreamingGpu) -> None:
    outer, inner = gpu.stream(), gpu.stream()
    with outer:
        with inner:
            assert gpu.current is inner
        assert gpu.current is outer
        inner.use()
        assert gpu.current is inner
    assert gpu.current is gpu.entered[0]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x, stream: x.set([1]), TypeError),
        (lambda x, stream: x.set(np.zeros(N)), TypeError),
        (lambda x, stream: x.set(np.zeros(3, np.float32)), ValueError),
        (lambda x, stream: x.get(out=[1]), TypeError),
        (lambda x, stream: x.get(out=np.zeros(N)), TypeError),
        (lambda x, stream: x.get(out=np.zeros(3, np.float32)), ValueError),
        (lambda x, stream: np.asarray(x), TypeError),
        (lambda x, stream: x.set(np.zeros(N, np.float32), stream="one"), TypeError),
        (lambda x, stream: stream.wait_event(stream), TypeError),
    ],
)
def test_what_cupy_refuses_is_refused(gpu: StreamingGpu, host: Any, call: Any, error: type) -> None:
    with pytest.raises(error):
        call(gpu.array(host["x_host"][0], "x"), gpu.stream())


def test_work_takes_arrays_of_the_gpu_alone(gpu: StreamingGpu, host: Any) -> None:
    with pytest.raises(TypeError, match="x must be an array on the GPU"):
        run_on(gpu, abs, 1)(host["x_host"][0], gpu.array(host["x_host"][0], "out"))


def test_a_loop_that_does_not_end_is_told(gpu: StreamingGpu, host: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(virtual_streams, "_MOST_STEPS", 2)
    x = gpu.array(host["x_host"][0], "x")
    x.set(host["x_host"][0])
    x.set(host["x_host"][0])
    with pytest.raises(TooLongError, match="not ended after 2 steps"):
        x.set(host["x_host"][0])


def test_memory_is_copied_by_address(gpu: StreamingGpu, host: Any) -> None:
    x, (row, *_), stream = gpu.array(host["x_host"][0], "x"), host["x_host"], gpu.stream()
    x.data.copy_from_host_async(row.ctypes.data, row.nbytes, stream)
    found = x.get(stream=stream)
    np.testing.assert_array_equal(found, row)
    assert gpu.steps[0].what == "the copy of x_host[0] into x"
    x.data.copy_from_host(ctypes.c_void_p(row.ctypes.data), 4)
    assert not gpu.unfinished
    with pytest.raises(ValueError, match="x has"):
        x.data.copy_to_host_async(row.ctypes.data, row.nbytes + 4, stream)
    with pytest.raises(UnsupportedError):
        x.data.copy_to_host(found.ctypes.data, found.nbytes)
