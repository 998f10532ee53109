"""
Dask: GPUs on several hosts
===========================

How does work reach GPUs on several hosts, and what does Dask cost?
"""
# %%
# Use Dask where one machine is not enough, and give it few, long tasks: handing out each one takes
# :measured:`task`. Leave arrays on the GPUs that made them, and fetch only small results. To fetch 128 MiB
# takes :measured:`fetch_cost` as long as to add them up where they are and fetch the sum.
#
# .. headline:: The more tasks, the longer the same work takes
#
# .. drawn:: several_hosts
#
#     from gpuguide.charts.shapes import plot_bars
#
#     plot_bars(results, ["in_one_process", "dask", "dask_16"], at=2**35)

# %%
# Start a worker for each GPU of this machine
# -------------------------------------------
#
# Try your program on one machine first: on several, only its first lines differ. Dask has a scheduler, which
# hands tasks to *workers*, one process for each GPU. Install it with ``pip install "dask[array]"
# distributed``. Before a worker uses CUDA for the first time, tell it which GPU it may see.

import os

import cupy as cp
from dask.distributed import Client, SubprocessCluster


def choose_gpu(k):
    os.environ["CUDA_VISIBLE_DEVICES"] = str(k)


n_gpus = cp.cuda.runtime.getDeviceCount()
cluster = SubprocessCluster(
    n_workers=n_gpus, threads_per_worker=1, dashboard_address=":0"
)
client = Client(cluster)
client.wait_for_workers(n_gpus, timeout=60)
for k, worker in enumerate(client.nthreads()):
    client.run(choose_gpu, k, workers=[worker])
print(n_gpus, "GPU(s),", len(client.nthreads()), "worker(s)")

# %%
# With ``timeout``, you get an error if a worker does not start, instead of a program that waits for ever.
#
# .. dropdown:: LocalCluster and dask-cuda
#
#    ``LocalCluster`` would do as well, but a script that uses it must stand below ``if __name__ ==
#    "__main__":``. The package ``dask-cuda``, which comes with RAPIDS and its choice of versions, does all of
#    this in ``LocalCUDACluster()``, and ``dask cuda worker tcp://HOST:8786`` starts a worker for each GPU of
#    a host.

# %%
# Run CuPy on the chunks of a Dask array
# --------------------------------------
#
# A Dask array is cut into chunks, here CuPy arrays, and ``map_blocks`` runs a function on each of them, on
# any worker. Nothing happens until ``compute`` asks for the result. This is the integral of :doc:`Share work
# among several GPUs </gallery/concurrency/several_gpus>`, without its loop over GPUs: the scheduler decides
# which worker gets a chunk.

import dask.array as da

integrate = cp.ElementwiseKernel(
    "float64 left, int64 points, float64 step",
    "float64 area",
    """
    double sum = 0;
    for (int k = 0; k < points; k++) {
        double x = left + (k + 0.5) * step;
        sum += 4 / (1 + x * x);
    }
    area = sum * step;
    """,
    "integrate",
)
n, points = 2**20, 2**12


def areas(left):
    return integrate(left, points, 1 / n / points)


left = da.arange(n, chunks=n // 4, like=cp.empty(0)) / n
pi = left.map_blocks(areas, dtype=float, meta=cp.empty(0)).sum()
print(pi)
print("Dask: ", float(pi.compute()))

# %%
# .. try-it::
#
#    Write ``chunks=n // 64`` and run the cell again. The area is the same, and there are sixteen times as
#    many tasks, which take longer to hand out than to work on.
#
# What goes wrong: what a task needs is pickled and sent along, kernels too. A kernel that has already run in
# this process holds addresses that mean nothing to a worker, and the worker that gets it dies. Either do not
# run the kernel here at all, as above, or send its source and make the kernel in the task.

# %%

# record: The integral in one process and through Dask, and what a task and a copy cost
import gpuguide as gg
import numpy as np
from gpuguide.topics.several_gpus import workers

results = workers.through_dask.run()
for name, seconds in workers.costs().items():
    gg.fact(name, float(np.median(seconds)), unit="s", samples=seconds)

# %%
# Give Dask few and long tasks
# ----------------------------
#
# The scheduler is written in Python, and works on one task after the other. In the chart above, the GPU has
# the same 34 billion points to add up each time, and all that is longer than the first bar is Dask. Short
# work shows that cost alone: 17 million points take :measured:`workers[in_one_process, 2**24].time` in one
# process, and :measured:`workers[dask, 2**24].time` through Dask. Give it only computations that work for
# much longer than that.
#
# Copies cost more than tasks. An array stays on the worker that made it until somebody needs it elsewhere,
# and then it goes through the memory of both hosts. Reduce it where it is, and fetch the sum.

# draw
gg.fact(
    "fetch_cost",
    facts["home"].value / facts["stay"].value,
    unit="ratio",
    note="128 MiB fetched / added up on the worker",
)
gg.claim(results, "in_one_process", faster_than="dask", at=2**24, by=5)
gg.claim(results, "in_one_process", faster_than="dask", at=2**35, by=1.2)
gg.claim(results, "dask", faster_than="dask_16", at=2**24, by=2)
gg.claim(results, "dask", faster_than="dask_16", at=2**35, by=1.5)

# %%
# Start workers on several hosts
# ------------------------------
#
# Choose a host for the scheduler, and write its name in place of ``HOST``. All hosts need the same versions
# of Python and of the packages.
#
# .. code-block:: console
#    :caption: on the host of the scheduler
#
#    $ dask scheduler --port 8786
#
# .. code-block:: console
#    :caption: on every host, once for each of its GPUs
#
#    $ CUDA_VISIBLE_DEVICES=0 dask worker tcp://HOST:8786 --nthreads 1
#
# In the program, write ``Client("tcp://HOST:8786")`` in place of ``Client(cluster)``, and leave out the lines
# that choose a GPU; the rest stays as it is. ``client.get_versions(check=True)`` says where versions differ.
#
# Write tasks that can run twice: if a worker is lost, the scheduler gives its tasks to the others, and has
# the results that were only there computed again. Wait with ``future.result(timeout=60)``, in case a worker
# hangs.
#
# .. warning::
#
#    Anyone who can reach the scheduler's port can run any code on all workers. Open it in your own network
#    only, or use TLS.
#
# In the end, close the client and the cluster that you have started:

client.close()
cluster.close()

# %%
# .. remember::
#
#    - Use Dask for more than one machine. In one, a loop over its GPUs is faster.
#    - Give Dask few, long tasks, since handing out each takes :measured:`task`, and leave arrays on the
#      workers: 128 MiB take :measured:`home` to fetch, and :measured:`stay` to add up where they are.

# thumbnail
from gpuguide.charts import thumbnail

names = {
    "one process": "in_one_process",
    "Dask, a task for each GPU": "dask",
    "Dask, 16 tasks": "dask_16",
}
times = {label: results.time(name, 2**35) for label, name in names.items()}
_ = thumbnail.bars(times, "time of the same work")

# %%
# Next
# ----
#
# Next: :doc:`Share arrays between GPU libraries </gallery/concurrency/interop>`, without a copy. See also:
# :doc:`Share work among several GPUs </gallery/concurrency/several_gpus>`, in one process, with GPUs that
# exchange data in every step.
