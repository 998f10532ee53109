"""Work on several GPUs: right results in any order that streams allow, and errors where something lacks."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpuguide.errors import ArgumentError, BackendError, MismatchError, NoGpuError
from gpuguide.topics.several_gpus import all_reduce, gpus, peers, stencil, workers
from gpuguide.topics.several_gpus import study as several_gpus
from gpuguide_docs.pages.cells import read_cells
from gpuguide_docs.show.references import parse_reference
from several_gpus_of_numpy import ManyGpus

CUPY_USERS = (gpus, several_gpus, stencil, all_reduce, peers)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ManyGpus]]:
    """Put a machine with some GPUs in CuPy's place; what the topic keeps from call to call is made anew."""
    kept = (
        *(gpus._gpu, several_gpus.integrate_kernel, stencil.heat_kernel, stencil.allow_neighbours),
        *(all_reduce.communicators, all_reduce._own),
    )

    def forget() -> None:
        for each in kept:
            each.cache_clear()

    def make(n: int, **options: Any) -> ManyGpus:
        forget()
        made = ManyGpus(n, **options)
        for module in CUPY_USERS:
            monkeypatch.setattr(module, "cupy", lambda: made)
            monkeypatch.setattr(module, "has_gpu", lambda: True, raising=False)
        monkeypatch.setattr(all_reduce, "nccl", lambda: made.cuda.nccl)
        monkeypatch.setattr(peers, "pinned", lambda n: np.ones(n, np.int64))
        return made

    yield make
    forget()


# Shares ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 3, 64, 65])
@pytest.mark.parametrize("n_gpus", [1, 2, 3, 4, 8])
def test_shares_are_about_equal_and_leave_nothing_out(n: int, n_gpus: int) -> None:
    cuts = list(gpus.cut(n, (None,) * n_gpus))  # type: ignore[arg-type]
    assert [begin for begin, _ in cuts] == [0, *(end for _, end in cuts[:-1])]
    assert cuts[-1][1] == n
    lengths = [end - begin for begin, end in cuts]
    assert max(lengths) - min(lengths) <= 1


@pytest.mark.parametrize("n", [0, 1, 3, 63, 64, 1009, 2**16 + 5])
@pytest.mark.parametrize("n_gpus", [1, 2, 4])
def test_the_areas_are_those_of_the_pieces(machine: Callable[..., ManyGpus], n: int, n_gpus: int) -> None:
    cp = machine(n_gpus)
    out = cp.here(np.full(several_gpus.pieces(n), np.nan))
    several_gpus.shared(n_gpus, 0.25, n, out)
    check = several_gpus.Areas()
    check.compare(np.array(out), check.prepare((0.25, n)))
    assert set(cp.ran) == (set(range(n_gpus)) if n else set())


def test_four_gpus_do_not_wait_for_each_other_before_all_are_asked(machine: Callable[..., ManyGpus]) -> None:
    cp = machine(4)
    several_gpus.shared(4, 0.0, 64, cp.here(np.zeros(64)))
    assert cp.ran == [0, 1, 2, 3]


@pytest.mark.parametrize("wrong", [1e-6, np.nan])
def test_a_wrong_area_is_named(wrong: float) -> None:
    check = several_gpus.Areas()
    prepared = check.prepare((0.0, 2**24))
    output = prepared[0].copy()
    output[7] += wrong
    with pytest.raises(MismatchError, match="Piece 7 is wrong"):
        check.compare(output, prepared)


def test_pi_is_the_sum_of_the_pieces() -> None:
    assert several_gpus.areas_reference(0.0, 2**24).sum() == pytest.approx(np.pi, rel=1e-14)


# The plate ------------------------------------------------------------------------------------------------

WAYS = {"copied": stencil.copied, "direct": stencil.direct}


def heat(cp: ManyGpus, advance: Any, n_gpus: int, n: int) -> tuple[np.ndarray, Any]:
    arrays = stencil.heat_study().make_inputs(n, exact=False)
    out = np.full(stencil.plate(n)[0], np.nan, np.float32)
    stencil.heat_on(n_gpus, advance, *map(cp.here, arrays), cp.here(out))
    return out, stencil.Warmth().prepare(arrays)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [1, 2, 31, 257, 1009])
