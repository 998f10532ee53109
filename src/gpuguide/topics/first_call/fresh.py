"""CuPy's first calls in fresh processes: by what they find in the kernel cache."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from shutil import copytree

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import cupy
from gpuguide.measure.clocks import SystemClock
from gpuguide.measure.first_call import FirstCallError, time_first_call

ROWS = 512
CALLS = 5
PARTS = ("imports", "context", "copy", "ufunc", "ufunc_again", "library")
DETERMINANTS = tuple(f"det_{call}" for call in range(1, CALLS + 1))
Samples = dict[str, list[float]]


def matrix() -> np.ndarray:
    """Return a matrix of random numbers, small enough that float32 holds its determinant.

    >>> bool(np.isfinite(np.linalg.det(matrix())))
    True
    """
    numbers = np.random.default_rng(0).standard_normal((ROWS, ROWS), np.float32)
    return numbers / np.float32(14)


def first_calls() -> None:
    """Do everything for the first time, and print how long each part took; run in a process of its own.

    Import CuPy ("imports"); make a context on the GPU ("context"); copy a matrix there ("copy"); square its
    elements, twice ("ufunc", "ufunc_again"); load cuSOLVER ("library"); and work out five determinants.
    """
    a = matrix()
    clock = SystemClock()
    marks = [clock.now_ns()]
    cp = cupy()
    marks.append(clock.now_ns())
    cp.cuda.runtime.free(0)  # the usual way to ask for a context
    synchronize = cp.cuda.Device().synchronize
    synchronize()
    marks.append(clock.now_ns())
    x = cp.asarray(a)
    synchronize()
    marks.append(clock.now_ns())
    for _ in range(2):
        squares = cp.square(x)
        synchronize()
        marks.append(clock.now_ns())
    after_ufunc = n_cached()
    cp.cuda.device.get_cusolver_handle()
    synchronize()
    marks.append(clock.now_ns())
    for _ in DETERMINANTS:
        determinant = cp.linalg.det(x)
        synchronize()
        marks.append(clock.now_ns())
    names = (*PARTS, *DETERMINANTS)
    parts = dict(zip(names, (stop - start for start, stop in pairwise(marks)), strict=True))
    parts["whole"] = marks[-CALLS] - marks[0]  # until the first determinant is there
    _check(a, squares.get(), float(determinant))
    print(json.dumps({"parts": parts, "kernels": {"ufunc": after_ufunc, "all": n_cached()}}))


def n_cached() -> int:
    """Count the compiled kernels in CuPy's cache on disk."""
    folder = Path(os.environ["CUPY_CACHE_DIR"])
    return (
        sum(not name.startswith("tmp") for name in os.listdir(folder)) if folder.is_dir() else 0
    )


def _check(a: np.ndarray, squares: np.ndarray, determinant: float) -> None:
    expected = float(np.linalg.det(a.astype(np.float64)))
    if not abs(determinant / expected - 1) < 0.01:
        raise ArgumentError(f"The determinant is {determinant:.6g}; expected {expected:.6g}.")
    if not np.array_equal(squares, a * a):
        raise ArgumentError("The squares are wrong.")


def measure_first_calls(n_turns: int = 1) -> tuple[Samples, dict[str, int]]:
    """Time first calls in fresh processes, four in a turn.

    The first process of a turn finds an empty kernel cache and fills it. The second finds it filled. The
    third finds a copy of it in another place, as in a container that was made from an image. The fourth has
    an empty one again, and CuPy may not use CUB, a library whose code takes long to compile.

    None of them is the first on its machine: call the same functions in this process beforehand, so that
    files of libraries and compiler are in memory.
    """
    taken: Samples = {}
    kernels: dict[str, int] = {}

    def run(command: list[str], environment: Mapping[str, str], timeout_s: float) -> str:
        cache = Path(environment["CUPY_CACHE_DIR"])
        image, other = cache.with_name("image"), cache.with_name("other")
        changes = {
            "empty": {},
            "filled": {},
            "copied": {"CUPY_CACHE_DIR": str(image)},
            "plain": {"CUPY_CACHE_DIR": str(other), "CUPY_ACCELERATORS": ""},
        }
        for name, changed in changes.items():
            if name == "copied":
                copytree(cache, image)
            said, printed = _process(command, {**environment, **changed}, timeout_s)
            kernels[name] = said["kernels"]["all"]
            kernels.setdefault("ufunc", said["kernels"]["ufunc"])
            if name in ("filled", "copied") and set(said["kernels"].values()) != {
                kernels["empty"]
            }:
                raise FirstCallError(
                    f"With a {name} cache nothing should be compiled. It had {kernels['empty']} kernels "
                    f"before and {kernels[name]} afterwards."
                )
            for part, ns in said["parts"].items():
                taken.setdefault(f"{name}_{part}", []).append(ns / 1e9)
        return printed

    target = f"{__name__}:first_calls"
    time_first_call(target, n_processes=n_turns, n_discarded=0, run=run)
    return taken, kernels


def _process(
    command: list[str], environment: Mapping[str, str], timeout_s: float
) -> tuple[dict[str, dict[str, int]], str]:
    done = subprocess.run(
        command,
        env=dict(environment),
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    if done.returncode:
        raise FirstCallError(
            f"{command[-1]}: exit status {done.returncode}\n{done.stderr[-2000:]}"
        )
    # The last line is the whole time, which time_first_call adds and reads.
    said: dict[str, dict[str, int]] = json.loads(done.stdout.splitlines()[-2])
    return said, done.stdout
