"""The integral through Dask: its parts go to workers, each of which is a process with a GPU of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gpuguide.errors import BackendError, MismatchError
from gpuguide.machine import launch
from gpuguide.machine.backends import cupy, has_gpu
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant
from gpuguide.measure.session import current
from gpuguide.measure.study import Study
from gpuguide.measure.timing import end_to_end_timer
from gpuguide.measure.turns import gpu_clock, in_turns
from gpuguide.topics.several_gpus.gpus import count
from gpuguide.topics.several_gpus.kernels import INTEGRATE_SOURCE
from gpuguide.topics.several_gpus.study import (
    PIECES,
    Areas,
    on_gpus,
    pieces,
    plan,
    points,
    shared,
)

TIME_LIMIT_S = 60.0
"""After which a result that does not come is an error: a worker may hang, and Dask would wait for ever."""
SIZES = (2**24, 2**35)
N_TASKS = 50
HOME_BYTES = 2**27


def client() -> Any:
    """Give the Dask client of this process."""
    try:
        from distributed import default_client
    except ImportError:
        raise BackendError(
            "Dask's scheduler and workers are missing: pip install 'dask[array]' distributed"
        ) from None
    try:
        found = default_client()
    except ValueError:
        raise BackendError(
            "There is no Dask client here. Make one first: Client('tcp://HOST:8786')."
        ) from None
    if not found.nthreads():
        raise BackendError(
            "No worker is connected to the scheduler. Start one: dask worker ADDRESS."
        )
    return found


def areas_of(numbers: Any, first: float, slices: int, each: int, source: str) -> Any:
    """Integrate some pieces on the GPU of the worker that runs this; they are given by their numbers."""
    import cupy as cp

    integrate = cp.ElementwiseKernel(
        "float64 left, int64 points, float64 step", "float64 area", source, "integrate"
    )
    width = 1 / PIECES / slices
    left = first + (cp.asarray(numbers)[:, None] * slices + cp.arange(slices)) * width
    return cp.asnumpy(integrate(left, each, width / each).sum(axis=1))


def by_dask(parts_per_worker: int, first: float, n: int, out: Any) -> None:
    """Cut the pieces into blocks of a Dask array, and let the workers integrate them."""
    launch.check(out=out, shape=(pieces(n),), dtype="float64")
    if not n:
        return
    import dask.array as da

    slices, each = plan(n)
    length = max(1, pieces(n) // (len(client().nthreads()) * parts_per_worker))
    numbers = da.arange(pieces(n), chunks=length)
    areas = numbers.map_blocks(
        areas_of, first, slices, each, INTEGRATE_SOURCE, dtype=float, meta=np.empty(0)
    )
    found = client().compute(areas).result(timeout=TIME_LIMIT_S)
    cupy().asarray(out).set(found)


def in_one_process(first: float, n: int, out: Any) -> None:
    """Share the pieces out among all GPUs of this machine, without Dask."""
    shared(max(1, count()), first, n, out)


def dask_study(kernels: Kernels = None) -> Study:
    """Describe the integral in one process, and through Dask with one task per worker and with sixteen."""
    return Study(
        name="workers",
        title="The integral in one process, and through Dask",
        variants=(
            _variant("in_one_process", in_one_process, "one process"),
            _variant("dask", partial(by_dask, 1), "Dask, one task per worker", _missing()),
            _variant("dask_16", partial(by_dask, 16), "Dask, 16 tasks per worker", _missing()),
        ),
        sizes=SIZES,
        inputs=lambda n, dtype, rng, exact: ((0.0 if exact else float(rng.random())), n),
        check=Areas(),
        output=lambda n, dtype: ((pieces(n),), np.float64),
        dtype="float64",
        size_name="points",
        input_note="where the first piece begins, at random; all else is made on the GPUs",
        baseline="in_one_process",
        kernels=kernels,
    )


def _variant(name: str, call: Callable[..., Any], label: str, missing: str = "") -> Variant:
    return on_gpus(name, call, label, missing, work={"points": points})


def _missing() -> str:
    """Say what Dask lacks here; nothing where there is no GPU, as for all studies."""
    if not has_gpu():
        return ""
    try:
        client()
    except BackendError:
        return "needs Dask, with a client and a worker"
    return ""


def costs(n_turns: int = 5) -> dict[str, list[float]]:
    """Time a task that does nothing, fetching 128 MiB from a worker, and adding them up there."""
    asked, gpu, host = client(), gpu_clock(), current().machine.host
    array = asked.submit(_ones, HOME_BYTES // 8, pure=False)
    brought = array.result(timeout=TIME_LIMIT_S)
    if float(brought.sum()) != HOME_BYTES // 8:
        raise MismatchError("The array that came from a worker holds something else than ones.")

    def tasks() -> None:
        asked.gather(asked.map(_nothing, range(N_TASKS), pure=False))

    calls: dict[str, Callable[[], Any]] = {
        "task": tasks,
        "home": lambda: array.result(timeout=TIME_LIMIT_S),
        "stay": lambda: asked.submit(_total, array, pure=False).result(timeout=TIME_LIMIT_S),
    }

    def reading(call: Callable[[], Any]) -> Callable[[], float]:
        timer = end_to_end_timer(call, gpu, host=host)
        return lambda: timer.sample() / 1e9

    times = in_turns({name: reading(call) for name, call in calls.items()}, n_turns)
    return {**times, "task": [each / N_TASKS for each in times["task"]]}


def _nothing(i: int) -> int:
    return i


def _ones(n: int) -> Any:
    import cupy as cp

    return cp.ones(n)


def _total(x: Any) -> float:
    return float(x.sum())