@pytest.mark.parametrize("n_gpus", [1, 2, 4])
@pytest.mark.parametrize("way", WAYS)
def test_slabs_are_one_plate_in_any_order_that_events_allow(
    machine: Callable[..., ManyGpus], way: str, n_gpus: int, n: int, seed: int
) -> None:
    cp = machine(n_gpus, seed=seed)
    out, prepared = heat(cp, WAYS[way], n_gpus, n)
    stencil.Warmth().compare(out, prepared)
    assert cp.current == 0
    assert not any(stream.queue for stream in cp.streams)


def without_events(slabs: list[stencil.Slab]) -> None:
    """Forget that a neighbour may still be at work."""
    for g, slab in enumerate(slabs):
        with slab.gpu.device, slab.gpu.stream as stream:
            if g > 0:
                stencil.fetch(slab.above, slabs[g - 1].now[-1], stream)
            if g < len(slabs) - 1:
                stencil.fetch(slab.below, slabs[g + 1].now[0], stream)
    for slab in slabs:
        with slab.gpu.device, slab.gpu.stream:
            stencil.step(slab, slab.above, slab.below)
        slab.finish()


def test_the_order_that_an_event_keeps_is_missed(machine: Callable[..., ManyGpus]) -> None:
    """Otherwise the tests above would show nothing."""
    wrong = 0
    for seed in range(5):
        cp = machine(4, seed=seed)
        out, prepared = heat(cp, without_events, 4, 1009)
        try:
            stencil.Warmth().compare(out, prepared)
        except MismatchError:
            wrong += 1
    assert wrong >= 3


@pytest.mark.parametrize("n", [0, 1, 17, 257, 2**20, 2**21])
def test_a_plate_has_no_more_cells_than_asked_for(n: int) -> None:
    rows, columns = stencil.plate(n)
    assert rows * columns <= n
    assert rows * columns > n - columns


# What is lacking ------------------------------------------------------------------------------------------


STUDIES = (several_gpus.study, stencil.heat_study, all_reduce.sums_study)


def test_fewer_gpus_than_asked_for(machine: Callable[..., ManyGpus]) -> None:
    machine(1)
    message = r"This needs 4 GPUs, and 1 is here.*nvidia-smi.*CUDA_VISIBLE_DEVICES"
    with pytest.raises(NoGpuError, match=message):
        several_gpus.shared(4, 0.0, 64, np.zeros(64))
    with pytest.raises(NoGpuError, match="needs 2 GPUs, and 1 is here"):
        peers.measured(64)
    with pytest.raises(ArgumentError, match="at least 1"):
        gpus.some(0)


def test_rows_of_a_study_say_what_they_need(machine: Callable[..., ManyGpus]) -> None:
    machine(1)
    for study in (make() for make in STUDIES):
        for variant in study.variants:
            assert ("GPUs, and 1 is here" in variant.max_size_reason) == (variant.name != "one")


def test_without_a_gpu_a_study_describes_all() -> None:
    for make in STUDIES:
        assert not any(v.max_size_reason for v in make().variants)


def test_peer_access_denied(machine: Callable[..., ManyGpus]) -> None:
    """Edges are copied all the same; what reads them in place says that it cannot."""
    cp = machine(2, peers=False)
    arrays = [*stencil.heat_study().make_inputs(64, exact=True), np.zeros(8, np.float32)]
    with pytest.raises(BackendError, match=r"GPU 0 has no access to the memory of GPU 1.*Copy the edges"):
        stencil.heat_direct(2, *arrays)
    reasons = {v.name: v.max_size_reason for v in stencil.heat_study().variants}
    assert reasons["two"] == ""
    assert reasons["two_direct"].startswith("GPU 0 has no access to the memory of GPU 1")
    out, prepared = heat(cp, stencil.copied, 2, 64)
    stencil.Warmth().compare(out, prepared)


