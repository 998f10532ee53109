"""Work on several GPUs: right results in any order that streams allow, and errors where something lacks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpuguide.errors import ArgumentError, BackendError, MismatchError, NoGpuError
from gpuguide.topics.several_gpus import all_reduce, gpus, peers, stencil
from gpuguide.topics.several_gpus import study as several_gpus
from gpuguide_docs.show.references import parse_reference
from several_gpus_of_numpy import ManyGpus

CUPY_USERS = (gpus, several_gpus, stencil, all_reduce, peers)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ManyGpus]]:
    """Put a machine with some GPUs in CuPy's place; what the topic keeps from call to call is made anew."""
    kept = (gpus._gpu, several_gpus.integrate_kernel, stencil.heat_kernel, stencil.allow_access)

    def forget() -> None:
        for each in kept:
            each.cache_clear()
        stencil.forget()
        all_reduce.forget()

    def make(n: int, **options: Any) -> ManyGpus:
        forget()
        made = ManyGpus(n, **options)
        for module in CUPY_USERS:
            monkeypatch.setattr(module, "cupy", lambda: made)
            monkeypatch.setattr(module, "has_gpu", lambda: True, raising=False)
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


def heat(cp: ManyGpus, advance: Any, on: tuple[gpus.Gpu, ...], n: int) -> tuple[np.ndarray, Any]:
    arrays = stencil.heat_study().make_inputs(n, exact=False)
    out = np.full(stencil.plate(n)[0], np.nan, np.float32)
    stencil.heat_on(lambda: on, advance, *map(cp.here, arrays), cp.here(out))
    return out, stencil.Warmth().prepare(arrays)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [1, 2, 31, 257, 1009])
@pytest.mark.parametrize("n_gpus", [1, 2, 4])
@pytest.mark.parametrize("way", WAYS)
def test_slabs_are_one_plate_in_any_order_that_events_allow(
    machine: Callable[..., ManyGpus], way: str, n_gpus: int, n: int, seed: int
) -> None:
    cp = machine(n_gpus, seed=seed)
    out, prepared = heat(cp, WAYS[way], gpus.some(n_gpus), n)
    stencil.Warmth().compare(out, prepared)
    assert cp.current == 0
    assert not any(stream.queue for stream in cp.streams)


@pytest.mark.parametrize("way", WAYS)
def test_four_slabs_on_one_gpu_are_one_plate(machine: Callable[..., ManyGpus], way: str) -> None:
    cp = machine(1, seed=3)
    out, prepared = heat(cp, WAYS[way], gpus.shares_of_one(4), 1009)
    stencil.Warmth().compare(out, prepared)


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
        out, prepared = heat(cp, without_events, gpus.some(4), 1009)
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


def test_a_small_gpu_gets_a_smaller_plate() -> None:
    assert stencil.largest(10**9) == 4 * stencil.SIZES[0]


# What is lacking ------------------------------------------------------------------------------------------


def test_fewer_gpus_than_asked_for(machine: Callable[..., ManyGpus]) -> None:
    machine(1)
    message = r"This needs 4 GPUs, and 1 is here.*nvidia-smi.*CUDA_VISIBLE_DEVICES"
    with pytest.raises(NoGpuError, match=message):
        several_gpus.shared(4, 0.0, 64, np.zeros(64))
    with pytest.raises(NoGpuError, match="needs 2 GPUs, and 1 is here"):
        all_reduce.by_copies(2, np.zeros(1, np.float32), np.zeros(1, np.float32))
    with pytest.raises(ArgumentError, match="at least 1"):
        gpus.some(0)


def test_rows_of_a_study_say_what_they_need(machine: Callable[..., ManyGpus]) -> None:
    machine(2)
    reasons = {v.name: v.max_size_reason for v in several_gpus.study().variants}
    assert reasons == {"one": "", "two": "", "four": "needs 4 GPUs, and 2 are here"}
    heat_reasons = {v.name: v.max_size_reason for v in stencil.heat_study().variants}
    assert {name for name, why in heat_reasons.items() if why} == {"four", "four_direct"}


def test_without_a_gpu_a_study_describes_all() -> None:
    for make in (several_gpus.study, stencil.heat_study, all_reduce.two_study, all_reduce.four_study):
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
    out, prepared = heat(cp, stencil.copied, gpus.some(2), 64)
    stencil.Warmth().compare(out, prepared)
    assert peers.access().tolist() == [[True, False], [False, True]]


def test_nccl_missing(machine: Callable[..., ManyGpus], monkeypatch: pytest.MonkeyPatch) -> None:
    """With or without a module for it."""
    machine(2)
    for found in (None, SimpleNamespace(available=False)):
        cuda = SimpleNamespace() if found is None else SimpleNamespace(nccl=found)
        monkeypatch.setitem(__import__("sys").modules, "cupy", SimpleNamespace(cuda=cuda))
        monkeypatch.setitem(__import__("sys").modules, "cupy.cuda", cuda)
        with pytest.raises(BackendError, match=r"no NCCL.*pip install nvidia-nccl-cu13"):
            gpus.nccl()
        reasons = [v.max_size_reason for v in all_reduce.two_study().variants]
        assert reasons == ["needs NCCL, which CuPy does not find here", ""]


