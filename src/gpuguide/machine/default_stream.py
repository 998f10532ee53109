"""The default stream of CUDA: launches that go there unasked, moved to CuPy's current stream."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from types import FrameType
from typing import Any

from gpuguide.machine.backends import current_stream, simulated

__all__ = ["launches_leave_it"]

# As the driver numbers them: none given, the one for all threads, and the one for each thread.
_DEFAULT_STREAMS = (0, 1, 2)


@contextmanager
def launches_leave_it(moved: ExitStack) -> Iterator[None]:
    """Move what is launched into the default stream to CuPy's current one, until `moved` closes.

    A kernel that was configured beforehand, ``add_one = kernel[blocks, threads]``, keeps the default stream,
    and so does ``kernel.forall``; a clock of another stream does not see their work. Launches are looked at
    inside this context only, so that later ones, which are timed, take no longer.
    """
    if simulated() or "numba.cuda" not in sys.modules:  # then no kernel of Numba can be launched
        yield
        return
    configuration = import_module("numba.cuda.dispatcher")._LaunchConfiguration
    launch = configuration.__call__

    def moving(configured: Any, *args: Any) -> None:
        if int(configured.stream.handle) in _DEFAULT_STREAMS and not _is_numbas_own(sys._getframe(1)):
            shape = configured.griddim, configured.blockdim, current_stream(), configured.sharedmem
            moved.callback(setattr, configured, "stream", configured.stream)
            configured.stream = configured.dispatcher[shape].stream
        launch(configured, *args)

    configuration.__call__ = moving
    try:
        yield
    finally:
        configuration.__call__ = launch


def _is_numbas_own(frame: FrameType | None) -> bool:
    """Say whether Numba launches for itself: a ufunc does, and copies its arrays in the same stream."""
    while frame and frame.f_globals.get("__name__") == "numba.cuda.dispatcher":  # where `forall` launches
        frame = frame.f_back
    return frame is not None and str(frame.f_globals.get("__name__")).startswith("numba.")
