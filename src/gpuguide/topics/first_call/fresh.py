"""CuPy's first calls in fresh processes: by what they find in the kernel cache."""

import json
import os
import subprocess
from contextlib import contextmanager
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


def matrix():
    """Return a matrix of random numbers, small enough that float32 holds its determinant."""
    numbers = np.random.default_rng(0).standard_normal((ROWS, ROWS), np.float32)
    return numbers / np.float32(14)


def first_calls():
    """Do everything for the first time, and print how long each part took; run in a process of its own."""
    a, clock, parts = matrix(), SystemClock(), {}

    @contextmanager
    def part(name):
        start = clock.now_ns()
        yield
        if name != "imports":  # to wait for the GPU makes a context
            cp.cuda.Device().synchronize()
        parts[name] = clock.now_ns() - start

    with part("imports"):
        cp = cupy()
    with part("context"):
        cp.cuda.runtime.free(0)  # the usual way to ask for a context
    with part("copy"):
        x = cp.asarray(a)
    with part("ufunc"):
        squares = cp.square(x)
    kernels = {"ufunc": n_cached()}
    with part("ufunc_again"):
        cp.square(x)
    with part("library"):
        cp.cuda.device.get_cusolver_handle()
    for name in DETERMINANTS:
        with part(name):
            determinant = cp.linalg.det(x)
    parts["whole"] = sum(parts[name] for name in (*PARTS, DETERMINANTS[0]))
    kernels["all"] = n_cached()
    expected = float(np.linalg.det(a.astype(np.float64)))
    if not abs(float(determinant) / expected - 1) < 0.01:
        raise ArgumentError(
            f"The determinant is {float(determinant):.6g}; expected {expected:.6g}."
        )
    if not np.array_equal(squares.get(), a * a):
        raise ArgumentError("The squares are wrong.")
    print(json.dumps({"parts": parts, "kernels": kernels}))


def n_cached():
    """Count the compiled kernels in CuPy's cache on disk."""
    folder = Path(os.environ["CUPY_CACHE_DIR"])
    names = os.listdir(folder) if folder.is_dir() else []
    return sum(not name.startswith("tmp") for name in names)


def measure_first_calls(n_turns=1):
    """Time first calls in fresh processes, four in a turn.

    The first process of a turn finds an empty kernel cache and fills it. The second finds it filled. The
    third finds a copy of it in another place, as in a container that was made from an image. The fourth has
    an empty one again, and CuPy may not use CUB, a library whose code takes long to compile.

    None of them is the first on its machine: call the same functions in this process beforehand, so that
    files of libraries and compiler are in memory.
    """
    taken, kernels = {}, {}

    def run(command, environment, timeout_s):
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
            printed = run_process(command, {**environment, **changed}, timeout_s)
            # The last line is the whole time, which time_first_call adds and reads.
            report = json.loads(printed.splitlines()[-2])
            kernels[name] = report["kernels"]["all"]
            kernels.setdefault("ufunc", report["kernels"]["ufunc"])
            at_once = set(report["kernels"].values()) == {kernels["empty"]}
            if name in ("filled", "copied") and not at_once:
                raise FirstCallError(
                    f"With a {name} cache nothing should be compiled. It had {kernels['empty']} kernels "
                    f"before and {kernels[name]} afterwards."
                )
            for part, ns in report["parts"].items():
                taken.setdefault(f"{name}_{part}", []).append(ns / 1e9)
        return printed

    time_first_call(f"{__name__}:first_calls", n_processes=n_turns, n_discarded=0, run=run)
    return taken, kernels


def run_process(command, environment, timeout_s):
    """Return what a process prints."""
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=timeout_s, check=False
    )
    if done.returncode:
        raise FirstCallError(
            f"{command[-1]}: exit status {done.returncode}\n{done.stderr[-2000:]}"
        )
    return done.stdout
