"""The run loop with a fake clock: order, counts, checks after timing, reasons; and a study's arguments."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fake_clock import FakeGpu, FakeHost
from gpuguide.errors import ArgumentError, ImplausibleError, MismatchError, UnknownNameError
from gpuguide.machine.device import EXAMPLE_DEVICE, ClockReading
from gpuguide.machine.memory import HOST, Space
from gpuguide.measure import runner, session
from gpuguide.measure.host_pace import HostPace
from gpuguide.measure.plan import Variant
from gpuguide.measure.runner import KeptCall
from gpuguide.measure.session import Machine, recording_session
from gpuguide.measure.study import Study
from gpuguide.results.ceilings import Ceilings
from gpuguide.results.records import Traffic, Work

MS = 1_000_000


def inputs(n, dtype, rng, exact):
    return (rng.integers(-8, 8, n).astype(dtype) if exact else rng.random(n).astype(dtype),)


def study_of(*variants, **options):
    settings = {"sizes": (1000,), "inputs": inputs, "reference": lambda x: x + 1, **options}
    return Study("add", "Add one", variants, **settings)


class Lab:
    """A fake machine with studies that run on it."""

    def __init__(self, gpu=True, throttle=()):
        self.host = FakeHost()
        self.gpu = FakeGpu(self.host) if gpu else None
        self.throttle = list(throttle)
        self.readings = 0
        spaces = {"host": HOST, "device": Space("device", np)} if gpu else {"host": HOST}
        self.machine = Machine(self.gpu, EXAMPLE_DEVICE if gpu else None, spaces, self.read, self.host)
        self.calls = []

    def read(self):
        self.readings += 1
        return ClockReading(throttle=tuple(self.throttle.pop(0)) if self.throttle else ())

    def gpu_variant(self, name="gpu", ns=100_000, **options):
        kernel = self.gpu.kernel(ns, name=name)

        def call(x, out):
            """Add one on the fake GPU."""
            self.calls.append(name)
            kernel()
            np.add(x, 1, out=out)

        return Variant(name, options.pop("call", call), **options)

    def cpu_variant(self, name="cpu", ns=2 * MS, per_element=0, **options):
        def call(x, out):
            """Add one on the fake host."""
            self.calls.append(name)
            self.host.advance(ns + per_element * x.size)
            np.add(x, 1, out=out)

        return Variant(name, options.pop("call", call), device="cpu", clock="host", **options)

    def run(self, study, *, session=None, **options):
        settings = {"clock": self.host, "given_machine": self.machine, "ceilings": Ceilings()}
        with recording_session(**{**settings, **(session or {})}) as self.session:
            return study.run(**options)


class TestRounds:
    def test_every_cell_gets_ten_samples_in_five_rounds(self):
        lab = Lab()
        made = lab.run(study_of(lab.gpu_variant(), lab.cpu_variant()))
        for variant, clock in (("gpu", "device"), ("gpu", "launch"), ("cpu", "host")):
            assert made.measurement(variant, 1000, clock).rounds == tuple(np.repeat(range(5), 2))
        assert made.measurement("gpu", 1000).median_s == pytest.approx(102e-6)
        assert made.measurement("gpu", 1000, "launch").median_s == pytest.approx(3e-6)

    def test_variants_are_interleaved_in_shuffled_rounds_the_same_each_time(self):
        def order(seed):
            lab = Lab(gpu=False)
            lab.run(study_of(*(lab.cpu_variant(name) for name in "abcd")), seed=seed)
            taken = lab.calls[4 * 4 :]  # after two checks and two warm-up calls of each
            return [tuple(taken[i : i + 12 : 3]) for i in range(0, 60, 12)]

        first = order(0)
        assert all(sorted(turn) == list("abcd") for turn in first)
        assert len(set(first)) > 1
        assert order(0) == first
        assert order(1) != first

    def test_gpu_variants_come_before_cpu_ones_in_each_round(self):
        lab = Lab()
        lab.run(study_of(lab.cpu_variant("c"), lab.gpu_variant("g"), lab.gpu_variant("h")))
        turns = [name for name, _ in itertools.groupby(lab.calls)][-15:]
        assert all({turns[i], turns[i + 1]} == {"g", "h"} and turns[i + 2] == "c" for i in range(0, 15, 3))

    @pytest.mark.parametrize(("call_ms", "busy_s"), [(2, 0.005), (150, 0.03)])
    def test_the_gpu_is_kept_busy_a_fifth_as_long_as_cpu_work_let_it_rest(self, monkeypatch, call_ms, busy_s):
        lab, kept = Lab(), []
        monkeypatch.setattr(runner, "keep_busy", lambda gpu, *, seconds, host: kept.append(seconds))
        lab.run(study_of(lab.cpu_variant("c", ns=call_ms * MS), lab.gpu_variant("g"), lab.gpu_variant("h")))
        # Once a round, but for the first, as the timers have just kept it busy; 5 ms at least.
        assert kept == pytest.approx([busy_s] * 4, rel=0.25)

    def test_noisy_cells_get_more_rounds_up_to_a_hundred_samples(self):
        lab = Lab(gpu=False)
        work = lab.host.work(*np.random.default_rng(0).integers(MS, 2 * MS, 200).tolist())
        call = lambda x, out: (work(), np.add(x, 1, out=out))  # noqa: E731
        cell = lab.run(study_of(lab.cpu_variant(call=call))).measurement("cpu", 1000)
        assert cell.n == 100
        assert max(cell.rounds) == 10

    @pytest.mark.parametrize(("ms", "rounds"), [(35, (0, 1, 2, 3, 4, 5)), (400, (0, 1, 2))])
    def test_slow_cells_stop_at_the_budget_and_very_slow_ones_after_three_rounds(self, ms, rounds):
        lab = Lab()
        made = lab.run(study_of(lab.gpu_variant(ns=ms * MS), lab.cpu_variant(ns=900 * MS)))
        assert made.measurement("gpu", 1000).rounds == rounds
        assert made.measurement("cpu", 1000).rounds == (0, 1, 2)

    def test_quick_takes_one_sample_a_round_and_says_so(self):
        lab = Lab()
        made = lab.run(study_of(lab.gpu_variant(), lab.cpu_variant()), quick=True)
        assert made.quick
        assert {cell.n for cell in made.measurements} == {5}
        assert lab.run(study_of(lab.cpu_variant()), session={"quick": True}).quick

    def test_a_cold_cache_is_flushed_before_each_device_sample(self):
        lab = Lab()
        cell = lab.run(study_of(lab.gpu_variant(ns=10_000), cache="cold")).measurement("gpu", 1000)
        assert (cell.cache, cell.method, cell.n_calls) == ("cold", "events", 1)
        assert [word for word in lab.gpu.log if word in ("flush", "gpu")][-2:] == ["flush", "gpu"]

    def test_short_kernels_are_replayed_from_a_graph_unless_they_allocate(self):
        lab = Lab()
        kernel = lab.gpu.kernel(2000)
        allocating = Variant("allocating", lambda x: kernel() or x + 1, allocates=True)
        made = lab.run(study_of(lab.gpu_variant("filling", ns=2000), allocating))
        assert made.measurement("filling", 1000).method == "graph"
        assert made.measurement("allocating", 1000).method == "batch"


class TestThrottling:
    def test_a_power_cap_is_noted(self):
        lab = Lab(throttle=[(), ("power cap",)])
        made = lab.run(study_of(lab.gpu_variant(), lab.cpu_variant()))
        assert made.measurement("gpu", 1000).notes == ("power cap: the clocks were held down",)
        assert made.measurement("cpu", 1000).notes == ()
        assert (len(lab.session.clocks_seen), made.warnings) == (5, ())

    @pytest.mark.parametrize(
        ("throttle", "readings", "warning"),
        [
            ([(), ("hardware thermal slowdown",)], 6, "1 round was measured again"),
            ([(), (), (), (), ("thermal slowdown",)], 6, "1 round was measured again"),
            ([("thermal slowdown",)] * 99, 7, "2 rounds were measured again, 5 kept although"),
        ],
    )
    def test_a_round_of_thermal_slowdown_is_measured_again_twice_at_most(self, throttle, readings, warning):
        lab = Lab(throttle=throttle)
        made = lab.run(study_of(lab.gpu_variant()))
        assert lab.readings == readings
        assert made.measurement("gpu", 1000).rounds == tuple(np.repeat(range(5), 2))
        assert [check.kind for check in made.checks] == ["exact", "random", "after"]
        assert made.warnings[0].startswith(f"thermal slowdown at 10^3 elements: {warning}")


class TestAfterTiming:
    @pytest.mark.parametrize(
        ("n", "broken", "message"),
        [
            (2, lambda x, out: None, "Variant 'cpu' at size 1,000, after check: it wrote nothing"),
            (9, lambda x, out: np.add(x, 2, out=out), "after check: 1,000 of 1,000"),
            (9, lambda x, out: (np.add(x, 1, out=out), x.__setitem__(1, 5)), "after check: "),
        ],
        ids=["stops writing", "goes wrong", "changes its input"],
    )
    def test_a_variant_that_becomes_wrong_is_not_saved_by_another_one(self, n, broken, message):
        lab, count = Lab(), itertools.count()

        def call(x, out):
            lab.host.advance(MS)
            np.add(x, 1, out=out) if next(count) < n else broken(x, out)

        with pytest.raises(MismatchError, match=message):
            lab.run(study_of(lab.cpu_variant(call=call), lab.cpu_variant("right")))

    def test_the_last_result_of_an_allocating_variant_is_the_one_looked_at(self):
        lab, count = Lab(), itertools.count()
        call = lambda x: lab.host.advance(MS) or x + (1 if next(count) < 9 else 2)  # noqa: E731
        with pytest.raises(MismatchError, match="after check"):
            lab.run(study_of(lab.cpu_variant(call=call, allocates=True)))

    def test_the_result_before_is_dropped_before_the_next_is_made(self):
        """Else an allocating variant would need the memory of two results."""
        kept = KeptCall(lambda: kept.result)
        kept.result = "before"
        assert kept() is None

    def test_a_variant_that_mutates_is_reset_before_each_sample_and_checked_after_one_call(self):
        lab = Lab()
        kernel, starts = lab.gpu.kernel(2000), []
        call = lambda x: (starts.append(float(x[0])), kernel(), np.add(x, 1, out=x))  # noqa: E731
        study = study_of(Variant("gpu", call, mutates=True))
        cell = lab.run(study).measurement("gpu", 1000)
        assert (cell.method, cell.n_calls) == ("events", 1)
        random = float(study.make_inputs(1000, exact=False)[0][0])
        assert starts[-20:].count(random) >= 3

    def test_a_variant_that_mutates_leaves_no_changed_input_to_the_others(self):
        lab, seen = Lab(), set()

        kernel = lab.gpu.kernel(100_000)
        in_place = lambda x: (kernel(), np.add(x, 1, out=x))  # noqa: E731
        reading = lambda x, out: (kernel(), seen.add(x.tobytes()), np.add(x, 1, out=out))  # noqa: E731
        variants = (Variant("in_place", in_place, mutates=True), Variant("reading", reading))
        lab.run(study_of(*variants))
        assert len(seen) == 2, "the exact inputs and the random ones, each as they were made"


class TestReasons:
    def test_without_a_gpu_cpu_variants_run_and_gpu_ones_get_a_row(self):
        lab = Lab()
        variants = lab.gpu_variant(), lab.cpu_variant()
        lab.machine = Lab(gpu=False).machine
        made = lab.run(study_of(*variants))
        assert made.measurement("gpu", 1000).reason == "no GPU on this machine"
        assert made.measurement("cpu", 1000).n == 10

    def test_a_cpu_cell_is_skipped_once_the_size_before_predicts_more_than_a_second(self):
        lab = Lab()
        slow = lab.cpu_variant(ns=0, per_element=900_000)
        made = lab.run(study_of(slow, lab.cpu_variant("fast"), sizes=(1000, 4000, 16000)))
        assert made.measurement("cpu", 1000).n
        for size in (4000, 16000):
            assert made.measurement("cpu", size).reason.startswith("skipped: 10^3 took 0.90 s, so")
        assert made.measurement("fast", 16000).n
        assert lab.calls.count("cpu") < 10

    def test_a_cpu_call_of_over_a_second_is_checked_and_not_timed(self):
        lab = Lab()
        made = lab.run(study_of(lab.cpu_variant(ns=3000 * MS)))
        assert made.measurement("cpu", 1000).reason == "skipped: one call took 3 s; the limit is 1 s"
        assert len(lab.calls) == len(made.checks) == 2

    def test_a_variant_has_a_largest_size(self):
        lab = Lab()
        small = lab.cpu_variant(up_to=1000, because="indices of 32 bits")
        made = lab.run(study_of(small, sizes=(1000, 1001)))
        assert made.measurement("cpu", 1000).n
        assert made.measurement("cpu", 1001).reason == "indices of 32 bits"

    @pytest.mark.parametrize("after", [0, 1, 3, 20])
    def test_out_of_memory_is_a_row_with_its_reason_and_the_others_go_on(self, after):
        lab, count = Lab(), itertools.count()
        kernel = lab.gpu.kernel(2 * MS)

        def call(x, out):
            if next(count) >= after:
                raise MemoryError("Out of memory.")
            kernel()
            np.add(x, 1, out=out)

        made = lab.run(study_of(Variant("gpu", call), lab.cpu_variant()))
        assert made.measurement("gpu", 1000).reason == (
            "out of memory on the GPU at 10^3 elements, whose inputs and output take 8.0 kB: Out of memory."
        )
        assert made.measurement("cpu", 1000).n == 10
        assert "after" not in [check.kind for check in made.checks if check.variant == "gpu"]

    def test_arrays_that_do_not_fit_are_a_row_for_each_variant_of_that_memory(self):
        lab = Lab()

        def full(n_bytes):
            raise MemoryError("Out of memory.")

        lab.machine.spaces["device"] = Space("device", np, allocate=full)
        made = lab.run(study_of(lab.gpu_variant("g"), lab.gpu_variant("h"), lab.cpu_variant()))
        for name in "gh":
            assert "out of memory on the GPU at 10^3 elements" in made.measurement(name, 1000).reason
        assert made.measurement("cpu", 1000).n == 10

    def test_other_errors_are_not_swallowed(self):
        lab = Lab()
        with pytest.raises(ZeroDivisionError):
            lab.run(study_of(Variant("gpu", lambda x, out: 1 / 0)))

    def test_a_rate_that_the_memory_cannot_reach_is_an_error(self):
        lab = Lab()
        with pytest.raises(ImplausibleError, match="physical peak of memory"):
            lab.run(study_of(lab.gpu_variant(traffic=lambda n, dtype: Traffic(10**10, 10**10))))

    def test_pools_are_freed_between_sizes_and_their_size_is_kept(self, monkeypatch):
        lab, freed = Lab(), []
        monkeypatch.setattr(session, "free_pools", lambda space: freed.append(space.name))
        monkeypatch.setattr(session, "pool_bytes", lambda space: 4096)
        lab.run(study_of(lab.gpu_variant(), sizes=(1000, 2000)))
        assert sorted(freed) == ["device", "device", "host", "host"]
        assert lab.session.peak_memory_bytes == 4096


class TestResults:
    def test_the_work_and_traffic_declared_of_a_variant_are_in_its_cells(self):
        lab = Lab()
        gpu = lab.gpu_variant(
            traffic=lambda n, dtype: Traffic(4 * n, 4 * n),
            work={"marks": lambda n: 3 * n},
            work_ceilings={"marks": lambda device: float(device.sm_count * 10**9)},
        )
        made = lab.run(study_of(gpu, lab.cpu_variant(threads=1), sizes=(1000, 2000)))
        cell, launch = (made.measurement("gpu", 2000, clock) for clock in ("device", "launch"))
        assert (cell.traffic, cell.work) == (Traffic(8000, 8000), (Work("marks", 6000, 132e9),))
        assert (launch.traffic, launch.work) == (None, ())
        assert (made.variant("gpu").note, made.variant("cpu").threads) == ("Add one on the fake GPU.", 1)
        assert made.variant("gpu").source.startswith("test_study.Lab.gpu_variant")
        assert lab.session.studies == {"add": made}
        order = [(cell.size, cell.variant) for cell in made.measurements]
        assert order == sorted(order, key=lambda cell: (cell[0], ["gpu", "cpu"].index(cell[1])))

    def test_end_to_end_variants_start_on_the_host_and_have_no_launch(self):
        lab = Lab()
        call = lab.gpu_variant(ns=MS).call
        made = lab.run(study_of(Variant("copies", call, clock="end_to_end")))
        assert made.measurement("copies", 1000).median_s >= 1e-3
        assert [cell.clock for cell in made.measurements] == ["end_to_end"]
        copies, there = (Variant("v", call, clock="end_to_end", arrays=a) for a in ("cupy", "numba"))
        assert (copies.space, there.space) == ("host", "device")

    def test_sizes_and_variants_can_be_chosen_and_unknown_ones_are_named(self):
        lab = Lab()
        study = study_of(lab.gpu_variant(), lab.cpu_variant())
        made = lab.run(study, sizes=[10, 20], variants=["cpu"])
        assert (made.sizes, [info.name for info in made.variants]) == ((10, 20), ["cpu"])
        with pytest.raises(UnknownNameError, match=r"Unknown variant 'cpo'. Did you mean 'cpu'"):
            lab.run(study, variants=["cpo"])
        with pytest.raises(ArgumentError, match="sequence of names"):
            lab.run(study, variants="cpu")

    def test_ceilings_are_measured_for_gpu_variants_with_traffic_and_not_in_quick_runs(self, monkeypatch):
        calls = []
        monkeypatch.setattr(session, "measure", lambda gpu, info: calls.append(gpu) or Ceilings())
        lab = Lab()
        moving = lab.gpu_variant(traffic=lambda n, dtype: Traffic(4 * n, 4 * n))
        lab.run(study_of(lab.gpu_variant(), lab.cpu_variant()), session={"ceilings": None})
        lab.run(study_of(moving), quick=True, session={"ceilings": None})
        assert calls == []
        assert lab.run(study_of(moving), session={"ceilings": None}).ceilings == Ceilings()
        assert len(calls) == 1

    def test_the_readers_own_variant_is_added_to_a_new_study_and_gated(self):
        lab = Lab()
        study = study_of(lab.cpu_variant())
        mine = study.with_variant("mine", lambda x, out: None, device="cpu", clock="host")
        assert study.names == ("cpu",)
        assert mine.names == ("cpu", "mine")
        with pytest.raises(MismatchError, match="Variant 'mine'"):
            lab.run(mine)
        with pytest.raises(ArgumentError, match="'add' has a variant 'cpu'; give yours another name"):
            study.with_variant("cpu", lambda x, out: None)


CPU = {"device": "cpu", "clock": "host"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "two words"}, "name must be a word .*; got 'two words'"),
        ({"clock": "devise"}, r"clock must be .*; got 'devise' \(meant 'device'\?\)"),
        ({"arrays": "cuppy"}, r"arrays must be .*; got 'cuppy' \(meant 'cupy'\?\)"),
        ({"device": "cpu"}, "a CPU variant is timed by clock='host'; got 'device'"),
        ({"clock": "host"}, "clock='host' is for CPU variants"),
        ({"arrays": "pinned"}, "pinned arrays need clock='end_to_end'"),
        ({"mutates": True, "allocates": True}, "cannot both"),
    ],
)
def test_a_variants_arguments_are_checked(options, message):
    with pytest.raises(ArgumentError, match=message):
        Variant(**{"name": "v", "call": print, **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variants": (print,)}, "variants must be a sequence of at least one Variant"),
        ({"variants": Variant("v", print)}, "variants must be a sequence of at least one Variant"),
        ({"variants": (Variant("v", print), Variant("v", max))}, "two variants are named 'v'"),
        ({"sizes": (1, 2.5)}, r"sizes must be integers of at least 1, .*; got \(1, 2.5\)"),
        ({"sizes": (4, 4)}, r"sizes must be .*; got \(4, 4\)"),
        ({"reference": None}, "expected either reference= or check=; got neither"),
        ({"check": 5}, "expected either reference= or check=; got both"),
        ({"tolerance": 1e-6}, "tolerance must be a Tolerance; got 1e-06"),
        ({"cache": "hot"}, "cache must be 'warm' or 'cold'; got 'hot'"),
        ({"baseline": "w"}, "baseline: Unknown variant 'w'"),
    ],
)
def test_a_studys_arguments_are_checked(options, message):
    good = {"name": "add", "title": "Add", "variants": (Variant("v", print),), "sizes": (1, 2)}
    with pytest.raises(ArgumentError, match=message):
        Study(**{**good, "inputs": inputs, "reference": max, **options})


def test_check_all_checks_every_size_twice_and_skips_what_cannot_run():
    lab = Lab(gpu=False)
    study = study_of(lab.cpu_variant(), lab.cpu_variant("small", up_to=10), Variant("gpu", print))
    with recording_session(given_machine=lab.machine):
        report = study.check_all([0, 33])
    checked = [("cpu", 0), ("small", 0), ("cpu", 33)]
    assert {(r.variant, r.size, r.kind) for r in report} == {
        (*cell, kind) for cell in checked for kind in ("exact", "random")
    }
    assert str(report) == "6 checks passed: cpu, small. Skipped: gpu (no GPU on this machine)."


def test_numba_variants_run_in_the_simulator(simulator_python):
    assert simulator_python(SIMULATED) == (
        "4 checks passed: right. Skipped: cupy (the simulator has no CuPy arrays), "
        "warp (the simulator cannot run it).\n"
    )


SIMULATED = """
from gpuguide.machine.backends import cuda, jit
from gpuguide.measure.study import Study
from gpuguide.measure.plan import Variant