def test_nccl_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """With or without a module for it."""
    monkeypatch.setattr(all_reduce, "has_gpu", lambda: True)
    for found in (None, SimpleNamespace(available=False)):
        cuda = SimpleNamespace() if found is None else SimpleNamespace(nccl=found)
        monkeypatch.setitem(__import__("sys").modules, "cupy", SimpleNamespace(cuda=cuda))
        monkeypatch.setitem(__import__("sys").modules, "cupy.cuda", cuda)
        with pytest.raises(BackendError, match=r"no NCCL.*pip install nvidia-nccl-cu13"):
            gpus.nccl()
        assert all_reduce.no_nccl() == "needs NCCL, which CuPy does not find here"


@pytest.mark.parametrize(
    ("call", "arrays"),
    [
        (several_gpus.shared, (0.0, 64, np.zeros(64, np.float32))),
        (several_gpus.shared, (0.0, 64, np.zeros(63))),
        (stencil.heat_copied, (*(np.zeros(3, np.float32) for _ in range(3)), np.zeros(3))),
        (stencil.heat_direct, (None, None, None, None)),
        (
            partial(all_reduce.summed, all_reduce.by_copies),
            (np.zeros(3, np.float32), np.zeros(4, np.float32)),
        ),
        (partial(all_reduce.summed, all_reduce.by_nccl), (np.zeros(3), np.zeros(3))),
    ],
)
def test_launchers_refuse_what_does_not_fit(
    machine: Callable[..., ManyGpus], call: Callable[..., Any], arrays: tuple[Any, ...]
) -> None:
    machine(2)
    with pytest.raises(ArgumentError, match=r"must be an? .*array.*; got "):
        call(2, *arrays)


# Sums for all ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [0, 1, 31, 1021, 1022])
@pytest.mark.parametrize("n_gpus", [2, 4])
@pytest.mark.parametrize("way", [all_reduce.by_nccl, all_reduce.by_copies])
def test_every_gpu_gets_the_sum(
    machine: Callable[..., ManyGpus], way: Callable[..., None], n_gpus: int, n: int, seed: int
) -> None:
    cp = machine(n_gpus, seed=seed)
    (x,) = all_reduce.sums_study().make_inputs(n, exact=True)
    arrays = all_reduce.arrays_on(gpus.some(n_gpus), cp.here(x), cp.here(np.full(n, np.nan, np.float32)))
    way(arrays)
    gpus.wait(gpus.some(n_gpus))
    for _, _, total in arrays:
        assert (np.array(total) == all_reduce.sum_of_all(n_gpus, x)).all()


@pytest.mark.gpu
@pytest.mark.parametrize("way", [all_reduce.by_nccl, all_reduce.by_copies])
def test_every_gpu_of_this_machine_gets_the_sum(way: Callable[..., None]) -> None:
    """A study looks at the sum on GPU 0 alone."""
    if gpus.count() < 2:
        pytest.skip("needs two GPUs")
    cp = gpus.cupy()
    (x,) = all_reduce.sums_study().make_inputs(2**24 + 5, exact=True)
    on, out = gpus.some(gpus.count()), cp.zeros(len(x), np.float32)
    arrays = all_reduce.arrays_on(on, cp.asarray(x), out)
    way(arrays)
    gpus.wait(on)
    for gpu, _, total in arrays:
        with gpu.device:
            assert (total.get() == all_reduce.sum_of_all(len(on), x)).all()


def test_what_the_other_gpus_add_is_right_beyond_2_to_the_24() -> None:
    """Counted in float32, the numbers would repeat there, and the sum that is expected would be wrong."""
    n = 2**24 + 2042
    assert (all_reduce.numbers(np, n, 1)[-1021:] == (np.arange(n - 1021, n) % 1021) + 1).all()


def test_bytes_on_the_bus_are_counted_as_nccl_counts_them() -> None:
    assert [all_reduce.bus_bytes(n, 1000) for n in (1, 2, 4)] == [0, 4000, 6000]


# Copies ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_copies_arrive_and_each_has_a_rate(machine: Callable[..., ManyGpus], seed: int) -> None:
    machine(2, seed=seed)
    rates, warning = peers.measured(800)
    assert set(rates) == COPIES
    assert {len(samples) for samples in rates.values()} == {5}
    assert rates["both_ways"] == [2 * rate for rate in rates["direct"]]
    assert "different" in warning


