"""The run loop with a fake clock: order, counts, checks after timing, reasons; and a study's arguments."""

from __future__ import annotations

import io
import itertools
import sys

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
from gpuguide.measure.step_timer import StepTimer
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
        device = Space("device", np)
        spaces = {"host": HOST, "device": device} if gpu else {"host": HOST}
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
        settings = {
            "clock": self.host,
            "given_machine": self.machine,
            "ceilings": Ceilings(),
            **(session or {}),
        }
        with recording_session(**settings) as self.session:
            return study.run(**options)


def runs(names):
    return [name for name, _ in itertools.groupby(names)]


def test_the_session_tells_where_its_time_went():
    lab = Lab(gpu=False)

    def slow_inputs(n, dtype, rng, exact):
        lab.host.advance(1000 * MS)
        return inputs(n, dtype, rng, exact)

    def slow_reference(x):
        lab.host.advance(100 * MS)
        return x + 1

    steps = StepTimer(now=lambda: lab.host.now / 1e9)
    study = study_of(lab.cpu_variant(ns=2 * MS), inputs=slow_inputs, reference=slow_reference)
    lab.run(study, session={"steps": steps})
    assert steps.seconds["inputs"] == pytest.approx(2.0), "exact and random ones, whoever asks for them"
    assert steps.seconds["reference"] >= 0.2
    assert steps.seconds["gate"] == pytest.approx(0.004), "two calls, and nothing of the other two"
    assert sum(steps.seconds.values()) == pytest.approx(lab.host.now / 1e9)
    assert steps.seconds["timing"] > 0


