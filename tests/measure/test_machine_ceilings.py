"""Ceilings: the best of many kernels, each of which does the work it is credited with."""

from __future__ import annotations

import ctypes
import re
from dataclasses import replace
from functools import cache
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

import compile_lane
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
    SHAPES,
    Arrays,
    Candidate,
    array_bytes,
    fma_candidates,
    memory_candidates,
    sentinel_bytes,
)
from gpuguide.results.records import Measurement, Traffic, Work

MS = 1_000_000
GIB = 2**30


class Launches:
    """Kernels that write down their launches and, given a fake GPU, take `duration_ns(name, blocks)`."""

    def __init__(self, gpu=None, duration_ns=lambda name: MS):
        self.gpu, self.duration_ns, self.made = gpu, duration_ns, []

    def instead_of(self, make):
        """Return what hands out the kernels of the same names."""
        return lambda *shape: self.kernel(make(*shape).name)

    def kernel(self, text):

        def launch(grid, block, args):
            self.made.append((text, grid, block, args))
            if self.gpu is not None:
                self.gpu.kernel(self.duration_ns(text), name=text)()

        return launch


@pytest.fixture
def arrays():
    pointer = SimpleNamespace(data=SimpleNamespace(ptr=0))
    return Arrays(pointer, pointer, pointer, "never", GIB)


@pytest.fixture
def launches(monkeypatch):
    made = Launches()
    for name in ("memory_kernel", "fma_kernel"):
        monkeypatch.setattr(ceilings, name, made.instead_of(getattr(ceilings, name)))
    monkeypatch.setattr(backends, "cupy", lambda: SimpleNamespace(zeros=lambda n, dtype: "never"))
    return made


@cache
def memory_ptx():
    return raw_ptx(MEMORY_SOURCE)


@cache
def fma_ptx():
    return raw_ptx(FMA_SOURCE)


@pytest.fixture(scope="module", autouse=True)
def _assemble_once():
    """Assemble each source once: thirty kernels lie in it."""
    original = compile_lane._assemble
    compile_lane._assemble = cache(original)
    yield
    compile_lane._assemble = original


@needs_compilers()
@pytest.mark.parametrize(("mix", "shape"), list(product(MEMORY_MIXES, SHAPES)))
def test_a_memory_kernel_moves_what_its_mix_says(mix, shape):
    """Loads and stores in the code are as many, and as wide, as the name says; nothing spills."""
    access_bytes, n = shape
    facts = ptx_facts(memory_ptx(), f"{mix}_{access_bytes}x{n}")
    vector = ".v4" if access_bytes == 16 else ""
    loads = {"read": n, "write": 0, "copy": n, "two_to_one": 2 * n}[mix]
    stores = 0 if mix == "read" else n
    assert facts.count(f"ld.global.nc{vector}.u32") == loads == facts.count("ld.global")
    # A reading kernel has one store, on a condition that practically never holds.
    assert facts.count("st.global") == (stores or 1)
    assert facts.count(f"st.global{vector}.u32") >= stores
    assert facts.spills == facts.stack_bytes == 0
    assert facts.registers <= 32  # so that 2048 threads fit on a multiprocessor


@needs_compilers()
@pytest.mark.parametrize(("unit", "n"), list(product(("fp32", "fp64"), CHAINS)))
def test_an_fma_kernel_executes_what_it_is_credited_with(unit, n):
    facts = ptx_facts(fma_ptx(), f"{unit}_{n}")
    assert facts.count(f"fma.rn.f{unit[2:]}") == FMA_REPEATS * n
    assert facts.spills == 0


def test_every_shape_is_tried_plain_and_striding(arrays, launches):
    candidates = memory_candidates(arrays, EXAMPLE_DEVICE, "two_to_one")
    assert len({each.kernel for each in candidates}) == len(candidates) == len(SHAPES) * 3 * 2
    assert "16 B x 4, 512 threads, one tile per block" in {each.kernel for each in candidates}


