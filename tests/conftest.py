"""The marker `gpu`, and ways to run a snippet in a fresh Python, with or without Numba's simulator."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from gpuguide.errors import NoGpuError
from gpuguide.machine.device import require_gpu

HERE = Path(__file__).parent
# Folders whose tests build sites, drive a browser, or simulate, compile and trace kernels.
LONG_FIRST = (
    "topics/test_simulated.py",
    "docs",
    "browser",
    "topics",
    "exercises/test_kernel_mutants.py",
    "exercises",
)
# Much more than the files of a whole run take together.
MOST_WRITTEN_BYTES = 4 << 30


def has_room(folder: str) -> bool:
    """Say whether it lies in memory, with room for all that tests write, and programs may run there."""
    if not os.path.isdir(folder) or not hasattr(os, "statvfs"):
        return False
    system = os.statvfs(folder)
    return system.f_bavail * system.f_frsize >= MOST_WRITTEN_BYTES and not system.f_flag & os.ST_NOEXEC


def made_in_memory(memory: Path) -> str:
    """Make a folder that is named after this process, and remove those of processes that were killed."""
    for left in memory.glob("gpuguide-tests-*-*"):
        if not Path("/proc", left.name.split("-")[2]).exists():
            shutil.rmtree(left, ignore_errors=True)
    return tempfile.mkdtemp(prefix=f"gpuguide-tests-{os.getpid()}-", dir=memory)


# Tests make and delete tens of thousands of small files, for which some disks take minutes. What they leave
# goes with this process; `TMPDIR=/tmp make test` keeps it as pytest does.
if "TMPDIR" not in os.environ and has_room("/dev/shm"):
    os.environ["TMPDIR"] = tempfile.tempdir = made_in_memory(Path("/dev/shm"))
    atexit.register(shutil.rmtree, os.environ["TMPDIR"], ignore_errors=True)
# The library of NumPy's linear algebra keeps threads that wait by turning; the tests use all processors.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Tests make millions of small objects and drop most: searching for cycles as often as Python does by default
# takes a tenth of their time.
gc.set_threshold(100_000, 20, 50)
# Fresh Pythons keep what they compile.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--require-gpu", action="store_true", help="fail tests that need a missing GPU")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long, so that no processor is left with it while the others have none."""

    @cache
    def place(file: Path) -> int:
        path = file.relative_to(HERE)
        return next((n for n, long in enumerate(LONG_FIRST) if path.is_relative_to(long)), len(LONG_FIRST))

    items.sort(key=lambda item: place(item.path))


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu") is None or (reason := why_no_gpu()) is None:
        return
    if item.config.getoption("--require-gpu"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@cache
def why_no_gpu() -> str | None:
    try:
        require_gpu()
    except NoGpuError as error:
        return str(error)
    return None


@pytest.fixture
def fresh_python() -> Callable[..., str]:
    """Run a snippet in a fresh Python that turns warnings into errors; return what it printed."""

    def run(snippet: str, *, timeout: float = 120, **variables: str) -> str:
        environment = {name: value for name, value in os.environ.items() if name != "NUMBA_ENABLE_CUDASIM"}
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", snippet],
            env=environment | variables,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert not done.stderr
        return done.stdout

    return run


@pytest.fixture
def simulator_python(fresh_python: Callable[..., str]) -> Callable[..., str]:
    """Run a snippet in a fresh Python whose kernels run in Numba's simulator; return what it printed."""
    return lambda snippet, **options: fresh_python(snippet, NUMBA_ENABLE_CUDASIM="1", **options)