class TestRounds:
    """Interleaving, counts and the stopping rule."""

    def test_every_cell_gets_ten_samples_in_five_rounds(self):
        lab = Lab()
        made = lab.run(study_of(lab.gpu_variant(), lab.cpu_variant()))
        for variant, clock in (("gpu", "device"), ("gpu", "launch"), ("cpu", "host")):
            cell = made.measurement(variant, 1000, clock)
            assert cell.n == 10
            assert cell.rounds == tuple(np.repeat(range(5), 2))

    def test_the_device_time_is_the_gpus_and_the_launch_time_the_hosts(self):
        lab = Lab()
        made = lab.run(study_of(lab.gpu_variant(ns=100_000)))
        assert made.measurement("gpu", 1000).median_s == pytest.approx(102e-6)
        assert made.measurement("gpu", 1000, "launch").median_s == pytest.approx(3e-6)
        assert made.measurement("gpu", 1000, "launch").traffic is None

    def test_declared_work_is_counted_for_each_size_beside_its_ceiling(self):
        lab = Lab()
        work = {"work": {"marks": lambda n: 3 * n}}
        ceiling = {"work_ceilings": {"marks": lambda device: float(device.sm_count * 10**9)}}
        made = lab.run(
            study_of(lab.gpu_variant(**work, **ceiling), lab.cpu_variant(**work), sizes=(1000, 2000))
        )
        assert made.measurement("gpu", 1000).work == (Work("marks", 3000, 132e9),)
        assert made.measurement("gpu", 2000).work == (Work("marks", 6000, 132e9),)
        assert made.measurement("cpu", 2000).work == (Work("marks", 6000),)
        assert made.measurement("gpu", 2000, "launch").work == ()

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
        turns = runs(lab.calls)[-15:]
        assert all({turns[i], turns[i + 1]} == {"g", "h"} and turns[i + 2] == "c" for i in range(0, 15, 3))

    @pytest.mark.parametrize(("call_ms", "busy_s"), [(2, 0.005), (40, 0.008), (150, 0.03), (None, None)])
    def test_the_gpu_is_kept_busy_a_fifth_as_long_as_cpu_work_let_it_rest(self, monkeypatch, call_ms, busy_s):
        lab, kept = Lab(), []
        monkeypatch.setattr(runner, "keep_busy", lambda gpu, *, seconds, host: kept.append(seconds))
        work = [lab.cpu_variant("c", ns=call_ms * MS)] if call_ms else []
        lab.run(study_of(*work, lab.gpu_variant("g"), lab.gpu_variant("h")))
        # Once a round, but for the first, as the timers have just kept it busy; 5 ms at least.
        assert kept == pytest.approx([busy_s] * 4 if work else [], rel=0.25)

    def test_noisy_cells_get_more_rounds_up_to_a_hundred_samples(self):
        lab = Lab(gpu=False)
        noise = np.random.default_rng(0)

        def call(x, out):
            lab.host.advance(int(noise.integers(MS, 2 * MS)))
            np.add(x, 1, out=out)

        cell = lab.run(study_of(lab.cpu_variant(call=call))).measurement("cpu", 1000)
        assert cell.n == 100
        assert max(cell.rounds) == 10

    def test_slow_cells_stop_at_the_budget_after_five_rounds(self):
        lab = Lab()
        cell = lab.run(study_of(lab.gpu_variant(ns=35 * MS))).measurement("gpu", 1000)
        assert cell.rounds[:5] == (0, 1, 2, 3, 4)
        assert cell.n == 6  # 0.2 s

    def test_three_rounds_are_enough_for_calls_of_over_a_fifth_of_a_second(self):
        lab = Lab()
        made = lab.run(study_of(lab.gpu_variant(ns=400 * MS), lab.cpu_variant(ns=900 * MS)))
        assert made.measurement("gpu", 1000).rounds == (0, 1, 2)
        assert made.measurement("cpu", 1000).rounds == (0, 1, 2)

    def test_quick_takes_one_sample_a_round_and_says_so(self):
        lab = Lab()
        made = lab.run(study_of(lab.gpu_variant(), lab.cpu_variant()), quick=True)
        assert made.quick
        assert {cell.n for cell in made.measurements} == {5}
        assert lab.run(study_of(lab.cpu_variant()), session={"quick": True}).quick
        assert not lab.run(study_of(lab.cpu_variant())).quick

    def test_a_launch_that_long_work_follows_is_not_made_once_more_to_warm_up(self):
        """Each launch waits for half a second of work, however short it is itself."""
        lab = Lab()
        made = lab.run(study_of(lab.gpu_variant(ns=500 * MS)))
        assert made.measurement("gpu", 1000, "launch").rounds == (0, 1, 2)
        # 2 checks, 2 calls to make the device's timer, and in each of 3 rounds a launch and a call.
        assert lab.calls == ["gpu"] * (2 + 2 + 3 * 2)

    def test_a_cold_cache_is_flushed_before_each_device_sample(self):
        lab = Lab()
        made = lab.run(study_of(lab.gpu_variant(ns=10_000), cache="cold"))
        assert made.cache == "cold"
        cell = made.measurement("gpu", 1000)
        assert (cell.cache, cell.method, cell.n_calls) == ("cold", "events", 1)
        log = [word for word in lab.gpu.log if word in ("flush", "call", "gpu")]
        assert log[-2:] == ["flush", "gpu"]

    def test_short_kernels_are_replayed_from_a_graph_unless_they_allocate(self):
        lab = Lab()
        kernel = lab.gpu.kernel(2000)

        def allocating(x):
            kernel()
            return x + 1

        made = lab.run(
            study_of(lab.gpu_variant("filling", ns=2000), Variant("allocating", allocating, allocates=True))
        )
        assert made.measurement("filling", 1000).method == "graph"
        assert made.measurement("allocating", 1000).method == "batch"


class TestThrottling:
    """Clock readings in each round."""

    def test_the_clocks_are_read_each_round_and_not_for_cpu_variants(self):
        lab = Lab()
        lab.run(study_of(lab.gpu_variant(), lab.cpu_variant()))
        assert lab.session.clocks_seen == [ClockReading()] * 5
        lab.run(study_of(lab.cpu_variant()))
        assert lab.readings == 5

    def test_a_power_cap_is_noted(self):
        lab = Lab(throttle=[(), ("power cap",)])
        made = lab.run(study_of(lab.gpu_variant(), lab.cpu_variant()))
        assert made.measurement("gpu", 1000).notes == ("power cap: the clocks were held down",)
        assert made.measurement("cpu", 1000).notes == ()
        assert made.measurement("gpu", 1000).n == 10
        assert made.warnings == ()

    @pytest.mark.parametrize(
        ("throttle", "readings", "warning"),
        [
            ([(), ("hardware thermal slowdown",)], 6, "1 round was measured again"),
            (
                [("thermal slowdown",)] * 99, 7,
                "2 rounds were measured again, 5 kept although the GPU was too hot",
            ),
        ],
    )  # fmt: skip
    def test_a_round_of_thermal_slowdown_is_measured_again_twice_at_most(self, throttle, readings, warning):
        lab = Lab(throttle=throttle)
        made = lab.run(study_of(lab.gpu_variant()))
        assert lab.readings == readings
        assert made.measurement("gpu", 1000).rounds == tuple(np.repeat(range(5), 2))
        assert made.warnings == (f"thermal slowdown at 10^3 elements: {warning}",)

    def test_the_last_output_is_checked_although_the_last_round_was_discarded(self):
        lab = Lab(throttle=[(), (), (), (), ("thermal slowdown",)])
        made = lab.run(study_of(lab.gpu_variant()))
        assert [check.kind for check in made.checks] == ["exact", "random", "after"]