@pytest.mark.parametrize(("mix", "n_arrays"), [("read", 1), ("write", 1), ("copy", 2), ("two_to_one", 3)])
def test_every_launch_covers_the_arrays_exactly_once(arrays, launches, mix, n_arrays):
    for candidate in memory_candidates(arrays, EXAMPLE_DEVICE, mix):
        assert candidate.work == n_arrays * GIB
        if candidate.kernel.startswith("cuda"):
            continue
        candidate.call()
        name, (blocks,), (threads,), args = launches.made[-1]
        access_bytes, n = map(int, re.search(r"_(\d+)x(\d+)$", name).groups())
        assert int(args[3]) * threads * access_bytes * n == GIB
        assert blocks <= args[3]
        if "one tile per block" in candidate.kernel:
            assert blocks == args[3]
        else:
            assert blocks * threads == EXAMPLE_DEVICE.sm_count * EXAMPLE_DEVICE.max_threads_per_sm


def test_copies_and_sets_of_the_driver_compete(arrays, launches):
    names = {mix: memory_candidates(arrays, EXAMPLE_DEVICE, mix)[-1].kernel for mix in MEMORY_MIXES}
    assert names["copy"] == "cudaMemcpyAsync"
    assert names["write"] == "cudaMemsetAsync"


@pytest.mark.parametrize("unit", ["fp32", "fp64"])
def test_fma_kernels_fill_the_gpu_for_two_milliseconds_at_the_peak(launches, unit):
    for candidate in fma_candidates(EXAMPLE_DEVICE, unit):
        candidate.call()
        name, (blocks,), (threads,), args = launches.made[-1]
        n_chains = int(name.rpartition("_")[2])
        assert blocks * threads == EXAMPLE_DEVICE.sm_count * EXAMPLE_DEVICE.max_threads_per_sm
        assert candidate.work == 2 * FMA_REPEATS * n_chains * blocks * threads * int(args[2])
        assert candidate.work / EXAMPLE_DEVICE.peak_flops(unit) == pytest.approx(0.002, rel=0.05)


def test_arrays_are_a_gibibyte_on_a_large_gpu():
    assert array_bytes(EXAMPLE_DEVICE, 140 * GIB) == GIB


def test_three_arrays_take_at_most_a_quarter_of_the_free_memory():
    size = array_bytes(EXAMPLE_DEVICE, 8 * GIB)
    assert 8 * GIB / 4 - 3 * 2**17 <= 3 * size <= 8 * GIB / 4
    assert size % (1024 * 8 * 16) == 0


def test_arrays_that_the_cache_would_hold_are_refused():
    with pytest.raises(OutOfMemoryError, match=r"three arrays of 480 MiB .* 1024 MiB are free"):
        array_bytes(EXAMPLE_DEVICE, GIB)


def test_the_sentinel_s_arrays_fit_beside_others():
    assert sentinel_bytes(140 * GIB) == GIB
    assert sentinel_bytes(12 * 2**20) == 2**20


def test_the_fastest_candidate_wins_with_its_samples():
    gpu = FakeGpu()
    candidates = [
        Candidate("copy", f"takes {ns} ms", gpu.kernel(ns * MS - 2_000), work=1_000 * MS) for ns in (3, 2, 4)
    ]
    ceiling = ceilings.best(candidates, gpu, gpu.host)
    assert (ceiling.mix, ceiling.kernel, ceiling.unit) == ("copy", "takes 2 ms", "B/s")
    assert ceiling.samples_ns == (2 * MS,) * 10
    assert ceiling.value == pytest.approx(1e9 / 2e-3)


def test_only_the_two_fastest_are_sampled_at_length():
    gpu = FakeGpu()
    names = ("slow", "fast", "middle")
    durations = {"slow": 3 * MS, "fast": MS, "middle": 2 * MS}
    candidates = [Candidate("fp32", n, gpu.kernel(durations[n], name=n), work=MS) for n in names]
    assert ceilings.best(candidates, gpu, gpu.host).unit == "FLOP/s"
    assert [gpu.log.count(name) for name in names] == [4, 14, 14]


def test_slow_candidates_do_not_exceed_the_budget():
    gpu = FakeGpu()
    ceiling = ceilings.best([Candidate("h2d", "copy", gpu.kernel(100 * MS), work=MS)], gpu, gpu.host)
    assert len(ceiling.samples_ns) == 3