@jit
def kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + 1

def launch(x, out):
    "One element a thread."
    kernel[2, 32](x, out)

right = Variant("right", launch, arrays="numba")
warp = Variant("warp", launch, arrays="numba", simulatable=False)
inputs = lambda n, dtype, rng, exact: (rng.integers(-8, 8, n).astype(dtype),)
study = Study("add", "Add one", (right, Variant("cupy", launch), warp), (33,), inputs=inputs,
              reference=lambda x: x + 1)
print(study.check_all([1, 33]))
"""


def test_a_study_is_shown_as_a_table_of_its_variants_and_what_right_means():
    traffic = Variant("four", max, label="Four", note="It.", traffic=lambda n, dtype: Traffic(4 * n, 4 * n))
    study = study_of(traffic, Variant("cpu", max, threads=2, note="Python.", **CPU), input_note="random")
    shown = str(study)
    assert "Four     GPU             GPU time, launch apart  8                  It.\n" in shown
    assert "cpu      CPU, 2 threads  host                                       Python.\n" in shown
    assert "Right means: equal on exact inputs; on random ones within 4 eps max(|expected|, |op" in shown


def test_a_small_study_runs_with_the_real_clock(monkeypatch):
    # A known issue: where the pace of a shared processor is judged anew between two turns, a cell may be
    # finished without the check after its last sample.
    monkeypatch.setattr(HostPace, "is_alone", lambda self, reading_ns: True)

    def right(x, out):
        np.add(x, 1, out=out)

    study = study_of(
        Variant("right", right, **CPU),
        Variant("fresh", lambda x: x + 1, allocates=True, **CPU),
        sizes=(100, 200),
    )
    with recording_session(given_machine=Machine()):
        made = study.run()
    assert all(cell.n >= 5 and 0 < cell.median_s < 0.01 for cell in made.measurements)
    assert len(made.checks) == 12
    assert made.speedup("fresh", "right", 200).low > 0