class TestAfterTiming:
    """The output of the last sample is checked."""

    def stops_after(self, n, lab, broken, **options):
        count = itertools.count()

        def call(x, out):
            lab.host.advance(MS)
            np.add(x, 1, out=out) if next(count) < n else broken(x, out)

        return lab.cpu_variant(call=call, **options)

    @pytest.mark.parametrize(
        ("n", "broken", "message"),
        [
            (2, lambda x, out: None, "Variant 'cpu' at size 1,000, after check: it wrote nothing"),
            (9, lambda x, out: np.add(x, 2, out=out), "after check: 1,000 of 1,000"),
            (9, lambda x, out: (np.add(x, 1, out=out), x.__setitem__(1, 5)), "after check: "),
        ],
        ids=["stops writing", "goes wrong", "changes its input"],
    )
    def test_a_variant_that_becomes_wrong(self, n, broken, message):
        lab = Lab()
        with pytest.raises(MismatchError, match=message):
            lab.run(study_of(self.stops_after(n, lab, broken)))

    def test_a_variant_that_stops_writing_is_not_saved_by_another_one(self):
        lab = Lab()
        lazy = self.stops_after(2, lab, lambda x, out: None)
        with pytest.raises(MismatchError, match=r"Variant 'cpu' .* after check: it wrote nothing"):
            lab.run(study_of(lazy, lab.cpu_variant("right")))

    def test_the_last_result_of_an_allocating_variant_is_the_one_looked_at(self):
        lab, count = Lab(), itertools.count()

        def call(x):
            lab.host.advance(MS)
            return x + (1 if next(count) < 9 else 2)

        with pytest.raises(MismatchError, match="after check"):
            lab.run(study_of(lab.cpu_variant(call=call, allocates=True)))

    def test_the_result_before_is_dropped_before_the_next_is_made(self):
        kept = KeptCall(lambda: kept.result)
        kept.result = "before"
        assert kept() is None

    def test_a_variant_that_mutates_is_reset_before_each_sample_and_checked_after_one_call(self):
        lab = Lab()
        kernel = lab.gpu.kernel(2000)
        starts = []

        def call(x):
            starts.append(float(x[0]))
            kernel()
            x += 1

        study = study_of(Variant("gpu", call, mutates=True))
        cell = lab.run(study).measurement("gpu", 1000)
        assert (cell.method, cell.n_calls) == ("events", 1)
        random = float(study.make_inputs(1000, exact=False)[0][0])
        assert starts[-20:].count(random) >= 3


class TestSharedInputs:
    """Variants of one memory share their arrays."""

    def test_a_variant_that_mutates_leaves_no_changed_input_to_the_others(self):
        lab, seen = Lab(), set()

        def in_place(x):
            """Add one in place."""
            x += 1
            lab.gpu.kernel(100_000)()

        def reading(x, out):
            """Add one."""
            seen.add(x.tobytes())
            np.add(x, 1, out=out)
            lab.gpu.kernel(100_000)()

        variants = (Variant("in_place", in_place, mutates=True), Variant("reading", reading))
        lab.run(study_of(*variants))
        assert len(seen) == 2, "the exact inputs and the random ones, each as they were made"


