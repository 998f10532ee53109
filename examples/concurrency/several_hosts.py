"""
Several hosts
=============

How does work reach GPUs on several hosts, and what does Dask cost?
"""
# %%
# Give Dask few tasks, and long ones. Its scheduler hands them to workers, one process for each GPU, wherever
# they run. An integral over 34 billion points takes :measured:`workers[in_one_process, 2**35].time` in one
# process and :measured:`workers[dask, 2**35].time` through Dask. Each of many tasks that do nothing takes
# :measured:`task`.

# %%
# One worker for each GPU of this machine
# ---------------------------------------
#
# Install Dask with ``pip install "dask[array]" distributed``. Then start a scheduler and a worker for each
# GPU. Before a worker uses CUDA for the first time, tell it which GPU it may see.

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
# With ``timeout``, a worker that does not start is an error. ``LocalCluster`` would do as well, but a script
# that uses it must stand below ``if __name__ == "__main__":``. The package ``dask-cuda``, which comes with
# RAPIDS and its choice of versions, does all of this in ``LocalCUDACluster()``.

# %%
# What changes in the code
# ------------------------
#
# A Dask array is cut into chunks, here arrays of CuPy, and ``map_blocks`` runs a function on each of them, on
# any worker. Nothing happens until ``compute`` asks for the result.

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
# Compare it with :doc:`Several GPUs </gallery/concurrency/several_gpus>`: there is no loop over GPUs any
# more, and nothing says where a chunk is. What a task needs is pickled and sent along, the kernel too. So do
# not run the kernel in this process first: it would hold addresses that mean nothing to a worker, and the
# worker dies. To be safe, send its source, as on that page.

# %%

# record: The integral in one process and through Dask, and what a task and a copy cost
import gpuguide as gg
import numpy as np
from gpuguide.topics.several_gpus import workers

results = workers.through_dask.run()
for name, seconds in workers.costs().items():
    gg.fact(name, float(np.median(seconds)), unit="s", samples=seconds)

# %%
# What it costs
# -------------
#
# - **Time per task.** The scheduler is written in Python. With 16 tasks per worker instead of one, the
#   integral takes :measured:`workers[dask_16, 2**35].time`. With 17 million points and one task it is
#   :measured:`workers[dask, 2**24].time`, against :measured:`workers[in_one_process, 2**24].time` in one
#   process. So a task should work much longer than it takes to hand it out.
# - **Copies.** An array stays on the worker that made it until somebody needs it elsewhere. Then it goes
#   through the memory of both hosts. To fetch 128 MiB into this process takes :measured:`home`; to add them
#   up where they are takes :measured:`stay`. So fetch small results only.
# - **Memory.** Each worker has a CUDA context and a memory pool of its own.
#
# .. results:: workers

# draw
gg.claim(results, "in_one_process", faster_than="dask", at=2**24, by=5)
gg.claim(results, "in_one_process", faster_than="dask", at=2**35, by=1.2)
gg.claim(results, "dask", faster_than="dask_16", at=2**24, by=2)

# %%
# A scheduler and workers on several hosts
# ----------------------------------------
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
# With ``dask-cuda``, ``dask cuda worker tcp://HOST:8786`` starts a worker for each GPU of a host. In the
# program, ``Client("tcp://HOST:8786")`` takes the place of ``Client(cluster)``, and nothing has to choose a
# GPU any more. The rest stays as it is. ``client.get_versions(check=True)`` says where versions differ.
#
# If a worker is lost, the scheduler gives its tasks to the others, and has results that were only there
# computed again. So a task must not mind being run twice. For a worker that hangs, there is
# ``future.result(timeout=60)``.
#
# Anyone who can reach the scheduler's port can run any code on all workers. Open it in your own network only,
# or use TLS.

client.close()
cluster.close()

# %%
# Next
# ----
#
# - :doc:`Several GPUs </gallery/concurrency/several_gpus>`: the same work in one process, and GPUs
#   that exchange data in every step.
# - :doc:`Transfers </gallery/moving_data/transfers>`: what copies between a GPU and its host cost.
