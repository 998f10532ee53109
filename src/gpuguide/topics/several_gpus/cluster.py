"""A scheduler of Dask and its workers on this machine, started by the commands that the page shows."""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gpuguide.errors import BackendError

__all__ = ["Cluster", "client", "start"]

PORT = 8786
TIME_LIMIT_S = 60.0
"""After which what does not answer is an error: a worker may hang, and Dask would wait for ever."""


@dataclass
class Cluster:
    """A scheduler on this machine, and workers.

    Parameters
    ----------
    port : int
        Of the scheduler.

    Attributes
    ----------
    processes : list of subprocess.Popen
        The scheduler, then the workers.
    """

    port: int = PORT
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Where the scheduler answers."""
        return f"tcp://127.0.0.1:{self.port}"

    def run(self, *command: str, **environment: str) -> None:
        """Run a command of Dask until `stop`."""
        process = subprocess.Popen(
            # As the command `dask`, which may not be on the path.
            [sys.executable, "-m", "dask", *command, "--host", "127.0.0.1", "--no-dashboard"],
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # A group of its own: a worker's helper watches another process, and both are to end.
            start_new_session=True,
        )
        self.processes.append(process)

    def stop(self) -> None:
        """End all processes, the workers first."""
        while self.processes:
            end(self.processes.pop())


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process with all that it started."""
    try:
        os.killpg(process.pid, 9)
    except (ProcessLookupError, PermissionError):
        process.kill()
    process.wait()


def start(n_gpus: int, port: int = PORT) -> Cluster:
    """Start a scheduler and a worker for each of the first GPUs; they end with this process.

    Parameters
    ----------
    n_gpus : int
        With 0, one worker that sees no GPU.
    port : int
        Of the scheduler.

    Raises
    ------
    BackendError
        Dask is not installed, the port is taken, or something does not answer in time.
    """
    client_class()
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            raise BackendError(
                f"Port {port} is taken; another scheduler may be running. Stop it, or choose another port."
            ) from None
    cluster = Cluster(port)
    atexit.register(cluster.stop)
    try:
        cluster.run("scheduler", "--port", str(port))
        _until(lambda: _answers(port), "the scheduler", cluster)
        for number in range(max(1, n_gpus)):
            visible = str(number) if n_gpus else ""
            cluster.run(
                "worker", cluster.address, "--nthreads", "1", CUDA_VISIBLE_DEVICES=visible
            )
        with client_class()(
            cluster.address, timeout=TIME_LIMIT_S, set_as_default=False
        ) as asked:
            _until(lambda: len(asked.nthreads()) >= max(1, n_gpus), "a worker", cluster)
    except BaseException:
        cluster.stop()
        raise
    return cluster


def _until(happened: Callable[[], bool], who: str, cluster: Cluster) -> None:
    deadline = time.monotonic() + TIME_LIMIT_S
    while not happened():
        if any(process.poll() is not None for process in cluster.processes):
            raise BackendError(
                f"{who} ended at once. Run the command in a terminal to see why."
            )
        if time.monotonic() > deadline:
            raise BackendError(f"{who} did not answer within {TIME_LIMIT_S:.0f} s.")
        time.sleep(0.02)


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def client_class() -> Any:
    """Import Dask's client.

    Raises
    ------
    BackendError
        It is not installed.
    """
    try:
        from distributed import Client
    except ImportError:
        raise BackendError(
            "Dask's scheduler and workers are missing: pip install 'dask[array]' distributed"
        ) from None
    return Client


def client() -> Any:
    """Give the Dask client of this process.

    Raises
    ------
    BackendError
        Dask is not installed, or no client was made, or it has no worker.
    """
    client_class()
    from distributed import default_client

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
