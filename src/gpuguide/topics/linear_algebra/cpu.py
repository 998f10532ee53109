"""NumPy's library of linear algebra: which one it is, and how it is told to use one thread."""

import ctypes
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np

from gpuguide.errors import BackendError

# OpenBLAS names its functions so in NumPy's wheels, and so where a system installs it.
NAMES = ("scipy_openblas_{}64_", "openblas_{}64_", "openblas_{}")


@contextmanager
def one_thread():
    """Let NumPy's linear algebra run on one thread meanwhile."""
    put = openblas("set_num_threads")
    before = openblas("get_num_threads")()
    put(1)
    try:
        yield
    finally:
        put(before)


def blas():
    """Say which OpenBLAS NumPy calls, for which processor its kernels are, and on how many threads."""
    words = []
    for name in ("get_config", "get_corename"):
        function = openblas(name)
        function.restype = ctypes.c_char_p
        words.append(function().decode().split())
    (name, version, *_), (core,) = words
    return f"{name} {version}, kernels for {core}, {openblas('get_num_threads')()} threads"


@cache
def openblas(function):
    """Return a function of the OpenBLAS that NumPy calls."""
    for path in libraries():
        library = ctypes.CDLL(path)  # loaded already, so this only finds it
        for name in NAMES:
            if hasattr(library, name.format(function)):
                return getattr(library, name.format(function))
    raise BackendError(
        "NumPy's linear algebra does not come from OpenBLAS here, so it cannot be told to run on one thread. "
        "Install NumPy from PyPI: pip install numpy."
    )


def libraries():
    """Give the files that may be NumPy's library of linear algebra."""
    # SciPy's wheels bring a library of their own, which NumPy does not use.
    folder = Path(np.__file__).parents[1] / "numpy.libs"
    yield from sorted(map(str, folder.glob("*openblas*")))
    maps = Path("/proc/self/maps")
    loaded = maps.read_text(encoding="utf-8").splitlines() if maps.exists() else []
    yield from sorted(
        {line.split()[-1] for line in loaded if "openblas" in line and "scipy" not in line}
    )