def test_a_launch_is_an_empty_kernel_in_a_graph_and_the_host_s_time():
    gpu = FakeGpu()
    device, host = ceilings.launch_ceilings(gpu, gpu.host)
    assert (device.mix, device.unit, device.value) == ("launch", "s", pytest.approx(1e-6))
    assert device.kernel == "empty kernel, 1000 in a graph"
    assert (host.mix, host.unit, host.value) == ("launch_host", "s", pytest.approx(3e-6))
    assert host.work == 256


def fake_cupy(gpu, free_bytes=140 * GIB):
    """CuPy as far as the ceilings use it, its copies taking a millisecond on a fake GPU."""

    def array(n, dtype):
        return SimpleNamespace(size=n, data=SimpleNamespace(ptr=n))

    def stream():
        return SimpleNamespace(ptr=1, wait_event=lambda event: None)

    pool = SimpleNamespace(free_all_blocks=lambda: gpu.log.append("free"))
    runtime = SimpleNamespace(
        memGetInfo=lambda: (free_bytes, free_bytes),
        memcpyAsync=lambda *arguments: gpu.kernel(MS, name="memcpy")(),
        memsetAsync=lambda *arguments: gpu.kernel(MS, name="memset")(),
    )
    cuda = SimpleNamespace(
        runtime=runtime,
        get_current_stream=stream,
        Stream=lambda non_blocking: stream(),
        Event=lambda disable_timing: SimpleNamespace(record=lambda stream: None),
        alloc_pinned_memory=lambda n: SimpleNamespace(ptr=n),
    )
    return SimpleNamespace(
        cuda=cuda,
        empty=array,
        zeros=array,
        get_default_memory_pool=lambda: pool,
        get_default_pinned_memory_pool=lambda: pool,
    )


class StreamGpu(FakeGpu):
    """A fake GPU whose stream can wait for events, as copies both ways need."""

    @property
    def stream(self):
        return SimpleNamespace(wait_event=lambda event: None)


@pytest.fixture
def machine(monkeypatch):
    gpu = StreamGpu()
    made = Launches(gpu, lambda name: MS // 2 if name in ("copy_16x4", "fp64_8") else MS)
    for name in ("memory_kernel", "fma_kernel"):
        monkeypatch.setattr(ceilings, name, made.instead_of(getattr(ceilings, name)))
    monkeypatch.setattr(ceilings, "scramble_kernel", lambda: made.kernel("scramble"))
    monkeypatch.setattr(
        ceilings,
        "product_candidate",
        lambda gpu, device, unit: Candidate(unit, "a product", gpu.kernel(2 * MS, name=unit), 10**12),
    )
    module = fake_cupy(gpu)
    monkeypatch.setattr(backends, "cupy", lambda: module)
    return gpu


def test_all_ceilings_are_measured_within_six_seconds(machine):
    found = ceilings.measure(machine, EXAMPLE_DEVICE, host=machine.host)
    mixes = [item.mix for item in found.items]
    arithmetic = ("fp32", "fp64", "fp64_tensor", "tf32", "fp16_tensor", "bf16_tensor")
    assert mixes == [*MEMORY_MIXES, "h2d", "d2h", "both_ways", *arithmetic, "launch", "launch_host"]
    assert {found.get(unit).unit for unit in arithmetic} == {"FLOP/s"}
    assert all("ordinary units" in found.get(unit).kernel for unit in ("fp32", "fp64"))
    assert found.get("copy").kernel.startswith("16 B x 4,")
    assert found.get("fp64").kernel.startswith("8 chains,")
    assert found.get("both_ways").work == 2 * found.get("h2d").work
    assert machine.host.now < 6_000 * MS
    assert machine.log.count("free") == 2


# Products on the tensor cores -----------------------------------------------------------------------------

CUBLAS_TYPES = {0: np.float32, 1: np.float64, 2: np.float16, 14: np.uint16}


class FakeBlas:
    """Multiplies as cuBLAS does, column by column, what lies at the addresses that it is given."""

    def __init__(self, spoil=lambda product: None):
        self.spoil, self.asked = spoil, []

    def gemmEx(self, handle, transa, transb, m, n, k, *rest):
        alpha, a, atype, lda, b, btype, ldb, beta, c, ctype, ldc, compute, algo = rest

        def at(address, kind, shape):
            length = int(np.prod(shape)) * np.dtype(CUBLAS_TYPES[kind]).itemsize
            raw = (ctypes.c_char * length).from_address(address)
            return np.frombuffer(raw, CUBLAS_TYPES[kind]).reshape(shape, order="F")

        def factor(address, kind, shape):
            x = at(address, kind, shape)
            if kind == 14:
                x = (x.astype(np.uint32) << np.uint32(16)).view(np.float32)
            return x.astype(np.float64)

        assert (handle, transa, transb, lda, ldb, ldc, algo) == ("handle", 0, 0, m, k, m, -1)
        self.asked.append((atype, btype, ctype, compute))
        one, zero = (at(address, ctype, (1,))[0] for address in (alpha, beta))
        assert (one, zero) == (1, 0)
        product = at(c, ctype, (m, n))
        product[...] = factor(a, atype, (m, k)) @ factor(b, btype, (k, n))
        self.spoil(product)


class Addressed(np.ndarray):
    """A NumPy array that tells its address as CuPy's do."""

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data)