class TestReasons:
    """Cells without samples say why."""

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
        assert made.measurement("cpu", 4000).reason == (
            "skipped: 10^3 took 0.90 s, so 4000 would take about 3.6 s; the limit is 1 s"
        )
        assert made.measurement("cpu", 16000).reason.startswith(
            "skipped: 10^3 took 0.90 s, so 16 000 would take"
        )
        assert made.measurement("fast", 16000).n
        assert lab.calls.count("cpu") < 10

    def test_a_cpu_call_of_over_a_second_is_checked_and_not_timed(self):
        lab = Lab()
        made = lab.run(study_of(lab.cpu_variant(ns=3000 * MS)))
        assert made.measurement("cpu", 1000).reason == "skipped: one call took 3 s; the limit is 1 s"
        assert [check.kind for check in made.checks] == ["exact", "random"]
        assert len(lab.calls) == 2

    def test_a_variant_has_a_largest_size(self):
        lab = Lab()
        made = lab.run(
            study_of(lab.cpu_variant(max_size=1000, max_size_reason="indices of 32 bits"), sizes=(1000, 1001))
        )
        assert made.measurement("cpu", 1000).n
        assert made.measurement("cpu", 1001).reason == "indices of 32 bits"

    @pytest.mark.parametrize("after", [0, 1, 3, 20])
    def test_out_of_memory_is_a_row_with_its_reason_and_the_others_go_on(self, after):
        lab, count = Lab(), itertools.count()
        kernel = lab.gpu.kernel(2 * MS)

        def call(x, out):
            if next(count) >= after:
                raise MemoryError("Out of memory allocating 8,000 bytes (allocated so far: 42 bytes).")
            kernel()
            np.add(x, 1, out=out)

        made = lab.run(study_of(Variant("gpu", call), lab.cpu_variant()))
        assert made.measurement("gpu", 1000).reason == (
            "out of memory on the GPU at 10^3 elements, whose inputs and output take 8.0 kB: "
            "Out of memory allocating 8,000 bytes (allocated so far: 42 bytes)."
        )
        assert made.measurement("cpu", 1000).n == 10
        assert "after" not in [check.kind for check in made.checks if check.variant == "gpu"]

    def test_arrays_that_do_not_fit_are_a_row_for_each_variant_of_that_memory(self):
        lab = Lab()

        class Small:
            def __getattr__(self, name):
                return getattr(np, name)

            def empty(self, n, dtype):
                raise MemoryError("Out of memory allocating much.")

        lab.machine.spaces["device"] = Space("device", Small())
        made = lab.run(study_of(lab.gpu_variant("g"), lab.gpu_variant("h"), lab.cpu_variant()))
        for name in "gh":
            assert "out of memory on the GPU at 10^3 elements" in made.measurement(name, 1000).reason
        assert made.measurement("cpu", 1000).n == 10

    def test_other_errors_are_not_swallowed(self):
        lab = Lab()

        def call(x, out):
            raise RuntimeError("cudaErrorIllegalAddress")

        with pytest.raises(RuntimeError, match="IllegalAddress"):
            lab.run(study_of(Variant("gpu", call)))

    def test_a_rate_that_the_memory_cannot_reach_is_an_error(self):
        lab = Lab()
        much = lab.gpu_variant(ns=100_000, traffic=lambda n, dtype: Traffic(10**10, 10**10))
        with pytest.raises(ImplausibleError, match="physical peak of memory"):
            lab.run(study_of(much))

    def test_pools_are_freed_between_sizes_and_their_size_is_kept(self, monkeypatch):
        lab, freed = Lab(), []
        monkeypatch.setattr(session, "free_pools", lambda space: freed.append(space.name))
        monkeypatch.setattr(session, "pool_bytes", lambda space: 4096)
        lab.run(study_of(lab.gpu_variant(), sizes=(1000, 2000)))
        assert sorted(freed) == ["device", "device", "host", "host"]
        assert lab.session.peak_memory_bytes == 4096


class TestOtherClocks:
    """End to end and first call."""

    def test_end_to_end_gets_host_arrays_unless_it_starts_from_the_gpu_and_has_no_launch(self):
        lab = Lab()
        kernel = lab.gpu.kernel(MS)

        def call(x, out):
            kernel()
            np.add(x, 1, out=out)

        made = lab.run(study_of(Variant("copies", call, clock="end_to_end")))
        assert made.measurement("copies", 1000).median_s >= 1e-3
        assert [cell.clock for cell in made.measurements] == ["end_to_end"]
        copies, there = (Variant("v", np.add, clock="end_to_end", arrays=a) for a in ("cupy", "numba"))
        assert (copies.space, there.space) == ("host", "device")


