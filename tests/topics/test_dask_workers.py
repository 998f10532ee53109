"""The page's commands for a scheduler and workers, run over loopback with workers that have no GPU."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from dask_tasks import as_on_a_gpu

from gpuguide.errors import BackendError
from gpuguide.topics.several_gpus import workers
from gpuguide.topics.several_gpus.study import Near, areas_reference

PAGE = Path(__file__).parents[2] / "examples" / "concurrency" / "several_hosts.py"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def commands() -> dict[str, str]:
    """The page's commands, by the word after ``dask``."""
    shown = re.findall(r"^#    \$ (.*\bdask .*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {command.split("dask ")[1].split()[0]: command for command in shown}


def run(command: str, port: int, log: Path) -> subprocess.Popen[bytes]:
    """Run a command of the page with this machine as the host, and without a GPU."""
    words = shlex.split(command.replace("HOST", "127.0.0.1").replace("8786", str(port)))
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    while "=" in words[0]:
        name, _, _ = words.pop(0).partition("=")
        environment[name] = ""  # no GPU
    assert words.pop(0) == "dask"
    with log.open("wb") as written:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *words, "--no-dashboard"],
            env=environment,
            stdout=written,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process with all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Start a scheduler and two workers by the page's commands, and make a client of them."""
    reason = "Dask is not installed: pip install 'dask[array]' distributed"
    distributed = pytest.importorskip("distributed", reason=reason)
    folder, port, made = tmp_path_factory.mktemp("dask"), free_port(), []
    try:
        made.append(run(commands()["scheduler"], port, folder / "scheduler.log"))
        made += [run(commands()["worker"], port, folder / f"worker{i}.log") for i in range(2)]
        with distributed.Client(f"tcp://127.0.0.1:{port}", timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
            yield client
    finally:
        for process in reversed(made):
            end(process)


def test_the_commands_start_a_scheduler_and_workers(client: Any) -> None:
    assert list(client.nthreads().values()) == [1, 1]
    client.get_versions(check=True)
    visible = client.run(lambda: os.environ["CUDA_VISIBLE_DEVICES"])
    assert set(visible.values()) == {""}


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize(("n", "parts"), [(3, 1), (3, 16), (2**12 + 5, 16)])
def test_the_areas_come_from_the_workers(monkeypatch: pytest.MonkeyPatch, n: int, parts: int) -> None:
    monkeypatch.setattr(workers, "areas_there", as_on_a_gpu)
    out = np.full(64, np.nan)
    target = SimpleNamespace(set=lambda found: np.copyto(out, found))
    monkeypatch.setattr(workers, "cp", SimpleNamespace(asarray=lambda array: target))
    workers.by_dask(parts, 0.25, n, out)
    Near(areas_reference).compare(out, areas_reference(0.25, n))


def test_without_dask_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("dask", "dask.array", "dask.distributed", "distributed"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(BackendError, match=r"pip install 'dask\[array\]' distributed"):
        workers.client()
