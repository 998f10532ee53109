"""The integral through Dask: its parts go to workers, each of which is a process with a GPU of its own."""

from functools import partial

import numpy as np

from gpuguide.errors import BackendError, MismatchError
from gpuguide.measure import Study, cp
from gpuguide.measure.session import current
from gpuguide.measure.timing import end_to_end_timer
from gpuguide.measure.turns import gpu_clock, in_turns
from gpuguide.topics.several_gpus.kernels import INTEGRATE_SOURCE
from gpuguide.topics.several_gpus.study import (
    PIECES,
    areas_of,
    count,
    of_areas,
    on_gpus,
    shared,
    unavailable,
)

TIME_LIMIT_S = 60.0  # a worker may hang, and Dask would wait for ever
N_TASKS = 50
HOME_BYTES = 2**27


def client():
    """Return the Dask client of this process."""
    try:
        from distributed import default_client
    except ImportError:
        raise BackendError(
            "Dask's scheduler and workers are missing: pip install 'dask[array]' distributed"
        ) from None
    try:
        return default_client()
    except ValueError:
        raise BackendError(
            "There is no Dask client here. Make one first: Client('tcp://HOST:8786')."
        ) from None


def areas_there(numbers, first, n, source):
    """Integrate some pieces on the GPU of the worker that runs this; they are given by their numbers."""
    return areas_of(int(numbers[0]), int(numbers[-1]) + 1, first, n, source).get()


def by_dask(parts_per_worker, first, n, out):
    """Cut the pieces into blocks of a Dask array, and let the workers integrate them."""
    if not n:
        return
    import dask.array as da

    n_parts = len(client().nthreads()) * parts_per_worker
    areas = da.arange(PIECES, chunks=max(1, PIECES // n_parts)).map_blocks(
        areas_there, first, n, INTEGRATE_SOURCE, dtype=float, meta=np.empty(0)
    )
    cp.asarray(out).set(client().compute(areas).result(timeout=TIME_LIMIT_S))


def in_one_process(first, n, out):
    """Share the pieces out among all GPUs of this machine, without Dask."""
    shared(max(1, count()), first, n, out)


without_client = partial(unavailable, client)
through_dask = Study(
    name="workers",
    title="The integral in one process, and through Dask",
    sizes=(2**24, 2**35),
    baseline="in_one_process",
    variants=(
        on_gpus("in_one_process", in_one_process, "one process"),
        on_gpus("dask", partial(by_dask, 1), "Dask, one task per worker", without_client),
        on_gpus("dask_16", partial(by_dask, 16), "Dask, 16 tasks per worker", without_client),
    ),
    **of_areas(),
)


def costs(n_turns=5):
    """Time a task that does nothing, fetching 128 MiB from a worker, and adding them up there."""
    asked, gpu, host = client(), gpu_clock(), current().machine.host
    array = asked.submit(_ones, HOME_BYTES // 8, pure=False)
    if float(array.result(timeout=TIME_LIMIT_S).sum()) != HOME_BYTES // 8:
        raise MismatchError("The array that came from a worker holds something else than ones.")
    calls = {
        "task": lambda: asked.gather(asked.map(_nothing, range(N_TASKS), pure=False)),
        "home": lambda: array.result(timeout=TIME_LIMIT_S),
        "stay": lambda: asked.submit(_total, array, pure=False).result(timeout=TIME_LIMIT_S),
    }

    def reading(call):
        timer = end_to_end_timer(call, gpu, host=host)
        return lambda: timer.sample() / 1e9

    times = in_turns({name: reading(call) for name, call in calls.items()}, n_turns)
    return {**times, "task": [time / N_TASKS for time in times["task"]]}


def _nothing(i):
    return i


def _ones(n):
    import cupy as cp

    return cp.ones(n)


def _total(x):
    return float(x.sum())