class TestResults:
    """What a run returns."""

    def test_everything_said_of_the_study_is_in_the_results(self):
        lab = Lab()
        study = study_of(
            lab.gpu_variant(traffic=lambda n, dtype: Traffic(4 * n, 4 * n)), lab.cpu_variant(threads=1),
            sizes=(1000, 2000), input_note="random numbers", size_name="numbers",
        )  # fmt: skip
        made = lab.run(study)
        assert (made.name, made.title, made.size_name, made.dtype) == ("add", "Add one", "numbers", "float32")
        assert (made.input_note, made.tolerance_note) == (
            "random numbers", "4 eps max(|expected|, |operands|)"
        )  # fmt: skip
        assert made.sizes == (1000, 2000)
        assert [info.name for info in made.variants] == ["gpu", "cpu"]
        assert made.variant("gpu").note == "Add one on the fake GPU."
        assert made.variant("gpu").source.startswith("test_study.Lab.gpu_variant")
        assert made.variant("cpu").threads == 1
        assert made.measurement("gpu", 2000).traffic == Traffic(8000, 8000)
        assert made.l2_bytes == EXAMPLE_DEVICE.l2_bytes
        assert lab.session.studies == {"add": made}
        order = [(cell.size, cell.variant) for cell in made.measurements]
        assert order == sorted(order, key=lambda cell: (cell[0], ["gpu", "cpu"].index(cell[1])))

    def test_ceilings_are_measured_for_gpu_variants_with_traffic_and_not_in_quick_runs(self, monkeypatch):
        calls = []
        monkeypatch.setattr(
            "gpuguide.measure.session.measure", lambda gpu, info: calls.append(gpu) or Ceilings()
        )
        lab = Lab()
        moving = lab.gpu_variant(traffic=lambda n, dtype: Traffic(4 * n, 4 * n))
        lab.run(study_of(lab.gpu_variant(), lab.cpu_variant()), session={"ceilings": None})
        lab.run(study_of(moving), quick=True, session={"ceilings": None})
        assert calls == []
        assert lab.run(study_of(moving), session={"ceilings": None}).ceilings == Ceilings()
        assert len(calls) == 1

    def test_sizes_and_variants_can_be_chosen(self):
        lab = Lab()
        made = lab.run(study_of(lab.gpu_variant(), lab.cpu_variant()), sizes=[10, 20], variants=["cpu"])
        assert made.sizes == (10, 20)
        assert [info.name for info in made.variants] == ["cpu"]

    def test_unknown_choices_are_named(self):
        lab = Lab()
        study = study_of(lab.cpu_variant())
        with pytest.raises(UnknownNameError, match=r"Unknown variant 'cpo'. Did you mean 'cpu'"):
            lab.run(study, variants=["cpo"])
        with pytest.raises(ArgumentError, match="sequence of names, such as \\['cpu'\\]; got a string"):
            lab.run(study, variants="cpu")
        with pytest.raises(ArgumentError, match=r"larger than the one before; got \[2, 1\]"):
            lab.run(study, sizes=[2, 1])


class TestWithVariant:
    """The reader's own variant."""

    def test_it_is_added_to_a_new_study_and_gated(self):
        lab = Lab()
        study = study_of(lab.cpu_variant())
        mine = study.with_variant("mine", lambda x, out: None, device="cpu", clock="host")
        assert study.names == ("cpu",)
        assert mine.names == ("cpu", "mine")
        with pytest.raises(MismatchError, match="Variant 'mine'"):
            lab.run(mine)

    def test_a_name_that_is_taken_is_refused(self):
        study = study_of(Lab().cpu_variant())
        with pytest.raises(ArgumentError, match="'add' has a variant 'cpu'; give yours another name"):
            study.with_variant("cpu", lambda x, out: None)


CPU = {"device": "cpu", "clock": "host"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "two words"}, "name must be a word of letters, digits and underscores; got 'two words'"),
        ({"call": 5}, "Variant 'v': call must be callable; got 5"),
        ({"device": "cuda"}, "device must be 'gpu' or 'cpu'; got 'cuda'"),
        ({"clock": "devise"}, r"clock must be .*; got 'devise' \(meant 'device'\?\)"),
        ({"arrays": "cuppy"}, r"arrays must be .*; got 'cuppy' \(meant 'cupy'\?\)"),
        ({"device": "cpu"}, "a CPU variant is timed by clock='host'; got 'device'"),
        ({"clock": "host"}, "clock='host' is for CPU variants"),
        ({"arrays": "host"}, "host arrays need clock='end_to_end'"),
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
        ({"name": "my study"}, "name must be an identifier; got 'my study'"),
        ({"variants": ()}, "variants must be a sequence of at least one Variant"),
        ({"variants": (print,)}, "variants must be a sequence of at least one Variant"),
        ({"variants": (Variant("v", print), Variant("v", max))}, "two variants are named 'v'"),
        ({"sizes": ()}, r"sizes must be integers of at least 1, .*; got \(\)"),
        ({"sizes": (1, 2.5)}, r"sizes must be .*; got \(1, 2.5\)"),
        ({"sizes": (0, 1)}, r"sizes must be .*; got \(0, 1\)"),
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


