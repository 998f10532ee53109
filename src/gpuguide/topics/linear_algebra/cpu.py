"""NumPy on one thread: its library of linear algebra is told to take one, and then as many as before."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np

from gpuguide.errors import BackendError

# OpenBLAS as NumPy's wheels bring it, and as a system installs it.
NAMES = (
    "scipy_openblas_{}_num_threads64_",
    "openblas_{}_num_threads64_",
    "openblas_{}_num_threads",
)


@contextmanager
def one_thread() -> Iterator[None]:
    """Let NumPy's linear algebra run on one thread meanwhile.

    Examples
    --------
    >>> with one_thread():
    ...     np.linalg.qr(np.eye(2)).R.shape
    (2, 2)
    """
    get, put = openblas()
    before = get()
    put(1)
    try:
        yield
    finally:
        put(before)


@cache
def openblas() -> tuple[Callable[[], int], Callable[[int], None]]:
    """Return the functions that read and set the number of threads, in next to no time."""
    for path in libraries():
        library = ctypes.CDLL(path)  # loaded already, so this only finds it
        for name in NAMES:
            if hasattr(library, name.format("set")):
                return getattr(library, name.format("get")), getattr(
                    library, name.format("set")
                )
    raise BackendError(
        "NumPy's linear algebra does not come from OpenBLAS here, so it cannot be told to run on one thread. "
        "Install NumPy from PyPI: pip install numpy."
    )


def libraries() -> Iterator[str]:
    """Give the files that may be NumPy's library of linear algebra."""
    # SciPy's wheels bring a library of their own, which NumPy does not use.
    folder = Path(np.__file__).parents[1] / "numpy.libs"
    yield from sorted(map(str, folder.glob("*openblas*")))
    maps = Path("/proc/self/maps")
    loaded = maps.read_text(encoding="utf-8").splitlines() if maps.exists() else []
    yield from sorted(
        {line.split()[-1] for line in loaded if "openblas" in line and "scipy" not in line}
    )
