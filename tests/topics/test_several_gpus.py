"""Work on several GPUs: right results in any order that streams allow, and errors where something lacks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpuguide.errors import BackendError, MismatchError, NoGpuError
from gpuguide.topics.several_gpus import all_reduce, peers, stencil
from gpuguide.topics.several_gpus import study as several_gpus
from gpuguide_docs.pages.cells import read_cells
from several_gpus_of_numpy import Kernel, ManyGpus

PAGE = Path(__file__).parents[2] / "examples" / "concurrency" / "several_gpus.py"
STUDIES = (several_gpus.integral, stencil.heat, all_reduce.sums)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ManyGpus]]:
    """Put a machine with some GPUs in CuPy's place; what the topic keeps from call to call is made anew."""
    modules = (several_gpus, stencil, all_reduce, peers)

    def forget() -> None:
        for kept in (thing for module in modules for thing in filter(callable, vars(module).values())):
            getattr(kept, "cache_clear", lambda: None)()

    def make(n: int, **options: Any) -> ManyGpus:
        forget()
        gpus = ManyGpus(n, **options)
        for module in modules:
            monkeypatch.setattr(module, "cp", gpus)
        monkeypatch.setattr(several_gpus, "has_gpu", lambda: True)
        monkeypatch.setattr(all_reduce, "nccl", lambda: gpus.cuda.nccl)
        monkeypatch.setattr(peers, "pinned", lambda n: np.ones(n, np.int64))
        return gpus

    yield make
    forget()


# Work that falls into parts --------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "n_gpus"), [(1, 3), (1009, 2), (2**16 + 5, 3)])
def test_the_areas_are_those_of_the_pieces(machine: Callable[..., ManyGpus], n: int, n_gpus: int) -> None:
    cp = machine(n_gpus)
    out = cp.here(np.full(64, np.nan))
    several_gpus.shared(n_gpus, 0.25, n, out)
    check = several_gpus.Near(several_gpus.areas_reference)
    check.compare(np.array(out), check.prepare((0.25, n)))
    assert cp.ran == list(range(n_gpus))


# The plate -------------------------------------------------------------------------------------------------


def heat(cp: ManyGpus, advance: Any, n_gpus: int, n: int) -> None:
    """Let the heat flow on some GPUs, and compare with one plate."""
    arrays = stencil.heat.make_inputs(n, exact=False)
    out = cp.here(np.full(stencil.plate(n)[0], np.nan, np.float32))
    stencil.heat_on(n_gpus, advance, *map(cp.here, arrays), out)
    several_gpus.Near(stencil.heat_reference).compare(np.array(out), stencil.heat_reference(*arrays))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n", "n_gpus"), [(5, 2), (31, 1), (257, 2), (1009, 4)])
@pytest.mark.parametrize("advance", [stencil.copied, stencil.direct])
def test_slabs_are_one_plate_in_any_order_that_events_allow(
    machine: Callable[..., ManyGpus], advance: Any, n_gpus: int, n: int, seed: int
) -> None:
    cp = machine(n_gpus, seed=seed)
    heat(cp, advance, n_gpus, n)
    assert cp.current == 0
    assert not any(stream.queue for stream in cp.streams)


# Sums for all ----------------------------------------------------------------------------------------------


def spread(way: Callable[..., None], n_gpus: int, x: Any, out: Any) -> list[np.ndarray]:
    """Add up by a way, and give the sums of all GPUs: a study looks at that of GPU 0 alone."""
    seen: list[Any] = []
    all_reduce.summed(lambda arrays: (seen.extend(arrays), way(arrays)), n_gpus, x, out)
    sums = []
    for gpu, _, total in seen:
        with gpu.device:
            sums.append(total.get())
    return sums


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n", "n_gpus"), [(1, 3), (1021, 2), (1022, 3)])
@pytest.mark.parametrize("way", [all_reduce.by_nccl, all_reduce.by_copies])
def test_every_gpu_gets_the_sum(
    machine: Callable[..., ManyGpus], way: Callable[..., None], n_gpus: int, n: int, seed: int
) -> None:
    cp = machine(n_gpus, seed=seed)
    (x,) = all_reduce.sums.make_inputs(n, exact=True)
    sums = spread(way, n_gpus, cp.here(x), cp.here(np.full(n, np.nan, np.float32)))
    assert len(sums) == n_gpus
    assert all((total == all_reduce.sum_of_all(n_gpus, x)).all() for total in sums)


# Copies ----------------------------------------------------------------------------------------------------


def test_a_copy_that_does_not_arrive_is_an_error(machine: Callable[..., ManyGpus]) -> None:
    cp = machine(2)
    cp.cuda.runtime.memcpyPeerAsync = lambda *_: None
    with pytest.raises(MismatchError, match="from GPU 0 to GPU 1 differs"):
        peers.rates(800)


# What is lacking -------------------------------------------------------------------------------------------


def test_fewer_gpus_than_asked_for(machine: Callable[..., ManyGpus]) -> None:
    machine(1)
    with pytest.raises(NoGpuError, match=r"needs 2 GPUs, .* sees 1.*nvidia-smi.*CUDA_VISIBLE_DEVICES"):
        several_gpus.shared(2, 0.0, 64, np.zeros(64))
    for variant in (variant for study in STUDIES for variant in study.variants):
        assert ("needs 2 GPUs" in variant.why_missing()) == (variant.name != "one")


def test_without_nccl_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = SimpleNamespace(nccl=SimpleNamespace(available=False))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))
    monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)
    with pytest.raises(BackendError, match=r"no NCCL.*pip install nvidia-nccl-cu13"):
        all_reduce.nccl()


# The page --------------------------------------------------------------------------------------------------


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
            sent = [call.__globals__.get(name) for name in call.__code__.co_names]
            assert not any(isinstance(value, Kernel) for value in sent), "a kernel cannot be sent"
            for k in parts:
                with cp.cuda.Device(k):
                    yield call(k, **options)

    dask = SimpleNamespace(Client=Client, SubprocessCluster=lambda **_: SimpleNamespace(close=lambda: None))
    shown = {"cupy": cp, "cupy.cuda": cp.cuda, "dask": SimpleNamespace(), "dask.distributed": dask}
    for name, module in shown.items():
        monkeypatch.setitem(sys.modules, name, module)
    names: dict[str, Any] = {"HEAT_SOURCE": "", "np": np}
    for cell in read_cells(PAGE):
        if cell.kind == "recorded" and cell.place != "end":
            exec(compile(cell.content, PAGE, "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "2 found; x is on GPU 0 and y on GPU 1"
    assert printed[3] == "[0 2 4 6 8] is on GPU 1 with 1 warning(s)"
    figures = {line.split(":")[0].strip(): line.split(":")[1].strip() for line in printed if ":" in line}
    for way in ("one GPU", "all GPUs", "Dask"):
        assert float(figures[way]) == pytest.approx(np.pi)
    assert figures["4 slab(s)"] == figures["1 slab(s)"]
    assert figures["GPU"] == figures["NumPy"] == "[3. 3. 3.]"