class TestCheckAll:
    """The gate without a clock."""

    def test_it_checks_every_size_twice_and_skips_what_cannot_run(self):
        lab = Lab(gpu=False)
        gpu = Variant("gpu", print)
        with recording_session(given_machine=lab.machine):
            report = study_of(lab.cpu_variant(), gpu).check_all([0, 1, 33])
        assert [(result.size, result.kind) for result in report] == [
            (size, kind) for size in (0, 1, 33) for kind in ("exact", "random")
        ]
        assert report.skipped == {"gpu": "no GPU on this machine"}
        assert str(report) == "6 checks passed: cpu. Skipped: gpu (no GPU on this machine)."

    def test_variants_and_largest_sizes_are_kept_to(self):
        lab = Lab(gpu=False)
        with recording_session(given_machine=lab.machine):
            report = study_of(lab.cpu_variant("a", max_size=10), lab.cpu_variant("b")).check_all([10, 11])
            assert {(r.variant, r.size) for r in report} == {("a", 10), ("b", 10), ("b", 11)}
            assert {
                r.variant for r in study_of(lab.cpu_variant("a"), lab.cpu_variant("b")).check_all([1], ["b"])
            } == {"b"}

    def test_numba_variants_run_in_the_simulator(self, simulator_python):
        printed = simulator_python(SIMULATED)
        assert printed.splitlines() == [
            "4 checks passed: right. Skipped: cupy (the simulator has no CuPy arrays), "
            "warp (the simulator cannot run it).",
            "Variant 'unguarded' at size 33, exact check: it wrote outside its arrays, after the output. "
            "Check the bounds of its indices.",
        ]


SIMULATED = """
import numpy as np
from gpuguide.machine.backends import cuda, jit
from gpuguide.errors import MismatchError
from gpuguide.measure.study import Study
from gpuguide.measure.plan import Variant

@jit
def kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + 1

def right(x, out):
    "One element a thread."
    kernel[(x.size + 31) // 32, 32](x, out)

def unguarded(x, out):
    kernel[(x.size + 31) // 32, 32](x, out)
    np.lib.stride_tricks.as_strided(out, (x.size + 1,), out.strides)[x.size] = 0

study = Study("add", "Add one", (
    Variant("right", right, arrays="numba"),
    Variant("cupy", right),
    Variant("warp", right, arrays="numba", simulatable=False),
), (33,),
    inputs=lambda n, dtype, rng, exact: (rng.integers(-8, 8, n).astype(dtype),), reference=lambda x: x + 1,
)
print(study.check_all([1, 33]))
try:
    study.with_variant("unguarded", unguarded, arrays="numba").check_all([33])
except MismatchError as error:
    print(error)
"""


class TestDisplay:
    """A study shown as data."""

    def study(self):
        def sort(x, out):
            """Sort <it> & return.

            More.
            """

        traffic = Variant("four", sort, label="Four & more", traffic=lambda n, dtype: Traffic(4 * n, 4 * n))
        return study_of(
            traffic, Variant("cpu", max, threads=2, note="Python.", **CPU), sizes=(1024, 4096),
            input_note="random numbers", baseline="cpu",
        )  # fmt: skip

    def test_text(self):
        assert str(self.study().describe()).splitlines() == [
            "Add one",
            "",
            "variant      runs on         timed by                bytes per element  what it does",
            "Four & more  GPU             GPU time, launch apart  8                  Sort <it> & return.",
            "cpu          CPU, 2 threads  host                                       Python.",
            "",
            "Sizes: 2^10, 4096 elements of float32".replace("4096", "2^12"),
            "Inputs: random numbers",
            "Right means: equal on exact inputs; on random ones within 4 eps max(|expected|, |operands|)",
            "Compared with: cpu",
            "Cache: warm",
        ]
        assert str(self.study()) == str(self.study().describe())
        assert repr(self.study()) == "<Study 'add': 2 variants, 2 sizes, float32>"


def test_a_terminal_gets_a_bar_and_a_log_nothing(capsys, monkeypatch):
    lab = Lab()
    lab.run(study_of(lab.cpu_variant()))
    assert capsys.readouterr() == ("", "")
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    lab.run(study_of(lab.cpu_variant()))
    assert "Add one" in terminal.getvalue()


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
