"""Imports CuPy, Numba CUDA and NVML when they are first needed, and says what to do when that fails."""

from __future__ import annotations

import functools
import os
import sys
import warnings
from importlib import import_module, metadata
from types import ModuleType
from typing import Any

from gpuguide.errors import BackendError

__all__ = ["cupy", "has_gpu", "numba_cuda", "numpy_too_new", "nvml", "release", "simulated"]


def simulated() -> bool:
    """Say whether kernels run in Numba's CUDA simulator, on the CPU.

    Returns
    -------
    bool
        True when ``NUMBA_ENABLE_CUDASIM`` is set to a non-zero number. It must be set before Numba is
        imported; afterwards it has no effect on Numba.

    Examples
    --------
    >>> import os
    >>> simulated() == (os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0"))
    True
    """
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0").strip() not in ("", "0")


def cupy() -> Any:
    """Import CuPy.

    Returns
    -------
    module
        ``cupy``.

    Raises
    ------
    BackendError
        CuPy is not installed or cannot be imported; the message holds the cure.
    """
    if "cupy" in sys.modules:
        return sys.modules["cupy"]
    try:
        with warnings.catch_warnings():
            # A wheel needs no toolkit: that CuPy found none is worth a line of the doctor, not of every run.
            warnings.filterwarnings("ignore", message="CUDA path could not be detected")
            return import_module("cupy")
    except ModuleNotFoundError as error:
        if error.name != "cupy":
            raise _broken("CuPy", error) from error
        raise BackendError(
            "CuPy is not installed. Install the one for your CUDA version: 'pip install cupy-cuda13x' "
            "(driver 580 or newer) or 'pip install cupy-cuda12x' (driver 525 or newer)."
        ) from None
    except Exception as error:
        raise _broken("CuPy", error) from error


def nvml() -> Any:
    """Import NVIDIA's management library and initialise it once.

    Returns
    -------
    module or None
        ``pynvml``; None without the package, the driver or a GPU.

    Examples
    --------
    >>> library = nvml()
    >>> library is None or library.__name__ == "pynvml"
    True
    """
    try:
        library = import_module("pynvml")
        library.nvmlInit()
    except Exception:  # the library is optional: without it clocks and power are unknown
        return None
    return library


def has_gpu() -> bool:
    """Say whether a real GPU can be used through CuPy; never raises.

    Returns
    -------
    bool
        False without CuPy, driver or GPU, and in the simulator.

    Examples
    --------
    >>> has_gpu() in (True, False)
    True
    """
    if simulated():
        return False
    try:
        return int(cupy().cuda.runtime.getDeviceCount()) > 0
    except Exception:  # CuPy raises its own classes, which cannot be named without importing it
        return False


@functools.cache
def numba_cuda() -> ModuleType:
    """Import ``numba.cuda``: NVIDIA's numba-cuda, or Numba's own with its simulator where that has no wheel.

    Returns
    -------
    module
        ``numba.cuda``.

    Raises
    ------
    BackendError
        Numba is missing, cannot be imported, or is of no use beside this NumPy; the message holds the cure.

    Examples
    --------
    >>> numba_cuda().__name__
    'numba.cuda'
    """
    if numpy_too_new() and not simulated():
        # The import would succeed, and the first kernel fail to compile for want of numpy.row_stack.
        raise BackendError(
            f"numba-cuda {metadata.version('numba-cuda')} cannot compile kernels beside NumPy "
            f"{metadata.version('numpy')}: run pip install 'numpy<2.5'."
        )
    try:
        module = import_module("numba.cuda")
        config = import_module("numba.core.config")
    except ModuleNotFoundError as error:
        if error.name != "numba":
            raise _broken("Numba", error) from error
        raise BackendError(
            "Numba is not installed. Install it with NVIDIA's compiler: pip install 'numba-cuda[cu13]' "
            "(driver 580 or newer) or 'numba-cuda[cu12]'."
        ) from None
    except Exception as error:
        raise _broken("numba-cuda", error) from error
    if "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS" not in os.environ:
        # The guide launches tiny grids on purpose, and checks every kernel at sizes near zero.
        setattr(config, "CUDA_LOW_OCCUPANCY_WARNINGS", 0)  # noqa: B010 - Numba makes it at run time
    return module


def _broken(name: str, error: BaseException) -> BackendError:
    return BackendError(
        f"{name} cannot be imported ({type(error).__name__}: {error}). "
        "'gpuguide doctor' says what is installed and what to change."
    )


def numpy_too_new() -> bool:
    """Say whether the installed NumPy is too new for the installed numba-cuda.

    Returns
    -------
    bool
        True for NumPy 2.5 or later beside numba-cuda 0.30, which compiles no kernel there.

    Examples
    --------
    >>> numpy_too_new() in (True, False)
    True
    """
    try:
        numpy_version, numba_cuda_version = metadata.version("numpy"), metadata.version("numba-cuda")
    except metadata.PackageNotFoundError:
        return False
    return release(numpy_version) >= (2, 5) and release(numba_cuda_version) < (0, 31)


def release(version: str) -> tuple[int, ...]:
    """Read the leading numbers of a version, to compare it.

    Parameters
    ----------
    version : str
        A version such as ``"2.4.6"`` or ``"14.2.0rc1"``.

    Returns
    -------
    tuple of int
        The numbers up to the first part that does not start with a digit.

    Examples
    --------
    >>> release("14.2.0rc1")
    (14, 2, 0)
    >>> release("2.5") >= (2, 5)
    True
    """
    numbers = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
    return tuple(numbers)