def blas_on_the_host(monkeypatch, spoil=lambda product: None):
    """Let NumPy stand in for CuPy, and `FakeBlas` for cuBLAS; products have 64 rows."""
    module = SimpleNamespace(
        arange=lambda n, dtype: np.arange(n, dtype=dtype).view(Addressed),
        full=lambda shape, value, dtype: np.full(shape, value, dtype).view(Addressed),
        cuda=SimpleNamespace(
            runtime=SimpleNamespace(CUDA_R_32F=0, CUDA_R_64F=1, CUDA_R_16F=2, CUDA_R_16BF=14),
            device=SimpleNamespace(get_cublas_handle=lambda: "handle"),
        ),
    )
    blas = FakeBlas(spoil)
    monkeypatch.setattr(backends, "cupy", lambda: module)
    monkeypatch.setattr(backends, "cublas", lambda: blas)
    monkeypatch.setattr(ceilings, "product_rows", lambda device, unit: 64)
    return blas


@pytest.mark.parametrize(
    ("unit", "asked"),
    [("fp64_tensor", (1, 1, 1, 70)), ("tf32", (0, 0, 0, 77)), ("fp16_tensor", (2, 2, 0, 68)),
     ("bf16_tensor", (14, 14, 0, 68))],
)  # fmt: skip
def test_a_product_is_asked_for_on_the_unit_that_it_is_credited_to(monkeypatch, unit, asked):
    blas = blas_on_the_host(monkeypatch)
    candidate = ceilings.product_candidate(FakeGpu(), EXAMPLE_DEVICE, unit)
    assert (candidate.mix, candidate.work) == (unit, 2 * 64**3)
    assert candidate.kernel == "cuBLAS, 64 x 64 matrices, tensor cores"
    candidate.call()
    assert blas.asked == [asked] * 2


@pytest.mark.parametrize("spoil", ["one element", "a swap", "transposed", "nothing"])
def test_a_wrong_product_is_never_timed(monkeypatch, spoil):
    """One element off by one, two neighbours in each other's place, the transposed one, and none at all."""

    def spoiled(product):
        if spoil == "one element":
            product[5, 7] += 1
        elif spoil == "a swap":
            product[5, [7, 8]] = product[5, [8, 7]] + [0, product[5, 7] == product[5, 8]]
        elif spoil == "transposed":
            product[...] = product.T.copy()
        else:
            product[...] = np.nan

    blas_on_the_host(monkeypatch, spoiled)
    gpu = FakeGpu()
    with pytest.raises(MismatchError, match=r"cuBLAS on tf32: \d+ of 64 rows are wrong"):
        list(ceilings.tensor_ceilings(gpu, replace(EXAMPLE_DEVICE, compute_capability=(8, 6)), gpu.host))
    assert "delay" not in gpu.log


def test_factors_are_whole_numbers_that_differ(monkeypatch):
    blas_on_the_host(monkeypatch)
    _, a, b, _ = ceilings._product(64, "tf32")
    for x in (a, b):
        assert sorted(set(x.reshape(-1).tolist())) == list(range(-8, 9))
    assert (a != b).mean() > 0.9
    assert (a != a.T).mean() > 0.9


def test_a_gpu_without_such_cores_has_no_such_ceilings(machine):
    old = replace(EXAMPLE_DEVICE, compute_capability=(7, 0))
    found = ceilings.measure(machine, old, host=machine.host)
    assert "FLOP/s" in {item.unit for item in found.items}
    assert not {"tf32", "fp64_tensor", "bf16_tensor"} & {item.mix for item in found.items}