def test_a_copy_that_does_not_arrive_is_an_error(machine: Callable[..., ManyGpus]) -> None:
    cp = machine(2)
    cp.cuda.runtime.memcpyPeerAsync = lambda *_: None
    with pytest.raises(MismatchError, match=r"from GPU 0 to GPU 1 differs"):
        peers.rates(800)


def test_links_are_counted_until_there_is_none(
    machine: Callable[..., ManyGpus], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine(2)

    def state(handle: str, link: int) -> int:
        if link == 12:
            raise ValueError
        return link != 3

    library = SimpleNamespace(
        NVMLError=ValueError, nvmlDeviceGetHandleByPciBusId=lambda bus: bus, nvmlDeviceGetNvLinkState=state
    )
    monkeypatch.setattr(peers, "nvml", lambda: library)
    assert peers.links() == 11
    monkeypatch.setattr(peers, "nvml", lambda: None)
    assert peers.links() == 0


# The page -------------------------------------------------------------------------------------------------

PAGE = Path(__file__).parents[2] / "examples" / "concurrency" / "several_gpus.py"
COPIES = {
    "within",
    "direct",
    "direct_back",
    "both_ways",
    "staged",
    "pinned",
    "pageable",
    "used_here",
    "used_there",
}


def test_open_cells_of_the_page_run_on_two_gpus(
    machine: Callable[..., ManyGpus], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No machine with several GPUs can be had often, so a mistake would be found late."""
    cp = machine(2, seed=1)

    class Client:
        """Runs a worker's call here, on the worker's GPU."""

        def __init__(self, cluster: Any) -> None:
            self.close, self.wait_for_workers = (lambda: None), (lambda n, timeout: None)
            self.run, self.gather = (lambda call, k, workers: None), list

        def nthreads(self) -> dict[str, int]:
            return {"tcp://a": 1, "tcp://b": 1}

        def map(self, call: Callable[..., Any], parts: range, **options: Any) -> Iterator[Any]:
            for k in parts:
                with cp.cuda.Device(k):
                    yield call(k, **options)

    dask = SimpleNamespace(Client=Client, SubprocessCluster=lambda **_: SimpleNamespace(close=lambda: None))
    shown = {"cupy": cp, "cupy.cuda": cp.cuda, "dask": SimpleNamespace(), "dask.distributed": dask}
    for name, module in shown.items():
        monkeypatch.setitem(sys.modules, name, module)
    names: dict[str, Any] = {"HEAT_SOURCE": "", "np": np}
    for cell in read_cells(PAGE):
        if cell.kind == "recorded" and cell.place == "open":
            exec(compile(cell.content, PAGE, "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "2 found; x is on GPU 0 and y on GPU 1"
    assert printed[3] == "[0 2 4 6 8] is on GPU 1 with 1 warning(s)"
    figures = {line.split(":")[0].strip(): line.split(":")[1].strip() for line in printed if ":" in line}
    for way in ("one GPU", "all GPUs", "Dask"):
        assert float(figures[way]) == pytest.approx(np.pi)
    assert figures["4 slab(s)"] == figures["1 slab(s)"]
    assert figures["GPU"] == figures["NumPy"] == "[3. 3. 3.]"


def test_every_number_of_the_page_is_measured(machine: Callable[..., ManyGpus]) -> None:
    machine(2)
    text = PAGE.read_text(encoding="utf-8")
    stated = set(re.findall(r'gg\.fact\("(\w+)"', text))
    facts = COPIES | stated | {"links", "cupy_follows", "numba_follows", "task", "home", "stay"}
    studies = {study.name: study for study in (make() for make in (*STUDIES, workers.dask_study))}
    for reference in map(parse_reference, re.findall(r":measured:`([^`]+)`", text)):
        if reference.kind == "fact":
            assert reference.name in facts
            continue
        study = studies[reference.name]
        for name in {reference.variant, reference.baseline or reference.variant}:
            assert study.variant(name).max_size_reason == ""
        assert reference.size in study.sizes
        assert not reference.work or reference.work in study.variant(reference.variant).work