@pytest.mark.parametrize(
    ("call", "arrays"),
    [
        (several_gpus.shared, (0.0, 64, np.zeros(64, np.float32))),
        (several_gpus.shared, (0.0, 64, np.zeros(63))),
        (stencil.heat_copied, (*(np.zeros(3, np.float32) for _ in range(3)), np.zeros(3))),
        (stencil.heat_direct, (None, None, None, None)),
        (all_reduce.by_copies, (np.zeros(3, np.float32), np.zeros(4, np.float32))),
        (all_reduce.by_nccl, (np.zeros(3), np.zeros(3))),
    ],
)
def test_launchers_refuse_what_does_not_fit(
    machine: Callable[..., ManyGpus], call: Callable[..., Any], arrays: tuple[Any, ...]
) -> None:
    machine(2)
    with pytest.raises(ArgumentError, match=r"must be an? .*array.*; got "):
        call(2, *arrays)


# Sums for all ---------------------------------------------------------------------------------------------


class Communicator:
    """Adds up when all have called, within a group."""

    def __init__(self, group: Any) -> None:
        self.group = group

    def allReduce(self, own: int, total: int, n: int, kind: str, what: str, stream: int) -> None:
        assert (kind, what) == ("float32", "sum")
        self.group.calls.append((own, total, n, stream))


class Nccl:
    """NCCL, as much as is used of it."""

    available, NCCL_FLOAT32, NCCL_SUM = True, "float32", "sum"

    def __init__(self, cp: ManyGpus) -> None:
        self.cp, self.calls, self.open = cp, [], False
        self.NcclCommunicator = SimpleNamespace(initAll=lambda n: [Communicator(self) for _ in range(n)])

    def groupStart(self) -> None:
        self.open = True

    def groupEnd(self) -> None:
        def view(pointer: int, n: int) -> np.ndarray:
            import ctypes

            return np.ctypeslib.as_array(ctypes.cast(pointer, ctypes.POINTER(ctypes.c_float)), (n,))

        assert self.open
        total = sum(view(own, n).copy() for own, _, n, _ in self.calls)
        for _, there, n, _ in self.calls:
            view(there, n)[:] = total
        assert len({stream for *_, stream in self.calls}) == len(self.calls)
        self.calls.clear()


@pytest.mark.parametrize("n", [0, 1, 31, 1021, 1022])
@pytest.mark.parametrize("n_gpus", [2, 4])
@pytest.mark.parametrize("way", ["nccl", "copies"])
def test_every_gpu_gets_the_sum(
    machine: Callable[..., ManyGpus], monkeypatch: pytest.MonkeyPatch, way: str, n_gpus: int, n: int
) -> None:
    cp = machine(n_gpus)
    library = Nccl(cp)
    monkeypatch.setattr(all_reduce, "nccl", lambda: library)
    all_reduce.communicators.cache_clear()
    (x,) = {2: all_reduce.two_study, 4: all_reduce.four_study}[n_gpus]().make_inputs(n, exact=True)
    out = np.full(n, np.nan, np.float32)
    {"nccl": all_reduce.by_nccl, "copies": all_reduce.by_copies}[way](n_gpus, cp.here(x), cp.here(out))
    check = all_reduce.Sums(n_gpus)
    check.compare(out, check.prepare((x,)))
    gpus.wait(gpus.some(n_gpus))
    for gpu in gpus.some(n_gpus)[1:]:
        assert n == 0 or (all_reduce._memory(gpu, "sum", n) == out).all()
    all_reduce.communicators.cache_clear()


def test_bytes_on_the_bus_are_counted_as_nccl_counts_them() -> None:
    assert [all_reduce.bus_bytes(n, 1000) for n in (1, 2, 4)] == [0, 4000, 6000]


# The page -------------------------------------------------------------------------------------------------

PAGE = Path(__file__).parents[2] / "examples" / "concurrency" / "several_gpus.py"
#: Facts of a drawn cell.
DRAWN = {"at_that_pace"}


def numbers() -> dict[int, set[str]]:
    """What the page's numbers refer to, by how many GPUs the part needs in which they stand."""
    found: dict[int, set[str]] = {}
    needs = 1
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if part := re.fullmatch(r"# \.\. needs-gpus:: (\d+)", line):
            needs = int(part[1])
        elif not re.fullmatch(r"#|#    .*", line):
            needs = 1
        found.setdefault(needs, set()).update(re.findall(r":measured:`([^`]+)`", line))
    return found


def facts_of(n_gpus: int) -> set[str]:
    ends = [(i, j) for i in range(n_gpus) for j in range(n_gpus)]
    made = {f"{way}_{i}_{j}" for way in ("push", "pull", "host") for i, j in ends}
    made |= {f"staged_{i}_{j}" for i, j in ends if i != j}
    more = {"used_there", "other_array", "cupy_follows", "numba_follows"} if n_gpus > 1 else set()
    return made | more | {"used_here"} | DRAWN


@pytest.mark.parametrize("n_gpus", [1, 2, 4])
def test_every_number_of_a_part_is_measured_on_its_machine(
    machine: Callable[..., ManyGpus], n_gpus: int
) -> None:
    """No machine with several GPUs can be had often, so a wrong name would be found late."""
    machine(n_gpus)
    made = (several_gpus.study, stencil.heat_study, all_reduce.two_study, all_reduce.four_study)
    studies = {each().name: each() for each in made}
    assert numbers()[n_gpus]
    for text in numbers()[n_gpus]:
        number = parse_reference(text)
        if number.kind == "fact":
            assert number.name in facts_of(n_gpus)
            continue
        study = studies[number.name]
        # NCCL is not here: what it needs besides is another matter.
        for name in {number.variant, number.baseline or number.variant}:
            assert study.variant(name).max_size_reason in ("", all_reduce.no_nccl()), text
        assert number.size in study.sizes
        assert not number.work or number.work in study.variant(number.variant).work
