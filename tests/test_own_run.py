"""A reader's own run, on invented machines: sizes that fit, what Ctrl-C keeps, the file of the run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fake_clock import FakeGpu, FakeHost
from gpuguide import own_run
from gpuguide.machine.device import EXAMPLE_DEVICE, ClockReading
from gpuguide.machine.memory import HOST, Space
from gpuguide.measure.plan import Variant
from gpuguide.measure.session import Machine, Session
from gpuguide.measure.study import Study
from gpuguide.own_run import INTERRUPTED, OwnRunner, PageRun, within_free_memory
from gpuguide.recordings import plain, store
from gpuguide.results.ceilings import Ceilings
from gpuguide.run_bar import RunBar

SIZES = (2**10, 2**18, 2**22)


def inputs(n, dtype, rng, exact):
    return (rng.integers(-8, 8, n).astype(dtype) if exact else rng.random(n).astype(dtype),)


class Lab:
    """A study on a fake machine; the GPU, if there is one, lets only so many elements through."""

    def __init__(self, gpu=True, gpu_elements=2**40, stop_at=None, cpu_factor=1):
        host = FakeHost()
        fake = FakeGpu(host) if gpu else None

        def on_cpu(x, out):
            if x.size == stop_at:
                raise KeyboardInterrupt
            host.advance(1000 + cpu_factor * x.size // 4)
            np.add(x, 1, out=out)

        def on_gpu(x, out):
            if x.size > gpu_elements:
                raise MemoryError("out of memory allocating")
            fake.kernel(100_000)()
            np.add(x, 1, out=out)

        variants = (Variant("gpu", on_gpu), Variant("cpu", on_cpu, device="cpu", clock="host"))
        self.study = Study("add", "Add one", variants, SIZES, inputs, lambda x: x + 1)
        spaces = {"host": HOST, "device": Space("device", np)} if gpu else {"host": HOST}
        machine = Machine(fake, EXAMPLE_DEVICE if gpu else None, spaces, ClockReading, host)
        self.session = Session(given_machine=machine, clock=host, ceilings=Ceilings())

    def run(self, sizes=SIZES, **options):
        self.counted = []
        self.runner = OwnRunner(
            self.study,
            self.session,
            self.study.variants,
            sizes,
            advance=lambda cells, words: self.counted.append((cells, words)),
            **options,
        )
        return self.runner.run()


def measured(results, variant="cpu"):
    return [
        cell.size
        for cell in results.measurements
        if cell.variant == variant and cell.clock != "launch" and cell.n
    ]


def test_all_sizes_are_measured_and_counted():
    lab = Lab()
    assert measured(lab.run()) == list(SIZES)
    assert lab.counted[0] == (2, "2^10 elements")
    assert sum(cells for cells, _ in lab.counted) == 2 * len(SIZES)


def test_what_the_host_s_memory_cannot_hold_is_left_out_with_the_reason(tmp_path: Path):
    """Linux would hand it out, and end the program when it is written to."""
    meminfo(tmp_path, free_kb=300_000)
    with within_free_memory(tmp_path):
        results = Lab(gpu=False).run((2**10, 2**28))
    assert measured(results) == [2**10]
    assert "out of memory at 2^28 elements" in results.measurement("cpu", 2**28).reason
    assert np.ones(500_000_000, np.uint8).size  # the limit has gone


def test_on_a_small_gpu_the_cpu_goes_on():
    results = Lab(gpu_elements=2**18).run()
    assert measured(results, "gpu") == [2**10, 2**18]
    assert "out of memory on the GPU at 2^22 elements" in results.measurement("gpu", 2**22).reason
    assert measured(results) == list(SIZES)


def test_without_a_gpu_the_cpu_variants_run():
    results = Lab(gpu=False).run()
    assert measured(results) == list(SIZES)
    assert results.measurement("gpu", 2**10).reason == "no GPU on this machine"


def test_an_interruption_keeps_the_sizes_that_are_done():
    lab = Lab(stop_at=2**18)
    results = lab.run()
    assert lab.runner.interrupted
    assert measured(results) == [2**10]
    assert {check.size for check in results.checks} == {2**10}
    assert results.measurement("gpu", 2**22).reason == INTERRUPTED


@pytest.mark.parametrize(
    ("sizes", "expected"), [(SIZES, [2**10, 2**18]), ((2**24,), [2**18]), ((2**24 + 1,), [])]
)
def test_a_quick_run_takes_sizes_that_fit_its_seconds(sizes, expected):
    """If the first does not, a smaller one, of which squares and cubes stay squares and cubes."""
    results = Lab().run(sizes, quick=True, seconds=0.4, most_seconds=1, now=lambda: 0.0)
    assert measured(results) == expected
    assert results.quick
    assert "quick run" in results.measurement("cpu", sizes[-1]).reason


def test_a_slow_variant_costs_the_others_no_size_of_a_quick_run():
    """A loop in Python, at a million elements."""
    results = Lab(cpu_factor=100).run(quick=True, seconds=1.4, now=lambda: 0.0)
    assert measured(results) == list(SIZES[:-1])
    assert measured(results, "gpu") == list(SIZES)
    assert "too slow" in results.measurement("cpu", SIZES[-1]).reason


def test_a_run_is_written_as_a_recording_s_and_read_back(tmp_path: Path):
    lab = Lab()
    page = PageRun("first_kernel", lab.session)
    page.measure(lab.study)
    run = page.run()
    path = tmp_path / "mine.json"
    path.write_text(store.dumps_run(run))
    assert store.load(path) == store.load(str(path)) == store._recording(run)
    assert (run.machine, run.provenance.gpu) == ("nvidia-h200", "NVIDIA H200")
    # The same topic and harness as the guide's recording, and no cells of a page.
    assert dict(run.key.topics) == dict(store.load("first_kernel").key.topics)
    assert plain.loads(store._File, path.read_bytes(), "").with_ceilings == ("add",)


def test_the_time_left_follows_from_the_time_spent():
    """What is left out for want of a GPU does not count."""
    seconds = iter((0, 20, 20))
    bar = RunBar(15, now=lambda: next(seconds))
    assert bar.left == ""
    bar.skip(5)
    with bar.study("Add one") as advance:
        advance(2, "2^10 elements")
    assert bar.left == "about 80 s left"
    bar.skip(-10)
    assert bar.left == "about 3 min left"


def meminfo(root, free_kb):
    (root / "proc").mkdir()
    (root / "proc" / "meminfo").write_text(f"MemTotal: 9 kB\nMemAvailable:    {free_kb} kB\n")


@pytest.mark.parametrize(("limit", "expected"), [(None, 8_192_000), ("4000", 3000), ("max", 8_192_000)])
def test_free_memory_is_that_of_the_container(limit, expected, tmp_path):
    meminfo(tmp_path, 8000)
    if limit:
        group = tmp_path / "sys" / "fs" / "cgroup"
        group.mkdir(parents=True)
        (group / "memory.max").write_text(f"{limit}\n")
        (group / "memory.current").write_text("1000\n")
    assert own_run._free_host_bytes(tmp_path) == expected


def test_what_the_guide_s_cpu_took_counts_for_the_first_size():
    results = Lab(gpu=False).run(quick=True, seconds=1, most_seconds=1, guide_s={"cpu": (2**10, 0.2)})
    assert results.sizes == (2**4, *SIZES)
