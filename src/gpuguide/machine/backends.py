"""CuPy, Numba and NVML, imported when they are first used, with one clear error if they are missing.

Below them: kernels made with either, and their views of one another's arrays. Nothing here falls back to the
CPU silently.
"""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module, metadata
from typing import Any

from gpuguide.errors import ArgumentError, BackendError

__all__ = [
    "RawKernel",
    "array_module",
    "cp",
    "cublas",
    "cuda",
    "cupy",
    "current_stream",
    "has_gpu",
    "is_device_array",
    "jit",
    "launches_follow_cupy",
    "numba",
    "numba_cuda",
    "numba_view",
    "numpy_too_new",
    "nvml",
    "raw_kernel",
    "release",
    "simulated",
]

# The guide launches tiny grids on purpose, and checks every kernel at sizes near zero. Topics import Numba
# directly, and Numba reads this variable on import.
_SAYS_LOW_OCCUPANCY = "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS" in os.environ
os.environ.setdefault("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")


def simulated() -> bool:
    """Say whether kernels run in Numba's CUDA simulator, on the CPU."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0").strip() not in ("", "0")


def has_gpu() -> bool:
    """Say whether a real GPU can be used through CuPy; never raises."""
    if simulated():
        return False
    try:
        return int(cupy().cuda.runtime.getDeviceCount()) > 0
    except Exception:  # CuPy raises its own classes, which cannot be named without importing it
        return False


def cupy() -> Any:
    """Import CuPy."""
    if "cupy" in sys.modules:
        return sys.modules["cupy"]
    try:
        with warnings.catch_warnings():
            # A wheel needs no toolkit: that CuPy found none is for the doctor to say, not for every run.
            warnings.filterwarnings("ignore", message="CUDA path could not be detected")
            return import_module("cupy")
    except ModuleNotFoundError as error:
        # CuPy is there, but something that it needs is missing.
        if error.name != "cupy":
            raise _broken("CuPy", error) from error
        raise BackendError(
            "CuPy is not installed. Install the one for your CUDA version: pip install 'cupy-cuda13x[ctk]' "
            "(driver 580 or newer) or pip install 'cupy-cuda12x[ctk]' (driver 525 or newer)."
        ) from None
    except Exception as error:
        raise _broken("CuPy", error) from error


class _CuPy:
    """CuPy under the name that readers know, imported when it is first asked for something."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # Python looks for such names in whatever a module holds
            raise AttributeError(name)
        return getattr(cupy(), name)


cp: Any = _CuPy()


def numba() -> Any:
    """Import Numba itself: its types, and its compilers for the CPU."""
    return _of_numba("numba")


@functools.cache
def numba_cuda() -> Any:
    """Import ``numba.cuda``: that of numba-cuda, or Numba's own simulator where numba-cuda has no wheel."""
    if numpy_too_new() and not simulated():
        # The import would succeed, but the first kernel would fail to compile, because numpy.row_stack is
        # gone.
        raise BackendError(
            f"numba-cuda {metadata.version('numba-cuda')} cannot compile kernels with NumPy "
            f"{metadata.version('numpy')}: run pip install 'numpy<2.5'."
        )
    module, config = _of_numba("numba.cuda"), _of_numba("numba.core.config")
    if not _SAYS_LOW_OCCUPANCY:  # Numba may have been imported before this module
        setattr(config, "CUDA_LOW_OCCUPANCY_WARNINGS", 0)  # noqa: B010 - Numba makes it at run time
    return module


cuda: Any  # numba.cuda, imported on first access by the module's __getattr__