def test_without_cublas_the_other_ceilings_are_kept(machine, monkeypatch):
    def missing(gpu, device, unit):
        raise ImportError("no libcublas")

    monkeypatch.setattr(ceilings, "product_candidate", missing)
    with pytest.warns(
        RuntimeWarning, match="no ceiling of (fp64_tensor|tf32|fp16_tensor|bf16_tensor): ImportE"
    ):
        found = ceilings.measure(machine, EXAMPLE_DEVICE, host=machine.host)
    assert found.get("fp64").unit == "FLOP/s"
    assert "tf32" not in {item.mix for item in found.items}


def test_products_last_about_two_milliseconds_at_the_peak():
    for unit in ceilings.TENSOR_UNITS:
        n = ceilings.product_rows(EXAMPLE_DEVICE, unit)
        assert n % 1024 == 0
        assert 2 * n**3 / EXAMPLE_DEVICE.peak_flops(unit) == pytest.approx(0.002, rel=0.1)


def test_arrays_are_scrambled_before_they_are_timed(machine):
    ceilings.measure(machine, EXAMPLE_DEVICE, host=machine.host)
    first = machine.log.index("delay")
    assert machine.log[:first].count("scramble") == 3


def test_the_sentinel_runs_one_fixed_kernel(machine):
    rate = ceilings.copy_sentinel(machine)
    assert {entry for entry in machine.log if "_" in entry} == {"copy_16x4"}
    assert rate == pytest.approx(2 * GIB / 0.502e-3)


def cell(traffic, ns=500_000, clock="device"):
    return Measurement("four", 2**28, clock=clock, samples_ns=(ns,), rounds=(0,), traffic=traffic)


class TestPlausible:
    """The H200 moves at most 4.81 TB/s and holds 60 MiB in its L2."""

    def test_below_the_peak_nothing_happens(self):
        ceilings.check_plausible(cell(Traffic(GIB, GIB)), EXAMPLE_DEVICE)

    def test_above_the_peak_of_the_memory(self):
        message = (
            r"four at 268435456: expected at most the physical peak of memory, 4\.81 TB/s, got 5\.\d\d TB/s"
        )
        with pytest.raises(ImplausibleError, match=message):
            ceilings.check_plausible(cell(Traffic(GIB, GIB), ns=400_000), EXAMPLE_DEVICE)

    def test_above_the_ceiling_that_is_declared_for_its_work(self):
        done = replace(cell(None, ns=1_000), work=(Work("marks", 10**6, ceiling=1e12),))
        ceilings.check_plausible(done, EXAMPLE_DEVICE)
        message = r"four at 268435456: expected at most 1e\+12 marks per second, its .* got 1\.1e\+12"
        with pytest.raises(ImplausibleError, match=message):
            ceilings.check_plausible(replace(done, work=(Work("marks", 1_100_000, 1e12),)), EXAMPLE_DEVICE)

    def test_what_the_cache_may_hold_is_not_counted(self):
        ceilings.check_plausible(cell(Traffic(2**24, 2**24), ns=1_000), EXAMPLE_DEVICE)

    def test_above_the_peak_of_a_unit(self):
        traffic = Traffic(flops=10**12, unit="fp64")
        with pytest.raises(
            ImplausibleError, match=r"physical peak of fp64, 33\.45 TFLOP/s, got 2,000\.00 TFLOP/s"
        ):
            ceilings.check_plausible(cell(traffic), EXAMPLE_DEVICE)

    @pytest.mark.parametrize("clock", ["launch", "host"])
    def test_other_clocks_are_not_the_gpu_s(self, clock):
        ceilings.check_plausible(cell(Traffic(GIB, GIB), ns=1, clock=clock), EXAMPLE_DEVICE)

    def test_without_samples_or_traffic_there_is_nothing_to_check(self):
        ceilings.check_plausible(cell(None), EXAMPLE_DEVICE)
        ceilings.check_plausible(Measurement("four", 1, reason="no GPU"), EXAMPLE_DEVICE)


@pytest.mark.gpu
class TestOnAGpu:
    """On hardware every ceiling lies below the physical peak and above a tenth of it."""

    def test_ceilings_are_physical(self):
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
