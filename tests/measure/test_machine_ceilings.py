"""Ceilings: the best of several kernels, each of which does the work it is credited with."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from itertools import product
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest

from compile_lane import needs_compilers, ptx_facts, raw_ptx
from fake_clock import FakeGpu
from gpuguide.errors import ImplausibleError, MismatchError, OutOfMemoryError
from gpuguide.machine import backends
from gpuguide.machine.device import EXAMPLE_DEVICE
from gpuguide.measure import ceilings
from gpuguide.measure.ceilings import (
    CHAINS,
    FMA_REPEATS,
    FMA_SOURCE,
    MEMORY_MIXES,
    MEMORY_SOURCE,
    Candidate,
    array_bytes,
    fma_candidates,
    memory_candidates,
)
from gpuguide.results.records import Measurement, Traffic, Work

MS = 1_000_000
GIB = 2**30


class StreamGpu(FakeGpu):
    """A fake GPU whose stream can wait for events, as copies both ways need."""

    stream = MagicMock()


@pytest.fixture
def machine(monkeypatch):
    """A fake GPU whose kernels take a millisecond, two of them half of it; it notes its `launches`."""
    gpu = StreamGpu()
    gpu.launches = []

    def kernel(source, name):
        def launch(grid, block, args):
            gpu.launches.append((name, grid, block, args))
            gpu.kernel(MS // 2 if name in ("copy_4", "fp64_8") else MS, name=name)()

        return launch

    product_of = lambda gpu, device, unit: Candidate(unit, "", gpu.kernel(2 * MS), 10**12)  # noqa: E731
    module = MagicMock()
    module.cuda.runtime.memGetInfo.return_value = (140 * GIB, 140 * GIB)
    module.cuda.runtime.memcpyAsync.side_effect = lambda *arguments: gpu.kernel(MS)()
    module.empty = module.zeros = lambda n, dtype: MagicMock(size=n)
    monkeypatch.setattr(ceilings, "raw_kernel", kernel)
    monkeypatch.setattr(ceilings, "product_candidate", product_of)
    monkeypatch.setattr(backends, "cupy", lambda: module)
    return gpu


ptx = cache(raw_ptx)


@needs_compilers()
@pytest.mark.parametrize(("mix", "n"), list(product(MEMORY_MIXES, (1, 8))))
def test_a_memory_kernel_moves_what_its_mix_says(mix, n):
    """Loads and stores in the code are as many, and as wide, as the name says; nothing spills."""
    facts = ptx_facts(ptx(MEMORY_SOURCE), f"{mix}_{n}")
    loads = {"read": n, "write": 0, "copy": n, "two_to_one": 2 * n}[mix]
    stores = 0 if mix == "read" else n
    assert facts.count("ld.global.nc.v4.u32") == loads == facts.count("ld.global")
    # A reading kernel has one store, on a condition that practically never holds.
    assert facts.count("st.global") == (stores or 1)
    assert facts.count("st.global.v4.u32") == stores
    assert facts.spills == facts.stack_bytes == 0
    assert facts.registers <= 32  # so that 2048 threads fit on a multiprocessor


@needs_compilers()
@pytest.mark.parametrize("unit", ["fp32", "fp64"])
def test_an_fma_kernel_executes_what_it_is_credited_with(unit):
    for n in CHAINS:
        facts = ptx_facts(ptx(FMA_SOURCE), f"{unit}_{n}")
        assert facts.count(f"fma.rn.f{unit[2:]}") == FMA_REPEATS * n
        assert facts.spills == 0


@pytest.mark.parametrize("mix", MEMORY_MIXES)
def test_every_launch_covers_the_arrays_exactly_once(machine, mix):
    arrays = [SimpleNamespace(size=GIB // 4)] * 3
    for candidate in memory_candidates(arrays, mix):
        assert candidate.work == MEMORY_MIXES[mix] * GIB
        with machine.use():
            candidate.call()
        name, (blocks,), (threads,), args = machine.launches[-1]
        assert blocks == args[3]
        assert blocks * threads * 16 * int(name.rpartition("_")[2]) == GIB


@pytest.mark.parametrize("unit", ["fp32", "fp64"])
def test_fma_kernels_fill_the_gpu_for_two_milliseconds_at_the_peak(machine, unit):
    for candidate in fma_candidates(EXAMPLE_DEVICE, unit):
        with machine.use():
            candidate.call()
        name, (blocks,), (threads,), args = machine.launches[-1]
        n_chains = int(name.rpartition("_")[2])
        assert blocks * threads == EXAMPLE_DEVICE.sm_count * EXAMPLE_DEVICE.max_threads_per_sm
        assert candidate.work == 2 * FMA_REPEATS * n_chains * blocks * threads * int(args[2])
        assert candidate.work / EXAMPLE_DEVICE.peak_flops(unit) == pytest.approx(0.002, rel=0.05)


def test_three_arrays_take_at_most_a_gibibyte_each_and_a_quarter_of_the_free_memory():
    assert array_bytes(EXAMPLE_DEVICE, 140 * GIB) == GIB
    size = array_bytes(EXAMPLE_DEVICE, 8 * GIB)
    assert 8 * GIB / 4 - 3 * 2**17 <= 3 * size <= 8 * GIB / 4
    assert size % (1024 * 8 * 16) == 0
    with pytest.raises(OutOfMemoryError, match=r"1024 MiB are free. Close what else uses the GPU"):
        array_bytes(EXAMPLE_DEVICE, GIB)


def test_the_fastest_wins_and_only_two_are_sampled_at_length():
    gpu = FakeGpu()
    durations = {"slow": 3 * MS, "fast": MS, "middle": 2 * MS}
    calls = {name: gpu.kernel(ns - 2_000, name=name) for name, ns in durations.items()}
    candidates = [Candidate("copy", name, call, 1_000 * MS) for name, call in calls.items()]
    ceiling = ceilings.best(candidates, gpu, gpu.host)
    assert (ceiling.mix, ceiling.kernel, ceiling.unit) == ("copy", "fast", "B/s")
    assert ceiling.samples_ns == (MS,) * 10
    assert ceiling.value == pytest.approx(1e9 / 1e-3)
    assert [gpu.log.count(name) for name in durations] == [4, 14, 14]


def test_a_launch_is_an_empty_kernel_in_a_graph_and_the_host_s_time():
    gpu = FakeGpu()
    device, host = ceilings.launch_ceilings(gpu, gpu.host)
    assert (device.kernel, device.value) == ("empty kernel, 1000 in a graph", pytest.approx(1e-6))
    assert (host.mix, host.unit, host.value) == ("launch_host", "s", pytest.approx(3e-6))


def test_all_ceilings_are_measured_within_three_seconds(machine):
    found = ceilings.measure(machine, EXAMPLE_DEVICE, host=machine.host)
    arithmetic = ("fp32", "fp64", "fp64_tensor", "tf32", "fp16_tensor", "bf16_tensor")
    pcie = ("h2d", "d2h", "both_ways")
    assert [item.mix for item in found.items] == [
        *MEMORY_MIXES, *pcie, *arithmetic, "launch", "launch_host"
    ]  # fmt: skip
    assert {found.get(unit).unit for unit in arithmetic} == {"FLOP/s"}
    assert found.get("copy").kernel.startswith("16 B x 4,")
    assert found.get("fp64").kernel == "8 chains, 256 threads, ordinary units"
    assert found.get("both_ways").work == 2 * found.get("h2d").work
    assert machine.host.now < 3_000 * MS
    assert machine.log[: machine.log.index("delay")].count("scramble") == 3
    assert ceilings.copy_sentinel(machine) == pytest.approx(2 * GIB / 0.502e-3)


A, B = np.random.default_rng(0).integers(-8, 9, (2, 64, 64)).astype(np.float32)


ONE = np.outer(*np.eye(64)[[3, 5]])


@pytest.mark.parametrize("wrong", [A @ B + ONE, (A @ B).T, np.full_like(A, np.nan)])
def test_a_wrong_product_is_never_timed(machine, monkeypatch, wrong):
    """One element off by one, the transposed product, and none at all."""
    ceilings.check_product("tf32", A, B, A @ B)
    checked = lambda gpu, device, unit: ceilings.check_product(unit, A, B, wrong)  # noqa: E731
    monkeypatch.setattr(ceilings, "product_candidate", checked)
    with pytest.raises(MismatchError, match=r"cuBLAS on fp64_tensor: \d+ of 64 rows are wrong"):
        list(ceilings.tensor_ceilings(machine, EXAMPLE_DEVICE, machine.host))
    assert "delay" not in machine.log


def test_a_gpu_without_some_tensor_cores_has_no_ceilings_of_them(machine):
    old = replace(EXAMPLE_DEVICE, compute_capability=(7, 0))
    found = {item.mix for item in ceilings.tensor_ceilings(machine, old, machine.host)}
    assert not {"tf32", "fp64_tensor", "bf16_tensor"} & found


def test_without_cublas_the_other_ceilings_are_kept(machine, monkeypatch):
    def missing(gpu, device, unit):
        raise ImportError("no libcublas")

    monkeypatch.setattr(ceilings, "product_candidate", missing)
    with pytest.warns(RuntimeWarning, match="no ceiling of .*: ImportE"):
        found = ceilings.measure(machine, EXAMPLE_DEVICE, host=machine.host)
    assert found.get("fp64").unit == "FLOP/s"
    assert "tf32" not in {item.mix for item in found.items}


def cell(traffic, ns=500_000, clock="device"):
    return Measurement("four", 2**28, clock=clock, samples_ns=(ns,), rounds=(0,), traffic=traffic)


MARKS = (Work("marks", 10**6, ceiling=1e12),)


@pytest.mark.parametrize(
    ("done", "message"),
    [
        (cell(Traffic(GIB, GIB)), ""),
        (cell(Traffic(GIB, GIB), ns=400_000), r"physical peak of memory, 4\.81 TB/s, got 5\.\d\d TB/s"),
        (cell(Traffic(2**24, 2**24), ns=1_000), ""),  # the cache may hold that much
        (cell(Traffic(GIB, GIB), ns=1, clock="launch"), ""),
        (cell(Traffic(flops=10**12, unit="fp64")), r"peak of fp64, 33\.45 TFLOP/s, got 2,000\.00 TFLOP/s"),
        (replace(cell(None, ns=1_000), work=MARKS), ""),
        (replace(cell(None, ns=900), work=MARKS), r"at most 1e\+12 marks per second, its .* got 1\.111e\+12"),
        (Measurement("four", 1, reason="no GPU"), ""),
    ],
)
def test_what_the_hardware_cannot_do_is_refused(done, message):
    """The H200 moves at most 4.81 TB/s and holds 60 MiB in its L2."""
    expected = pytest.raises(ImplausibleError, match=f"four at 268435456: .*{message}")
    with expected if message else nullcontext():
        ceilings.check_plausible(done, EXAMPLE_DEVICE)


@pytest.mark.gpu
class TestOnAGpu:
    def test_every_ceiling_lies_below_the_physical_peak_and_above_a_tenth_of_it(self):
        from gpuguide.machine.device import require_gpu
        from gpuguide.measure.clocks import CupyClock

        device, gpu = require_gpu(), CupyClock()
        found = ceilings.measure(gpu, device)
        for mix in MEMORY_MIXES:
            assert 0.1 < found.get(mix).value / device.peak_memory_bandwidth <= 1
        tensor = [unit for unit in ceilings.TENSOR_UNITS if device.peak_flops(unit)]
        for unit in ("fp32", "fp64", *tensor):
            assert 0.1 < found.get(unit).value / (device.peak_flops(unit) or found.get(unit).value) <= 1
        assert found.get("both_ways").value > found.get("h2d").value
        assert ceilings.copy_sentinel(gpu) <= 1.02 * found.get("copy").value
        assert found.get("launch").value < 1e-4