def __getattr__(name: str) -> Any:
    """Import ``numba.cuda`` for ``from gpuguide.machine.backends import cuda``."""
    if name == "cuda":
        return numba_cuda()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _of_numba(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        # Numba is there, but something that it needs is missing.
        if error.name != "numba":
            raise _broken("Numba", error) from error
        raise BackendError(
            "Numba is not installed. Install it with NVIDIA's compiler: pip install 'numba-cuda[cu13]' "
            "(driver 580 or newer) or 'numba-cuda[cu12]'."
        ) from None
    except Exception as error:
        raise _broken("numba-cuda", error) from error


def numpy_too_new() -> bool:
    """Say whether the installed NumPy is too new for the installed numba-cuda."""
    try:
        numpy_version, numba_cuda_version = metadata.version("numpy"), metadata.version("numba-cuda")
    except metadata.PackageNotFoundError:
        return False
    # Seen with 0.30; a later release is not refused until somebody has tried it.
    return release(numpy_version) >= (2, 5) and release(numba_cuda_version) < (0, 31)


def release(version: str) -> tuple[int, ...]:
    """Read the leading numbers of a version, to compare it."""
    numbers = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
    return tuple(numbers)


def cublas() -> Any:
    """Import CuPy's binding of cuBLAS, for the products whose arithmetic ``cupy.matmul`` cannot choose."""
    return import_module("cupy_backends.cuda.libs.cublas")


def nvml() -> Any:
    """Import NVIDIA's management library and initialise it once."""
    try:
        library = import_module("pynvml")
        library.nvmlInit()
    except Exception:  # the library is optional: without it clocks and power are unknown
        return None
    return library


def _broken(name: str, error: BaseException) -> BackendError:
    return BackendError(
        f"{name} cannot be imported ({type(error).__name__}: {error}). "
        "'gpuguide doctor' says what is installed and what to change."
    )


# What the simulator's `cuda.jit` takes; launch_bounds, max_registers, lto and lineinfo raise there.
_SIMULATOR_OPTIONS = frozenset(
    {"device", "debug", "inline", "fastmath", "link", "opt", "cache", "shared_memory_carveout"}
)


def jit(function: Callable[..., Any] | None = None, *, signature: Any = None, **options: Any) -> Any:
    """Compile a kernel or device function: ``numba.cuda.jit`` that works in the simulator too."""
    if simulated():
        options = {name: value for name, value in options.items() if name in _SIMULATOR_OPTIONS}
    numba_jit = numba_cuda().jit
    decorate = numba_jit(**options) if signature is None else numba_jit(signature, **options)
    return decorate if function is None else decorate(function)


# Above this a kernel must ask for its dynamic shared memory before the launch.
_SHARED_BYTES_WITHOUT_ASKING = 48 * 1024


class RawKernel:
    """A kernel in CUDA C++, compiled through CuPy when it is first launched.

    Made by `raw_kernel`. Creating one needs neither CuPy nor a GPU.
    """

    def __init__(self, source: str, name: str, options: Sequence[str] = ()) -> None:
        # Otherwise a wrong name would show only at the first launch on a GPU, as an error of the driver.
        if name not in source:
            raise ArgumentError(f"The source must define the kernel {name!r}; it does not contain that name.")
        if isinstance(options, str):
            raise ArgumentError(f"options must be strings in a tuple, ({options!r},); got one string.")
        self.source, self.name, self.options = source, name, tuple(options)

    def __repr__(self) -> str:
        return f"RawKernel({self.name!r}, options={self.options!r})"

    @functools.cached_property
    def module(self) -> Any:
        """``cupy.RawModule``: the compiled source, for its other kernels and its constants."""
        return cupy().RawModule(code=self.source, options=self.options)

    @functools.cached_property
    def compiled(self) -> Any:
        """``cupy.RawKernel``, with attributes such as ``num_regs`` and ``local_size_bytes``."""
        return self.module.get_function(self.name)

    def constant(self, name: str, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return a ``__constant__`` or ``__device__`` array of the source as a CuPy array, to fill it."""
        return cupy().ndarray(shape, dtype=dtype, memptr=self.module.get_global(name))

    def __call__(
        self, grid: tuple[int, ...], block: tuple[int, ...], args: Sequence[Any], shared_bytes: int = 0
    ) -> None:
        """Launch on CuPy's current stream."""
        kernel = self.compiled
        if shared_bytes > _SHARED_BYTES_WITHOUT_ASKING:
            kernel.max_dynamic_shared_size_bytes = shared_bytes
        kernel(grid, block, tuple(args), shared_mem=shared_bytes)

    def on(
        self, grid: tuple[int, ...], block: tuple[int, ...], args: Sequence[Any], shared_bytes: int = 0
    ) -> Callable[[], None]:
        """Return the launch with everything made ready, for a clock that is to see nothing else."""
        kernel = self.compiled
        if shared_bytes > _SHARED_BYTES_WITHOUT_ASKING:
            kernel.max_dynamic_shared_size_bytes = shared_bytes
        return functools.partial(kernel, grid, block, tuple(args), shared_mem=shared_bytes)


def raw_kernel(source: str, name: str, options: Sequence[str] = ()) -> RawKernel:
    """Describe a kernel in CUDA C++; it is compiled on first use."""
    return RawKernel(source, name, options)


def is_device_array(x: Any) -> bool:
    """Say whether an object is an array in GPU memory (or the simulator's stand-in for one)."""
    return hasattr(x, "__cuda_array_interface__") or bool(getattr(x, "__cuda_ndarray__", False))


def array_module(x: Any) -> Any:
    """Return the module whose functions fit an array."""
    # By name, so that a question about a NumPy array does not import CuPy.
    if type(x).__module__.partition(".")[0] == "cupy":
        return cupy()
    import numpy

    return numpy


def numba_view(x: Any) -> Any:
    """Wrap a CuPy array for Numba kernels, without copying and without waiting for the GPU.

    A bare CuPy array is exported to Numba anew at each launch, which takes the host longer than the launch
    itself; ``as_cuda_array(x)`` without ``sync=False`` waits for the stream. So wrap once, outside the timed
    code: making a view costs about as much as a launch. The caller must keep the streams right, by launching
    on `current_stream`.

    Parameters
    ----------
    x : array
        A CuPy array, or another object with the CUDA array interface; a Numba device array; in the
        simulator a NumPy array.

    Returns
    -------
    numba device array
        A view of the same memory. Numba's own arrays, and NumPy arrays in the simulator, are returned as
        they are.

    Raises
    ------
    ArgumentError
        `x` lies in host memory.

    Examples
    --------
    >>> import numpy as np
    >>> from gpuguide.machine.backends import numba_view, simulated
    >>> try:
    ...     view = numba_view(np.zeros(3))
    ... except ValueError as error:
    ...     print(str(error)[:57])
    numba_view expects an array in GPU memory, such as CuPy's
    """
    # Numba's own arrays, and the simulator's, carry this mark.
    if getattr(x, "__cuda_ndarray__", False):
        return x
    if simulated() and type(x).__module__ == "numpy":
        return x
    if hasattr(x, "__cuda_array_interface__"):
        return numba_cuda().as_cuda_array(x, sync=False)
    raise ArgumentError(
        "numba_view expects an array in GPU memory, such as CuPy's; got "
        f"{type(x).__module__}.{type(x).__name__}. Copy it first: cupy.asarray(x)."
    )


def current_stream() -> Any:
    """Return CuPy's current stream as Numba knows it, for ``kernel[grid, block, current_stream()]``."""
    if simulated():
        return 0
    return _external_stream(int(cupy().cuda.get_current_stream().ptr))


# One object for each stream: Numba finds a launch configuration again by its identity.
@functools.lru_cache(maxsize=64)
def _external_stream(pointer: int) -> Any:
    return numba_cuda().external_stream(pointer)


@contextmanager
def launches_follow_cupy() -> Iterator[None]:
    """Let ``kernel[blocks_per_grid, threads_per_block](...)`` go to CuPy's current stream.

    Numba puts a launch that names no stream into the default one, where the guide's clocks would not see it.
    A launch that names a stream stays as it is. Launches of Numba's own ufuncs name one, because their copies
    use it, too.
    """
    if simulated() or "numba.cuda" not in sys.modules:  # then there is no kernel that could be launched
        yield
        return
    # On the class, where Python looks up what `kernel[...]` does, so that every kernel follows.
    dispatcher = import_module("numba.cuda.dispatcher").CUDADispatcher
    original = dispatcher.__getitem__
    # Contexts may be nested; only the outermost replaces the method and restores it.
    if original is not _on_current_stream:
        _plain_launch.append(original)
        dispatcher.__getitem__ = _on_current_stream
    try:
        yield
    finally:
        if original is not _on_current_stream:
            dispatcher.__getitem__ = _plain_launch.pop()


_plain_launch: list[Callable[[Any, Any], Any]] = []


def _on_current_stream(kernel: Any, shape: tuple[Any, ...]) -> Any:
    return _plain_launch[-1](kernel, (*shape, current_stream()) if len(shape) == 2 else shape)
